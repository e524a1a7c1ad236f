//! Shapes and the fields of each.

use serde_json::{Value, json};

use super::super::step::Step;
use super::*;

fn kind(value: &Value) -> Option<&'static str> {
    Langfuse.recognise(&Row::parse(&value.to_string()).unwrap())
}

fn read(values: &[Value]) -> Gathered {
    let mut gathered = Gathered::default();
    for value in values {
        let row = Row::parse(&value.to_string()).unwrap();
        let kind = Langfuse.recognise(&row).unwrap();
        Langfuse.read(&row, kind, &mut gathered).unwrap();
    }
    gathered
}

fn step<'a>(gathered: &'a Gathered, trace: &str, id: &str) -> &'a Step {
    &gathered.traces[trace].steps[id]
}

#[test]
fn kinds_are_told_by_keys() {
    let observation = json!({"id": "o", "traceId": "t", "type": "SPAN", "startTime": "x", "parentObservationId": null});
    assert_eq!(kind(&observation), Some(OBSERVATIONS));
    assert_eq!(
        kind(&json!({"id": "o", "traceId": "t", "type": "SPAN", "startTime": "x", "latencyMs": 1})),
        Some(EVENTS)
    );
    assert_eq!(
        kind(
            &json!({"id": "o", "trace_id": "t", "type": "SPAN", "start_time": "x", "project_id": "p"})
        ),
        Some(STORED_OBSERVATIONS)
    );
    assert_eq!(
        kind(&json!({"trace": {"id": "t"}, "observations": []})),
        Some(DOWNLOAD)
    );
    assert_eq!(
        kind(&json!({"observations": [], "scores": []})),
        Some(DOWNLOAD)
    );
    assert_eq!(
        kind(&json!({"id": "t", "observations": [observation], "htmlPath": "x"})),
        Some(DOWNLOAD)
    );
    assert_eq!(
        kind(&json!({"id": "t", "timestamp": "x", "tags": [], "bookmarked": false})),
        Some(TRACE)
    );
    assert_eq!(
        kind(&json!({"id": "s", "traceId": "t", "name": "n", "dataType": "NUMERIC", "value": 0})),
        Some(SCORES)
    );
    for other in [
        json!({}),
        json!({"id": 1}),
        json!({"resourceSpans": []}),
        json!({"observations": [1]}),
        json!({"type": "x", "startTime": 1}),
    ] {
        assert_eq!(kind(&other), None, "{other}");
    }
}

#[test]
fn empty_is_null_only_where_the_source_means_it() {
    let event = json!({"id": "o", "traceId": "t", "type": "TOOL", "startTime": "2026-04-25 11:43:35.383000", "latencyMs": 3,
        "parentObservationId": "", "output": "", "input": "", "providedModelName": "m", "statusMessage": "",
        "usageDetails": {"input": "1307", "output": "0"}, "totalCost": "0"});
    let gathered = read(&[event]);
    let found = step(&gathered, "t", "o");
    assert_eq!(
        (
            found.parent.as_ref(),
            found.output.raw(),
            found.status_message.as_ref()
        ),
        (None, None, None)
    );
    assert_eq!(
        (found.input_tokens, found.output_tokens, found.cost_usd),
        (Some(1307), None, None)
    );
    assert_eq!(found.started_us, Some(1_777_117_415_383_000));
    assert_eq!(found.model.as_deref(), Some("m"));
    let observation = json!({"id": "o", "traceId": "t", "type": "tool", "startTime": "x", "output": "", "input": {}});
    let gathered = read(&[observation]);
    assert_eq!(step(&gathered, "t", "o").output.raw(), Some(""));
    assert_eq!(step(&gathered, "t", "o").kind, "TOOL");
}

#[test]
fn the_latest_version_of_an_observation_stays() {
    let version = |name: &str, at: Option<&str>| json!({"id": "o", "trace_id": "t", "type": "SPAN", "start_time": "x", "name": name, "updated_at": at});
    let old = version("old", Some("2025-01-01 10:00:00.000"));
    let new = version("new", Some("2025-01-01 10:00:00.001"));
    for order in [[&old, &new], [&new, &old]] {
        let gathered = read(&order.map(Clone::clone));
        assert_eq!(step(&gathered, "t", "o").name, "new");
        assert_eq!((gathered.steps, gathered.duplicates), (2, 1));
    }
    let gathered = read(&[version("first", None), version("second", None)]);
    assert_eq!(step(&gathered, "t", "o").name, "second");
}

