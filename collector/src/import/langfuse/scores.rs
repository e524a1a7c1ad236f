//! Scores: objects of their own, or columns named after the score.

use serde_json::Value;

use crate::import::decode;
use crate::import::format::Rejection;
use crate::import::row::{Row, number};
use crate::import::step::{Gathered, ScoreSeen};

/// Columns of every known export; a column that is none of these and holds an array is a score.
const COLUMNS: &[&str] = &[
    "id",
    "traceId",
    "traceName",
    "type",
    "name",
    "startTime",
    "endTime",
    "completionStartTime",
    "environment",
    "version",
    "userId",
    "sessionId",
    "level",
    "statusMessage",
    "promptName",
    "promptId",
    "promptVersion",
    "modelId",
    "providedModelName",
    "modelParameters",
    "usageDetails",
    "costDetails",
    "totalCost",
    "input",
    "output",
    "metadata",
    "latencyMs",
    "timeToFirstTokenMs",
    "tags",
    "release",
    "parentObservationId",
    "comments",
    "projectId",
    "createdAt",
    "updatedAt",
    "model",
    "internalModelId",
    "internalModel",
    "latency",
    "timeToFirstToken",
    "providedCostDetails",
    "providedUsageDetails",
    "inputCost",
    "outputCost",
    "inputUsage",
    "outputUsage",
    "totalUsage",
    "traceTags",
    "traceTimestamp",
    "inputPrice",
    "outputPrice",
    "totalPrice",
    "usagePricingTierId",
    "usagePricingTierName",
    "toolDefinitions",
    "toolCalls",
    "toolCallNames",
    "toolDefinitionsCount",
    "toolCallsCount",
    "usage",
    "timestamp",
    "bookmarked",
    "public",
    "isRootObservation",
    "observations",
    "scores",
    "corrections",
    "htmlPath",
    "externalId",
    "unit",
    "promptTokens",
    "completionTokens",
    "totalTokens",
];

fn is_known(name: &str) -> bool {
    let camel: String = {
        let mut upper = false;
        name.chars()
            .filter_map(|character| {
                if character == '_' {
                    upper = true;
                    return None;
                }
                let character = if upper {
                    character.to_ascii_uppercase()
                } else {
                    character
                };
                upper = false;
                Some(character)
            })
            .collect()
    };
    COLUMNS.contains(&name) || COLUMNS.contains(&camel.as_str())
}

/// The score columns of a row.
pub(super) fn columns(row: &Row) -> Vec<ScoreSeen> {
    let step = row.knows("traceId").then(|| row.filled("id")).flatten();
    let mut found = Vec::new();
    let names: Vec<&str> = row.names().filter(|name| !is_known(name)).collect();
    for name in names {
        let Some(Value::Array(values)) = row.value(name).as_ref().map(decode::unfold) else {
            continue;
        };
        for value in values {
            let (value, text) = match value {
                Value::Number(_) => (number(&value), None),
                Value::String(text) => (None, Some(text)),
                _ => continue,
            };
            found.push(ScoreSeen {
                name: name.to_owned(),
                value,
                text,
                step: step.clone(),
                ..ScoreSeen::default()
            });
        }
    }
    found
}

/// A score object, with the id of its trace.
pub(super) fn read(row: &Row, trace_id: Option<&str>) -> Option<(String, ScoreSeen)> {
    let name = row.filled("name")?;
    let trace_id = row
        .filled("traceId")
        .or_else(|| trace_id.map(str::to_owned))?;
    let value = row.value("value");
    let mut seen = ScoreSeen {
        id: row.filled("id"),
        name,
        value: value.as_ref().and_then(number),
        text: row
            .filled("stringValue")
            .or_else(|| row.filled("longStringValue")),
        source: row.filled("source"),
        comment: row.filled("comment"),
        step: row.filled("observationId"),
    };
    // The newest endpoint puts booleans and labels into `value` itself.
    match value {
        Some(Value::Bool(yes)) => seen.value = Some(f64::from(u8::from(yes))),
        Some(Value::String(text)) if seen.value.is_none() => seen.text = seen.text.or(Some(text)),
        _ => {}
    }
    // The index of a category is no measurement.
    if row.text("dataType").as_deref() == Some("CATEGORICAL") && seen.text.is_some() {
        seen.value = None;
    }
    Some((trace_id, seen))
}

/// A row of a scores export.
pub(super) fn read_row(row: &Row, into: &mut Gathered) -> Result<(), Rejection> {
    let (trace_id, seen) = read(row, None)
        .ok_or_else(|| Rejection::new("a score without `name` or `traceId`".to_owned()))?;
    into.trace(&trace_id).scores.push(seen);
    Ok(())
}
