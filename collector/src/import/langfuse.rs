//! Langfuse: exported observations and events row by row, and downloaded traces.
//!
//! One table of names serves all of them, since they differ in spelling more than in kind. What kind a row
//! is, its keys say; file names and extensions say nothing.

mod rows;
mod scores;

use super::format::{Format, Rejection};
use super::row::Row;
use super::step::{Gathered, Payload, TraceFacts};

/// Langfuse's exports.
pub(crate) struct Langfuse;

/// Kinds of rows, with the names people know them by.
const EVENTS: &str = "langfuse events export";
const OBSERVATIONS: &str = "langfuse observations export";
const STORED_OBSERVATIONS: &str = "langfuse stored observations";
const DOWNLOAD: &str = "langfuse trace download";
const TRACE: &str = "langfuse traces export";
const SCORES: &str = "langfuse scores export";

impl Format for Langfuse {
    fn recognise(&self, row: &Row) -> Option<&'static str> {
        let starts =
            |name: &str, with: char| row.raw(name).is_some_and(|raw| raw.starts_with(with));
        if starts("observations", '[')
            && (starts("trace", '{') || starts("scores", '[') || row.has("id"))
        {
            return Some(DOWNLOAD);
        }
        let is_observation =
            row.knows("type") && (row.knows("startTime") || row.knows("parentObservationId"));
        if row.knows("traceId") && is_observation {
            return Some(
                if row.has("latencyMs")
                    || row.has("timeToFirstTokenMs")
                    || row.has("providedModelName")
                {
                    EVENTS
                } else if row.has("trace_id") {
                    STORED_OBSERVATIONS
                } else {
                    OBSERVATIONS
                },
            );
        }
        if row.knows("dataType")
            && row.knows("name")
            && (row.knows("value") || row.knows("stringValue"))
        {
            return Some(SCORES);
        }
        let of_trace = [
            "bookmarked",
            "tags",
            "sessionId",
            "userId",
            "release",
            "public",
        ];
        let is_trace = row.has("id") && row.has("timestamp") && !row.has("type");
        (is_trace && of_trace.iter().any(|name| row.knows(name))).then_some(TRACE)
    }

    fn read(&self, row: &Row, kind: &'static str, into: &mut Gathered) -> Result<(), Rejection> {
        match kind {
            DOWNLOAD => read_download(row, into),
            TRACE => read_trace(row, into).map(|_| ()),
            SCORES => scores::read_row(row, into),
            _ => rows::read_observation(row, None, kind != OBSERVATIONS, into),
        }
    }
}

/// `{trace, observations}`, `{observations, scores}`, or a trace with its observations inside.
fn read_download(row: &Row, into: &mut Gathered) -> Result<(), Rejection> {
    let trace = row.row("trace");
    let trace_row = trace.as_ref().unwrap_or(row);
    let trace_id = if trace_row.has("id") {
        Some(read_trace(trace_row, into)?)
    } else {
        None
    };
    // The trace repeats its observations; they are read from there only when they are nowhere else.
    let observations = row
        .elements("observations")
        .filter(|rows| !rows.is_empty())
        .or_else(|| trace_row.elements("observations"))
        .unwrap_or_default();
    let mut rejections = Vec::new();
    for (index, element) in observations.iter().enumerate() {
        let read = Row::parse(element.get())
            .map_err(Rejection::new)
            .and_then(|row| rows::read_observation(&row, trace_id.as_deref(), false, into));
        if let Err(rejection) = read {
            rejections.push(format!("observation {}: {}", index + 1, rejection.reason()));
        }
    }
    for owner in [Some(row), trace.as_ref()].into_iter().flatten() {
        for element in owner.elements("scores").unwrap_or_default() {
            // Lists of ids are what some endpoints give in place of scores.
            if let Ok(score) = Row::parse(element.get())
                && let Some((of, seen)) = scores::read(&score, trace_id.as_deref())
            {
                into.trace(&of).scores.push(seen);
            }
        }
    }
    if rejections.is_empty() {
        Ok(())
    } else {
        Err(Rejection::partial(rejections))
    }
}

/// A trace's own fields; gives its id.
fn read_trace(row: &Row, into: &mut Gathered) -> Result<String, Rejection> {
    let id = row
        .filled("id")
        .ok_or_else(|| Rejection::new("a trace without `id`".to_owned()))?;
    let facts = TraceFacts {
        name: row.filled("name"),
        timestamp_us: row.time("timestamp"),
        input: Payload::new(row.text("input")),
        output: Payload::new(row.text("output")),
        ..shared_facts(row)
    };
    let scores = scores::columns(row);
    let trace = into.trace(&id);
    trace.facts.complete(facts);
    trace.scores.extend(scores);
    Ok(id)
}

/// Fields that rows of observations repeat from their trace.
fn shared_facts(row: &Row) -> TraceFacts {
    let tags = row.value("tags").or_else(|| row.value("traceTags"));
    let tags = match tags.as_ref().map(super::decode::unfold) {
        Some(serde_json::Value::Array(tags)) => tags
            .iter()
            .filter_map(|tag| tag.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    TraceFacts {
        project: row.filled("projectId"),
        session: row.filled("sessionId"),
        environment: row.filled("environment"),
        release: row.filled("release"),
        version: row.filled("version"),
        tags,
        ..TraceFacts::default()
    }
}

#[cfg(test)]
mod tests;
