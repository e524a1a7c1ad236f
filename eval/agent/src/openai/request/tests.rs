use super::*;
use trajectory::Toolset;

fn tools() -> Vec<ToolSpec> {
    let value = json!({"tools": [
        {"name": "propose", "description": "Makes a \"proposal\".\nTwice.", "inputSchema": {"type": "object",
            "properties": {"price": {"type": "integer", "description": "The price."}}, "required": ["price"]},
            "annotations": {"readOnlyHint": false}, "_meta": {"hash": "x"}},
        {"name": "get_negotiation", "description": "Gets a negotiation."}]});
    ToolSpec::list(&Toolset::from_value(value).unwrap())
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "propose".to_owned(),
        arguments: arguments.to_owned(),
    }
}

fn request() -> ChatRequest {
    ChatRequest {
        messages: vec![
            ChatMessage::system("You are the buyer."),
            ChatMessage::user("Your turn."),
            ChatMessage::assistant("", vec![call("a", r#"{"price":90}"#)]),
            ChatMessage::tool("a", "refused"),
            ChatMessage::user("Again."),
            ChatMessage::assistant("I think.", Vec::new()),
        ],
        tools: tools(),
        temperature: Some(0.7),
        seed: Some(u64::MAX),
        max_tokens: None,
        response_schema: None,
        handles: Vec::new(),
    }
}

fn dialect(style: Style) -> Dialect {
    Dialect {
        style,
        max_completion_tokens: false,
        seed: true,
    }
}

#[test]
fn native_requests_carry_the_tools_as_served() {
    let body = body("m", &request(), dialect(Style::Native), 77);
    assert_eq!(
        body["tools"][0]["function"]["description"],
        "Makes a \"proposal\".\nTwice."
    );
    assert_eq!(
        body["tools"][0]["function"]["parameters"]["properties"]["price"]["description"],
        "The price."
    );
    assert_eq!(
        body["tools"][1]["function"]["parameters"],
        json!({"type": "object", "properties": {}})
    );
    assert_eq!(body["max_tokens"], 77);
    assert_eq!(body["temperature"], 0.7);
    assert!(
        body["seed"]
            .as_i64()
            .is_some_and(|seed| seed <= i64::from(i32::MAX))
    );
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 6);
    assert_eq!(
        messages[2]["tool_calls"][0]["function"]["arguments"],
        r#"{"price":90}"#
    );
    assert!(messages[2]["content"].is_null());
    assert_eq!(
        messages[3],
        json!({"role": "tool", "content": "refused", "tool_call_id": "a"})
    );
    assert_eq!(
        messages[5],
        json!({"role": "assistant", "content": "I think."})
    );
}

#[test]
fn broken_arguments_of_earlier_calls_do_not_break_the_request() {
    let arguments = |text: &str| {
        native_call(&call("a", text))["function"]["arguments"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(arguments(""), "{}");
    assert_eq!(
        arguments("{\"price\": "),
        json!({"malformed_arguments": "{\"price\": "}).to_string()
    );
    assert_eq!(
        arguments("[1]"),
        json!({"malformed_arguments": "[1]"}).to_string()
    );
}

#[test]
fn a_call_read_from_text_is_told_once() {
    let text = r#"{"name":"propose","arguments":{"price":90}}"#;
    let mut request = request();
    request.messages[2] = ChatMessage::assistant(text, vec![call("a", r#"{"price":90}"#)]);
    let native = body("m", &request, dialect(Style::Native), 77);
    assert!(native["messages"][2]["content"].is_null());
    let schema = body("m", &request, dialect(Style::Schema), 77);
    assert_eq!(schema["messages"][2]["content"], text);
}

#[test]
fn schema_requests_constrain_the_reply_and_tell_everything_as_text() {
    let body = body("m", &request(), dialect(Style::Schema), 77);
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
    let format = &body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(
        format["json_schema"]["schema"]["anyOf"][0]["properties"]["name"]["const"],
        "propose"
    );
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are the buyer.\n\nYou have these tools"));
    // As served, in the one line of JSON of its tool.
    let line: Value = serde_json::from_str(
        system
            .lines()
            .find(|line| line.contains("propose"))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(line["description"], "Makes a \"proposal\".\nTwice.");
    assert_eq!(
        line["parameters"]["properties"]["price"]["description"],
        "The price."
    );
    assert_eq!(
        messages[2]["content"],
        r#"{"name":"propose","arguments":{"price":90}}"#
    );
    assert_eq!(
        messages[3]["content"],
        "Result of propose:\nrefused\n\nAgain."
    );
}

#[test]
fn text_requests_ask_for_tags() {
    let body = body("m", &request(), dialect(Style::Text), 77);
    assert!(body.get("tools").is_none() && body.get("response_format").is_none());
    let messages = body["messages"].as_array().unwrap();
    assert!(
        messages[0]["content"]
            .as_str()
            .unwrap()
            .contains("<tool_call>")
    );
    assert_eq!(
        messages[2]["content"],
        r#"<tool_call>{"name":"propose","arguments":{"price":90}}</tool_call>"#
    );
}

#[test]
fn what_a_server_does_not_take_is_left_out() {
    let dialect = Dialect {
        style: Style::Native,
        max_completion_tokens: true,
        seed: false,
    };
    let request = ChatRequest {
        max_tokens: Some(5),
        tools: Vec::new(),
        response_schema: Some(json!({"type": "object"})),
        ..request()
    };
    let body = body("m", &request, dialect, 77);
    assert_eq!(body["max_completion_tokens"], 5);
    assert!(
        body.get("max_tokens").is_none()
            && body.get("seed").is_none()
            && body.get("tools").is_none()
    );
    assert_eq!(
        body["response_format"]["json_schema"]["schema"],
        json!({"type": "object"})
    );
}
