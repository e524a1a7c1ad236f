//! The body of a chat-completions request, in the dialect the server is spoken to with.

use serde_json::{Map, Value, json};

use super::mode::{Dialect, Style};
use super::schema;
use crate::model::{ChatMessage, ChatRequest, ChatRole, ToolCall, ToolSpec};
use crate::text_calls;

/// Builds the body.
pub(super) fn body(
    model: &str,
    request: &ChatRequest,
    dialect: Dialect,
    max_output_tokens: u32,
) -> Value {
    let style = if request.tools.is_empty() {
        Style::Native
    } else {
        dialect.style
    };
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("messages".to_owned(), messages(request, style));
    body.insert("stream".to_owned(), json!(false));
    if style == Style::Native && !request.tools.is_empty() {
        body.insert(
            "tools".to_owned(),
            request.tools.iter().map(native_tool).collect(),
        );
        body.insert("tool_choice".to_owned(), json!("auto"));
    }
    let schema = match (&request.response_schema, style) {
        (_, Style::Schema) => Some(("tool_call", schema::call_schema(&request.tools))),
        (Some(schema), _) => Some(("reply", schema.clone())),
        (None, _) => None,
    };
    if let Some((name, schema)) = schema {
        let format =
            json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}});
        body.insert("response_format".to_owned(), format);
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(seed) = request.seed.filter(|_| dialect.seed) {
        // Servers read the seed as a signed number, some of 32 bits.
        body.insert("seed".to_owned(), json!(seed & 0x7FFF_FFFF));
    }
    let bound = if dialect.max_completion_tokens {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    body.insert(
        bound.to_owned(),
        json!(request.max_tokens.unwrap_or(max_output_tokens)),
    );
    Value::Object(body)
}

fn native_tool(tool: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name(), "description": tool.description(), "parameters": tool.input_schema()}})
}

fn messages(request: &ChatRequest, style: Style) -> Value {
    let names: Vec<&str> = request.tools.iter().map(ToolSpec::name).collect();
    match style {
        Style::Native => request
            .messages
            .iter()
            .map(|message| native_message(message, &names))
            .collect(),
        Style::Schema | Style::Text => written_messages(request, style, &names),
    }
}

fn native_message(message: &ChatMessage, names: &[&str]) -> Value {
    let mut out = Map::new();
    out.insert("role".to_owned(), json!(message.role.as_str()));
    if message.tool_calls.is_empty() {
        out.insert("content".to_owned(), json!(message.content));
    } else {
        // A call that was read from the text is told as a call only, not twice.
        let silent = message.content.is_empty()
            || text_calls::is_only(&message.content, &message.tool_calls, names);
        out.insert(
            "content".to_owned(),
            if silent {
                Value::Null
            } else {
                json!(message.content)
            },
        );
        out.insert(
            "tool_calls".to_owned(),
            message.tool_calls.iter().map(native_call).collect(),
        );
    }
    if let Some(id) = &message.tool_call_id {
        out.insert("tool_call_id".to_owned(), json!(id));
    }
    Value::Object(out)
}

fn native_call(call: &ToolCall) -> Value {
    // Servers parse the arguments of earlier calls; broken ones would end the conversation with an error of
    // the server, where the model should read the host's answer to them.
    let arguments = match serde_json::from_str::<Map<String, Value>>(&call.arguments) {
        Ok(_) => call.arguments.clone(),
        Err(_) if call.arguments.trim().is_empty() => "{}".to_owned(),
        Err(_) => json!({"malformed_arguments": call.arguments}).to_string(),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

/// The conversation for a model that knows nothing of tools: they are described in the system message,
/// calls are the assistant's text and results the user's.
fn written_messages(request: &ChatRequest, style: Style, names: &[&str]) -> Value {
    let mut told: Vec<(ChatRole, String)> = vec![(ChatRole::System, String::new())];
    let mut call_names: Vec<(&str, &str)> = Vec::new();
    for message in &request.messages {
        let (role, text) = match message.role {
            ChatRole::Tool => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let name = call_names
                    .iter()
                    .rev()
                    .find(|(known, _)| *known == id)
                    .map_or("the call", |(_, name)| name);
                (
                    ChatRole::User,
                    format!("Result of {name}:\n{}", message.content),
                )
            }
            ChatRole::Assistant => {
                call_names.extend(
                    message
                        .tool_calls
                        .iter()
                        .map(|call| (call.id.as_str(), call.name.as_str())),
                );
                (ChatRole::Assistant, written_reply(message, style, names))
            }
            role => (role, message.content.clone()),
        };
        // Many chat templates insist on user and assistant taking turns, after one system message.
        match told.last_mut() {
            Some((last, before)) if *last == role => {
                if !before.is_empty() {
                    before.push_str("\n\n");
                }
                before.push_str(&text);
            }
            _ => told.push((role, text)),
        }
    }
    if let Some((_, system)) = told.first_mut() {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(&instructions(&request.tools, style));
    }
    told.into_iter()
        .map(|(role, text)| json!({"role": role.as_str(), "content": text}))
        .collect()
}

fn written_reply(message: &ChatMessage, style: Style, names: &[&str]) -> String {
    if message.tool_calls.is_empty()
        || text_calls::is_only(&message.content, &message.tool_calls, names)
    {
        return message.content.clone();
    }
    let mut lines: Vec<String> = Vec::new();
    if !message.content.is_empty() && style == Style::Text {
        lines.push(message.content.clone());
    }
    lines.extend(
        message
            .tool_calls
            .iter()
            .map(|call| written_call(call, style)),
    );
    lines.join("\n")
}

fn written_call(call: &ToolCall, style: Style) -> String {
    let arguments = serde_json::from_str(&call.arguments)
        .unwrap_or_else(|_| Value::from(call.arguments.as_str()));
    let object = json!({"name": call.name, "arguments": arguments});
    match style {
        Style::Text => format!("<tool_call>{object}</tool_call>"),
        Style::Native | Style::Schema => object.to_string(),
    }
}

fn instructions(tools: &[ToolSpec], style: Style) -> String {
    let form = match style {
        Style::Text => {
            "To call a tool, write <tool_call>{\"name\": \"the tool\", \"arguments\": {...}}</tool_call> and stop; its result follows as the next message."
        }
        Style::Native | Style::Schema => {
            "Every answer is one tool call, written as one JSON object {\"name\": \"the tool\", \"arguments\": {...}} and nothing else; its result follows as the next message."
        }
    };
    let mut text = format!("You have these tools, one per line as JSON. {form}");
    for tool in tools {
        let line = json!({"name": tool.name(), "description": tool.description(), "parameters": tool.input_schema()});
        text.push('\n');
        text.push_str(&line.to_string());
    }
    text
}

#[cfg(test)]
mod tests;
