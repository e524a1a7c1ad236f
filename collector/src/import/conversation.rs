//! Messages, tool calls and tool results inside model inputs and outputs, whatever the provider's shape.

mod blocks;
mod calls;

use serde_json::{Map, Value};

use super::decode;
use calls::is_evident;
pub(crate) use calls::{CallPart, ResultPart, call};

/// One message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Message {
    /// `system`, `user`, `assistant`, `tool`, or what the source wrote.
    pub(crate) role: String,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<CallPart>,
    pub(crate) results: Vec<ResultPart>,
    pub(crate) finish_reason: Option<String>,
    /// Tool definitions that a framework smuggled in as messages.
    pub(crate) definitions: Vec<Value>,
}

impl Message {
    fn of(role: &str) -> Self {
        Self {
            role: role.to_owned(),
            ..Self::default()
        }
    }

    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match &mut self.text {
            None => self.text = Some(text.to_owned()),
            Some(said) => {
                said.push('\n');
                said.push_str(text);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_none()
            && self.calls.is_empty()
            && self.results.is_empty()
            && self.definitions.is_empty()
    }
}

/// Which side of a model call a payload is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// What the model was given.
    Input,
    /// What it answered.
    Output,
}

impl Side {
    fn role(self) -> &'static str {
        match self {
            Self::Input => "user",
            Self::Output => "assistant",
        }
    }
}

/// Wrappers around messages are at most a few deep; hostile nesting is not followed.
const MAX_DEPTH: usize = 12;

/// The messages of a payload.
pub(crate) fn read(value: &Value, side: Side) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut reader = Reader {
        side,
        messages: &mut messages,
    };
    reader.walk(value, side.role(), 0);
    messages.retain(|message| !message.is_empty());
    messages
}

struct Reader<'a> {
    side: Side,
    messages: &'a mut Vec<Message>,
}

