//! `eval plan` as a user runs it, in this process.

use clap::Parser as _;
use eval::cli::{Cli, run};
use eval::plan::Plan;
use eval::run::{RunOptions, run as play};
use serde_json::{Map, Value};
use trajectory::Exit;

use crate::support;

fn plan(arguments: &[&str]) -> anyhow::Result<String> {
    let all = ["eval", "plan"].iter().chain(arguments);
    let mut out = Vec::new();
    let exit = run(
        Cli::try_parse_from(all)?,
        &eval::report::Annotations::default(),
        &mut out,
    )?;
    assert_eq!(exit, Exit::Done);
    Ok(String::from_utf8(out).unwrap())
}

fn json(arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&plan(&all).unwrap()).unwrap()
}

#[track_caller]
fn says(arguments: &[&str], expected: &[&str]) {
    let text = plan(arguments).unwrap();
    for part in expected {
        assert!(text.contains(part), "{arguments:?}: no `{part}` in\n{text}");
    }
}

#[test]
fn scenarios_for_a_change() {
    says(
        &["--effect", "0.15", "--usd-per-episode", "0.03"],
        &[
            "15 percentage points",
            "cheapest",
            "122 scenarios x 1 repeat x 2 versions = 244 episodes, $7.32",
            "Why more scenarios beat more repeats",
            "0.0675 + 0.0917",
            "the published cohorts have 0.40 to 0.53",
        ],
    );
    let value = json(&["--effect", "0.15"]);
    assert_eq!(value["question"], "versions");
    assert_eq!(value["needed"].as_array().unwrap().len(), 5);
    assert_eq!(value["needed"][0]["scenarios"], 122);
    assert_eq!(value["needed"][0]["cheapest"], true);
    assert_eq!(value["price"]["usd_per_episode"], Value::Null);
    // Nothing given: a change is assumed, and said to be.
    says(&[], &["assumed: a change of 0.15", "no price given"]);
}

#[test]
fn what_the_scenarios_at_hand_can_show() {
    for (scenarios, expected) in [("12", 0.35), ("20", 0.26), ("40", 0.18)] {
        let value = json(&["--scenarios", scenarios, "--repeats", "3"]);
        let found = value["judged"]["detectable"].as_f64().unwrap();
        assert!((found - expected).abs() < 0.005_001, "{scenarios}: {found}");
    }
    says(
        &[
            "--pack",
            "bargain-40",
            "--effect",
            "0.15",
            "--conditions",
            "4",
        ],
        &[
            "40 scenarios x 3 repeats x 4 conditions x 2 versions (960 episodes)",
            ": enough",
            "more than the 40",
        ],
    );
    says(
        &["--scenarios", "11"],
        &["warning: fewer than 12 scenarios"],
    );
    says(
        &["--scenarios", "5"],
        &[
            "no test on 5 scenarios can reach 0.05, whatever the effect: the smallest p is 2/32 = 0.0625",
            "6 is the fewest",
        ],
    );
    says(
        &["--scenarios", "20", "--arms", "3"],
        &["2 comparisons with the baseline, each at 0.025"],
    );
}