#[test]
fn a_row_that_stands_for_the_trace_is_no_step() {
    let gathered = read(&[
        json!({"id": "t-abc", "trace_id": "abc", "type": "SPAN", "start_time": "2025-01-01 00:00:00.000000", "trace_name": "ask", "input": "q", "output": ""}),
        json!({"id": "o", "trace_id": "abc", "type": "SPAN", "start_time": "2025-01-01 00:00:00.000000", "parent_observation_id": "t-abc"}),
    ]);
    let trace = &gathered.traces["abc"];
    assert_eq!(trace.facts.name.as_deref(), Some("ask"));
    assert_eq!(
        (trace.facts.input.raw(), trace.facts.output.raw()),
        (Some("q"), None)
    );
    assert_eq!(
        (trace.steps.len(), trace.steps["o"].parent.as_ref()),
        (1, None)
    );
}

#[test]
fn a_download_repeats_its_observations_and_they_count_once() {
    let observation = json!({"id": "o", "traceId": "t", "type": "SPAN", "startTime": "x"});
    let gathered = read(&[
        json!({"trace": {"id": "t", "observations": [observation]}, "observations": [observation]}),
    ]);
    assert_eq!((gathered.steps, gathered.duplicates), (1, 0));
    let gathered =
        read(&[json!({"trace": {"id": "t", "observations": [observation]}, "observations": []})]);
    assert_eq!(gathered.steps, 1);
    let bare = json!({"id": "o", "type": "SPAN", "startTime": "x"});
    assert_eq!(
        read(&[json!({"trace": {"id": "t"}, "observations": [bare]})]).traces["t"]
            .steps
            .len(),
        1
    );
}

#[test]
fn a_bad_observation_does_not_spoil_a_download() {
    let mut gathered = Gathered::default();
    let row = Row::parse(
        r#"{"trace":{"id":"t"},"observations":[{"id":"o","type":"SPAN"},{"type":"SPAN"},7]}"#,
    )
    .unwrap();
    let rejection = Langfuse.read(&row, DOWNLOAD, &mut gathered).unwrap_err();
    assert_eq!(gathered.steps, 1);
    let reasons = rejection.reasons();
    assert_eq!(reasons.len(), 2);
    assert_eq!(reasons[0], "observation 2: an observation without `id`");
    assert!(
        reasons[1].starts_with("observation 3: not a JSON object"),
        "{}",
        reasons[1]
    );
}

#[test]
fn payloads_may_live_in_the_attributes() {
    let gathered = read(&[
        json!({"id": "o", "traceId": "t", "type": "SPAN", "startTime": "x", "input": null,
        "metadata": {"attributes": {"langfuse.observation.input": "{\"a\":1}"}}}),
    ]);
    assert_eq!(
        step(&gathered, "t", "o").input.value(),
        Some(&json!({"a": 1}))
    );
}

#[test]
fn scores_keep_zero_minus_one_and_labels() {
    let score = |fields: Value| {
        let mut score = json!({"id": fields.to_string(), "traceId": "t", "name": "n", "source": "EVAL", "dataType": "NUMERIC"});
        for (key, value) in fields.as_object().unwrap() {
            score[key] = value.clone();
        }
        score
    };
    let gathered = read(&[
        score(json!({"value": 0})),
        score(json!({"value": -1})),
        score(json!({"value": null})),
        score(json!({"value": "NaN"})),
        score(json!({"dataType": "BOOLEAN", "value": 1, "stringValue": "True"})),
        score(json!({"dataType": "CATEGORICAL", "value": 0, "stringValue": "poor"})),
        score(json!({"dataType": "TEXT", "stringValue": "why", "observationId": "o"})),
        score(json!({"dataType": "BOOLEAN", "value": true})),
    ]);
    let found: Vec<_> = gathered.traces["t"]
        .scores
        .iter()
        .map(|score| (score.value, score.text.as_deref(), score.step.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            (Some(0.0), None, None),
            (Some(-1.0), None, None),
            (None, None, None),
            (None, Some("NaN"), None),
            (Some(1.0), Some("True"), None),
            (None, Some("poor"), None),
            (None, Some("why"), Some("o")),
            (Some(1.0), None, None),
        ]
    );
}

#[test]
fn score_columns_are_what_is_not_a_known_column() {
    let gathered = read(&[
        json!({"id": "o", "traceId": "t", "type": "SPAN", "startTime": "x", "tags": ["a"], "comments": [],
        "helpful, v2": [0, -1], "mood": ["good"], "none": null, "usage_pricing_tier_id": ["x"]}),
    ]);
    let found: Vec<_> = step(&gathered, "t", "o")
        .scores
        .iter()
        .map(|score| (score.name.as_str(), score.value, score.text.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("helpful, v2", Some(0.0), None),
            ("helpful, v2", Some(-1.0), None),
            ("mood", None, Some("good"))
        ]
    );
}
