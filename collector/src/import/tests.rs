//! Whole traces: what is counted, and what is kept of each call.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of JSON literals read better without `&`"
)]

mod frameworks;

use serde_json::{Value, json};
use trajectory::{Capture, EpisodeRecord};

use super::*;

fn observation(kind: &str, name: &str, at: u32, fields: Value) -> Value {
    let mut row = json!({
        "id": format!("{name}-{at}"), "traceId": "trace-1", "projectId": "p", "type": kind, "name": name, "level": "DEFAULT",
        "startTime": format!("2025-10-01T10:00:{at:02}.000Z"), "endTime": format!("2025-10-01T10:00:{at:02}.500Z"),
        "parentObservationId": null,
    });
    for (key, value) in fields.as_object().unwrap() {
        // Downloads hold payloads as JSON strings.
        let payload = matches!(key.as_str(), "input" | "output" | "metadata") && !value.is_string();
        row[key] = if payload {
            json!(value.to_string())
        } else {
            value.clone()
        };
    }
    row
}

fn episode(observations: &[Value]) -> EpisodeRecord {
    let mut gathered = Gathered::default();
    let mut file = FileSummary::default();
    let download = json!({"trace": {"id": "trace-1", "name": "ask", "scores": []}, "observations": observations});
    read_document(&download.to_string(), 0, &mut file, &mut gathered).unwrap();
    let mut records = assemble("e", gathered, &mut Summary::default());
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// `server/tool(arguments)=result` of each call.
fn calls(record: &EpisodeRecord) -> Vec<String> {
    record
        .calls
        .iter()
        .map(|call| {
            let server = call.server.as_deref().unwrap_or("-");
            let arguments = call.arguments.as_deref().unwrap_or("-");
            let mark = call
                .is_error
                .map_or("?", |error| if error { "!" } else { "" });
            format!(
                "{server}/{}({arguments})={}{mark}",
                call.tool,
                call.result.as_deref().unwrap_or("-")
            )
        })
        .collect()
}

fn tools(record: &EpisodeRecord) -> Vec<(&str, Option<&str>)> {
    record
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), tool.description.as_deref()))
        .collect()
}

fn roles(record: &EpisodeRecord) -> Vec<&str> {
    record
        .messages
        .iter()
        .map(|message| message.role.as_str())
        .collect()
}

#[test]
fn unfinished_truncated_and_missing_are_told_apart() {
    let record = episode(&[
        observation("TOOL", "a", 1, json!({"endTime": null})),
        observation(
            "TOOL",
            "b",
            2,
            json!({"input": "<truncated due to size exceeding limit>", "output": "x"}),
        ),
        observation(
            "TOOL",
            "c",
            3,
            json!({"input": "{\"q\": \"unfin", "output": ""}),
        ),
        observation(
            "TOOL",
            "d",
            4,
            json!({"input": "{\"a\":1}{\"b\":2}", "output": "x"}),
        ),
        observation(
            "TOOL",
            "e",
            5,
            json!({"input": "{}", "output": "null", "level": "WARNING"}),
        ),
    ]);
    let states: Vec<_> = record
        .calls
        .iter()
        .map(|call| (call.arguments_state, call.result_state, call.is_error))
        .collect();
    assert_eq!(
        states,
        [
            (Capture::NotCaptured, Capture::NotCaptured, None),
            (Capture::Truncated, Capture::Captured, Some(false)),
            (Capture::Truncated, Capture::Captured, Some(false)),
            (Capture::Invalid, Capture::Captured, Some(false)),
            (Capture::Captured, Capture::Captured, Some(false)),
        ]
    );
}

#[test]
fn scores_find_their_call() {
    let mut gathered = Gathered::default();
    let download = json!({"trace": {"id": "trace-1", "scores": [
            {"id": "s1", "traceId": "trace-1", "name": "useful", "value": 0, "dataType": "NUMERIC", "observationId": "get-1"},
            {"id": "s1", "traceId": "trace-1", "name": "useful", "value": 0, "dataType": "NUMERIC", "observationId": "get-1"},
            {"id": "s2", "traceId": "trace-1", "name": "good", "value": -1, "dataType": "NUMERIC", "comment": "no"}]},
        "observations": [observation("TOOL", "get", 1, json!({"metadata": {"attributes": {"gen_ai.tool.call.id": "c1"}}}))]});
    read_document(
        &download.to_string(),
        0,
        &mut FileSummary::default(),
        &mut gathered,
    )
    .unwrap();
    let record = assemble("e", gathered, &mut Summary::default()).remove(0);
    let found: Vec<_> = record
        .scores
        .iter()
        .map(|score| (score.name.as_str(), score.value, score.call_id.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("useful", Some(0.0), Some("c1")),
            ("good", Some(-1.0), None)
        ]
    );
}

#[test]
fn trace_scores_repeated_on_every_row_are_one() {
    let mut gathered = Gathered::default();
    for (id, parent) in [("a", ""), ("b", "a"), ("c", "a")] {
        let row = json!({"id": id, "traceId": "trace-1", "type": "SPAN", "startTime": "2025-01-01 00:00:00.000000", "latencyMs": 1,
            "parentObservationId": parent, "helpful": [1], "exact": if id == "b" { json!([0]) } else { json!(null) }});
        read_document(
            &row.to_string(),
            0,
            &mut FileSummary::default(),
            &mut gathered,
        )
        .unwrap();
    }
    let record = assemble("e", gathered, &mut Summary::default()).remove(0);
    let found: Vec<_> = record
        .scores
        .iter()
        .map(|score| (score.name.as_str(), score.value, score.call_id.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("helpful", Some(1.0), None),
            ("exact", Some(0.0), Some("b"))
        ]
    );
}

#[test]
fn personal_data_and_keys_are_left_behind() {
    let record = episode(&[observation(
        "SPAN",
        "root",
        1,
        json!({"userId": "jane@example.org", "comments": [{"content": "hi", "author_email": "joe@example.org"}],
        "metadata": {"scope": {"attributes": {"public_key": "pk-lf-1234"}}, "attributes": {"user.email": "jane@example.org"}},
        "input": "q", "output": "a"}),
    )]);
    let text = serde_json::to_string(&record).unwrap();
    for secret in ["pk-lf-1234", "jane@example.org", "joe@example.org"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(roles(&record), ["user", "assistant"]);
}

#[test]
fn names_come_from_the_content() {
    let gathered = |ids: &[&str], project: Option<&str>| {
        let mut gathered = Gathered::default();
        for id in ids {
            gathered.trace(id).facts.project = project.map(str::to_owned);
        }
        gathered
    };
    let name = |ids: &[&str], project: Option<&str>| experiment_name(&gathered(ids, project));
    assert_eq!(name(&["a", "b"], None), name(&["b", "a"], None));
    assert_ne!(name(&["a"], None), name(&["a", "b"], None));
    assert_eq!(name(&["a"], Some("p")), name(&["b"], Some("p")));
    assert!(trajectory::store::valid_experiment_name(&name(
        &["a"],
        None
    )));
    assert_eq!(episode::episode_id("0123-abc"), "0123-abc");
    for odd in ["", "a", "../x", "ä\u{1b}", &"x".repeat(200)] {
        assert!(episode::episode_id(odd).starts_with("tr_"), "{odd}");
    }
}
