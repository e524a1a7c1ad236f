//! Tests of the store. Samples here, subjects in the modules below.

mod crash;
mod formats;
mod roundtrip;
mod views;

use serde_json::json;

use super::{Filter, Store};
use crate::record::{Call, Capture, Episode, EpisodeRecord, Message, Score, Status, ToolRow};
use crate::toolset::Toolset;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn toolset() -> Toolset {
    Toolset::from_value(json!([
        {"name": "propose", "description": "Makes a proposal.", "inputSchema": {"type": "object"}},
        {"name": "refuse", "annotations": {"readOnlyHint": false}, "outputSchema": {"type": "object"}},
    ]))
    .unwrap()
}

fn tool_rows(experiment: &str, seen_us: i64) -> Vec<ToolRow> {
    let toolset = toolset();
    let rows = toolset
        .tools()
        .iter()
        .zip(0..)
        .map(|(tool, position)| ToolRow {
            experiment: experiment.to_owned(),
            toolset_id: toolset.id(),
            position,
            name: tool.name().to_owned(),
            description: Some(tool.description().to_owned()),
            input_schema: tool.input_schema().map(|schema| json!(schema).to_string()),
            output_schema: None,
            annotations: None,
            definition: json!(tool.raw()).to_string(),
            first_seen_us: Some(seen_us),
            last_seen_us: Some(seen_us),
        });
    rows.collect()
}

fn call(experiment: &str, id: &str, sequence: i32) -> Call {
    Call {
        experiment: experiment.to_owned(),
        episode_id: id.to_owned(),
        sequence,
        turn: Some(sequence / 2),
        role: Some("buyer".to_owned()),
        tool: "propose".to_owned(),
        server: None,
        call_id: Some(format!("call_{sequence}")),
        arguments: Some(format!(r#"{{"price": {sequence}}}"#)),
        arguments_state: Capture::Captured,
        result: None,
        result_state: Capture::NotCaptured,
        is_error: Some(sequence == 1),
        error_class: None,
        error_message: None,
        started_us: Some(1_764_500_000_000_000 + i64::from(sequence)),
        ended_us: None,
    }
}

/// An episode with two calls, two messages, a score and two tools.
fn record(experiment: &str, id: &str) -> EpisodeRecord {
    let mut episode = Episode::new(experiment, id, "market");
    episode.scenario = Some("s1".to_owned());
    episode.condition = Some("prompt".to_owned());
    episode.arm = Some("baseline".to_owned());
    episode.toolset_seen = Some(toolset().id());
    episode.quality = Some(0.1 + 0.2);
    episode.started_us = Some(1_764_500_000_123_456);
    episode.attributes = Some(r#"{"item": "lamp"}"#.to_owned());
    let message = |sequence: i32, role: &str| Message {
        experiment: experiment.to_owned(),
        episode_id: id.to_owned(),
        sequence,
        turn: None,
        party: None,
        role: role.to_owned(),
        content: Some(format!("text {sequence} of {id}\n\u{1b}[31m")),
        tool_calls: None,
        model: None,
        input_tokens: Some(7),
        output_tokens: None,
        latency_us: Some(1500),
        finish_reason: None,
        extra: None,
    };
    EpisodeRecord {
        calls: vec![call(experiment, id, 0), call(experiment, id, 1)],
        messages: vec![message(0, "user"), message(1, "assistant")],
        scores: vec![Score {
            experiment: experiment.to_owned(),
            episode_id: id.to_owned(),
            call_id: None,
            name: "helpful".to_owned(),
            value: Some(-1.0),
            text: None,
            source: None,
            comment: None,
        }],
        tools: tool_rows(experiment, 5),
        episode,
    }
}

fn with_status(mut record: EpisodeRecord, status: Status) -> EpisodeRecord {
    record.episode.status = status;
    record
}

fn all(store: &Store) -> Vec<EpisodeRecord> {
    store.records(&Filter::default()).unwrap()
}

/// Names of all files below a folder.
fn files(root: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in super::durable::list(&folder).unwrap() {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                found.push(
                    entry
                        .strip_prefix(root)
                        .unwrap()
                        .to_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found.sort_unstable();
    found
}
