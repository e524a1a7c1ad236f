//! The MCP host of one party: connects, lists the tools once, and plays the party's turns with a model.
//!
//! The model gets the tools as they were served. What it really got is proven, not assumed:
//! [`PartyHost::delivered`] is the version id of the tool list inside the last request.

use std::time::Duration;

use secrecy::SecretString;
use trajectory::Toolset;

use crate::model::{ChatMessage, ChatModel, ChatRequest, ModelError, ToolSpec};

mod connection;
mod convert;
mod recorder;
#[cfg(test)]
mod tests;
mod turn;

pub use recorder::{PartyUsage, Recorder};

use connection::Connection;

/// Who plays, where, and under which rules.
///
/// Make one with [`PartyConfig::new`] and change what differs: fields may be added.
#[derive(Debug, Clone)]
pub struct PartyConfig {
    /// HTTP client, shared by all parties of a run.
    pub http: reqwest::Client,
    /// Address of the MCP endpoint.
    pub mcp_url: String,
    /// Bearer token of the party.
    pub token: SecretString,
    /// Name of the party, as recorded (`buyer`).
    pub party: String,
    /// System prompt.
    pub system_prompt: String,
    /// Sampling temperature; absent, the provider's default.
    pub temperature: Option<f64>,
    /// Seed handed to the model with every request.
    pub seed: u64,
    /// Model calls a turn may take.
    pub max_calls_per_turn: u32,
    /// Tools that end the turn when they succeed.
    pub turn_ending: Vec<String>,
    /// Texts that differ between two runs of one plan (the negotiation's id), see [`ChatRequest::handles`].
    pub handles: Vec<String>,
    /// Longest wait for one answer of the MCP server.
    pub call_timeout: Duration,
}

impl PartyConfig {
    /// A party with the market's defaults: 6 model calls a turn, 30 seconds for an answer of the server, and
    /// no tool that ends the turn.
    pub fn new(
        http: reqwest::Client,
        mcp_url: impl Into<String>,
        token: SecretString,
        party: impl Into<String>,
        system_prompt: impl Into<String>,
        seed: u64,
    ) -> Self {
        Self {
            http,
            mcp_url: mcp_url.into(),
            token,
            party: party.into(),
            system_prompt: system_prompt.into(),
            temperature: None,
            seed,
            max_calls_per_turn: 6,
            turn_ending: Vec::new(),
            handles: Vec::new(),
            call_timeout: Duration::from_secs(30),
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// A move went through.
    Moved,
    /// The model's calls for this turn are used up without a move.
    NoMove {
        /// Model calls made.
        model_calls: u32,
        /// How many of the replies called no tool at all.
        without_call: u32,
    },
}

/// A turn, or the way to it, failed.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The MCP server cannot be reached, does not answer, or breaks off.
    #[error(
        "the {party}'s MCP connection failed at {doing}: {message}; check that the server at {url} runs and answers"
    )]
    Transport {
        /// Whose connection.
        party: String,
        /// What was being done.
        doing: String,
        /// What went wrong.
        message: String,
        /// The server.
        url: String,
    },
    /// The server's tool list cannot be used.
    #[error("the tool list of {url} cannot be used: {message}")]
    Tools {
        /// The server.
        url: String,
        /// Why not.
        message: String,
    },
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl HostError {
    /// Whether the whole run has to stop, see [`ModelError::is_fatal`].
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Model(error) if error.is_fatal())
    }
}

/// One party of an episode: an MCP connection and a conversation.
pub struct PartyHost {
    config: PartyConfig,
    connection: Connection,
    toolset: Toolset,
    /// The next request; its messages are the conversation so far.
    request: ChatRequest,
    delivered: Option<String>,
    system_recorded: bool,
}

impl PartyHost {
    /// Connects and lists the tools.
    pub async fn connect(config: PartyConfig) -> Result<Self, HostError> {
        let connection = Connection::open(&config).await?;
        let toolset = connection.list_tools().await?;
        let request = ChatRequest {
            messages: vec![ChatMessage::system(config.system_prompt.clone())],
            tools: ToolSpec::list(&toolset),
            temperature: config.temperature,
            seed: Some(config.seed),
            handles: config.handles.clone(),
            ..ChatRequest::default()
        };
        Ok(Self {
            config,
            connection,
            toolset,
            request,
            delivered: None,
            system_recorded: false,
        })
    }

    /// The tools as received from the server.
    pub fn toolset(&self) -> &Toolset {
        &self.toolset
    }

    /// Version id of the tool list inside the last request to the model; `None` before the first one.
    pub fn delivered(&self) -> Option<&str> {
        self.delivered.as_deref()
    }

    /// Plays one turn: asks the model, runs the calls it makes, and goes on until a move went through or the
    /// turn's model calls are used up.
    pub async fn play_turn(
        &mut self,
        model: &dyn ChatModel,
        user_prompt: &str,
        turn: i32,
        recorder: &mut Recorder,
    ) -> Result<TurnEnd, HostError> {
        turn::play(self, model, user_prompt, turn, recorder).await
    }

    /// Ends the connection.
    pub async fn close(self) {
        self.connection.close().await;
    }
}
