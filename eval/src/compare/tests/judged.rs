//! The analysis: stated, changed, corrected for the number of tests, stopped early, and what was left out.

use super::*;
use crate::analysis::{PrimaryContrast, Stopping};

fn with(plan: &Plan, analysis: &Analysis, episodes: &[Episode]) -> Comparison {
    let manifest = manifest(plan);
    let request = Request {
        analysis: Some(analysis),
        ..request(&manifest)
    };
    compare(episodes, &request).unwrap()
}

#[test]
fn an_analysis_changed_after_the_fact_is_named_field_by_field() {
    let plan = plan();
    let list = episodes(&plan, |e| is(e, "candidate"));
    let stated = compared(&plan, &list);
    assert!(stated.analysis.as_stated && stated.analysis.intact == Some(true));
    assert!(text(&stated).contains("stated before the first call, sha256"));

    let mut other = plan.analysis.clone();
    other.alpha = 0.1;
    other.guards.clear();
    let found = with(&plan, &other, &list);
    assert!(!found.analysis.as_stated);
    assert_ne!(found.analysis.used_hash, found.analysis.stated_hash);
    let note = &found.verdict.notes[0];
    assert!(
        note.contains("changed after the first call (alpha: stated 0.05, now 0.1; guards: stated")
            && note.contains("not confirmatory"),
        "{note}"
    );
    assert!(text(&found).contains("CHANGED since it was stated"));
}

#[test]
fn a_manifest_edited_by_hand_is_noticed() {
    let plan = plan();
    let list = episodes(&plan, |e| is(e, "candidate"));
    let mut edited = manifest(&plan);
    edited.analysis.primary_metric = Metric::CorrectLenient;
    let found = compare(&list, &request(&edited)).unwrap();
    assert_eq!(found.analysis.intact, Some(false));
    assert!(
        found
            .verdict
            .notes
            .iter()
            .any(|note| note.contains("does not match the hash")),
        "{:?}",
        found.verdict.notes
    );
}

#[test]
fn repeats_added_after_the_fact_are_named() {
    let mut plan = plan();
    let first = manifest(&plan);
    plan.repeats = 3;
    let mut more = manifest(&plan);
    (more.analysis, more.analysis_hash) = (first.analysis, first.analysis_hash);
    let found = compare(&episodes(&plan, |e| is(e, "candidate")), &request(&more)).unwrap();
    assert_eq!(found.analysis.changes, ["repeats: stated 2, now 3"]);
}

#[test]
fn conditions_tested_apart_are_corrected_with_holms_method() {
    let mut plan = plan();
    plan.pack.scenarios = (0..10)
        .map(|i| Scenario {
            id: format!("s{i}"),
            ..plan.pack.scenarios[0].clone()
        })
        .collect();
    plan.analysis.contrast = PrimaryContrast::PerCondition;
    // All ten scenarios in `prompt`; six, all of one sign, in `server`; nothing in the others.
    let list = episodes(&plan, |e| {
        let some = e.scenario.as_deref() < Some("s6");
        match e.condition.as_deref() {
            Some("prompt") => is(e, "candidate"),
            Some("server") => is(e, "candidate") && some,
            _ => false,
        }
    });
    let found = compared(&plan, &list);
    let tests = &found.families.confirmatory;
    assert_eq!(tests.len(), 4);
    let places: Vec<&str> = tests.iter().map(Test::place).collect();
    assert_eq!(
        places,
        ["prompt", "server", "prompt_inject", "server_inject"]
    );
    let p: Vec<f64> = tests.iter().map(|test| test.adjusted_p).collect();
    // 2/1024 times 4, 2/64 times 3, 1, 1.
    for (found, expected) in p.iter().zip([8.0 / 1024.0, 6.0 / 64.0, 1.0, 1.0]) {
        assert!((found - expected).abs() < 1e-9, "{p:?}");
    }
    assert_eq!(tests.iter().filter(|test| test.rejected).count(), 1);
    assert_eq!(found.verdict.kind, VerdictKind::Improved);
    assert!(
        found.verdict.sentence.contains("Holm: prompt p = 0.0078"),
        "{}",
        found.verdict.sentence
    );
    // The pooled test is then one of the explored ones.
    assert!(
        found
            .families
            .exploratory
            .iter()
            .any(|t| t.metric == Metric::CorrectStrict && t.condition.is_none())
    );
}

