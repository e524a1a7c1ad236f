//! One case per instrumentation.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of JSON literals read better without `&`"
)]

use serde_json::json;

use super::*;
use crate::import::attributes::Attributes;
use crate::import::step::Payload;

fn step(
    kind: &str,
    name: &str,
    metadata: Value,
    input: Option<&str>,
    output: Option<&str>,
) -> Step {
    Step {
        id: "s".to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        level: "DEFAULT".to_owned(),
        ended_us: Some(1),
        attributes: Attributes::read(Some(&metadata.to_string())),
        input: Payload::new(input.map(str::to_owned)),
        output: Payload::new(output.map(str::to_owned)),
        ..Step::default()
    }
}

/// `tool(arguments)#ids=result`.
fn show(step: &Step) -> Option<String> {
    let found = read(step)?;
    let text = |captured: Captured| captured.text.unwrap_or_else(|| "-".to_owned());
    Some(format!(
        "{}({})#{}={}",
        found.tool,
        text(found.arguments),
        found.ids.join("+"),
        text(found.result)
    ))
}

#[test]
fn executions() {
    let attributes = |value: Value| json!({ "attributes": value });
    let cases = [
        (
            step("TOOL", "search", json!({}), Some(r#"{"q":1}"#), Some("r")),
            "search({\"q\":1})#=r",
        ),
        // Attributes say more than an empty input and output.
        (
            step(
                "TOOL",
                "execute_tool hello",
                attributes(
                    json!({"gen_ai.tool.name": "hello", "gen_ai.tool.call.id": "c", "gcp.vertex.agent.tool_call_args": "{}",
                    "gcp.vertex.agent.tool_response": "{\"a\": \"b\"}", "output.value": "{\"id\":\"c\"}"}),
                ),
                Some("{}"),
                Some("{}"),
            ),
            "hello({})#c={\"a\": \"b\"}",
        ),
        (
            step(
                "SPAN",
                "tool.Hello",
                attributes(json!({"gen_ai.tool.name": "Hello"})),
                Some("{}"),
                Some("hi"),
            ),
            "Hello({})#=hi",
        ),
        (
            step("SPAN", "tool.Hello", json!({}), None, Some("\"hi\"")),
            "Hello(-)#=hi",
        ),
        // Python's repr, with the real input beside it, and without.
        (
            step(
                "SPAN",
                "Search",
                json!({"inputs": {"q": "x"}}),
                Some("{'q': 'x'}"),
                Some(
                    r#"{"type":"tool","name":"Search","tool_call_id":"c","content":"r","status":"success"}"#,
                ),
            ),
            "Search({\"q\":\"x\"})#c=r",
        ),
        (
            step(
                "TOOL",
                "Search",
                json!({}),
                Some("{'q': None}"),
                Some("['a']"),
            ),
            "Search({\"q\":null})#=['a']",
        ),
        (
            step(
                "TOOL",
                "mcp__w__get",
                attributes(json!({"langsmith.span.kind": "tool"})),
                Some(r#"{"input":{"city":"B"}}"#),
                Some("{}"),
            ),
            "mcp__w__get({\"city\":\"B\"})#={}",
        ),
        (
            step("TOOL", "put", json!({}), Some(r#"{"input":{"a":1}}"#), None),
            "put({\"input\":{\"a\":1}})#=-",
        ),
        (
            step(
                "SPAN",
                "get.tool",
                attributes(json!({"traceloop.span.kind": "tool",
                "traceloop.entity.input": "{\"tool_name\":\"get\",\"arguments\":{\"a\":1}}",
                "traceloop.entity.output": "{\"result\":\"no\",\"is_error\":true}"})),
                None,
                None,
            ),
            "get({\"a\":1})#=no",
        ),
        (
            step(
                "SPAN",
                "tools/call get",
                attributes(json!({"mcp.method.name": "tools/call"})),
                Some(r#"{"name":"get","arguments":{"a":1}}"#),
                None,
            ),
            "get({\"a\":1})#=-",
        ),
        (
            step(
                "SPAN",
                "work",
                attributes(json!({"gen_ai.tool.call.id": "[\"r\",\"c\"]"})),
                None,
                None,
            ),
            "work(-)#r+c=-",
        ),
        (
            step(
                "TOOL",
                "f",
                json!({}),
                Some(r#"{"args":[],"kwargs":{"a":1}}"#),
                None,
            ),
            "f({\"a\":1})#=-",
        ),
        (
            step(
                "TOOL",
                "f",
                json!({}),
                Some(r#"{"id":123456789012345678901234567890}"#),
                None,
            ),
            "f({\"id\":123456789012345678901234567890})#=-",
        ),
        (
            step(
                "TOOL",
                "ai.toolCall",
                attributes(json!({"ai.toolCall.name": "w", "ai.toolCall.id": "c"})),
                Some("{}"),
                Some(r#"{"_meta":{},"content":[],"isError":false}"#),
            ),
            "w({})#c={\"_meta\":{},\"content\":[],\"isError\":false}",
        ),
    ];
    for (step, expected) in cases {
        assert_eq!(show(&step).as_deref(), Some(expected), "{}", step.name);
    }
}

#[test]
fn everything_else() {
    let attributes = |value: Value| json!({ "attributes": value });
    for step in [
        step("SPAN", "running 3 tools", json!({}), None, None),
        step("TOOL", "execute_tool (merged)", json!({}), None, None),
        step("TOOL", "tools/list", json!({}), None, None),
        step(
            "SPAN",
            "initialize",
            attributes(json!({"mcp.method.name": "initialize"})),
            None,
            None,
        ),
        step("GENERATION", "execute_tool x", json!({}), None, None),
        step(
            "EVENT",
            "x",
            attributes(json!({"gen_ai.tool.name": "x"})),
            None,
            None,
        ),
        step(
            "SPAN",
            "tools",
            json!({}),
            Some("{}"),
            Some(r#"{"messages":[]}"#),
        ),
        step("SPAN", "tool. two words", json!({}), None, None),
        step("SPAN", "plain", json!({"tags": ["tool"]}), None, None),
        step("TOOL", "", json!({}), None, None),
        step("TOOL", "ai.toolCall", json!({}), None, None),
        Step {
            level: "DEBUG".to_owned(),
            ..step("TOOL", "x", json!({}), None, None)
        },
    ] {
        assert_eq!(show(&step), None, "{}", step.name);
    }
}

#[test]
fn servers_in_names() {
    for (name, expected) in [
        (
            "mcp__github__create_issue",
            (Some("github"), "create_issue"),
        ),
        ("github__create_issue", (Some("github"), "create_issue")),
        ("github.create_issue", (Some("github"), "create_issue")),
        ("create_issue", (None, "create_issue")),
        ("create-issue", (None, "create-issue")),
        ("a.b.c", (None, "a.b.c")),
        ("mcp__x", (None, "mcp__x")),
        ("__init__", (None, "__init__")),
        ("x__", (None, "x__")),
    ] {
        assert_eq!(split_server(name), expected, "{name}");
    }
}
