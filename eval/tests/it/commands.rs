//! The commands as a user runs them, in this process.

use std::path::Path;

use serde_json::Value;
use trajectory::Exit;

use crate::support::eval;

/// A pack of one feasible and one infeasible scenario.
fn pack(folder: &Path) -> String {
    let file = folder.join("two.json");
    let text = r#"[{"id":"a","item":"lamp <b>","reserve":40,"budget":120},{"id":"b","item":"desk","reserve":90,"budget":60}]"#;
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn run_report_and_export() {
    let folder = tempfile::tempdir().unwrap();
    let (store, pack) = (folder.path().join("store"), pack(folder.path()));
    let base = [
        "run",
        "--pack",
        &pack,
        "--repeats",
        "1",
        "--experiment",
        "small",
    ];

    let dry: Vec<&str> = base.iter().copied().chain(["--dry-run"]).collect();
    let (_, text) = eval(&store, &dry).unwrap();
    assert!(
        text.contains("= 8 episodes") && text.contains("recorded     0, to play 8"),
        "{text}"
    );
    assert!(!store.exists(), "a dry run leaves nothing behind");

    let (exit, text) = eval(&store, &base).unwrap();
    assert_eq!(exit, Exit::Done);
    assert!(
        text.contains("simulated") && text.contains("8 played now"),
        "{text}"
    );
    let (_, text) = eval(
        &store,
        &base.iter().copied().chain(["--json"]).collect::<Vec<_>>(),
    )
    .unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (
            value["run"]["played"].as_u64(),
            value["run"]["already_recorded"].as_u64()
        ),
        (Some(0), Some(8))
    );
    assert_eq!(value["summary"]["rows"].as_array().unwrap().len(), 4);
    let (_, text) = eval(&store, &dry).unwrap();
    assert!(text.contains("recorded     8, to play 0"), "{text}");
    let other: Vec<&str> = dry.iter().copied().chain(["--seed", "5"]).collect();
    assert!(
        eval(&store, &other)
            .unwrap_err()
            .to_string()
            .contains("seed")
    );

    // The only experiment needs no name.
    let (_, page) = eval(&store, &["report"]).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("simulated"));
    for format in ["md", "json", "text"] {
        assert!(
            eval(&store, &["report", "--format", format])
                .unwrap()
                .1
                .contains("server_inject"),
            "{format}"
        );
    }
    let out = folder.path().join("course");
    let (_, text) = eval(
        &store,
        &[
            "export",
            "--format",
            "course",
            "--out",
            out.to_str().unwrap(),
        ],
    )
    .unwrap();
    assert!(text.contains("8 rows"), "{text}");
    assert_eq!(
        std::fs::read_to_string(out.join("results.csv"))
            .unwrap()
            .lines()
            .count(),
        9
    );
}

#[test]
fn compare_runs_reads_gates_and_writes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let (store, pack) = (folder.path().join("store"), pack(folder.path()));
    let candidate = folder.path().join("v2.json");
    let toolset = crate::support::rewritten(
        "refuse",
        "Walks away. Use it when no price inside your limit can be reached.",
    );
    std::fs::write(&candidate, toolset.to_pretty()).unwrap();
    let page = folder.path().join("report.html");
    let arguments = [
        "compare",
        "--candidate",
        candidate.to_str().unwrap(),
        "--pack",
        &pack,
        "--repeats",
        "1",
        "--experiment",
        "c",
        "--report",
        page.to_str().unwrap(),
    ];
    let (exit, text) = eval(&store, &arguments).unwrap();
    assert_eq!(exit, Exit::Done);
    assert!(
        text.contains("16 played now") && text.contains("simulated"),
        "{text}"
    );
    assert!(
        text.contains("With 2 scenarios no test on scenarios can show a difference"),
        "{text}"
    );
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("Walks away.") && html.contains("Refuses the negotiation."),
        "both texts are shown"
    );

    // Nothing is played again, and JSON is all there is on stdout.
    let json: Vec<&str> = arguments
        .iter()
        .copied()
        .chain(["--json", "--gate"])
        .collect();
    let (exit, text) = eval(&store, &json).unwrap();
    assert_eq!(exit, Exit::NoImprovement);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["verdict"]["kind"], "inconclusive");
    assert_eq!(value["candidate"]["toolset"], toolset.id());

    let (_, read) = eval(&store, &["compare", "--read", "--json"]).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&read).unwrap(), value);
    let named = [
        "compare",
        "--read",
        "--baseline",
        "baseline",
        "--candidate",
        candidate.to_str().unwrap(),
        "--json",
    ];
    assert_eq!(eval(&store, &named).unwrap().1, read);
    let (_, tokens) = eval(&store, &["compare", "--read", "--metric", "tool_calls"]).unwrap();
    assert!(tokens.contains("not confirmatory"), "{tokens}");
    let (_, text) = eval(&store, &["report", "--format", "md"]).unwrap();
    assert!(
        text.starts_with("# Comparison of two toolset versions (simulated"),
        "{text}"
    );
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let error = |arguments: &[&str]| format!("{:#}", eval(&store, arguments).unwrap_err());
    for (arguments, expected) in [
        (vec!["run", "--model", "sim:wild"], "wild"),
        (vec!["run", "--conditions", "none"], "prompt_inject"),
        (vec!["run", "--toolset", "gone.json"], "gone.json"),
        (vec!["run", "--injection", "kindness"], "limit_raised"),
        (vec!["run", "--experiment", "a b"], "a b"),
        (vec!["run", "--repeats", "0"], "--repeats"),
        (vec!["run", "--tool-calling", "magic"], "magic"),
        (
            vec!["run", "--market", "http://127.0.0.1:1"],
            "WHETSTONE_MARKET_ADMIN_SECRET",
        ),
        (vec!["run", "--budget-usd", "1"], "--price-input"),
        (vec!["compare"], "--candidate"),
        (
            vec!["compare", "--candidate", "baseline", "--metric", "luck"],
            "correct_strict",
        ),
        (vec!["report"], "no trajectory store"),
    ] {
        let text = error(&arguments);
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    assert!(
        !store.exists(),
        "a command that fails before it plays leaves nothing behind"
    );
}