#[test]
fn better_here_and_worse_there_is_no_improvement() {
    let mut plan = plan();
    plan.analysis.contrast = PrimaryContrast::PerCondition;
    plan.analysis.alpha = 0.2;
    plan.pack.scenarios = (0..8)
        .map(|i| Scenario {
            id: format!("s{i}"),
            ..plan.pack.scenarios[0].clone()
        })
        .collect();
    let list = episodes(&plan, |e| match e.condition.as_deref() {
        Some("prompt") => is(e, "candidate"),
        _ => is(e, "baseline"),
    });
    assert_eq!(compared(&plan, &list).verdict.kind, VerdictKind::Regressed);
}

#[test]
fn only_the_conditions_of_the_test_count() {
    let mut plan = plan();
    plan.analysis.conditions = vec![Condition::PromptInject, Condition::ServerInject];
    let list = episodes(&plan, |e| {
        is(e, "candidate")
            && e.condition
                .as_deref()
                .is_some_and(|c| c.ends_with("inject"))
    });
    let found = compared(&plan, &list);
    assert_eq!((found.pooled.pairs, found.conditions.len()), (24, 4));
    assert!(
        (found
            .pooled
            .contrast("correct_strict")
            .unwrap()
            .difference
            .unwrap()
            - 1.0)
            .abs()
            < 1e-9
    );
}

#[test]
fn a_sequential_run_ends_when_the_evidence_suffices() {
    let mut plan = plan();
    plan.analysis.stop(Stopping::Sequential);
    plan.analysis.guards.clear();
    let mut list = episodes(&plan, |e| is(e, "candidate"));
    for (i, episode) in (0..).zip(list.iter_mut()) {
        episode.ended_us = Some(i);
    }
    // Eight pairs, all for the candidate: 28.4 is more than 20.
    let mut watch = Watch::new(&plan.analysis, "baseline", "candidate");
    let mut seen = 0;
    for episode in &list {
        seen += 1;
        if watch.saw(episode) {
            break;
        }
    }
    assert_eq!(seen, 16);
    list.truncate(seen);
    let found = compared(&plan, &list);
    assert_eq!(
        found.verdict.kind,
        VerdictKind::Improved,
        "{}",
        found.verdict.sentence
    );
    assert!(
        found
            .verdict
            .sentence
            .contains("the e-value reached 20 after 8 pairs"),
        "{}",
        found.verdict.sentence
    );
    // What was never begun is not missing.
    assert_eq!(
        (
            found.baseline.coverage.planned,
            found.baseline.coverage.missing
        ),
        (8, 0)
    );
    assert!((found.families.confirmatory[0].p - 9.0 / 256.0).abs() < 1e-9);

    // One pair fewer decides nothing.
    list.truncate(14);
    let found = compared(&plan, &list);
    assert_eq!(found.verdict.kind, VerdictKind::Inconclusive);
    assert!(
        found
            .verdict
            .sentence
            .contains("e-value 16.0 after 7 pairs"),
        "{}",
        found.verdict.sentence
    );
}

#[test]
fn a_sequence_that_has_reached_its_end_keeps_its_answer() {
    let mut sequence = Sequence::new(0.05);
    for _ in 0..8 {
        sequence.add(-1.0);
    }
    for _ in 0..20 {
        sequence.add(1.0);
    }
    sequence.add(0.0);
    assert_eq!(
        (
            sequence.pairs,
            sequence.discordant,
            sequence.candidate_better
        ),
        (29, 28, 20)
    );
    assert_eq!(
        (sequence.reached_after, sequence.candidate_ahead),
        (Some(8), Some(false))
    );
    assert!(sequence.e < sequence.largest_e);
}

#[test]
fn what_agents_could_not_finish_counts_under_intention_to_treat_and_infrastructure_errors_do_not() {
    let plan = plan();
    let mut list = episodes(&plan, |_| true);
    let of_candidate: Vec<usize> = (0..list.len())
        .filter(|i| is(&list[*i], "candidate"))
        .collect();
    list[of_candidate[0]].status = Status::AgentFault;
    list[of_candidate[1]].status = Status::AgentFault;
    list[of_candidate[2]].status = Status::InfraError;
    let found = compared(&plan, &list).robustness;
    assert_eq!((found.complete.pairs, found.missing_pairs), (45, 3));
    assert!(found.complete.difference.unwrap().abs() < 1e-12);
    assert_eq!(
        (found.intention_to_treat.pairs, found.scored_as_worst),
        (47, 2)
    );
    assert!((found.intention_to_treat.difference.unwrap() + 2.0 / 47.0).abs() < 1e-12);
    // Three unknown values of the candidate: none or all of them right, where the baseline was right in all 48.
    let (low, high) = found.bounds.unwrap();
    assert!(
        (low + 3.0 / 48.0).abs() < 1e-12 && high.abs() < 1e-12,
        "{low} {high}"
    );
}

