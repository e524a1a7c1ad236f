//! Why a model did not answer, in words that say what to do about it.

use crate::budget::BudgetExhausted;

/// A request got no answer.
///
/// Messages of providers are shortened, and secrets are removed from them before they get here.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModelError {
    /// The provider does not accept the key.
    #[error(
        "{endpoint} refused the API key (HTTP {status}): {message}; check OPENAI_API_KEY and whether this key may use this model"
    )]
    Auth {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
        /// Where.
        endpoint: String,
    },
    /// The account has nothing left.
    #[error(
        "{endpoint} says the account's quota is used up (HTTP {status}): {message}; add credit or use another key, then run the same command again to continue"
    )]
    Quota {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
        /// Where.
        endpoint: String,
    },
    /// The run's own budget is used up.
    #[error(transparent)]
    Budget(#[from] BudgetExhausted),
    /// The endpoint does not exist or does not have the model.
    #[error(
        "{endpoint} knows no such model or address (HTTP 404): {message}; check the model's name and that OPENAI_BASE_URL ends where `/chat/completions` begins"
    )]
    NotFound {
        /// The provider's words.
        message: String,
        /// Where.
        endpoint: String,
    },
    /// The provider answered with an error, after all retries where retrying makes sense.
    #[error("{endpoint} answered with HTTP {status} after {attempts} attempt(s): {message}; {}", provider_hint(*.status))]
    Provider {
        /// HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
        /// Where.
        endpoint: String,
        /// Requests sent.
        attempts: u32,
    },
    /// No answer came back, after all retries.
    #[error(
        "no answer from {endpoint} after {attempts} attempt(s): {message}; check that the server runs and is reachable, or allow it more time"
    )]
    Transport {
        /// What happened.
        message: String,
        /// Where.
        endpoint: String,
        /// Requests sent.
        attempts: u32,
    },
    /// An answer came back that holds no reply, after all retries.
    #[error(
        "{endpoint} answered {attempts} time(s) without a usable reply: {message}; check that it speaks the chat-completions API"
    )]
    BadReply {
        /// What was wrong with it.
        message: String,
        /// Where.
        endpoint: String,
        /// Requests sent.
        attempts: u32,
    },
    /// A recording has no answer to this request.
    #[error(
        "`{file}` has no recorded answer to this request: {reason}; replay the plan it was recorded with, or record again"
    )]
    ReplayMiss {
        /// The recording.
        file: String,
        /// How the nearest recorded request differs.
        reason: String,
    },
    /// The recording could not be written.
    #[error("cannot write the recording `{file}`: {message}; free some space or record elsewhere")]
    Record {
        /// The recording.
        file: String,
        /// What the system said.
        message: String,
    },
    /// The simulation was asked something it does not play.
    #[error(
        "the simulated agent cannot play this: {message}; it plays the negotiation market only, use a real model here"
    )]
    Simulation {
        /// What is missing.
        message: String,
    },
}

fn provider_hint(status: u16) -> &'static str {
    match status {
        429 => "lower the concurrency, or try again later",
        500.. => "the provider failed, try again later",
        300..400 => "set OPENAI_BASE_URL to the address it redirects to",
        _ => "the request does not suit this server; another `--tool-calling` mode may",
    }
}

impl ModelError {
    /// Whether every further request would fail in the same way, so that the run has to stop.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Auth { .. }
            | Self::Quota { .. }
            | Self::Budget(_)
            | Self::NotFound { .. }
            | Self::Record { .. } => true,
            Self::Provider { .. }
            | Self::Transport { .. }
            | Self::BadReply { .. }
            | Self::ReplayMiss { .. }
            | Self::Simulation { .. } => false,
        }
    }
}
