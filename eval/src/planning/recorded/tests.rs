use market::scenario::{Pack, Scenario};

use super::*;
use crate::plan::{Arm, Plan};

const SCENARIOS: usize = 30;

fn plan() -> Plan {
    let scenarios = (0..SCENARIOS)
        .map(|i| Scenario {
            id: format!("s{i:02}"),
            item: "lamp".to_owned(),
            reserve: 40,
            budget: 120,
        })
        .collect();
    let arm = |name: &str| Arm {
        name: name.to_owned(),
        toolset: market::contract::baseline(),
    };
    Plan {
        experiment: "e".to_owned(),
        repeats: 4,
        ..Plan::new(
            Pack {
                name: "p".to_owned(),
                scenarios,
            },
            vec![arm("baseline"), arm("candidate")],
            "m",
        )
    }
}

/// Episodes whose value is made from arm, scenario, condition and repeat by number.
fn played(calls: impl Fn(usize, usize, &str, u32) -> i32) -> (Manifest, Vec<Episode>) {
    let plan = plan();
    let episodes = plan
        .episodes()
        .into_iter()
        .map(|spec| {
            let mut episode = Episode::new("e", &spec.episode_id, "market");
            let condition = spec.condition.as_str();
            let value = calls(spec.arm, spec.scenario, condition, spec.repeat);
            episode.scenario = Some(plan.pack.scenarios[spec.scenario].id.clone());
            episode.condition = Some(condition.to_owned());
            episode.arm = Some(plan.arms[spec.arm].name.clone());
            episode.tool_calls = Some(value);
            (episode.input_tokens_buyer, episode.output_tokens_buyer) = (Some(100), Some(10));
            episode.cost_usd = Some(0.02);
            episode
        })
        .collect();
    (Manifest::of(&plan, false, serde_json::Map::new()), episodes)
}

#[test]
fn conditions_are_no_variance_and_scenarios_are() {
    // Scenarios differ by 0 or 4, alike in both arms; conditions by 100, which pairing takes out; repeats by ±1.
    let (manifest, episodes) = played(|_, scenario, condition, repeat| {
        let shift = if condition == "server" { 100 } else { 0 };
        let noise = if repeat % 2 == 0 { 1 } else { -1 };
        shift + i32::from(scenario % 2 == 0) * 4 + noise
    });
    let found = recorded(&manifest, &episodes, Metric::ToolCalls).unwrap();
    assert_eq!(
        (found.scenarios, found.episodes),
        (SCENARIOS, SCENARIOS * 16)
    );
    // Between: 4 * 30/29; within: 1 * 16/15.
    let (between, within) = (4.0 * 30.0 / 29.0, 16.0 / 15.0);
    let design = found.design;
    let expected = between - within / 16.0;
    assert!(
        (design.variance - expected - within).abs() < 1e-9,
        "{design:?}"
    );
    assert!(
        (design.icc - expected / (expected + within)).abs() < 1e-9,
        "{design:?}"
    );
    assert!(design.correlation > 0.99, "{design:?}");
    assert_eq!(found.correlated_with.as_deref(), Some("candidate"));
    assert_eq!(found.tokens, Some((100.0, 10.0)));
    assert!((found.usd.unwrap() - 0.02).abs() < 1e-12);
}

#[test]
fn arms_with_other_scenarios_hard_are_uncorrelated() {
    // Which scenarios are hard for the first says nothing about which are for the second.
    let (manifest, episodes) = played(|arm, scenario, _, repeat| {
        let hard = if arm == 0 {
            scenario % 2 == 0
        } else {
            scenario % 4 < 2
        };
        i32::from(hard) * 4 + i32::from(repeat % 2 == 0)
    });
    let found = recorded(&manifest, &episodes, Metric::ToolCalls).unwrap();
    assert!(found.design.correlation.abs() < 0.1, "{:?}", found.design);
    // Where scenarios do not differ there is nothing to correlate.
    let (manifest, episodes) = played(|_, _, _, repeat| i32::from(repeat % 2 == 0));
    let found = recorded(&manifest, &episodes, Metric::ToolCalls).unwrap();
    assert_eq!((found.design.icc, found.correlated_with), (0.0, None));
}

#[test]
fn too_little_is_said() {
    let (manifest, episodes) = played(|_, _, _, _| 3);
    let says = |episodes: &[Episode], metric, expected: &str| {
        let text = recorded(&manifest, episodes, metric)
            .unwrap_err()
            .to_string();
        assert!(text.contains(expected), "{text}");
    };
    says(&episodes, Metric::ToolCalls, "all values are the same");
    says(
        &episodes,
        Metric::Turns,
        "no completed episode of arm `baseline` has `turns`",
    );
    says(&[], Metric::ToolCalls, "no completed episode");
    let one: Vec<Episode> = episodes
        .into_iter()
        .filter(|e| e.scenario.as_deref() == Some("s00"))
        .collect();
    says(&one, Metric::ToolCalls, "at least 2 scenarios");
}