#[test]
fn the_noise_floor_of_a_version_against_itself() {
    let mut plan = plan();
    plan.arms[1].toolset = market::contract::baseline();
    plan.analysis.guards.clear();
    let list = episodes(&plan, |e| {
        // Right or wrong by the hash of the id: noise.
        e.episode_id.bytes().map(u32::from).sum::<u32>() % 2 == 0
    });
    let manifest = manifest(&plan);
    let request = Request {
        noise_floor: true,
        ..request(&manifest)
    };
    let found = compare(&list, &request).unwrap();
    let noise = found.noise.unwrap();
    assert_eq!(noise.relabellings, 400);
    // The standard deviation of a mean of 48 differences of two coins is about .1.
    assert!((0.1..0.35).contains(&noise.floor), "{noise:?}");
    assert!(noise.false_verdict_rate <= 0.05 + 3.0 * 0.011, "{noise:?}");
    assert!(
        found.verdict.notes[0].contains("noise floor: in 400 relabellings"),
        "{:?}",
        found.verdict.notes
    );
    assert_eq!(compare(&list, &request).unwrap(), found);
}

#[test]
fn enforcement_that_takes_the_injections_effect_away_shows_in_the_two_by_two() {
    let plan = plan();
    let mut list = episodes(&plan, |_| true);
    for episode in &mut list {
        // The injection adds two attempts where nothing is enforced, in the baseline only.
        let hit = episode.condition.as_deref() == Some("prompt_inject") && is(episode, "baseline");
        episode.attempted_violations_buyer = Some(if hit { 3 } else { 1 });
    }
    let found = compared(&plan, &list);
    let effect = found
        .interactions
        .iter()
        .find(|effect| effect.metric == Metric::AttemptedViolations)
        .unwrap();
    assert_eq!(effect.scenarios, 6);
    let mean = |side: Option<stats::Interaction>| side.unwrap().mean.mean;
    assert!((mean(effect.baseline) - 2.0).abs() < 1e-12);
    assert!(mean(effect.candidate).abs() < 1e-12);
    assert!((mean(effect.difference) + 2.0).abs() < 1e-12);
    assert!((effect.baseline_ratio.unwrap().ratio - 3.0).abs() < 1e-12);
    let counts = found
        .pooled
        .contrast("attempted_violations")
        .unwrap()
        .counts
        .unwrap();
    assert_eq!((counts.baseline, counts.candidate), (72, 48));
}

#[test]
fn repeats_that_agree_are_worth_little() {
    let plan = plan();
    let found = compared(
        &plan,
        &episodes(&plan, |e| e.scenario.as_deref() < Some("s3")),
    );
    let alike = found.correlation.baseline.unwrap();
    assert!(
        (alike.icc - 1.0).abs() < 1e-9 && (alike.effective_n - 6.0).abs() < 1e-9,
        "{alike:?}"
    );
    assert_eq!(found.pass_k.len(), 2);
    assert!((found.pass_k[1].baseline.pass_hat_k - 0.5).abs() < 1e-12);
}

#[test]
fn missing_pairs_and_odd_rows_never_panic() {
    let plan = plan();
    let whole = episodes(&plan, |e| is(e, "candidate"));
    // Every prefix, and rows without scenario, condition or repeat.
    for length in 1..whole.len() {
        let mut list = whole[..length].to_vec();
        list[0].scenario = None;
        if length > 3 {
            list[1].condition = Some("sometimes".to_owned());
            list[2].repeat = None;
        }
        match compare(&list, &request(&manifest(&plan))) {
            Ok(found) => {
                assert!(!text(&found).contains("NaN") && !markdown(&found).contains("NaN"));
                serde_json::to_string(&found).unwrap();
            }
            Err(error) => assert!(matches!(error, CompareError::NoPairs { .. }), "{error}"),
        }
    }
}

#[test]
fn one_scenario_is_said_to_say_nothing_about_others() {
    let mut plan = plan();
    plan.pack.scenarios.truncate(1);
    let found = compared(&plan, &episodes(&plan, |e| is(e, "candidate")));
    assert_eq!(found.verdict.kind, VerdictKind::Inconclusive);
    assert!(
        found
            .verdict
            .sentence
            .contains("One scenario says nothing about others, however often it is repeated: 6 scenarios are the least"),
        "{}",
        found.verdict.sentence
    );
}
