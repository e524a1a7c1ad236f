//! One plain-text capture per run: every tool call, result, refusal and episode result.

use std::fmt::Write as _;

use trajectory::{Call, EpisodeRecord, Status};

use super::{HOST, Placed};
use crate::figures::one_line;
use crate::manifest::Manifest;

/// File names and contents, in the order of the plan.
pub(super) fn logs(rows: &[Placed<'_>], manifest: &Manifest) -> Vec<(String, String)> {
    let mut logs: Vec<(String, String)> = Vec::new();
    for row in rows {
        let condition = row.record.episode.condition.as_deref().unwrap_or("unknown");
        let name = format!("{condition}-run-{:02}.log", row.run);
        // Rows come run by run, so the log of a row is the last one or a new one.
        if logs.last().is_none_or(|(last, _)| *last != name) {
            logs.push((name, first_line(manifest)));
        }
        if let Some((_, log)) = logs.last_mut() {
            episode(row.record, log);
        }
    }
    logs
}

fn first_line(manifest: &Manifest) -> String {
    let or_default = |text: String| {
        if text.is_empty() {
            "default".to_owned()
        } else {
            text
        }
    };
    let counterpart = match manifest.setting("counterpart_model") {
        name if name.is_empty() => String::new(),
        name => format!(" seller_model={name}"),
    };
    let simulated = if manifest.simulated {
        " simulated=true"
    } else {
        ""
    };
    let line = format!(
        "host={HOST} model={}{counterpart} temperature={} scenarios_sha256={}{simulated}",
        manifest.setting("model"),
        or_default(manifest.setting("temperature")),
        manifest.setting("pack_hash"),
    );
    format!("{}\n", one_line(&line))
}

fn episode(record: &EpisodeRecord, log: &mut String) {
    let episode = &record.episode;
    let _ = writeln!(
        log,
        "\n== scenario {} episode {} toolset {}",
        one_line(episode.scenario.as_deref().unwrap_or("unknown")),
        episode.episode_id,
        episode.toolset_seen.as_deref().unwrap_or("unknown"),
    );
    for call in &record.calls {
        line(call, log);
    }
    let result = match episode.status {
        Status::Completed => format!(
            "{}{} correct_strict={} correct_lenient={} violation={} turns={} passes={}",
            episode.outcome.as_deref().unwrap_or("unknown"),
            episode
                .price
                .map(|price| format!(" price={price}"))
                .unwrap_or_default(),
            yes(episode.correct_strict),
            yes(episode.correct_lenient),
            episode.violation_side.as_deref().unwrap_or("none"),
            episode.turns.unwrap_or(0),
            episode.passes.unwrap_or(0),
        ),
        status => format!(
            "{}: {}",
            status.as_str(),
            episode.error.as_deref().unwrap_or("no error text")
        ),
    };
    let _ = writeln!(log, "result {}", one_line(&result));
}

fn yes(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "true",
        Some(false) => "false",
        None => "unknown",
    }
}

fn line(call: &Call, log: &mut String) {
    let role = call.role.as_deref().unwrap_or("unknown");
    let turn = call.turn.map(|turn| turn.to_string()).unwrap_or_default();
    let arguments = call.arguments.as_deref().unwrap_or("");
    let _ = writeln!(
        log,
        "[{turn}] {role} call {} {}",
        one_line(&call.tool),
        one_line(arguments)
    );
    let result = one_line(call.result.as_deref().unwrap_or("(not captured)"));
    let _ = match call.is_error {
        Some(true) => {
            writeln!(
                log,
                "[{turn}] {role} refused {}: {result}",
                call.error_class.as_deref().unwrap_or("tool_error")
            )
        }
        _ => writeln!(log, "[{turn}] {role} result {result}"),
    };
}
