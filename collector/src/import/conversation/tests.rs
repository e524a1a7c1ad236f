//! One case per provider's shape.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of JSON literals read better without `&`"
)]

use std::fmt::Write as _;

use serde_json::json;

use super::*;

/// Renders messages as `role: text | call name(arguments)#id | result #id=text!`.
fn show(value: Value, side: Side) -> Vec<String> {
    read(&value, side)
        .into_iter()
        .map(|message| {
            let mut line = format!("{}:", message.role);
            if let Some(text) = message.text {
                let _ = write!(line, " {text}");
            }
            for call in message.calls {
                let arguments = call.arguments.text.unwrap_or_else(|| "-".to_owned());
                let _ = write!(line, " | {}({arguments})#{}", call.name, call.ids.join("+"));
            }
            for result in message.results {
                let name = result.name.unwrap_or_default();
                let content = result.content.text.unwrap_or_else(|| "-".to_owned());
                let mark = result
                    .is_error
                    .map_or("", |error| if error { "!" } else { "." });
                let _ = write!(line, " | {name}#{}={content}{mark}", result.ids.join("+"));
            }
            for definition in message.definitions {
                let _ = write!(line, " | definition {}", definition["function"]["name"]);
            }
            if let Some(reason) = message.finish_reason {
                let _ = write!(line, " <{reason}>");
            }
            line
        })
        .collect()
}

fn outputs(value: Value, expected: &[&str]) {
    assert_eq!(show(value.clone(), Side::Output), expected, "{value}");
}

fn inputs(value: Value, expected: &[&str]) {
    assert_eq!(show(value.clone(), Side::Input), expected, "{value}");
}

#[test]
fn chat_completions() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}});
    outputs(
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        &["assistant: | f({\"a\":1})#c1"],
    );
    outputs(
        json!({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
        &["assistant: | f({\"a\":1})#c1 <tool_calls>"],
    );
    outputs(
        json!({"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}),
        &["assistant: | f({})#"],
    );
    outputs(json!([call]), &["assistant: | f({\"a\":1})#c1"]);
    inputs(
        json!({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "u"}, {"type": "image_url"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"}], "tools": []}),
        &["system: s", "user: u\n[image_url]", "tool: | #c1=r"],
    );
}

#[test]
fn merged_streaming_calls_are_kept_and_marked() {
    let merged = json!({"role": "assistant", "tool_calls": [{"function": {"name": "g", "arguments": "{\"a\":1}{\"b\":2}"}}]});
    let messages = read(&merged, Side::Output);
    assert_eq!(
        messages[0].calls[0].arguments.state(),
        trajectory::Capture::Invalid
    );
    assert_eq!(
        messages[0].calls[0].arguments.text.as_deref(),
        Some("{\"a\":1}{\"b\":2}")
    );
}

#[test]
fn responses() {
    let call = json!({"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{}"});
    outputs(
        json!({"object": "response", "output": [{"type": "reasoning"}, call, {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "hi"}]}], "tools": []}),
        &["assistant: | f({})#c1", "assistant: hi"],
    );
    inputs(
        json!([{"role": "user", "content": "u"}, call, {"type": "function_call_output", "call_id": "c1", "output": "r"}]),
        &["user: u", "assistant: | f({})#c1", "tool: | #c1=r"],
    );
    inputs(
        json!({"instructions": "s", "input": "u"}),
        &["system: s", "user: u"],
    );
    outputs(
        json!({"output": [{"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "error": "down", "output": null}]}),
        &["assistant: | f({})#m | f#m=down!"],
    );
}

#[test]
fn langchain() {
    let call = json!({"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"});
    let twin = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}});
    let ai = json!({"type": "ai", "content": "", "tool_calls": [call], "additional_kwargs": {"tool_calls": [twin]}});
    outputs(json!({"messages": [ai]}), &["assistant: | f({\"a\":1})#c1"]);
    outputs(
        json!({"generations": [[{"text": "", "message": ai}]]}),
        &["assistant: | f({\"a\":1})#c1"],
    );
    inputs(
        json!([[{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "u"}},
            {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": {"content": "r", "tool_call_id": "c1", "status": "error"}}]]),
        &["user: u", "tool: | #c1=r!"],
    );
    inputs(
        json!([{"role": "tool", "content": {"type": "function", "function": {"name": "f", "description": "d"}}}]),
        &["tool: | definition \"f\""],
    );
}

#[test]
fn anthropic() {
    outputs(
        json!({"role": "assistant", "content": [{"type": "text", "text": "t"}, {"type": "tool_use", "id": "u1", "name": "f", "input": {"a": 1}}], "stop_reason": "tool_use"}),
        &["assistant: t | f({\"a\":1})#u1 <tool_use>"],
    );
    inputs(
        json!({"system": "s", "messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u1",
            "content": [{"type": "text", "text": "r"}], "is_error": true}]}]}),
        &["system: s", "user: | #u1=r!"],
    );
}

#[test]
fn vercel() {
    outputs(
        json!([{"toolCallId": "c1", "toolName": "f", "input": "{\"a\":1}"}]),
        &["assistant: | f({\"a\":1})#c1"],
    );
    outputs(
        json!({"text": "t", "toolCalls": [{"toolCallId": "c1", "toolName": "f", "args": {"a": 1}}], "finishReason": "tool-calls"}),
        &["assistant: t | f({\"a\":1})#c1 <tool-calls>"],
    );
    inputs(
        json!([{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {}}]},
            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "f", "output": {"type": "error-text", "value": "no"}}]}]),
        &["assistant: | f({})#c1", "tool: | f#c1=no!"],
    );
    inputs(
        json!({"prompt": "u", "system": "s"}),
        &["system: s", "user: u"],
    );
}

