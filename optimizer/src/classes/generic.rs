//! Failure classes that need no knowledge of the tools: what calls, results and schemas show by themselves.

use std::collections::BTreeMap;

use serde_json::Value;
use trajectory::canonical::canonical_json;
use trajectory::{Call, Capture, EpisodeRecord};

use super::schema::Schemas;
use super::{Class, Draft, EXCERPT};
use crate::visible;

/// Findings of an imported trace.
pub(crate) fn find(record: &EpisodeRecord, schemas: &Schemas) -> Vec<Draft> {
    let mut found = Vec::new();
    for call in &record.calls {
        let explained =
            arguments(call, schemas, &mut found) | unknown_tool(call, schemas, &mut found);
        if failed(call) && !explained {
            let shown = error_text(call).unwrap_or("no message was recorded");
            let evidence = format!("`{}` failed: {}", call.tool, visible::line(shown, EXCERPT));
            found.push(Draft::new(Class::ToolError, evidence).at(call));
        }
    }
    let calls: Vec<&Call> = record.calls.iter().collect();
    after_errors(&calls, &mut found);
    redundant(&calls, &mut found);
    found
}

/// Whether the record says that a call failed. Silence is not failure.
pub(crate) fn failed(call: &Call) -> bool {
    call.is_error == Some(true) || (call.is_error.is_none() && call.error_class.is_some())
}

/// The sentence the agent was shown for a failed call.
pub(crate) fn error_text(call: &Call) -> Option<&str> {
    let recorded = call
        .error_message
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    recorded.or_else(|| {
        (failed(call) && call.result_state == Capture::Captured)
            .then_some(call.result.as_deref())
            .flatten()
            .filter(|text| !text.trim().is_empty())
    })
}

/// The arguments as JSON, when they were recorded whole and are JSON.
pub(crate) fn parsed_arguments(call: &Call) -> Option<Value> {
    if call.arguments_state != Capture::Captured {
        return None;
    }
    serde_json::from_str(call.arguments.as_deref()?).ok()
}

/// One text for equal arguments, whatever their spacing and key order.
pub(crate) fn arguments_key(call: &Call) -> Option<String> {
    match parsed_arguments(call) {
        Some(value) => Some(canonical_json(&value)),
        None => call.arguments.clone(),
    }
}

/// Missing and wrong arguments, by the tool's own schema. Returns whether anything was found.
pub(crate) fn arguments(call: &Call, schemas: &Schemas, found: &mut Vec<Draft>) -> bool {
    if call.arguments_state == Capture::Invalid {
        let text = visible::line(call.arguments.as_deref().unwrap_or_default(), EXCERPT);
        let evidence = format!(
            "the arguments of `{}` were not a JSON object: {text}",
            call.tool
        );
        found.push(Draft::new(Class::WrongValue, evidence).at(call));
        return true;
    }
    let Some(value) = parsed_arguments(call) else {
        return false;
    };
    let faults = schemas.faults(&call.tool, &value);
    let any = !faults.is_empty();
    for fault in faults {
        let class = if fault.missing {
            Class::MissingArgument
        } else {
            Class::WrongValue
        };
        let sent = visible::line(call.arguments.as_deref().unwrap_or_default(), EXCERPT);
        let evidence = format!("`{}` was called with {sent}: {}", call.tool, fault.text);
        found.push(
            Draft::new(class, evidence)
                .at(call)
                .parameter(fault.parameter),
        );
    }
    any
}

/// A call of a tool that was not offered. A recorded tool list may be incomplete, so the call must also have failed.
pub(crate) fn unknown_tool(call: &Call, schemas: &Schemas, found: &mut Vec<Draft>) -> bool {
    let by_server = call.error_class.as_deref() == Some("unknown_tool");
    let by_list = !schemas.is_empty() && !schemas.offers(&call.tool) && failed(call);
    if !by_server && !by_list {
        return false;
    }
    let evidence = format!(
        "`{}` was called, which was not offered",
        visible::line(&call.tool, 80)
    );
    found.push(Draft::new(Class::UnknownTool, evidence).at(call));
    true
}

/// Failed calls sent again: unchanged and failing again ([`Class::IgnoredError`]), or with other arguments
/// ([`Class::RetriedAfterError`]). Chains of the same tool are followed, other calls in between do not end them.
pub(crate) fn after_errors(calls: &[&Call], found: &mut Vec<Draft>) {
    let mut last: BTreeMap<(&str, Option<&str>), &Call> = BTreeMap::new();
    for call in calls {
        let key = (call.tool.as_str(), call.role.as_deref());
        if let Some(before) = last.insert(key, call) {
            if !failed(before) {
                continue;
            }
            let (Some(old), Some(new)) = (arguments_key(before), arguments_key(call)) else {
                continue;
            };
            if old == new && failed(call) {
                let shown = visible::line(error_text(before).unwrap_or("an error"), EXCERPT);
                let evidence = format!(
                    "`{}` had failed with: {shown}; it was sent again unchanged and failed again",
                    call.tool
                );
                found.push(
                    Draft::new(Class::IgnoredError, evidence)
                        .at(call)
                        .calls([before.sequence]),
                );
            } else if old != new && !failed(call) {
                let changed = changed_parameter(before, call);
                let shown = visible::line(error_text(before).unwrap_or("an error"), EXCERPT);
                let what = changed.as_ref().map_or_else(
                    || "other arguments".to_owned(),
                    |p| format!("another `{p}`"),
                );
                let evidence = format!(
                    "`{}` failed with: {shown}; with {what} it worked",
                    call.tool
                );
                found.push(
                    Draft::new(Class::RetriedAfterError, evidence)
                        .at(call)
                        .calls([before.sequence])
                        .parameter(changed),
                );
            }
        }
    }
}

/// The one top-level argument in which two calls differ.
fn changed_parameter(before: &Call, after: &Call) -> Option<String> {
    let (Value::Object(old), Value::Object(new)) =
        (parsed_arguments(before)?, parsed_arguments(after)?)
    else {
        return None;
    };
    let mut names = new
        .iter()
        .filter(|(name, value)| old.get(*name) != Some(*value))
        .map(|(name, _)| name)
        .chain(old.keys().filter(|name| !new.contains_key(*name)));
    let only = names.next()?.clone();
    names.next().is_none().then_some(only)
}

/// Successful calls that repeat an earlier one and got the same answer.
fn redundant(calls: &[&Call], found: &mut Vec<Draft>) {
    let mut seen: BTreeMap<(&str, String), &Call> = BTreeMap::new();
    for call in calls {
        let known =
            call.arguments_state == Capture::Captured && call.result_state == Capture::Captured;
        if failed(call) || !known {
            continue;
        }
        let Some(arguments) = arguments_key(call) else {
            continue;
        };
        let before = seen.insert((&call.tool, arguments), call);
        if let Some(before) = before.filter(|before| before.result == call.result) {
            let evidence = format!(
                "`{}` was called again with the same arguments and gave the same result",
                call.tool
            );
            found.push(
                Draft::new(Class::RepeatedCall, evidence)
                    .at(call)
                    .calls([before.sequence]),
            );
        }
    }
}
