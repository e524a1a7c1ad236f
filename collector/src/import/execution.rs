//! Steps that are the execution of a tool call.

use serde_json::{Map, Value};

use super::captured::Captured;
use super::decode;
use super::failure::{self, Failure};
use super::step::Step;

/// One executed tool call.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    pub(crate) step: String,
    pub(crate) ids: Vec<String>,
    pub(crate) tool: String,
    pub(crate) arguments: Captured,
    /// Whether the arguments may be a stand-in for something the step did not record.
    pub(crate) weak_arguments: bool,
    pub(crate) result: Captured,
    pub(crate) weak_result: bool,
    pub(crate) failure: Failure,
    pub(crate) started_us: Option<i64>,
    pub(crate) ended_us: Option<i64>,
}

/// The execution that a step is, or `None` when it is something else.
pub(crate) fn read(step: &Step) -> Option<Execution> {
    if !is_one(step) {
        return None;
    }
    let tool = tool_name(step)?;
    let (arguments, weak_arguments) = arguments(step, &tool);
    let (result, weak_result) = result(step);
    Some(Execution {
        step: step.id.clone(),
        ids: ids(step),
        failure: failure::of_step(step, &raw_result(step).unwrap_or(result.value.clone())),
        tool,
        arguments,
        weak_arguments,
        result,
        weak_result,
        started_us: step.started_us,
        ended_us: step.ended_us,
    })
}

/// Whether a step is the execution of a tool call.
pub(crate) fn is_one(step: &Step) -> bool {
    !step.is_hidden() && step.kind != "EVENT" && !is_wrapper(&step.name) && is_execution(step)
}

/// Steps around several calls, which repeat them.
fn is_wrapper(name: &str) -> bool {
    let several = name
        .strip_prefix("running ")
        .and_then(|rest| {
            rest.strip_suffix(" tools")
                .or_else(|| rest.strip_suffix(" tool"))
        })
        .is_some_and(|count| count.parse::<u32>().is_ok());
    several || name == "execute_tool (merged)" || name.starts_with("tools/list")
}

fn is_execution(step: &Step) -> bool {
    let attributes = &step.attributes;
    let says = |name: &str, wanted: &str| {
        attributes
            .text(name)
            .is_some_and(|text| text.trim_matches('"').eq_ignore_ascii_case(wanted))
    };
    if let Some(method) = attributes.text("mcp.method.name") {
        return method == "tools/call";
    }
    if step.kind == "TOOL" {
        return true;
    }
    if step.is_generation() || matches!(step.kind.as_str(), "AGENT" | "EMBEDDING" | "RETRIEVER") {
        return false;
    }
    says("openinference.span.kind", "TOOL")
        || says("gen_ai.operation.name", "execute_tool")
        || attributes
            .first(&["gen_ai.tool.name", "gen_ai.tool.call.id"])
            .is_some()
        || says("traceloop.span.kind", "tool")
        || attributes.get("ai.toolCall.name").is_some()
        || says("ai.operationId", "ai.toolCall")
        || says("langsmith.span.kind", "tool")
        || says("mlflow.spanType", "TOOL")
        || says("run_type", "tool")
        || says("span_data.type", "function")
        || tool_message(step).is_some()
        || strip(&step.name).is_some()
}

/// A tool's message that is the whole output of a step.
fn tool_message(step: &Step) -> Option<&Map<String, Value>> {
    let output = step.output.value()?.as_object()?;
    let inner = output.get("kwargs").and_then(Value::as_object);
    let message = inner
        .filter(|_| output.contains_key("lc"))
        .unwrap_or(output);
    let is_tool = inner.is_some() || message.get("type").and_then(Value::as_str) == Some("tool");
    (is_tool && message.contains_key("tool_call_id")).then_some(message)
}