#[test]
fn gemini_and_parts() {
    outputs(
        json!({"content": {"parts": [{"function_call": {"args": {}, "name": "f"}}], "role": "model"}, "finish_reason": "STOP"}),
        &["assistant: | f({})# <STOP>"],
    );
    inputs(
        json!({"config": {"system_instruction": "s"}, "contents": [{"parts": [{"text": "u"}], "role": "user"},
            {"parts": [{"functionResponse": {"name": "f", "response": {"x": 1}}}], "role": "user"}]}),
        &["system: s", "user: u", "user: | f#={\"x\":1}"],
    );
    outputs(
        json!([{"role": "assistant", "parts": [{"type": "tool_call", "id": ["run_1", "call_1"], "name": "f", "arguments": "{}"}], "finish_reason": "tool_call"}]),
        &["assistant: | f({})#run_1+call_1 <tool_call>"],
    );
    inputs(
        json!([{"role": "user", "parts": [{"type": "tool_call_response", "id": "c1", "name": "f", "result": "r"}]}]),
        &["user: | f#c1=r"],
    );
}

#[test]
fn calls_in_text_count_only_in_answers() {
    let text = r#"[{"function":{"name":"f","arguments":"{}"},"id":"c1","type":"function"}]"#;
    outputs(
        json!([{"role": "assistant", "content": text}]),
        &["assistant: | f({})#c1"],
    );
    let told = format!("user: {text}");
    inputs(json!([{"role": "user", "content": text}]), &[told.as_str()]);
    let told = format!("tool: {text}");
    inputs(json!([{"role": "tool", "content": text}]), &[told.as_str()]);
}

#[test]
fn anything_else_is_shown_and_nothing_runs_away() {
    outputs(json!("plain"), &["assistant: plain"]);
    outputs(json!({"joke": 1}), &["assistant: {\"joke\":1}"]);
    outputs(
        json!([{"id": "1", "name": "Bob", "input": "x"}]),
        &["assistant: {\"id\":\"1\",\"name\":\"Bob\",\"input\":\"x\"}"],
    );
    outputs(json!(null), &[]);
    outputs(json!([]), &[]);
    let mut deep = json!("x");
    for _ in 0..100 {
        deep = json!({"messages": [deep]});
    }
    outputs(deep, &[]);
}