impl Reader<'_> {
    fn walk(&mut self, value: &Value, role: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Null => {}
            Value::Array(items) => self.walk_items(items, role, depth),
            Value::Object(object) => self.walk_object(object, role, depth),
            Value::String(text) => self.say(role, text),
            scalar => self.say(role, &scalar.to_string()),
        }
    }

    fn say(&mut self, role: &str, text: &str) {
        let mut message = Message::of(role);
        message.say(text);
        self.messages.push(message);
    }

    fn walk_items(&mut self, items: &[Value], role: &str, depth: usize) {
        let is_block = |item: &Value| {
            item.as_object()
                .is_some_and(|object| !object.contains_key("role") && blocks::is_block(object))
        };
        let all_blocks = !items.is_empty() && items.iter().all(is_block);
        let all_calls = !items.is_empty()
            && items
                .iter()
                .all(|item| item.get("role").is_none() && is_evident(item) && !is_typed_item(item));
        if all_calls && self.side == Side::Output {
            let mut message = Message::of("assistant");
            message.calls = items.iter().filter_map(call).collect();
            self.messages.push(message);
        } else if all_blocks {
            let mut message = Message::of(role);
            blocks::add(&mut message, items);
            self.messages.push(message);
        } else {
            for item in items {
                self.walk(item, role, depth + 1);
            }
        }
    }

    fn walk_object(&mut self, object: &Map<String, Value>, role: &str, depth: usize) {
        let get = |name: &str| object.get(name).filter(|value| !value.is_null());
        if let Some((kwargs, role)) = constructor(object, role) {
            return self.walk_object(kwargs, role, depth + 1);
        }
        if self.walk_item(object, role) {
            return;
        }
        if get("role").is_some() || message_type(object).is_some() || get("parts").is_some() {
            let message = blocks::message(object, role, self.side);
            self.messages.push(message);
            return;
        }
        if let Some(list) = get("messages") {
            self.system(get("system").or_else(|| get("instructions")));
            return self.walk(&decode::unfolded(list), role, depth + 1);
        }
        if let Some(Value::Array(choices)) = get("choices") {
            for choice in choices {
                self.walk_choice(choice, depth);
            }
            return;
        }
        if let Some(Value::Array(candidates)) = get("candidates") {
            for candidate in candidates {
                self.walk(candidate, "assistant", depth + 1);
            }
            return;
        }
        if let Some(contents) = get("contents") {
            let config = get("config").and_then(Value::as_object);
            let told = config.and_then(|config| {
                config
                    .get("system_instruction")
                    .or_else(|| config.get("systemInstruction"))
            });
            self.system(told);
            return self.walk(contents, role, depth + 1);
        }
        if let Some(generations) = get("generations") {
            return self.walk(generations, "assistant", depth + 1);
        }
        if let Some(message) = get("message").filter(|message| message.is_object()) {
            return self.walk(message, role, depth + 1);
        }
        self.walk_reply_or_request(object, role, depth);
    }

    /// Shapes without a role: Responses objects and requests, prompts, and answers with calls beside text.
    fn walk_reply_or_request(&mut self, object: &Map<String, Value>, role: &str, depth: usize) {
        let get = |name: &str| object.get(name).filter(|value| !value.is_null());
        if let Some(output @ Value::Array(_)) = get("output")
            && (self.side == Side::Output || get("object").is_some())
        {
            return self.walk(output, "assistant", depth + 1);
        }
        if let Some(input) = get("input")
            && self.side == Side::Input
        {
            self.system(get("instructions"));
            return self.walk(input, role, depth + 1);
        }
        if let Some(prompt) = get("prompt") {
            self.system(get("system"));
            return self.walk(&decode::unfolded(prompt), role, depth + 1);
        }
        let has_calls = ["toolCalls", "tool_calls", "function_call", "functionCall"]
            .iter()
            .any(|name| get(name).is_some());
        if has_calls || get("content").is_some() {
            let message = blocks::message(object, role, self.side);
            self.messages.push(message);
            if let Some(reason) = finish_reason(object) {
                self.finish(&reason);
            }
            return;
        }
        if let Some(Value::String(text)) = get("text").or_else(|| get("completion")) {
            return self.say(role, text);
        }
        // Unknown: shown as it is, so that a transcript has no silent gaps.
        if depth <= 1 && !object.is_empty() {
            self.say(role, &Value::Object(object.clone()).to_string());
        }
    }

    fn walk_choice(&mut self, choice: &Value, depth: usize) {
        let before = self.messages.len();
        let inner = choice
            .get("message")
            .or_else(|| choice.get("text"))
            .unwrap_or(choice);
        self.walk(inner, "assistant", depth + 1);
        if self.messages.len() > before
            && let Some(reason) = choice.get("finish_reason").and_then(Value::as_str)
        {
            self.finish(reason);
        }
    }

    fn finish(&mut self, reason: &str) {
        if let Some(last) = self.messages.last_mut()
            && last.finish_reason.is_none()
        {
            last.finish_reason = Some(reason.to_owned());
        }
    }

    fn system(&mut self, value: Option<&Value>) {
        if let Some(value) = value {
            let before = self.messages.len();
            self.walk(value, "system", MAX_DEPTH - 1);
            for message in &mut self.messages[before..] {
                "system".clone_into(&mut message.role);
            }
        }
    }

    /// Items of the Responses form, which stand beside messages instead of inside them.
    fn walk_item(&mut self, object: &Map<String, Value>, role: &str) -> bool {
        let Some(kind) = object.get("type").and_then(Value::as_str) else {
            return false;
        };
        match kind {
            "function_call" | "custom_tool_call" | "mcp_call" => {
                let mut message = Message::of("assistant");
                let value = Value::Object(object.clone());
                message.calls.extend(call(&value));
                // A hosted call carries its own result.
                if kind == "mcp_call" {
                    message.results.extend(calls::hosted_result(object));
                }
                self.messages.push(message);
            }
            "function_call_output" | "custom_tool_call_output" => {
                let mut message = Message::of("tool");
                message.results.push(calls::result(object, "output"));
                self.messages.push(message);
            }
            "mcp_list_tools" => {
                let mut message = Message::of(role);
                if let Some(Value::Array(tools)) = object.get("tools") {
                    message.definitions.clone_from(tools);
                }
                self.messages.push(message);
            }
            "reasoning" | "item_reference" => {}
            _ => return false,
        }
        true
    }
}

fn is_typed_item(item: &Value) -> bool {
    item.get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind == "mcp_call" || kind.ends_with("_output"))
}

/// A serialised `LangChain` object: the message is below `kwargs`, its kind in the class name.
fn constructor<'a>(
    object: &'a Map<String, Value>,
    role: &'a str,
) -> Option<(&'a Map<String, Value>, &'a str)> {
    let kwargs = object.get("kwargs")?.as_object()?;
    object.get("lc")?;
    let class = object
        .get("id")
        .and_then(Value::as_array)
        .and_then(|path| path.last())
        .and_then(Value::as_str)
        .unwrap_or_default();
    let role = [
        ("Human", "user"),
        ("AI", "assistant"),
        ("System", "system"),
        ("Tool", "tool"),
    ]
    .iter()
    .find(|(start, _)| class.starts_with(start))
    .map_or(role, |(_, role)| role);
    Some((kwargs, role))
}

/// The role that a message's `type` names, where `type` is used for that.
fn message_type(object: &Map<String, Value>) -> Option<&'static str> {
    match object.get("type")?.as_str()? {
        "human" => Some("user"),
        "ai" | "AIMessageChunk" => Some("assistant"),
        "system" => Some("system"),
        "tool" => Some("tool"),
        _ => None,
    }
}

fn finish_reason(object: &Map<String, Value>) -> Option<String> {
    ["finish_reason", "finishReason", "stop_reason"]
        .iter()
        .find_map(|name| object.get(*name).and_then(Value::as_str))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests;
