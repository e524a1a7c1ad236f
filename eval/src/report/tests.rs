use market::scenario::{Pack, Scenario};
use trajectory::{Episode, Status};

use super::*;
use crate::compare::{Request, compare};
use crate::manifest::Manifest;
use crate::plan::{Arm, Plan};
use crate::summary::summarize;

const HOSTILE: &str = "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}";

/// A comparison in which every text that comes from outside is hostile.
fn hostile() -> (Manifest, Vec<Episode>, Plan) {
    let scenarios = (0..6)
        .map(|i| Scenario {
            id: format!("{i}{HOSTILE}"),
            item: HOSTILE.to_owned(),
            reserve: 1,
            budget: 9,
        })
        .collect();
    let mut candidate = market::contract::baseline();
    candidate.set_text(
        &trajectory::ComponentId::tool("propose"),
        &format!("{HOSTILE}\nsecond line"),
    );
    let arms = vec![
        Arm {
            name: "baseline".to_owned(),
            toolset: market::contract::baseline(),
        },
        Arm {
            name: "candidate".to_owned(),
            toolset: candidate,
        },
    ];
    let plan = Plan {
        experiment: "e".to_owned(),
        repeats: 1,
        ..Plan::new(
            Pack {
                name: HOSTILE.to_owned(),
                scenarios,
            },
            arms,
            HOSTILE,
        )
    };
    let labels = [("candidate".to_owned(), HOSTILE.into())]
        .into_iter()
        .collect();
    let manifest = Manifest::of(&plan, true, labels);
    let episodes = plan
        .episodes()
        .into_iter()
        .map(|spec| {
            let arm = &plan.arms[spec.arm];
            let mut episode = Episode::new("e", &spec.episode_id, "market");
            episode.scenario = Some(plan.pack.scenarios[spec.scenario].id.clone());
            episode.condition = Some(spec.condition.as_str().to_owned());
            episode.arm = Some(arm.name.clone());
            episode.repeat = Some(0);
            episode.toolset_seen = Some(arm.toolset.id());
            episode.outcome = Some(HOSTILE.to_owned());
            episode.correct_strict = Some(spec.arm == 1);
            episode.status = Status::Completed;
            episode
        })
        .collect();
    (manifest, episodes, plan)
}

fn assert_harmless(page: &str) {
    assert!(
        !page.contains("<script") && !page.contains("<img"),
        "markup got through"
    );
    assert!(
        !page.contains('\u{202e}'),
        "hidden direction change got through"
    );
    for outside in ["http://", "https://", "src=", "@import", "url(", "<link"] {
        let stripped = page
            .replace("http://www.w3.org/", "")
            .replace("img src=x", "");
        assert!(
            !stripped.contains(outside),
            "the page loads something: {outside}"
        );
    }
}

fn page(difference: Option<&HtmlFragment>) -> String {
    let (manifest, episodes, plan) = hostile();
    let request = Request {
        manifest: &manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: Some((&plan.arms[0].toolset, &plan.arms[1].toolset)),
        analysis: None,
        noise_floor: false,
    };
    comparison(&compare(&episodes, &request).unwrap(), difference).unwrap()
}

#[test]
fn a_page_escapes_everything_and_loads_nothing() {
    let page = page(None);
    assert_harmless(&page);
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("\\u{202e}"), "what was hidden is shown");
    for expected in [
        "simulated",
        "improved",
        "<svg",
        "server_inject",
        "Pairs that differ (24)",
        "second line",
        "prefers-color-scheme: dark",
        "@media print",
    ] {
        assert!(page.contains(expected), "no {expected}");
    }
}

#[test]
fn a_fragment_of_the_caller_is_inserted_as_it_is() {
    let fragment =
        HtmlFragment::from_escaped("<p>was <del>bad</del> <ins>good</ins></p>".to_owned());
    let page = page(Some(&fragment));
    assert!(page.contains("was <del>bad</del> <ins>good</ins>"));
    assert!(
        !page.contains("second line"),
        "the plain texts are left out"
    );
}

#[test]
fn the_plot_stays_inside_its_frame() {
    let page = page(None);
    let svg = page
        .split("<svg")
        .nth(1)
        .unwrap()
        .split("</svg>")
        .next()
        .unwrap();
    let numbers = svg
        .split(['"', ' '])
        .filter_map(|word| word.parse::<f64>().ok());
    assert!(numbers.clone().count() > 20);
    assert!(
        numbers
            .into_iter()
            .all(|number| (-0.1..=640.1).contains(&number)),
        "{svg}"
    );
    assert_eq!(svg.matches("<circle").count(), 5);
}

#[test]
fn an_experiment_with_one_arm_has_a_page_too() {
    let (mut manifest, episodes, _) = hostile();
    manifest.arms.truncate(1);
    let page = summary(&summarize(&episodes, &manifest)).unwrap();
    assert_harmless(&page);
    assert!(page.contains("correct strict") && page.contains("simulated"));
}
