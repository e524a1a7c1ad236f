//! One trace per framework, in the shape its instrumentation gives it.

use serde_json::{Value, json};

use super::{calls, episode, observation, roles, tools};

#[test]
fn chat_wrapper_without_executions() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "city", "arguments": "{\"name\":\"Oslo\"}"}});
    let ask = json!({"role": "user", "content": "weather?"});
    let made = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let tools_sent = json!([{"type": "function", "function": {"name": "city", "description": "Finds.", "parameters": {"type": "object"}}}]);
    let record = episode(&[
        observation(
            "GENERATION",
            "chat",
            1,
            json!({"input": {"messages": [ask], "tools": tools_sent}, "output": made, "model": "m",
            "usageDetails": {"input": 5, "output": 7}}),
        ),
        observation(
            "GENERATION",
            "chat",
            3,
            json!({"input": {"messages": [ask, made, {"role": "tool", "tool_call_id": "c1", "content": "Error: unknown city"}],
            "tools": tools_sent}, "output": {"role": "assistant", "content": "sorry"}, "usageDetails": {"input": 6, "output": 1}}),
        ),
    ]);
    // The text reads like an error, and nothing says that it is one.
    assert_eq!(
        calls(&record),
        ["-/city({\"name\":\"Oslo\"})=Error: unknown city?"]
    );
    assert_eq!(
        record.calls[0].error_message.as_deref(),
        Some("Error: unknown city")
    );
    assert_eq!(record.calls[0].error_class, None);
    assert_eq!(tools(&record), [("city", Some("Finds."))]);
    assert_eq!(roles(&record), ["user", "assistant", "tool", "assistant"]);
    assert_eq!(
        (
            record.episode.input_tokens_buyer,
            record.episode.output_tokens_buyer
        ),
        (Some(11), Some(8))
    );
    assert_eq!(
        (record.episode.model_calls, record.episode.tool_calls),
        (Some(2), Some(1))
    );
    assert_eq!(record.episode.scenario.as_deref(), Some("ask"));
    assert_eq!(
        record.episode.toolset_seen.as_deref(),
        Some(record.tools[0].toolset_id.as_str())
    );
}

#[test]
fn agent_sdk_with_servers_in_names() {
    let used = |id: &str, city: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "mcp__weather__get", "input": {"city": city}}]});
    let run = |city: &str| {
        json!({"input": {"input": {"city": city}}, "output": {"content": [{"type": "text", "text": format!("in {city}")}]},
            "metadata": {"attributes": {"langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool"}}})
    };
    let record = episode(&[
        observation("TOOL", "mcp__weather__get", 4, run("Rome")),
        observation(
            "GENERATION",
            "turn",
            1,
            json!({"input": {"content": "role"}, "output": used("u1", "Oslo")}),
        ),
        observation(
            "GENERATION",
            "turn",
            2,
            json!({"input": {"content": "role"}, "output": used("u2", "Rome")}),
        ),
        observation("TOOL", "mcp__weather__get", 3, run("Oslo")),
    ]);
    assert_eq!(
        calls(&record),
        [
            "weather/mcp__weather__get({\"city\":\"Oslo\"})={\"content\":[{\"type\":\"text\",\"text\":\"in Oslo\"}]}",
            "weather/mcp__weather__get({\"city\":\"Rome\"})={\"content\":[{\"type\":\"text\",\"text\":\"in Rome\"}]}"
        ]
    );
    assert_eq!(record.calls[1].call_id.as_deref(), Some("u2"));
}

