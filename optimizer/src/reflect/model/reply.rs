//! Replies of the analysing model: parsed strictly, ids and components verified.

use std::collections::BTreeSet;

use agent::ChatReply;
use serde::Deserialize;
use serde_json::{Value, json};
use trajectory::{ComponentId, Toolset};

use crate::guard::{Reason, Rejection};
use crate::patch::without_fence;
use crate::reflect::Observation;
use crate::visible;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Analysis {
    failure_modes: Vec<Mode>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mode {
    title: String,
    tool: String,
    parameter: Option<String>,
    description: String,
    failures: Vec<String>,
}

/// Whether the provider stopped the reply at a length limit.
pub(super) fn cut_off(reply: &ChatReply) -> bool {
    matches!(
        reply.finish_reason.as_deref(),
        Some("length" | "max_tokens" | "MAX_TOKENS")
    )
}

pub(super) fn analysis_schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["failure_modes"],
        "properties": {"failure_modes": {"type": "array", "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["title", "tool", "parameter", "description", "failures"],
            "properties": {
                "title": {"type": "string"},
                "tool": {"type": "string"},
                "parameter": {"type": ["string", "null"]},
                "description": {"type": "string"},
                "failures": {"type": "array", "items": {"type": "string"}}
            }
        }}}
    })
}

/// The failure modes whose component exists and that cite at least one existing finding, and how many did not.
pub(super) fn observations(
    text: &str,
    cut_off: bool,
    toolset: &Toolset,
    known: &BTreeSet<&str>,
) -> Result<(Vec<Observation>, usize), Rejection> {
    let body = without_fence(text.trim());
    if body.is_empty() {
        return Err(Rejection::of_reply(Reason::Empty, "the reply was empty"));
    }
    if cut_off {
        return Err(Rejection::of_reply(
            Reason::Truncated,
            "the reply was cut off at its length limit",
        ));
    }
    let analysis: Analysis = serde_json::from_str(body).map_err(|error| {
        let reason = if error.is_eof() && body.starts_with('{') {
            Reason::Truncated
        } else {
            Reason::NotJson
        };
        Rejection::of_reply(reason, &format!("not an analysis: {error}"))
    })?;
    let given = analysis.failure_modes.len();
    let observations: Vec<Observation> = analysis
        .failure_modes
        .into_iter()
        .filter_map(|mode| {
            let component = ComponentId {
                tool: mode.tool,
                parameter: mode.parameter,
            };
            toolset.text(&component)?;
            let failures: Vec<String> = mode
                .failures
                .into_iter()
                .filter(|id| known.contains(id.as_str()))
                .collect();
            (!failures.is_empty()).then(|| Observation {
                title: visible::line(&mode.title, 100),
                component: component.to_string(),
                description: visible::line(&mode.description, 400),
                failures,
            })
        })
        .collect();
    let dropped = given - observations.len();
    Ok((observations, dropped))
}
