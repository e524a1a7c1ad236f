//! One message: its role, and its content in any of the forms providers use.

use serde_json::{Map, Value};

use super::{Message, Side, calls, finish_reason, message_type};
use crate::import::decode;

/// Whether an object is a content block rather than a message.
pub(super) fn is_block(object: &Map<String, Value>) -> bool {
    let typed = object
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| {
            matches!(
                kind,
                "text"
                    | "input_text"
                    | "output_text"
                    | "tool_use"
                    | "server_tool_use"
                    | "mcp_tool_use"
                    | "tool_result"
                    | "mcp_tool_result"
                    | "tool-call"
                    | "tool-result"
                    | "tool_call"
                    | "tool_call_response"
                    | "thinking"
                    | "image"
                    | "image_url"
            )
        });
    // A `LangChain` tool call has the same type and belongs into a list of calls.
    typed && !object.contains_key("args")
        || [
            "function_call",
            "functionCall",
            "function_response",
            "functionResponse",
        ]
        .iter()
        .any(|name| object.get(*name).is_some_and(Value::is_object))
}

/// Reads a message object.
pub(super) fn message(object: &Map<String, Value>, role: &str, side: Side) -> Message {
    let get = |name: &str| object.get(name).filter(|value| !value.is_null());
    let content = get("content");
    let inner = content.and_then(Value::as_object);
    let named = get("role")
        .or_else(|| inner.and_then(|inner| inner.get("role")))
        .and_then(Value::as_str);
    let role = match named {
        Some("model") => "assistant",
        Some("human") => "user",
        Some(named) => named,
        None => message_type(object).unwrap_or(role),
    };
    let mut message = Message::of(role);
    message.finish_reason = finish_reason(object);
    if let Some(Value::Array(parts)) = get("parts") {
        add(&mut message, parts);
    }
    let result_id = calls::ids(object, &["tool_call_id", "toolCallId", "tool_use_id"]);
    let is_result =
        matches!(role, "tool" | "function") && (!result_id.is_empty() || get("name").is_some());
    match content {
        _ if is_result && inner.is_none_or(|inner| !is_definition(inner)) => {
            message.results.push(calls::result(object, "content"));
        }
        Some(Value::Object(inner)) if is_definition(inner) => {
            message.definitions.push(Value::Object(inner.clone()));
        }
        Some(Value::Object(inner)) => match inner.get("parts") {
            Some(Value::Array(parts)) => add(&mut message, parts),
            _ => message.say(&Value::Object(inner.clone()).to_string()),
        },
        Some(Value::Array(blocks)) => add(&mut message, blocks),
        Some(Value::String(text)) => content_text(&mut message, text, side),
        Some(scalar) => message.say(&scalar.to_string()),
        None => {
            if let Some(Value::String(text)) = get("text") {
                message.say(text);
            }
            for part in get("contents")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                let part = part.get("message_content").unwrap_or(part);
                add(&mut message, std::slice::from_ref(part));
            }
        }
    }
    add_calls(&mut message, object);
    message
}

/// Some frameworks write an answer's calls as JSON text into its content. Only answers are looked into:
/// text that came from elsewhere could be made to look like a call.
fn content_text(message: &mut Message, text: &str, side: Side) {
    if side == Side::Output
        && message.role == "assistant"
        && text.trim_start().starts_with("[{")
        && let Value::Array(items) = decode::decode(text).value
    {
        let functions = items.iter().all(|item| item.get("function").is_some());
        let found: Vec<_> = items.iter().filter_map(calls::call).collect();
        if functions && found.len() == items.len() {
            message.calls.extend(found);
            return;
        }
    }
    message.say(text);
}

/// Calls that stand beside the content, the same call often in two places.
fn add_calls(message: &mut Message, object: &Map<String, Value>) {
    let extra = object.get("additional_kwargs").and_then(Value::as_object);
    let lists = ["tool_calls", "toolCalls", "invalid_tool_calls"];
    let found = [Some(object), extra]
        .into_iter()
        .flatten()
        .flat_map(|object| lists.iter().filter_map(|name| object.get(*name)))
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(calls::call);
    for call in found {
        let known = message.calls.iter().any(|known| known.is_same(&call));
        if !known {
            message.calls.push(call);
        }
    }
    let single = ["function_call", "functionCall"]
        .iter()
        .filter_map(|name| object.get(*name).or_else(|| extra?.get(*name)));
    for call in single.filter_map(calls::call) {
        if message.calls.is_empty() {
            message.calls.push(call);
        }
    }
}

/// Definitions that older handlers appended to the messages.
fn is_definition(content: &Map<String, Value>) -> bool {
    content.get("type").and_then(Value::as_str) == Some("function")
        && content
            .get("function")
            .and_then(|function| function.get("name"))
            .is_some()
        && content
            .get("function")
            .is_some_and(|function| function.get("arguments").is_none())
}

/// Adds content blocks to a message.
pub(super) fn add(message: &mut Message, blocks: &[Value]) {
    for block in blocks {
        match block {
            Value::String(text) => message.say(text),
            Value::Object(object) => add_block(message, object),
            _ => {}
        }
    }
}

fn add_block(message: &mut Message, block: &Map<String, Value>) {
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let value = || Value::Object(block.clone());
    match kind {
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "tool-call" | "tool_call"
        | "function_call" => {
            let call = calls::call(&value());
            if let Some(call) =
                call.filter(|call| !message.calls.iter().any(|known| known.is_same(call)))
            {
                message.calls.push(call);
            }
        }
        "tool_result" | "mcp_tool_result" => message.results.push(calls::result(block, "content")),
        "tool-result" => message.results.push(calls::typed_result(block)),
        "tool_call_response" => message.results.push(calls::result(block, "response")),
        "thinking" | "reasoning" | "redacted_thinking" => {}
        _ => {
            if block.contains_key("function_call") || block.contains_key("functionCall") {
                message.calls.extend(calls::call(&value()));
            } else if let Some(response) = block
                .get("function_response")
                .or_else(|| block.get("functionResponse"))
            {
                message.results.extend(
                    response
                        .as_object()
                        .map(|response| calls::result(response, "response")),
                );
            } else if let Some(text) = text_of(block) {
                message.say(&text);
            } else if !kind.is_empty() {
                message.say(&format!("[{kind}]"));
            }
        }
    }
}

fn text_of(block: &Map<String, Value>) -> Option<String> {
    ["text", "content", "refusal"]
        .iter()
        .find_map(|name| match block.get(*name)? {
            Value::String(text) => Some(text.clone()),
            _ => None,
        })
}
