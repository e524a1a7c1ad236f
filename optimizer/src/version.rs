//! The version file: a `tools/list` result that any MCP tool reads, with where it comes from under `_meta`.

use serde_json::{Map, Value, json};
use trajectory::Toolset;

use crate::guard::size;
use crate::propose::Outcome;

/// Key of everything Whetstone knows about a version, in the `_meta` of its file.
pub const META_KEY: &str = "whetstone/version";

/// Prefix of what Whetstone's servers put into the `_meta` of tools.
const OWN_PREFIX: &str = "whetstone/";

/// The candidate as a version: the texts, and under `_meta` its id, parent, author, status, objective, patch and
/// statistics. `created_us` is the time it was made.
///
/// The status is `unverified`: nothing has been run with it yet, and no effect is claimed.
pub fn version(
    candidate: &Toolset,
    outcome: &Outcome,
    parent: &Toolset,
    created_us: i64,
) -> Toolset {
    let bare = without_stale_meta(candidate);
    let scope = &outcome.diagnosis.scope;
    let failures: Vec<Value> = outcome
        .diagnosis
        .modes
        .iter()
        .map(|mode| {
            json!({
                "class": mode.class,
                "kind": mode.kind,
                "findings": mode.findings.len(),
                "episodes": mode.episodes,
            })
        })
        .collect();
    let patch: Vec<Value> = outcome
        .edits
        .iter()
        .map(|edit| {
            let component = edit.component();
            let evidence: Vec<Value> = edit
                .answers
                .iter()
                .filter_map(|id| outcome.diagnosis.finding(id))
                .map(|finding| {
                    json!({"failure": finding.id, "class": finding.class, "episode": finding.episode_id, "turn": finding.turn, "calls": finding.calls})
                })
                .collect();
            json!({
                "tool": edit.tool,
                "parameter": edit.parameter,
                "before": parent.text(&component),
                "after": edit.text,
                "reason": edit.reason,
                "evidence": evidence,
            })
        })
        .collect();
    let rejected: Map<String, Value> = outcome
        .rejections()
        .into_iter()
        .map(|(reason, n)| (reason.as_str().to_owned(), Value::from(n)))
        .collect();
    let meta = json!({META_KEY: {
        "id": bare.id(),
        "parent": parent.id(),
        "created": trajectory::clock::rfc3339(created_us),
        "author": outcome.reflector,
        "status": "unverified",
        "objective": "fewer failures of the classes below, per episode",
        "patch": patch,
        "statistics": {
            "experiments": scope.experiments,
            "episodes": scope.episodes,
            "simulated_episodes": scope.simulated,
            "correct": scope.correct,
            "failures": failures,
            "characters": {"before": size::total(parent), "after": size::total(&bare)},
            "rejected_edits": rejected,
            "spent": outcome.spent,
            "effect": Value::Null,
        },
    }});
    match meta {
        Value::Object(meta) => bare.with_meta(meta),
        _ => bare,
    }
}

/// The tools without what a server said about the version they came from: it would be wrong for this one.
fn without_stale_meta(toolset: &Toolset) -> Toolset {
    let mut tools: Vec<Value> = Vec::with_capacity(toolset.tools().len());
    for tool in toolset.tools() {
        let mut raw = tool.raw().clone();
        if let Some(Value::Object(meta)) = raw.get_mut("_meta") {
            meta.retain(|key, _| !key.starts_with(OWN_PREFIX));
            if meta.is_empty() {
                raw.shift_remove("_meta");
            }
        }
        tools.push(Value::Object(raw));
    }
    // The same tools without some of their `_meta` are still a toolset.
    Toolset::from_value(Value::Array(tools))
        .unwrap_or_else(|_| toolset.clone().with_meta(Map::new()))
}
