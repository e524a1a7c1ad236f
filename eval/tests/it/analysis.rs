//! How a comparison is judged, on the command line.

use std::path::Path;

use serde_json::Value;
use trajectory::Exit;

use crate::support::eval;

/// The first eight scenarios of the larger pack.
fn pack(folder: &Path) -> String {
    let pack = market::scenario::Pack::load("bargain-40").unwrap();
    let scenarios = &pack.scenarios[..8];
    let path = folder.join("eight.json");
    std::fs::write(&path, serde_json::to_string(scenarios).unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn candidate(folder: &Path) -> String {
    let toolset = crate::support::rewritten(
        "refuse",
        "Walks away. Use it when no price inside your limit can be reached.",
    );
    let path = folder.join("v2.json");
    std::fs::write(&path, toolset.to_pretty()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn an_analysis_plan_is_stated_before_the_run_and_a_later_change_shows() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let (pack, candidate) = (pack(folder.path()), candidate(folder.path()));
    let plan = folder.path().join("analysis.json");
    std::fs::write(
        &plan,
        r#"{"metric": "tool_calls", "conditions": ["prompt"], "guards": ["violation=0.5"], "margin": 0.2}"#,
    )
    .unwrap();
    let arguments = [
        "compare",
        "--candidate",
        &candidate,
        "--pack",
        &pack,
        "--conditions",
        "prompt,server",
        "--repeats",
        "1",
        "--experiment",
        "planned",
        "--plan",
        plan.to_str().unwrap(),
    ];
    // Before anything is played, the plan and its hash can be looked at.
    let (_, shown) = eval(&store, &[&arguments[..], &["--dry-run", "--json"]].concat()).unwrap();
    let shown = json(&shown);
    assert_eq!(shown["analysis"]["primary_metric"], "tool_calls");
    assert!(!store.exists());

    let (_, text) = eval(&store, &[&arguments[..], &["--json"]].concat()).unwrap();
    let found = json(&text);
    assert_eq!(found["metric"]["name"], "tool_calls");
    assert_eq!(found["analysis"]["as_stated"], true);
    assert_eq!(found["analysis"]["used"]["size"]["scenarios"], 8);
    assert_eq!(found["pooled"]["pairs"], 8);
    assert_eq!(found["guards"].as_array().unwrap().len(), 1);

    // The same command without the plan goes on with what was stated.
    let (_, text) = eval(&store, &[&arguments[..11], &["--json"]].concat()).unwrap();
    assert_eq!(json(&text), found);

    // Another metric afterwards is judged, and said to be no confirmation.
    let (_, text) = eval(
        &store,
        &["compare", "--read", "--metric", "correct_strict", "--json"],
    )
    .unwrap();
    let changed = json(&text);
    assert_eq!(changed["analysis"]["as_stated"], false);
    assert_eq!(
        changed["analysis"]["stated_hash"],
        found["analysis"]["stated_hash"]
    );
    let note = changed["verdict"]["notes"][0].as_str().unwrap();
    assert!(
        note.contains("primary_metric: stated \"tool_calls\", now \"correct_strict\""),
        "{note}"
    );
}

#[test]
fn a_sequential_run_stops_early_and_running_it_again_plays_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let (pack, candidate) = (pack(folder.path()), candidate(folder.path()));
    let arguments = [
        "compare",
        "--candidate",
        &candidate,
        "--pack",
        &pack,
        "--conditions",
        "prompt",
        "--repeats",
        "40",
        "--experiment",
        "seq",
        "--sequential",
        "--guard",
        "none",
        "--concurrency",
        "2",
    ];
    let (exit, text) = eval(&store, &[&arguments[..], &["--gate"]].concat()).unwrap();
    assert!(
        text.contains("stopped early, the evidence suffices"),
        "{text}"
    );
    assert!(
        text.contains("improved: ") && text.contains("the e-value reached 20 after"),
        "{text}"
    );
    assert_eq!(exit, Exit::Done);
    let (_, again) = eval(&store, &arguments).unwrap();
    assert!(again.contains(" 0 played now"), "{again}");
    let verdict = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("improved"))
            .map(str::to_owned)
    };
    assert_eq!(verdict(&text), verdict(&again));
}

#[test]
fn a_version_against_itself_tells_the_noise_floor() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let pack = pack(folder.path());
    let arguments = [
        "compare",
        "--aa",
        "--pack",
        &pack,
        "--conditions",
        "prompt",
        "--repeats",
        "1",
    ];
    let (_, text) = eval(&store, &arguments).unwrap();
    for words in [
        "A/A: both arms serve the same version",
        "noise floor: in 400 relabellings",
    ] {
        assert!(text.contains(words), "{text}");
    }
    // Each arm drew its own numbers: something differs.
    let (_, text) = eval(&store, &["compare", "--read", "--json"]).unwrap();
    let found = json(&text);
    assert_eq!(found["identical"], true);
    assert!(
        found["pooled"]["metrics"]["tool_calls"]["by_scenario"]
            .as_array()
            .unwrap()
            .iter()
            .any(|scenario| scenario["difference"] != 0.0)
    );
    assert!(found["noise"]["floor"].is_number());
    let both = ["compare", "--aa", "--candidate", "baseline"];
    assert!(
        eval(&store, &both)
            .unwrap_err()
            .to_string()
            .contains("cannot be used with")
    );
}

#[test]
fn a_dry_run_says_what_can_never_be_shown() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let (_, text) = eval(
        &store,
        &[
            "compare",
            "--candidate",
            "baseline",
            "--pack",
            "reference",
            "--conditions",
            "prompt",
            "--dry-run",
        ],
    )
    .unwrap();
    for words in [
        "WARNING: 5 scenarios can never show a difference at 0.05 (smallest p 0.0625)",
        "WARNING: guard violation=0.05 can never hold with 15 pairs: even without a single event it takes 52",
        "sha256 ",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn wrong_analyses_are_refused_before_anything_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    for (arguments, words) in [
        (&["--alpha", "0"][..], "alpha must be above 0.00009"),
        (&["--alpha", "NaN"], "alpha must be above 0.00009"),
        (&["--guard", "violation"], "METRIC=MARGIN"),
        (&["--guard", "beauty=1"], "there is no metric `beauty`"),
        (&["--plan", "nowhere.json"], "nowhere.json"),
        (
            &["--conditions", "prompt", "--test-conditions", "server"],
            "which is not played",
        ),
        (&["--contrast", "both"], "use pooled or per-condition"),
        (&["--min-coverage", "7"], "min_coverage"),
    ] {
        let all = [&["compare", "--candidate", "baseline"], arguments].concat();
        let error = format!("{:#}", eval(&store, &all).unwrap_err());
        assert!(error.contains(words), "{arguments:?}: {error}");
        assert!(!store.exists());
    }
}
