//! `DuckDB` and Polars read the tables without help.

use std::io::Write as _;
use std::process::Command;

use trajectory::store::Store;
use trajectory::{Call, Capture, Episode, EpisodeRecord, Message, Score, ToolRow};

const CHECK: &str = include_str!("other_readers.py");

fn record(experiment: &str, number: i32) -> EpisodeRecord {
    let id = format!("ep_{number:03}");
    let mut episode = Episode::new(experiment, &id, "market");
    episode.arm = Some(
        if number % 2 == 0 {
            "baseline"
        } else {
            "candidate"
        }
        .to_owned(),
    );
    episode.price = (number % 3 != 0).then_some(i64::from(number) + 100);
    episode.quality = Some(0.5);
    episode.started_us = Some(1_764_547_200_000_000 + i64::from(number));
    episode.attributes = Some(r#"{"item":"lamp"}"#.to_owned());
    let calls = (0..3).map(|sequence| Call {
        experiment: experiment.to_owned(),
        episode_id: id.clone(),
        sequence,
        turn: None,
        role: Some("buyer".to_owned()),
        tool: "propose".to_owned(),
        server: None,
        call_id: None,
        arguments: Some(format!(r#"{{"price":{}}}"#, number + sequence)),
        arguments_state: Capture::Captured,
        result: Some("naïve \u{1F600}\u{1b}[0m".to_owned()),
        result_state: Capture::Captured,
        is_error: Some(sequence == 0),
        error_class: None,
        error_message: None,
        started_us: Some(1_764_547_200_000_000),
        ended_us: None,
    });
    EpisodeRecord {
        calls: calls.collect(),
        messages: vec![Message {
            experiment: experiment.to_owned(),
            episode_id: id.clone(),
            sequence: 0,
            turn: None,
            party: None,
            role: "user".to_owned(),
            content: None,
            tool_calls: None,
            model: None,
            input_tokens: None,
            output_tokens: None,
            latency_us: None,
            finish_reason: None,
            extra: None,
        }],
        scores: vec![Score {
            experiment: experiment.to_owned(),
            episode_id: id.clone(),
            call_id: None,
            name: "helpful".to_owned(),
            value: Some(0.0),
            text: None,
            source: None,
            comment: None,
        }],
        tools: vec![ToolRow {
            experiment: experiment.to_owned(),
            toolset_id: "ts_1".to_owned(),
            position: 0,
            name: "propose".to_owned(),
            description: None,
            input_schema: None,
            output_schema: None,
            annotations: None,
            definition: "{\"name\":\"propose\"}".to_owned(),
            first_seen_us: Some(0),
            last_seen_us: None,
        }],
        episode,
    }
}

#[test]
fn duckdb_and_polars_read_the_tables() {
    let required = std::env::var_os("WHETSTONE_REQUIRE_PYTHON").is_some_and(|value| value == "1");
    let skip = |reason: &str| {
        assert!(!required, "WHETSTONE_REQUIRE_PYTHON=1, but {reason}");
        // Not through the test's captured output: a skipped check must be seen.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: DuckDB and Polars were not tried on the tables: {reason}"
        );
    };
    let probe = Command::new("python3")
        .args(["-c", "import duckdb, polars"])
        .output();
    match probe {
        Err(error) => return skip(&format!("python3 does not start: {error}")),
        Ok(output) if !output.status.success() => {
            return skip("the Python packages are missing (pip install duckdb polars)");
        }
        Ok(_) => {}
    }
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    // Names that a guessing reader would take for a number or a date.
    for experiment in ["reference", "2026", "2026-11-30"] {
        for number in 0..10 {
            store.record(&record(experiment, number)).unwrap();
        }
        store.seal(experiment).unwrap();
        // A second part, without calls: its episodes are still there for a join from the left.
        let mut quiet = record(experiment, 99);
        quiet.calls.clear();
        store.append(experiment, &[quiet]).unwrap();
    }
    let output = Command::new("python3")
        .arg("-c")
        .arg(CHECK)
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("all checks passed"), "{text}");
}