#[test]
fn gemini_kit_with_values_in_attributes() {
    let declared = json!({"config": {"tools": [{"function_declarations": [{"name": "hello", "description": "Greets.",
        "parameters": {"type": "OBJECT", "properties": {"to": {"type": "STRING"}}}}]}]}, "contents": [{"parts": [{"text": "hi"}], "role": "user"}]});
    let record = episode(&[
        observation(
            "GENERATION",
            "call_llm",
            1,
            json!({"input": declared,
            "output": {"content": {"parts": [{"function_call": {"args": {}, "name": "hello"}}], "role": "model"}}}),
        ),
        observation(
            "TOOL",
            "execute_tool hello",
            2,
            json!({"input": {}, "output": {}, "metadata": {"attributes": {
            "gen_ai.tool.name": "hello", "gen_ai.tool.call.id": "adk-1", "gen_ai.tool.description": "Call self as a function.",
            "gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": "{\"greeting\": \"hey\"}"}}}),
        ),
    ]);
    assert_eq!(calls(&record), ["-/hello({})={\"greeting\": \"hey\"}"]);
    assert_eq!(tools(&record), [("hello", Some("Greets."))]);
    assert_eq!(
        record.tools[0].input_schema.as_deref(),
        Some(r#"{"type":"object","properties":{"to":{"type":"string"}}}"#)
    );
}

#[test]
fn graph_with_python_inputs() {
    let fake = json!({"role": "tool", "content": {"type": "function", "function": {"name": "Web-Search", "description": "Searches.", "parameters": {"type": "object"}}}});
    let call = json!({"id": "c1", "function": {"arguments": "{\"query\":\"it's\"}", "name": "Web-Search"}, "type": "function"});
    let made =
        json!({"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [call]}});
    let record = episode(&[
        observation(
            "SPAN",
            "LangGraph",
            1,
            json!({"input": {"messages": [{"type": "human", "content": "q"}]}, "output": {"messages": []}}),
        ),
        observation(
            "GENERATION",
            "ChatOpenAI",
            2,
            json!({"input": [{"role": "user", "content": "q"}, fake], "output": made}),
        ),
        observation(
            "SPAN",
            "Web-Search",
            3,
            json!({"input": "{'query': \"it's\"}", "output": {"content": "[1]", "type": "tool", "name": "Web-Search",
            "tool_call_id": "c1", "status": "error"}}),
        ),
        observation(
            "SPAN",
            "ChannelWrite",
            3,
            json!({"level": "DEBUG", "metadata": {"attributes": {"gen_ai.tool.name": "x"}}}),
        ),
        observation(
            "GENERATION",
            "ChatOpenAI",
            4,
            json!({"input": [{"role": "user", "content": "q"}, made, {"role": "tool", "content": "[1]", "tool_call_id": "c1"}, fake],
            "output": {"role": "assistant", "content": "done"}}),
        ),
    ]);
    assert_eq!(calls(&record), ["-/Web-Search({\"query\":\"it's\"})=[1]!"]);
    assert_eq!(record.calls[0].error_class.as_deref(), Some("tool_error"));
    assert_eq!(tools(&record), [("Web-Search", Some("Searches."))]);
    assert_eq!(roles(&record), ["user", "assistant", "tool", "assistant"]);
}

#[test]
fn responses_agents() {
    let call = json!({"arguments": "{\"city\":\"Oslo\"}", "call_id": "c1", "name": "get", "type": "function_call", "id": "fc", "status": "completed"});
    let reply = |output: Value| json!({"object": "response", "output": output, "tools": [{"type": "function", "name": "get", "parameters": {"type": "object"}, "strict": true, "description": null}]});
    let record = episode(&[
        observation(
            "GENERATION",
            "response",
            1,
            json!({"input": [{"role": "user", "content": "q"}], "output": reply(json!([call]))}),
        ),
        observation(
            "TOOL",
            "get",
            2,
            json!({"input": {"city": "Oslo"}, "output": "sunny", "metadata": {"attributes": {"tool.name": "get", "openinference.span.kind": "TOOL"}}}),
        ),
        observation(
            "GENERATION",
            "response",
            3,
            json!({"input": [{"role": "user", "content": "q"}, call, {"type": "function_call_output", "call_id": "c1", "output": "sunny"}],
            "output": reply(json!([{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "sun"}]}]))}),
        ),
    ]);
    assert_eq!(calls(&record), ["-/get({\"city\":\"Oslo\"})=sunny"]);
    assert_eq!(record.calls[0].call_id.as_deref(), Some("c1"));
    assert_eq!(tools(&record), [("get", None)]);
}

#[test]
fn parts_with_wrappers_and_structured_output() {
    let parameters = json!({"function_tools": [{"name": "pun", "description": "Puns.", "parameters_json_schema": {"type": "object"}}],
        "output_tools": [{"name": "final_result", "description": "Ends.", "parameters_json_schema": {"type": "object"}}]});
    let attributes = json!({"attributes": {"gen_ai.operation.name": "chat", "model_request_parameters": parameters}});
    let part = |id: &str, name: &str| json!({"type": "tool_call", "id": id, "name": name, "arguments": {"topic": "x"}});
    let record = episode(&[
        observation(
            "GENERATION",
            "chat",
            1,
            json!({"input": [], "output": [{"role": "assistant", "parts": [part("c1", "pun")]}], "metadata": attributes}),
        ),
        observation(
            "SPAN",
            "running 1 tool",
            2,
            json!({"metadata": {"attributes": {"tools": ["pun"]}}}),
        ),
        observation(
            "TOOL",
            "running tool: pun",
            3,
            json!({"input": {"topic": "x"}, "output": "ha", "metadata": {"attributes": {
            "gen_ai.tool.name": "pun", "gen_ai.tool.call.id": "c1", "tool_arguments": {"topic": "x"}, "tool_response": "ha"}}}),
        ),
        observation(
            "GENERATION",
            "chat",
            4,
            json!({"input": [], "output": [{"role": "assistant", "parts": [part("c2", "final_result")]}], "metadata": attributes}),
        ),
    ]);
    assert_eq!(calls(&record), ["-/pun({\"topic\":\"x\"})=ha"]);
    assert_eq!(tools(&record), [("pun", Some("Puns."))]);
}

#[test]
fn nested_generations_are_one_exchange() {
    let made = json!([{"toolCallId": "c1", "toolName": "get", "input": "{\"a\":1}"}]);
    let tool = json!({"type": "function", "name": "get", "description": "Gets.", "inputSchema": {"type": "object"}});
    let record = episode(&[
        observation(
            "GENERATION",
            "outer",
            1,
            json!({"input": {"prompt": "q"}, "output": made, "usageDetails": {"input": 5, "output": 5}}),
        ),
        observation(
            "GENERATION",
            "inner",
            2,
            json!({"input": [{"role": "user", "content": [{"type": "text", "text": "q"}]}], "output": made,
            "parentObservationId": "outer-1", "metadata": {"tools": [tool.to_string()]}, "usageDetails": {"input": 5, "output": 5}}),
        ),
        observation(
            "TOOL",
            "ai.toolCall",
            3,
            json!({"input": {"a": 1}, "output": {"_meta": {}, "content": [{"type": "text", "text": "nope"}], "isError": true},
            "metadata": {"attributes": {"ai.toolCall.name": "get", "ai.toolCall.id": "c1"}}}),
        ),
    ]);
    assert_eq!(
        calls(&record),
        [
            "-/get({\"a\":1})={\"_meta\":{},\"content\":[{\"type\":\"text\",\"text\":\"nope\"}],\"isError\":true}!"
        ]
    );
    assert_eq!(record.calls[0].error_message.as_deref(), Some("nope"));
    assert_eq!(record.episode.input_tokens_buyer, Some(5));
    assert_eq!(roles(&record), ["user", "assistant"]);
    assert_eq!(tools(&record), [("get", Some("Gets."))]);
}

#[test]
fn calls_drawn_out_by_the_source() {
    let record = episode(&[observation(
        "GENERATION",
        "g",
        1,
        json!({"output": null,
        "toolCalls": ["{\"id\":\"c1\",\"arguments\":\"{\\\"a\\\":1}\",\"type\":\"function\",\"index\":0}"], "toolCallNames": ["get"],
        "toolDefinitions": {"get": "{\"description\":\"Gets.\",\"parameters\":\"{\\\"type\\\":\\\"object\\\"}\"}"}}),
    )]);
    assert_eq!(calls(&record), ["-/get({\"a\":1})=-?"]);
    assert_eq!(tools(&record), [("get", Some("Gets."))]);
    assert_eq!(
        record.tools[0].input_schema.as_deref(),
        Some(r#"{"type":"object"}"#)
    );
}

#[test]
fn indexed_attributes_hold_conversations() {
    let record = episode(&[observation(
        "SPAN",
        "llm",
        1,
        json!({"metadata": {"attributes": {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "q",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{\"a\":1}"}}}),
    )]);
    assert_eq!(calls(&record), ["-/get({\"a\":1})=-?"]);
    assert_eq!(roles(&record), ["user", "assistant"]);
}

#[test]
fn agents_without_model_calls_still_tell() {
    let record = episode(&[observation(
        "AGENT",
        "agent",
        1,
        json!({"input": "q", "output": [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get", "arguments": "{}"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "r"}]}]}),
    )]);
    assert_eq!(calls(&record), ["-/get({})=r?"]);
    assert_eq!(record.episode.model_calls, Some(0));
}
