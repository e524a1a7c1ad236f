//! What every model is asked, and what it answers, whichever provider stands behind it.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trajectory::Toolset;

mod error;

pub use error::ModelError;

/// A chat model that can call tools.
pub trait ChatModel: Send + Sync {
    /// Answers one request.
    ///
    /// Retries happen inside; an error is final for this request, and for the whole run when
    /// [`ModelError::is_fatal`] says so.
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;

    /// Name as recorded with every episode (`gpt-4o-mini`, `sim:careless`, `replay:run.jsonl`).
    fn name(&self) -> &str;

    /// Whether the answers come from the embedded simulation, and so say nothing about any language model.
    fn simulated(&self) -> bool;
}

/// One request to a model.
///
/// Build it with `..ChatRequest::default()`: fields may be added.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<ChatMessage>,
    /// The tools, as they were served.
    pub tools: Vec<ToolSpec>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Seed of the sampling, where the provider has one; the simulation draws everything from it.
    pub seed: Option<u64>,
    /// Bound on the tokens of the reply; absent, [`crate::ModelOptions::max_output_tokens`] applies.
    pub max_tokens: Option<u32>,
    /// A JSON schema the reply's text has to follow.
    pub response_schema: Option<Value>,
    /// Texts that differ between two runs of the same plan, such as a negotiation's id.
    ///
    /// They do not reach the model by this field. A recording is keyed by the request with these texts
    /// replaced by placeholders, so that it can be replayed against a new run.
    #[serde(skip)]
    pub handles: Vec<String>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// The instructions of the episode.
    System,
    /// The turn's prompt, or a reminder of the host.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

impl ChatRole {
    /// The name on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// The text; empty when an assistant message only calls tools.
    pub content: String,
    /// Calls of an assistant message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl ChatMessage {
    fn plain(role: ChatRole, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    /// A system message.
    pub fn system(content: impl Into<String>) -> Self {
        Self::plain(ChatRole::System, content)
    }

    /// A user message.
    pub fn user(content: impl Into<String>) -> Self {
        Self::plain(ChatRole::User, content)
    }

    /// An assistant message with the calls it makes.
    pub fn assistant(content: impl Into<String>, tool_calls: Vec<ToolCall>) -> Self {
        Self {
            tool_calls,
            ..Self::plain(ChatRole::Assistant, content)
        }
    }

    /// The result of the call `tool_call_id`.
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(tool_call_id.into()),
            ..Self::plain(ChatRole::Tool, content)
        }
    }
}

/// One call a model makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Id given by the provider; empty when it gave none (the host then sets one).
    pub id: String,
    /// Tool name as the model wrote it.
    pub name: String,
    /// Arguments, text exactly as the model wrote it.
    pub arguments: String,
}

/// One tool as it is given to a model: the whole definition as served.
///
/// Adapters take name, description and schema from the one definition that [`toolset_id`] hashes, so the
/// hash stands for what was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ToolSpec {
    definition: Map<String, Value>,
}

impl ToolSpec {
    /// The tool with its definition unchanged.
    pub fn new(tool: &trajectory::Tool) -> Self {
        Self {
            definition: tool.raw().clone(),
        }
    }

    /// All tools of a version, in order.
    pub fn list(toolset: &Toolset) -> Vec<Self> {
        toolset.tools().iter().map(Self::new).collect()
    }

    /// Name.
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// Description; empty when there is none.
    pub fn description(&self) -> &str {
        self.text("description")
    }

    /// Input schema; an object without properties when there is none.
    pub fn input_schema(&self) -> Value {
        match self.definition.get("inputSchema") {
            Some(schema @ Value::Object(_)) => schema.clone(),
            _ => serde_json::json!({"type": "object", "properties": {}}),
        }
    }

    /// The definition as served.
    pub fn definition(&self) -> &Map<String, Value> {
        &self.definition
    }

    fn text(&self, key: &str) -> &str {
        self.definition
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// Id of the toolset version that a list of tools amounts to; `None` when the list is empty or two tools
/// share a name.
pub fn toolset_id(tools: &[ToolSpec]) -> Option<String> {
    if tools.is_empty() {
        return None;
    }
    let list = tools
        .iter()
        .map(|tool| Value::Object(tool.definition.clone()))
        .collect();
    Toolset::from_value(Value::Array(list))
        .ok()
        .map(|toolset| toolset.id())
}

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// Text.
    pub content: Option<String>,
    /// Calls, in the order the model made them.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens as the provider counted them.
    pub usage: Usage,
    /// Finish reason as the provider wrote it.
    pub finish_reason: Option<String>,
    /// Model that answered, as the provider names it.
    pub model: Option<String>,
    /// Time to the whole reply with all its retries, microseconds.
    pub latency_us: i64,
    /// Fields of the reply that have no place above, and how tools were called.
    pub extra: Option<Value>,
}

/// Tokens of one reply; absent when the provider did not count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens.
    pub input_tokens: Option<i64>,
    /// Completion tokens.
    pub output_tokens: Option<i64>,
}
