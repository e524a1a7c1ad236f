//! The models Whetstone can ask, and the MCP host that plays one turn with them.
//!
//! A [`ChatModel`] turns a [`ChatRequest`] (messages and the tools as they were served) into a
//! [`ChatReply`]. [`build_model`] makes one from its name on the command line: any OpenAI-compatible
//! endpoint, the embedded simulation, or a recording. [`host::PartyHost`] is one party of an episode: it
//! connects to an MCP server, hands the served tools to the model, runs the calls the model makes, and
//! keeps a record of everything in a [`host::Recorder`].
//!
//! ```
//! use agent::{ChatMessage, ChatRequest, ModelOptions, build_model};
//!
//! let model = build_model("sim:careful", &ModelOptions::default())?;
//! assert!(model.simulated());
//! let request = ChatRequest { messages: vec![ChatMessage::user("hello")], ..ChatRequest::default() };
//! assert!(request.tools.is_empty());
//! # Ok::<(), agent::ModelSetupError>(())
//! ```

pub mod budget;
pub mod host;
pub mod model;
pub mod options;
pub mod sim;

mod causes;
mod openai;
mod record;
mod replay;
mod text_calls;

pub use budget::{BudgetLimits, Prices};
pub use model::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, ChatRole, ModelError, ToolCall, ToolSpec,
    Usage, toolset_id,
};
pub use options::{ModelOptions, ModelSetupError, ToolCalling, build_model};
