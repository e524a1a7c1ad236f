//! Each kind of file, and what an import says about it.

use std::collections::BTreeMap;

use collector::import::ImportOptions;
use trajectory::{Capture, EpisodeRecord};

use super::{Place, fixture, named};

/// `tool(arguments)=result` with `!` for failed and `?` for unknown.
fn calls(record: &EpisodeRecord) -> Vec<String> {
    record
        .calls
        .iter()
        .map(|call| {
            let mark = call
                .is_error
                .map_or("?", |error| if error { "!" } else { "" });
            let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            format!(
                "{}({})={}{mark}",
                call.tool,
                text(&call.arguments),
                text(&call.result)
            )
        })
        .collect()
}

#[test]
fn observations_export() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("observations.jsonl")], &named("desk"))
        .unwrap();
    assert_eq!(
        summary.files[0].shapes,
        BTreeMap::from([("langfuse observations export".to_owned(), 9)])
    );
    assert_eq!(
        (summary.traces, summary.added, summary.observations),
        (2, 2, 8)
    );
    assert_eq!(
        (
            summary.calls,
            summary.failed_calls,
            summary.definitions,
            summary.toolsets
        ),
        (3, 1, 2, 1)
    );
    assert_eq!(
        (
            summary.duplicates,
            summary.orphans,
            summary.rejected_rows,
            summary.scores
        ),
        (1, 2, 0, 2)
    );
    assert_eq!(summary.notes, [""; 0]);

    let records = place.records();
    let a = &records[0];
    assert_eq!(
        calls(a),
        [
            "find_order({\"order\": \"17\"})=unknown order 17: give the order with its letter, as A-17!",
            "find_order({\"order\": \"A-17\"})={\"order\": \"A-17\", \"state\": \"shipped\"}"
        ]
    );
    assert_eq!(
        a.calls[0].error_message.as_deref(),
        Some("unknown order 17: give the order with its letter, as A-17")
    );
    assert_eq!(a.calls[0].call_id.as_deref(), Some("call_a1"));
    assert_eq!(a.calls[0].started_us, Some(1_763_600_894_100_000));
    let roles: Vec<&str> = a
        .messages
        .iter()
        .map(|message| message.role.as_str())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant"
        ]
    );
    assert_eq!(a.episode.scenario.as_deref(), Some("order desk"));
    assert_eq!(
        (a.episode.input_tokens_buyer, a.episode.output_tokens_buyer),
        (Some(360), Some(39))
    );
    assert!((a.episode.cost_usd.unwrap() - 0.0008).abs() < 1e-9);
    assert_eq!(a.scores[0].value, Some(1.0));

    // The refund never ended: unfinished, and not failed.
    let b = &records[1];
    assert_eq!(
        calls(b),
        ["refund({\"order\": \"B-2\", \"amount\": 12.5})=-?"]
    );
    assert_eq!(b.calls[0].result_state, Capture::NotCaptured);
    assert_eq!(b.scores[0].value, Some(0.0));
    assert_eq!(a.episode.toolset_seen, b.episode.toolset_seen);
}

#[test]
fn a_cut_array_keeps_its_rows() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("observations-cut.json")], &named("desk"))
        .unwrap();
    assert_eq!(
        (summary.traces, summary.observations, summary.calls),
        (1, 6, 2)
    );
    assert_eq!(summary.rejected_rows, 1);
    assert!(
        summary.rejected[0].reason.contains("cut off here"),
        "{:?}",
        summary.rejected
    );
}

#[test]
fn events_export_of_a_filtered_table() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("events.jsonl")], &ImportOptions::default())
        .unwrap();
    assert_eq!(
        summary.files[0].shapes,
        BTreeMap::from([("langfuse events export".to_owned(), 4)])
    );
    assert_eq!(
        (
            summary.traces,
            summary.calls,
            summary.failed_calls,
            summary.orphans
        ),
        (2, 1, 1, 4)
    );
    let records = place.records();
    let call = &records[0].calls[0];
    assert_eq!(
        (call.tool.as_str(), call.error_class.as_deref()),
        ("create_issue", Some("tool_error"))
    );
    assert_eq!(call.error_message.as_deref(), Some("missing project"));
    assert_eq!(records[0].tools[0].description.as_deref(), Some("Creates."));
    assert_eq!(records[0].episode.input_tokens_buyer, Some(1447));
    assert_eq!(records[0].episode.started_us, Some(1_777_117_415_383_000));
    assert_eq!(
        records[1].episode.error.as_deref(),
        Some("429 Too Many Requests\nslow down")
    );
    let text = format!("{records:?}");
    assert!(!text.contains("pk-lf-"), "{text}");
}