#[test]
fn counts_need_their_spread() {
    let counts = [
        "--metric",
        "refused_calls",
        "--mean",
        "2",
        "--effect",
        "0.5",
    ];
    let with = |more: &[&'static str]| [&counts[..], more].concat();
    says(
        &with(&["--sd", "1.5"]),
        &["0.50 refused calls an episode (25 % of the mean)"],
    );
    assert_eq!(
        json(&with(&["--sd", "1.5"]))["needed"],
        json(&with(&["--variance", "2.25"]))["needed"]
    );
    for (arguments, expected) in [
        (counts.to_vec(), "--sd, --variance or --from"),
        (with(&["--base", "0.5"]), "--mean and --sd"),
        (with(&["--sd", "0"]), "--sd must be above 0"),
        (
            vec!["--metric", "refused_calls", "--sd", "1"],
            "--effect, or --scenarios",
        ),
        (vec!["--metric", "violation"], "--base or --from"),
        (vec!["--mean", "0.5"], "--base"),
    ] {
        let error = plan(&arguments).unwrap_err().to_string();
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn the_other_questions() {
    says(
        &[
            "--question",
            "violation",
            "--n",
            "60",
            "--usd-per-episode",
            "0.03",
        ],
        &[
            "167",
            "197",
            "$11.82",
            "6 or more against 0",
            "bounds the rate by 4.9 %",
        ],
    );
    let value = json(&["--question", "violation", "--rate", "0.1"]);
    assert_eq!(
        (&value["question"], &value["rates"][0]["two_sided"]),
        (&"violation".into(), &78.into())
    );
    says(
        &[
            "--question",
            "mcnemar",
            "--n",
            "60",
            "--effect",
            "0.2",
            "--reverse",
            "0.05",
        ],
        &["20.1 %", "79.7 %", "pairs count as independent"],
    );
    assert_eq!(
        json(&["--question", "mcnemar"])["rows"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    says(
        &[
            "--question",
            "sequential",
            "--win-share",
            "1",
            "--discordant",
            "0.5",
            "--usd-per-episode",
            "1",
        ],
        &["The fewest are 8 pairs", "$32.00"],
    );
    let value = json(&["--question", "sequential"]);
    assert_eq!(
        (&value["fewest_pairs"], &value["rows"][5]["expected_pairs"]),
        (&8.into(), &8.0.into())
    );
}

#[test]
fn hostile_flags_are_refused_or_answered() {
    for (arguments, expected) in [
        (vec!["--effect", "0"], "--effect"),
        (vec!["--effect", "-0.1"], "--effect"),
        (vec!["--effect", "2"], "cannot change by 2"),
        (vec!["--effect", "NaN"], "--effect"),
        (vec!["--icc", "-1"], "--icc must be from 0 to 1"),
        (vec!["--icc", "1", "--correlation", "1"], "nothing varies"),
        (vec!["--correlation", "NaN"], "--correlation"),
        (vec!["--base", "0"], "--question violation"),
        (vec!["--base", "1"], "leaves nothing to vary"),
        (vec!["--base", "7"], "--base must be"),
        (vec!["--scenarios", "0"], "--scenarios"),
        (vec!["--scenarios", "1000000000"], "1..=1000000"),
        (vec!["--repeats", "0"], "--repeats"),
        (vec!["--alpha", "0"], "--alpha"),
        (vec!["--power", "1"], "--power"),
        (vec!["--arms", "11"], "2..=10"),
        (vec!["--usd-per-episode", "-1"], "--usd-per-episode"),
        (vec!["--price-input", "1"], "--price-output"),
        (vec!["--pack", "gone"], "gone"),
        (
            vec!["--n", "60"],
            "does not belong to --question versions, but to violation and mcnemar",
        ),
        (
            vec!["--question", "violation", "--effect", "0.1"],
            "versions and mcnemar",
        ),
        (vec!["--question", "violation", "--rate", "0"], "--rate"),
        (
            vec!["--question", "violation", "--n", "1000000000"],
            "1..=1000000",
        ),
        (
            vec!["--question", "mcnemar", "--n", "5001"],
            "--n must be from 1 to 5000",
        ),
        (
            vec!["--question", "mcnemar", "--reverse", "0.5"],
            "--reverse",
        ),
        (
            vec!["--question", "sequential", "--win-share", "1.1"],
            "--win-share",
        ),
        (
            vec!["--question", "sequential", "--pairs", "1000000"],
            "1..=5000",
        ),
    ] {
        let error = format!("{:#}", plan(&arguments).unwrap_err());
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    says(
        &["--effect", "1e-9"],
        &["No number of scenarios up to 1000000"],
    );
    says(&["--icc", "1", "--effect", "0.2"], &["ICC 1.00"]);
    says(&["--scenarios", "1"], &["no test on 1 scenario can reach"]);
    says(
        &[
            "--scenarios",
            "1000000",
            "--repeats",
            "10000",
            "--arms",
            "10",
        ],
        &["percentage points"],
    );
    says(
        &["--question", "violation", "--n", "1"],
        &["no number against 0"],
    );
    says(
        &["--question", "mcnemar", "--n", "5000"],
        &["5000 pairs find"],
    );
}

#[tokio::test]
async fn from_recorded_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let store = support::store(folder.path());
    let small = Plan {
        repeats: 3,
        ..support::plan("seen")
    };
    let options = RunOptions {
        labels: Map::new(),
        ..support::options()
    };
    play(&small, &store, &options).await.unwrap();
    let path = folder.path().to_str().unwrap();
    let from = ["--from", "seen", "--store", path];
    let with = |more: &[&'static str]| [&from[..], more].concat();
    says(
        &with(&["--metric", "tool_calls", "--effect", "0.5"]),
        &[
            "from experiment seen, arm baseline: 24 episodes in 2 scenarios",
            "simulated agents",
            "assumed: correlation 0.7",
        ],
    );
    let value = json(&with(&["--metric", "tool_calls", "--effect", "0.5"]));
    let (seen, design) = (&value["asked"]["recorded"], &value["asked"]["design"]);
    assert_eq!(seen["episodes"], 24);
    assert_eq!(seen["design"], *design);
    // A flag goes before what was recorded.
    let value = json(&with(&[
        "--metric",
        "tool_calls",
        "--effect",
        "0.5",
        "--icc",
        "0.3",
        "--sd",
        "2",
    ]));
    assert_eq!(
        (
            &value["asked"]["design"]["icc"],
            &value["asked"]["design"]["variance"]
        ),
        (&0.3.into(), &4.0.into())
    );
    let error = plan(&["--from", "gone", "--store", path])
        .unwrap_err()
        .to_string();
    assert!(error.contains("gone"), "{error}");
}
