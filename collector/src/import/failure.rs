//! Whether a tool call failed, from everything a source may say about it.
//!
//! Tracing systems rarely carry a tool's own error flag into the level of its step, so the payload is looked
//! into as well. The order is that of decreasing certainty; a text that merely reads like an error is a hint
//! and no verdict.

use serde_json::{Map, Value};

use super::decode;
use super::step::Step;

/// What is known about a call's failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Absent when nothing says so.
    pub(crate) is_error: Option<bool>,
    pub(crate) class: Option<String>,
    pub(crate) message: Option<String>,
}

impl Failure {
    fn failed(class: &str, message: Option<String>) -> Self {
        Self {
            is_error: Some(true),
            class: Some(class.to_owned()),
            message,
        }
    }
}

/// Judges an executed step with its result.
pub(crate) fn of_step(step: &Step, result: &Value) -> Failure {
    let attributes = &step.attributes;
    let kind = attributes
        .text("error.type")
        .or_else(|| attributes.text("exception.type"));
    let told = step
        .status_message
        .clone()
        .or_else(|| attributes.text("exception.message"));
    let class = kind.clone().unwrap_or_else(|| "tool_error".to_owned());
    if step.level == "ERROR" {
        let message = told.or_else(|| of_payload(result).message);
        return Failure::failed(&class, message);
    }
    let status = attributes
        .first(&["status.code", "otel.status_code", "status_code"])
        .map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        });
    let has_status = status
        .is_some_and(|code| matches!(code.as_str(), "2" | "ERROR" | "STATUS_CODE_ERROR" | "Error"));
    if has_status || kind.is_some() {
        let message = told.or_else(|| of_payload(result).message);
        return Failure::failed(&class, message);
    }
    let judged = of_payload(result);
    if judged != Failure::default() {
        return judged;
    }
    // It ran to its end with a result, and nothing complained. Without an end it is unfinished.
    let finished = step.ended_us.is_some() && step.output.raw().is_some();
    Failure {
        is_error: finished.then_some(false),
        ..Failure::default()
    }
}

/// Judges a result by itself.
pub(crate) fn of_payload(result: &Value) -> Failure {
    match result {
        Value::Object(object) => of_object(object, 0),
        Value::String(text) => of_text(text),
        _ => Failure::default(),
    }
}

fn of_object(object: &Map<String, Value>, depth: usize) -> Failure {
    let says = |name: &str| match object.get(name) {
        Some(Value::Bool(yes)) => Some(*yes),
        Some(Value::String(text)) => match text.as_str() {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        },
        _ => None,
    };
    let flag = says("isError").or_else(|| says("is_error"));
    let is = |name: &str, value: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|text| text.eq_ignore_ascii_case(value))
    };
    if flag == Some(true) || is("status", "error") || is("response_status", "error") {
        return Failure::failed("tool_error", message(object));
    }
    if let Some(Value::Object(error)) = object.get("error")
        && error.contains_key("message")
        && error.contains_key("code")
    {
        return Failure::failed("protocol_error", message(error));
    }
    if flag == Some(false) {
        return Failure {
            is_error: Some(false),
            ..Failure::default()
        };
    }
    // A whole JSON-RPC response has the tool's own result inside.
    match object.get("result") {
        Some(Value::Object(inner)) if depth == 0 && object.contains_key("jsonrpc") => {
            of_object(inner, 1)
        }
        _ => Failure::default(),
    }
}

fn of_text(text: &str) -> Failure {
    let starts = ["Error:", "Error executing tool", "MCP error -"];
    if starts.iter().any(|start| text.starts_with(start)) {
        // No verdict and no class: only the sentence, for people to judge.
        return Failure {
            message: text.lines().next().map(str::to_owned),
            ..Failure::default()
        };
    }
    Failure::default()
}

/// The sentence in a failed result.
fn message(object: &Map<String, Value>) -> Option<String> {
    let names = [
        "content",
        "message",
        "error",
        "error_message",
        "result",
        "detail",
    ];
    let value = names
        .iter()
        .find_map(|name| object.get(*name).filter(|value| !value.is_null()))?;
    match decode::unfold(value) {
        Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter_map(|block| block.get("text").and_then(Value::as_str))
                .collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(inner) => Some(
            inner
                .get("message")
                .and_then(Value::as_str)
                .map_or_else(|| Value::Object(inner.clone()).to_string(), str::to_owned),
        ),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "tables of JSON literals read better without `&`"
)]
mod tests {
    use super::*;
    use crate::import::attributes::Attributes;
    use crate::import::step::Payload;
    use serde_json::json;

    fn check(
        level: &str,
        metadata: Value,
        output: Value,
        expected: (Option<bool>, Option<&str>, Option<&str>),
    ) {
        let step = Step {
            level: level.to_owned(),
            status_message: (level != "DEFAULT").then(|| "told".to_owned()),
            ended_us: Some(1),
            attributes: Attributes::read(Some(&metadata.to_string())),
            output: Payload::new(Some(output.to_string())),
            ..Step::default()
        };
        let found = of_step(&step, &output);
        let found = (
            found.is_error,
            found.class.as_deref(),
            found.message.as_deref(),
        );
        assert_eq!(found, expected, "{level} {metadata} {output}");
    }

    #[test]
    fn each_sign_in_its_order() {
        let none = || json!({});
        check(
            "ERROR",
            none(),
            json!({"isError": false}),
            (Some(true), Some("tool_error"), Some("told")),
        );
        check("WARNING", none(), json!("fine"), (Some(false), None, None));
        check(
            "DEFAULT",
            json!({"attributes": {"status.code": 2}}),
            none(),
            (Some(true), Some("tool_error"), None),
        );
        check(
            "DEFAULT",
            json!({"attributes": {"error.type": "timeout", "exception.message": "too late"}}),
            none(),
            (Some(true), Some("timeout"), Some("too late")),
        );
        check(
            "DEFAULT",
            none(),
            json!({"content": [{"type": "text", "text": "no such city"}], "isError": true}),
            (Some(true), Some("tool_error"), Some("no such city")),
        );
        check(
            "DEFAULT",
            none(),
            json!({"status": "error", "error": "x"}),
            (Some(true), Some("tool_error"), Some("x")),
        );
        check(
            "DEFAULT",
            none(),
            json!({"response_status": "Error"}),
            (Some(true), Some("tool_error"), None),
        );
        check(
            "DEFAULT",
            none(),
            json!({"jsonrpc": "2.0", "error": {"code": -32602, "message": "bad"}}),
            (Some(true), Some("protocol_error"), Some("bad")),
        );
        check(
            "DEFAULT",
            none(),
            json!({"jsonrpc": "2.0", "result": {"isError": true}}),
            (Some(true), Some("tool_error"), None),
        );
        check(
            "DEFAULT",
            none(),
            json!({"status": "ok", "error": null}),
            (Some(false), None, None),
        );
        check(
            "DEFAULT",
            none(),
            json!("Error: no\nmore"),
            (None, None, Some("Error: no")),
        );
    }

    #[test]
    fn an_unfinished_call_is_not_a_failed_one() {
        let step = Step {
            level: "DEFAULT".to_owned(),
            ..Step::default()
        };
        assert_eq!(of_step(&step, &Value::Null), Failure::default());
    }
}