#[test]
fn stored_observations() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("stored.jsonl")], &named("stored"))
        .unwrap();
    assert_eq!(
        (summary.observations, summary.duplicates, summary.orphans),
        (2, 1, 0)
    );
    let record = &place.records()[0];
    assert_eq!(
        calls(record),
        ["lookup({\"key\":\"it's\",\"deep\":null})=found"]
    );
    assert_eq!(record.calls[0].call_id.as_deref(), Some("k1"));
    assert_eq!(record.episode.scenario.as_deref(), Some("lookup"));
    assert_eq!(
        record.tools[0].input_schema.as_deref(),
        Some(r#"{"type":"object","properties":{"key":{"type":"string"}}}"#)
    );
}

#[test]
fn trace_download() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("trace-download.json")], &named("weather"))
        .unwrap();
    assert_eq!(
        (
            summary.observations,
            summary.duplicates,
            summary.calls,
            summary.definitions
        ),
        (3, 0, 1, 1)
    );
    let record = &place.records()[0];
    assert_eq!(
        calls(record),
        [
            "get_weather({\"city\": \"Oslo\"})={\"_meta\": {}, \"content\": [{\"type\": \"text\", \"text\": \"rain\"}], \"isError\": false}"
        ]
    );
    let scores: Vec<_> = record
        .scores
        .iter()
        .map(|score| {
            (
                score.name.as_str(),
                score.value,
                score.text.as_deref(),
                score.call_id.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        scores,
        [
            ("correct", Some(0.0), None, None),
            ("thumbs", Some(-1.0), None, None),
            ("needed", Some(1.0), Some("True"), Some("call_d")),
            ("tone", None, Some("curt"), None)
        ]
    );
    assert_eq!(record.episode.episode_id, "trace-d");
}

#[test]
fn the_documented_example() {
    let example = "../trajectories/examples/langfuse-observations.jsonl";
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(example);
    let summary = Place::new().import(&[path], &named("tracker")).unwrap();
    assert_eq!(
        (summary.traces, summary.calls, summary.failed_calls),
        (10, 20, 9)
    );
    assert_eq!(
        (summary.definitions, summary.scores, summary.rejected_rows),
        (4, 10, 0)
    );
}

#[test]
fn traces_alone_have_no_calls_and_say_so() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("traces.jsonl")], &named("weather"))
        .unwrap();
    assert_eq!((summary.traces, summary.calls, summary.scores), (1, 0, 1));
    assert!(
        summary.notes[0].contains("export the Observations"),
        "{:?}",
        summary.notes
    );
    // Together with their observations they are one trace.
    let files = [fixture("traces.jsonl"), fixture("trace-download.json")];
    let summary = place.import(&files, &named("both")).unwrap();
    assert_eq!((summary.traces, summary.calls), (1, 1));
}

