//! Between rmcp's types and what the model sees and the record keeps.

use rmcp::model::{CallToolResult, ErrorCode, ErrorData, Tool};
use serde_json::{Map, Value, json};
use trajectory::Toolset;

/// Key of a result's `_meta` under which a server says why it refused a move.
pub(super) const REFUSAL_META: &str = "whetstone/refusal";

/// What came of one call, in the form the model reads and the record keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) text: String,
    /// Class of the failure; absent when the call succeeded.
    pub(super) error_class: Option<String>,
}

impl Outcome {
    pub(super) fn failed(&self) -> bool {
        self.error_class.is_some()
    }
}

/// The version the server sent.
///
/// It goes through JSON once more; since a version's id does not depend on the order of keys, it is the id
/// of the version that was served, unless the server's tools have fields that are not in the protocol.
pub(super) fn toolset(tools: &[Tool]) -> Result<Toolset, String> {
    let list = tools
        .iter()
        .map(serde_json::to_value)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    if list.is_empty() {
        return Err("the server offers no tools".to_owned());
    }
    Toolset::from_value(json!({"tools": list})).map_err(|error| error.to_string())
}

/// The arguments as an object; an empty text stands for a call without arguments.
pub(super) fn arguments(text: &str) -> Result<Map<String, Value>, Outcome> {
    let problem = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(Value::Null) => "null",
        Ok(Value::Bool(_)) => "true or false",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Array(_)) => "an array",
        Err(_) if text.trim().is_empty() => return Ok(Map::new()),
        Err(_) => "not valid JSON",
    };
    Err(Outcome {
        text: format!(
            "The arguments have to be one JSON object, and these were {problem}. Nothing was called. Send the call again with a JSON object."
        ),
        error_class: Some("malformed_arguments".to_owned()),
    })
}

pub(super) fn result(result: &CallToolResult) -> Outcome {
    let failed = result.is_error == Some(true);
    let error_class = failed.then(|| {
        let reason = result
            .meta
            .as_ref()
            .and_then(|meta| meta.get(REFUSAL_META))
            .and_then(Value::as_str);
        reason.unwrap_or("tool_error").to_owned()
    });
    Outcome {
        text: content(result),
        error_class,
    }
}

/// A JSON-RPC error, told to the model as text so that it can go on.
pub(super) fn refused(error: &ErrorData, tool: &str, known: bool) -> Outcome {
    let class = if known {
        "protocol_error"
    } else {
        "unknown_tool"
    };
    let text = if known {
        format!("Error {}: {}", code(error.code), error.message)
    } else {
        format!("There is no tool `{tool}`: {}", error.message)
    };
    Outcome {
        text,
        error_class: Some(class.to_owned()),
    }
}

fn code(code: ErrorCode) -> i32 {
    code.0
}

/// The text blocks, one after the other. Blocks that are no text are named, so that the model does not take
/// the result for empty; a result without any block is shown by its structured content.
fn content(result: &CallToolResult) -> String {
    let parts: Vec<String> = result
        .content
        .iter()
        .map(|block| {
            if let Some(text) = block.as_text() {
                return text.text.clone();
            }
            let value = serde_json::to_value(block).unwrap_or_default();
            let embedded = value.pointer("/resource/text").and_then(Value::as_str);
            let kind = value
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("unknown");
            embedded.map_or_else(|| format!("[{kind} content, not shown]"), str::to_owned)
        })
        .collect();
    match &result.structured_content {
        Some(value) if parts.is_empty() => value.to_string(),
        _ => parts.join("\n"),
    }
}
