//! Tool calls and tool results as parts of messages.

use crate::import::captured::Captured;
use serde_json::{Map, Value};

/// A tool call that a model wrote.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CallPart {
    /// Ids, of which one framework writes several.
    pub(crate) ids: Vec<String>,
    /// Tool name as written.
    pub(crate) name: String,
    pub(crate) arguments: Captured,
}

impl CallPart {
    /// Whether two parts are one call written in two places of the same message.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        if self.ids.is_empty() || other.ids.is_empty() {
            self.name == other.name && self.arguments.key == other.arguments.key
        } else {
            self.ids == other.ids && self.name == other.name
        }
    }
}

/// A tool result that a model was given.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ResultPart {
    pub(crate) ids: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) content: Captured,
    pub(crate) is_error: Option<bool>,
}

/// The texts under some keys, one or several each.
pub(super) fn ids(object: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    for name in names {
        let found: Vec<String> = match object.get(*name) {
            Some(Value::String(id)) => vec![id.clone()],
            Some(Value::Number(id)) => vec![id.to_string()],
            Some(Value::Array(ids)) => ids
                .iter()
                .filter_map(|id| id.as_str().map(str::to_owned))
                .collect(),
            _ => continue,
        };
        let found: Vec<String> = found.into_iter().filter(|id| !id.is_empty()).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

const CALL_IDS: &[&str] = &["call_id", "toolCallId", "tool_call_id", "id"];

fn says_so(object: &Map<String, Value>) -> bool {
    let typed = object
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| {
            matches!(
                kind,
                "function"
                    | "function_call"
                    | "custom_tool_call"
                    | "mcp_call"
                    | "tool_call"
                    | "tool-call"
                    | "tool_use"
                    | "server_tool_use"
                    | "mcp_tool_use"
            )
        });
    let wrapped = ["function", "function_call", "functionCall", "tool_call"];
    let named = ["toolCallId", "toolName", "tool_call_id", "call_id"];
    let definition = object
        .get("function")
        .is_some_and(|function| function.get("parameters").is_some());
    !definition
        && (typed
            || wrapped
                .iter()
                .any(|name| object.get(*name).is_some_and(Value::is_object))
            || named.iter().any(|name| object.contains_key(*name)))
}

/// Whether an object is a call even where nothing around it says that calls are listed: an answer may be
/// any list of records with names.
pub(super) fn is_evident(value: &Value) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let with_id = ["arguments", "args"]
        .iter()
        .any(|name| object.contains_key(*name))
        && !ids(object, CALL_IDS).is_empty();
    (says_so(object) || with_id) && call(value).is_some()
}

/// Reads a call in any provider's form.
pub(crate) fn call(value: &Value) -> Option<CallPart> {
    let object = value.as_object()?;
    if let Some(inner) = object.get("tool_call").filter(|inner| inner.is_object()) {
        return call(inner);
    }
    let function = ["function", "function_call", "functionCall"]
        .iter()
        .find_map(|name| object.get(*name).and_then(Value::as_object))
        .unwrap_or(object);
    let name = ["name", "toolName", "tool_name"]
        .iter()
        .find_map(|name| function.get(*name).or_else(|| object.get(*name)))
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty())?;
    let arguments = ["arguments", "args", "input"]
        .iter()
        .find_map(|name| function.get(*name).or_else(|| object.get(*name)));
    let mut found = ids(object, CALL_IDS);
    if found.is_empty() {
        found = ids(function, CALL_IDS);
    }
    // A definition has a name too, and so has any record in an answer.
    if arguments.is_none() && !says_so(object) {
        return None;
    }
    Some(CallPart {
        ids: found,
        name: name.to_owned(),
        arguments: Captured::arguments(arguments),
    })
}

/// Reads a result whose content is under one of the usual keys.
pub(super) fn result(object: &Map<String, Value>, content: &str) -> ResultPart {
    let names = ["tool_call_id", "toolCallId", "tool_use_id", "call_id", "id"];
    let value = [content, "response", "result", "output", "content"]
        .iter()
        .find_map(|name| object.get(*name).filter(|value| !value.is_null()));
    let flag = |name: &str| object.get(name).and_then(Value::as_bool);
    let failed = object.get("status").and_then(Value::as_str) == Some("error");
    ResultPart {
        ids: ids(object, &names),
        name: object
            .get("name")
            .and_then(Value::as_str)
            .map(str::to_owned),
        content: Captured::result(value.map(plain).as_ref()),
        is_error: flag("is_error")
            .or_else(|| flag("isError"))
            .or(failed.then_some(true)),
    }
}

/// Text blocks are joined to the text the model saw; anything else is kept as it is.
fn plain(value: &Value) -> Value {
    let Value::Array(blocks) = value else {
        return value.clone();
    };
    let texts: Option<Vec<&str>> = blocks
        .iter()
        .map(|block| {
            let kind = block.get("type")?.as_str()?;
            matches!(kind, "text" | "output_text" | "input_text")
                .then(|| block.get("text")?.as_str())?
        })
        .collect();
    match texts {
        Some(texts) if !texts.is_empty() => Value::from(texts.join("\n")),
        _ => value.clone(),
    }
}

/// A result whose content says of what type it is.
pub(super) fn typed_result(block: &Map<String, Value>) -> ResultPart {
    let mut part = result(block, "output");
    part.name = block
        .get("toolName")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let inner = block.get("output").and_then(Value::as_object);
    if let Some(inner) = inner
        && let (Some(kind), Some(value)) = (
            inner.get("type").and_then(Value::as_str),
            inner.get("value"),
        )
    {
        part.content = Captured::result(Some(value));
        if kind.starts_with("error") {
            part.is_error = Some(true);
        }
    }
    part
}

/// The result that a call made by the provider's host carries itself.
pub(super) fn hosted_result(object: &Map<String, Value>) -> Option<ResultPart> {
    let error = object.get("error").filter(|error| !error.is_null());
    let output = object.get("output").filter(|output| !output.is_null());
    let content = Captured::result(output.or(error));
    content.text.as_ref()?;
    Some(ResultPart {
        ids: ids(object, &["call_id", "id"]),
        name: object
            .get("name")
            .and_then(Value::as_str)
            .map(str::to_owned),
        content,
        is_error: Some(error.is_some()),
    })
}