#[test]
fn importing_again_adds_nothing() {
    let place = Place::new();
    let paths = [fixture("observations.jsonl")];
    let first = place.import(&paths, &ImportOptions::default()).unwrap();
    let before = place.records();
    let again = place.import(&paths, &ImportOptions::default()).unwrap();
    assert_eq!(again.experiment, first.experiment);
    assert_eq!((again.added, again.already_there), (0, 2));
    assert_eq!(place.records(), before);
    let replaced = place
        .import(
            &paths,
            &ImportOptions {
                replace: true,
                ..ImportOptions::default()
            },
        )
        .unwrap();
    assert_eq!((replaced.added, replaced.already_there), (2, 0));
    assert_eq!(place.records(), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::new();
    let options = ImportOptions {
        dry_run: true,
        ..named("desk")
    };
    let summary = place
        .import(&[fixture("observations.jsonl")], &options)
        .unwrap();
    assert_eq!((summary.added, summary.calls), (2, 3));
    assert!(!place.store().exists());
}

#[test]
fn strict_refuses_before_writing() {
    let place = Place::new();
    let file = place.file(
        "x.jsonl",
        "{\"id\":\"a\",\"traceId\":\"tttt\",\"type\":\"SPAN\",\"startTime\":\"x\"}\nbroken\n",
    );
    let options = ImportOptions {
        strict: true,
        ..named("x")
    };
    let error = place
        .import(std::slice::from_ref(&file), &options)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--strict") && error.contains("x.jsonl` line 2"),
        "{error}"
    );
    assert!(!place.store().exists());
    let summary = place.import(&[file], &named("x")).unwrap();
    assert_eq!(
        (
            summary.traces,
            summary.rejected_rows,
            summary.rejected[0].line
        ),
        (1, 1, 2)
    );
}

#[test]
fn folders_are_searched_and_foreign_files_passed_over() {
    let place = Place::new();
    let folder = place.folder.path().join("exports");
    std::fs::create_dir_all(folder.join("deeper")).unwrap();
    std::fs::copy(fixture("observations.jsonl"), folder.join("a.txt")).unwrap();
    std::fs::copy(fixture("events.jsonl"), folder.join("deeper/b.csv")).unwrap();
    std::fs::write(folder.join("README.md"), "# Exports\n").unwrap();
    std::fs::write(folder.join("empty.jsonl"), "").unwrap();
    std::fs::write(folder.join(".hidden"), "x").unwrap();
    let summary = place.import(&[folder], &named("all")).unwrap();
    assert_eq!((summary.files.len(), summary.traces), (2, 4));
    assert_eq!(summary.notes.len(), 2, "{:?}", summary.notes);
    assert_eq!(summary.rejected_rows, 0);
}

#[test]
fn what_cannot_be_imported_says_what_to_do() {
    let cases: [(&str, &[u8], &str); 8] = [
        ("x.gz", b"\x1f\x8b\x08", "gunzip"),
        ("x.parquet", b"PAR1....", "JSONL"),
        ("x.csv", b"id,name\n1,2\n", "CSV is not imported yet"),
        ("empty", b"", "an empty file"),
        ("none.json", b"[]", "no rows"),
        ("otlp.json", b"{\"resourceSpans\":[]}", "OTLP"),
        ("other.json", b"{\"a\":1,\"b\":2}", "keys a, b"),
        ("utf16", b"\xff\xfe{\0", "UTF-8"),
    ];
    for (name, content, advice) in cases {
        let place = Place::new();
        let file = place.file(name, content);
        let error = place
            .import(&[file], &ImportOptions::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("nothing to import")
                && error.contains(name)
                && error.contains(advice),
            "{error}"
        );
        assert!(!place.store().exists());
    }
    let place = Place::new();
    let error = place
        .import(&["missing.jsonl".into()], &ImportOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("missing.jsonl") && error.contains("cannot be read"),
        "{error}"
    );
    let error = place
        .import(&[fixture("events.jsonl")], &named("a/b"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be an experiment's name"), "{error}");
}

#[test]
fn pages_wrappers_and_marks() {
    let place = Place::new();
    let row = |id: &str| {
        format!(
            "{{\"id\":\"{id}\",\"traceId\":\"tttt\",\"type\":\"SPAN\",\"startTime\":\"2025-01-01T00:00:00Z\"}}"
        )
    };
    let page = format!(
        "\u{feff}{{\"data\":[{},{}],\"meta\":{{\"page\":1}}}}\n{{\"data\":[{}],\"meta\":{{}}}}",
        row("a"),
        row("b"),
        row("c")
    );
    let file = place.file("pages", page);
    assert_eq!(
        place.import(&[file], &named("pages")).unwrap().observations,
        3
    );
    let file = place.file("crlf", format!("{}\r\n{}\r\n", row("a"), row("b")));
    assert_eq!(
        place.import(&[file], &named("crlf")).unwrap().observations,
        2
    );
    let file = place.file(
        "large",
        format!(
            "[{}, {{\"x\":\"{}\"}}, {}]",
            row("a"),
            "y".repeat(3 << 20),
            row("b")
        ),
    );
    let options = ImportOptions {
        document_limit: 1 << 20,
        ..named("large")
    };
    let summary = place.import(&[file], &options).unwrap();
    assert_eq!((summary.observations, summary.rejected_rows), (2, 1));
    assert!(
        summary.rejected[0].reason.contains("larger than 1 MiB"),
        "{:?}",
        summary.rejected
    );
}