/// The tool in a step's name, when the name follows one of the known patterns.
fn strip(name: &str) -> Option<&str> {
    let prefixes = ["execute_tool ", "running tool: ", "tools/call ", "tool."];
    let stripped = prefixes
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .or_else(|| name.strip_suffix(".tool"))?;
    Some(stripped.trim()).filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

fn tool_name(step: &Step) -> Option<String> {
    let names = [
        "gen_ai.tool.name",
        "tool.name",
        "ai.toolCall.name",
        "traceloop.entity.name",
        "mcp.tool.name",
    ];
    let named = names.iter().find_map(|name| step.attributes.text(name));
    let of_message = || tool_message(step)?.get("name")?.as_str().map(str::to_owned);
    let of_input = || {
        step.input
            .value()?
            .get("tool_name")?
            .as_str()
            .map(str::to_owned)
    };
    named
        .or_else(of_message)
        .or_else(of_input)
        .or_else(|| strip(&step.name).map(str::to_owned))
        // This name stands for every tool, so it names none.
        .or_else(|| Some(step.name.clone()).filter(|name| name != "ai.toolCall"))
        .filter(|name| !name.trim().is_empty())
}

fn ids(step: &Step) -> Vec<String> {
    let names = [
        "gen_ai.tool.call.id",
        "ai.toolCall.id",
        "tool_call.id",
        "tool.id",
        "tool_call_id",
    ];
    let value = step
        .attributes
        .first(&names)
        .cloned()
        .or_else(|| tool_message(step)?.get("tool_call_id").cloned());
    let texts = match value.as_ref().map(decode::unfold) {
        Some(Value::String(id)) => vec![id],
        Some(Value::Array(ids)) => ids
            .iter()
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect(),
        Some(Value::Number(id)) => vec![id.to_string()],
        _ => Vec::new(),
    };
    texts.into_iter().filter(|id| !id.is_empty()).collect()
}

/// The arguments, and whether they come from a place that may hold a stand-in.
fn arguments(step: &Step, tool: &str) -> (Captured, bool) {
    let attributes = &step.attributes;
    let names = [
        "gen_ai.tool.call.arguments",
        "ai.toolCall.args",
        "ai.toolCall.input",
        "tool.parameters",
        "tool_arguments",
        "gcp.vertex.agent.tool_call_args",
    ];
    if let Some(value) = attributes.first(&names) {
        return (Captured::arguments(Some(value)), false);
    }
    if let Some(entity) = attributes.value("traceloop.entity.input")
        && let Some(value) = entity.get("arguments").or_else(|| entity.get("inputs"))
    {
        return (Captured::arguments(Some(value)), false);
    }
    // Handlers that printed the input as Python also kept the real one.
    if let Some(inputs @ Value::Object(_)) = attributes.get("inputs")
        && step
            .input
            .decoded()
            .is_none_or(|decoded| decoded.form != decode::Form::Json)
    {
        return (Captured::arguments(Some(inputs)), false);
    }
    let from_input = step.input.is_telling() || attributes.get("input.value").is_none();
    let raw = if from_input {
        step.input.raw().map(Value::from)
    } else {
        attributes.get("input.value").cloned()
    };
    let found = Captured::arguments(raw.as_ref().filter(|raw| raw.as_str() != Some("null")));
    let found = unwrap(step, tool, found);
    let weak = !step.input.is_telling();
    (found, weak)
}

/// Takes arguments out of what a framework put around them.
fn unwrap(step: &Step, tool: &str, found: Captured) -> Captured {
    let Some(object) = found.value.as_object() else {
        return found;
    };
    let only = |names: &[&str]| object.keys().all(|key| names.contains(&key.as_str()));
    let inner = if object.len() == 1 && step.attributes.get("langsmith.span.kind").is_some() {
        object.get("input").filter(|inner| inner.is_object())
    } else if (only(&["name", "arguments", "_meta"])
        && object.get("name").and_then(Value::as_str) == Some(tool))
        || (only(&["tool_name", "arguments"]) && object.contains_key("tool_name"))
    {
        object.get("arguments")
    } else if object.len() == 2
        && object
            .get("args")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    {
        object.get("kwargs").filter(|inner| inner.is_object())
    } else {
        None
    };
    match inner {
        Some(inner) => Captured::arguments(Some(inner)),
        None => found,
    }
}

/// The result, and whether it comes from a place that may hold a stand-in.
fn result(step: &Step) -> (Captured, bool) {
    let attributes = &step.attributes;
    let names = [
        "gen_ai.tool.call.result",
        "ai.toolCall.result",
        "ai.toolCall.output",
        "tool_response",
        "gcp.vertex.agent.tool_response",
    ];
    if let Some(value) = attributes.first(&names) {
        return (Captured::result(Some(value)), false);
    }
    if let Some(entity) = attributes.value("traceloop.entity.output")
        && let Some(value) = entity.get("result")
    {
        return (Captured::result(Some(value)), false);
    }
    if let Some(message) = tool_message(step) {
        return (Captured::result(message.get("content")), false);
    }
    if !step.output.is_telling()
        && let Some(value) = attributes.get("output.value")
    {
        return (Captured::result(Some(value)), false);
    }
    let raw = step.output.raw().map(Value::from);
    (Captured::result(raw.as_ref()), !step.output.is_telling())
}

/// What tells a failure: the whole recorded output, of which [`result`] may have taken a part.
fn raw_result(step: &Step) -> Option<Value> {
    if let Some(entity) = step.attributes.value("traceloop.entity.output")
        && entity.get("is_error").is_some()
    {
        return Some(entity);
    }
    tool_message(step).map(|message| Value::Object(message.clone()))
}

/// The server and the bare name in a tool name that carries its server.
pub(crate) fn split_server(name: &str) -> (Option<&str>, &str) {
    let parts = if let Some(rest) = name.strip_prefix("mcp__") {
        rest.split_once("__")
    } else {
        name.split_once("__")
            .or_else(|| name.split_once('.').filter(|(_, tool)| !tool.contains('.')))
    };
    match parts {
        Some((server, tool)) if is_word(server) && !tool.is_empty() => (Some(server), tool),
        _ => (None, name),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests;
