//! Whole runs: what every episode has, the checks of the run, two arms side by side.

use std::collections::BTreeSet;
use std::sync::Arc;

use eval::compare::{Request, compare};
use eval::manifest::Manifest;
use eval::plan::{Arm, Plan};
use eval::run::{MarketPlace, RunOptions, run};
use eval::summary::summarize;
use market::MarketConfig;
use trajectory::Status;
use trajectory::store::Filter;

use crate::support::{episodes, facts, options, plan, rewritten, store};

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_played_whole_and_every_episode_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let plan = plan("whole");
    let done = run(&plan, &store, &options()).await.unwrap();
    assert_eq!(
        (
            done.planned,
            done.already_recorded,
            done.played,
            done.infra_errors
        ),
        (8, 0, 8, 0)
    );
    assert_eq!(done.unexposed, Vec::<String>::new());

    let ids: BTreeSet<String> = plan
        .episodes()
        .into_iter()
        .map(|spec| spec.episode_id)
        .collect();
    let records = store.records(&Filter::experiment("whole")).unwrap();
    assert_eq!(
        records
            .iter()
            .map(|r| r.episode.episode_id.clone())
            .collect::<BTreeSet<_>>(),
        ids
    );
    let baseline = market::contract::baseline().id();
    for record in &records {
        let episode = &record.episode;
        assert_eq!(episode.status, Status::Completed);
        assert!(episode.simulated);
        assert_eq!(episode.toolset_meant.as_ref(), Some(&baseline));
        assert_eq!(episode.toolset_seen.as_ref(), Some(&baseline));
        assert!(
            episode.outcome.is_some()
                && episode.correct_strict.is_some()
                && episode.prompt_hash.is_some()
        );
        assert_eq!(episode.tool_calls, i32::try_from(record.calls.len()).ok());
        assert_eq!(record.tools.len(), 5);
        assert!(
            record
                .messages
                .iter()
                .any(|m| m.role == "system" && m.content.is_some())
        );
        let condition: market::Condition = episode.condition.as_deref().unwrap().parse().unwrap();
        let attributes: serde_json::Value =
            serde_json::from_str(episode.attributes.as_deref().unwrap()).unwrap();
        assert_eq!(attributes["opening"], "listing");
        assert_eq!(attributes["injection"].is_string(), condition.inject());
        if condition.inject() {
            assert!(episode.exposures.unwrap() > 0);
        } else {
            assert_eq!((episode.exposures, episode.obeyed), (Some(0), None));
        }
        if condition.enforce() {
            assert_eq!(episode.violation, Some(false));
        }
    }

    // The system prompts are byte for byte the same in all conditions.
    let prompts = |condition: &str| -> BTreeSet<String> {
        records
            .iter()
            .filter(|r| r.episode.condition.as_deref() == Some(condition))
            .flat_map(|r| &r.messages)
            .filter(|m| m.role == "system")
            .filter_map(|m| m.content.clone())
            .collect()
    };
    for condition in ["server", "prompt_inject", "server_inject"] {
        assert_eq!(prompts(condition), prompts("prompt"), "{condition}");
    }
    let hashes: BTreeSet<_> = records
        .iter()
        .map(|r| r.episode.prompt_hash.clone())
        .collect();
    assert_eq!(hashes.len(), 1);

    let manifest = Manifest::require(&store, "whole").unwrap();
    let summary = summarize(&episodes(&store, "whole"), &manifest);
    assert_eq!(summary.rows.len(), 4);
    assert!(
        summary
            .rows
            .iter()
            .all(|row| row.coverage.completed == 2 && row.deal + row.no_deal + row.open == 2)
    );
    let text = eval::summary::text(&summary);
    assert!(text.lines().next().unwrap().contains("simulated"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_plan_gives_the_same_episodes_at_any_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for concurrency in [1, 6] {
        let store = store(&folder.path().join(concurrency.to_string()));
        run(
            &plan("same"),
            &store,
            &RunOptions {
                concurrency,
                ..options()
            },
        )
        .await
        .unwrap();
        seen.push(
            episodes(&store, "same")
                .iter()
                .map(facts)
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_arms_are_served_side_by_side_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let told = "Proposes a price, the way to make a counter-offer: names a price that the other side can accept. The price must be a whole number inside your own limit.";
    let candidate = rewritten("propose", told);
    let mut plan = plan("arms");
    plan.arms.push(Arm {
        name: "candidate".to_owned(),
        toolset: candidate.clone(),
    });
    let market = market::server::start(MarketConfig::default())
        .await
        .unwrap();
    let at = MarketPlace::At {
        url: market.url(),
        secret: market.admin_secret().clone(),
    };
    let done = run(
        &plan,
        &store,
        &RunOptions {
            market: at,
            ..options()
        },
    )
    .await
    .unwrap();
    assert_eq!((done.played, done.infra_errors), (16, 0));
    market.shutdown().await.unwrap();

    let episodes = episodes(&store, "arms");
    let seen: BTreeSet<_> = episodes
        .iter()
        .filter(|e| e.arm.as_deref() == Some("candidate"))
        .map(|e| e.toolset_seen.clone().unwrap())
        .collect();
    assert_eq!(seen, BTreeSet::from([candidate.id()]));
    // Both versions can be read back from the store.
    assert_eq!(
        store.toolset(&candidate.id()).unwrap().unwrap().id(),
        candidate.id()
    );

    let manifest = Manifest::require(&store, "arms").unwrap();
    let request = Request {
        manifest: &manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: None,
        analysis: None,
        noise_floor: false,
    };
    let comparison = compare(&episodes, &request).unwrap();
    assert_eq!(
        (comparison.pooled.pairs, comparison.conditions.len()),
        (8, 4)
    );
    assert!(comparison.simulated && !comparison.identical);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_a_a_run_of_simulated_agents_shows_no_difference_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut plan = plan("aa");
    plan.arms.push(Arm {
        name: "candidate".to_owned(),
        toolset: market::contract::baseline(),
    });
    run(&plan, &store, &options()).await.unwrap();
    let manifest = Manifest::require(&store, "aa").unwrap();
    let request = Request {
        manifest: &manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: None,
        analysis: None,
        noise_floor: false,
    };
    let comparison = compare(&episodes(&store, "aa"), &request).unwrap();
    assert!(comparison.identical);
    assert_eq!(comparison.discordant, []);
    let calls = comparison.pooled.contrast("tool_calls").unwrap();
    assert!(calls.difference.unwrap().abs() < 1e-12);
}

#[tokio::test(flavor = "multi_thread")]
async fn openings_notes_and_other_injections_work() {
    use market::rules::Opening;
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let base = plan("variants");
    let lowered = market::injection::load(None).unwrap();
    let lowered = lowered
        .into_iter()
        .find(|i| i.target == market::Role::Seller)
        .unwrap();
    let noted = Arm {
        name: "baseline".to_owned(),
        toolset: market::contract::with_notes(&market::contract::baseline()),
    };
    let variants = [
        Plan {
            experiment: "seller".to_owned(),
            opening: Opening::Seller,
            ..base.clone()
        },
        Plan {
            experiment: "buyer".to_owned(),
            opening: Opening::Buyer,
            ..base.clone()
        },
        Plan {
            experiment: "notes".to_owned(),
            notes: true,
            arms: vec![noted],
            ..base.clone()
        },
        Plan {
            experiment: "lowered".to_owned(),
            injection: Some(lowered),
            ..base.clone()
        },
        Plan {
            experiment: "short".to_owned(),
            max_moves: 3,
            max_calls_per_turn: 1,
            ..base
        },
    ];
    for plan in variants {
        let done = run(&plan, &store, &options()).await.unwrap();
        assert_eq!(
            (done.played, done.infra_errors),
            (8, 0),
            "{}",
            plan.experiment
        );
    }
    // One model call a turn is used up by reading: every turn is a pass, and nothing is ever agreed.
    for episode in episodes(&store, "short") {
        assert_eq!(
            (episode.turns, episode.passes, episode.outcome.as_deref()),
            (Some(0), Some(3), Some("open"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_observer_hears_of_every_episode_after_it_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let (told, looked_in) = (Arc::new(std::sync::Mutex::new(Vec::new())), store.clone());
    let list = Arc::clone(&told);
    let observer: eval::run::Observer = Arc::new(move |episode: &trajectory::Episode| {
        assert!(
            looked_in
                .recorded("heard")
                .unwrap()
                .contains_key(&episode.episode_id)
        );
        list.lock().unwrap().push(episode.episode_id.clone());
    });
    run(
        &plan("heard"),
        &store,
        &RunOptions {
            observer: Some(observer),
            ..options()
        },
    )
    .await
    .unwrap();
    assert_eq!(told.lock().unwrap().len(), 8);
}
