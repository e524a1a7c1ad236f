//! What can go wrong with one call, and the texts about it: shortened, on one line, and without secrets.

use std::time::Duration;

use async_openai::error::OpenAIError;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::budget::BudgetExhausted;
use crate::causes::in_one_line;
use crate::model::ModelError;

/// Longest text of a provider that is shown.
const MAX_MESSAGE: usize = 300;

/// Longest text of a provider that is searched for reasons.
const MAX_DETAIL: usize = 4000;

/// A call failed; carried through the client library as its boxed error.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{failure}")]
pub(super) struct CallError {
    pub(super) failure: Failure,
    /// How long the server asked to be left alone.
    pub(super) retry_after: Option<Duration>,
    /// Requests sent so far.
    pub(super) attempts: u32,
}

#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Failure {
    #[error("HTTP {status}: {message}")]
    Status {
        status: u16,
        /// What is shown.
        message: String,
        /// The whole answer in lower case, for finding out what the server does not like.
        detail: String,
    },
    #[error("{message}")]
    Transport { message: String },
    #[error("{message}")]
    BadReply { message: String },
    #[error(transparent)]
    Budget(BudgetExhausted),
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            retry_after: None,
            attempts: 1,
        }
    }
}

impl From<CallError> for OpenAIError {
    fn from(error: CallError) -> Self {
        Self::Boxed(Box::new(error))
    }
}

impl CallError {
    /// The error as it went into the client library.
    pub(super) fn from_library(error: OpenAIError, cleaner: &Cleaner) -> Self {
        match error {
            OpenAIError::Boxed(boxed) => match boxed.downcast::<Self>() {
                Ok(error) => *error,
                Err(other) => Failure::Transport {
                    message: cleaner.clean(&in_one_line(other.as_ref())),
                }
                .into(),
            },
            OpenAIError::JSONDeserialize(error, _) => Failure::BadReply {
                message: cleaner.clean(&error.to_string()),
            }
            .into(),
            other => Failure::Transport {
                message: cleaner.clean(&in_one_line(&other)),
            }
            .into(),
        }
    }

    /// Whether the same request may succeed a little later.
    pub(super) fn is_passing(&self) -> bool {
        match &self.failure {
            Failure::Status { status: 429, .. } => !self.is_quota(),
            // llama.cpp answers so when it was started without tool support; asking again changes nothing.
            Failure::Status {
                status: 500..,
                detail,
                ..
            } => !detail.contains("--jinja"),
            Failure::Status { status, .. } => matches!(status, 408 | 425),
            Failure::Transport { .. } | Failure::BadReply { .. } => true,
            Failure::Budget(_) => false,
        }
    }

    fn is_quota(&self) -> bool {
        const REASONS: [&str; 5] = [
            "insufficient_quota",
            "insufficient_credit",
            "insufficient credit",
            "insufficient balance",
            "billing_hard_limit",
        ];
        match &self.failure {
            Failure::Status { status: 402, .. } => true,
            Failure::Status {
                status: 429 | 403 | 400,
                detail,
                ..
            } => REASONS.iter().any(|reason| detail.contains(reason)),
            _ => false,
        }
    }

    /// Whether the server turned the request down (rather than failed) and its answer names one of `words`.
    pub(super) fn blames(&self, words: &[&str]) -> bool {
        match &self.failure {
            Failure::Status {
                status: 400 | 404 | 405 | 415 | 422 | 500 | 501,
                detail,
                ..
            } => words.iter().any(|word| detail.contains(word)),
            _ => false,
        }
    }

    pub(super) fn into_model_error(self, endpoint: &str) -> ModelError {
        let quota = self.is_quota();
        let endpoint = endpoint.to_owned();
        let attempts = self.attempts;
        match self.failure {
            Failure::Budget(exhausted) => ModelError::Budget(exhausted),
            Failure::Status {
                status, message, ..
            } if quota => ModelError::Quota {
                status,
                message,
                endpoint,
            },
            Failure::Status {
                status: status @ (401 | 403),
                message,
                ..
            } => ModelError::Auth {
                status,
                message,
                endpoint,
            },
            Failure::Status {
                status: 404,
                message,
                ..
            } => ModelError::NotFound { message, endpoint },
            Failure::Status {
                status, message, ..
            } => ModelError::Provider {
                status,
                message,
                endpoint,
                attempts,
            },
            Failure::Transport { message } => ModelError::Transport {
                message,
                endpoint,
                attempts,
            },
            Failure::BadReply { message } => ModelError::BadReply {
                message,
                endpoint,
                attempts,
            },
        }
    }
}

/// Takes secrets and control characters out of texts that others wrote.
#[derive(Debug)]
pub(super) struct Cleaner {
    key: Option<SecretString>,
}

impl Cleaner {
    pub(super) fn new(key: Option<SecretString>) -> Self {
        Self {
            key: key.filter(|key| !key.expose_secret().is_empty()),
        }
    }

    /// The text on one line, shortened, without the key.
    pub(super) fn clean(&self, text: &str) -> String {
        self.clean_to(text, MAX_MESSAGE)
    }

    /// The start of an answer, for searching in it.
    pub(super) fn detail(&self, text: &str) -> String {
        self.clean_to(text, MAX_DETAIL).to_lowercase()
    }

    fn clean_to(&self, text: &str, length: usize) -> String {
        let text = match &self.key {
            Some(key) => text.replace(key.expose_secret(), "[key]"),
            None => text.to_owned(),
        };
        let mut words = Vec::new();
        let mut left = length;
        let visible = text.replace(|c: char| c.is_control(), " ");
        for word in visible.split_whitespace() {
            let word = if looks_secret(word) { "[key]" } else { word };
            let characters = word.chars().count() + 1;
            if characters > left {
                words.push("...".to_owned());
                break;
            }
            left -= characters;
            words.push(word.to_owned());
        }
        if words.is_empty() {
            "no message".to_owned()
        } else {
            words.join(" ")
        }
    }

    /// The failure for an answer with an error status.
    pub(super) fn status(&self, status: u16, body: &[u8]) -> Failure {
        let body = String::from_utf8_lossy(body);
        Failure::Status {
            status,
            message: self.clean(&message_in(&body)),
            detail: self.detail(&body),
        }
    }
}

/// Keys of other accounts and masked keys, as providers like to echo them.
fn looks_secret(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.len() >= 12
        && ["sk-", "sk_", "gsk_", "xai-", "AIza", "hf_"]
            .iter()
            .any(|prefix| word.starts_with(prefix))
}

/// The message in an error body: OpenAI's form, a bare string (Ollama), `detail` (FastAPI, vLLM), or else
/// the body as it is.
pub(super) fn message_in(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return body.to_owned();
    };
    let inner = value
        .get("error")
        .filter(|error| !error.is_null())
        .unwrap_or(&value);
    let message = match inner {
        Value::String(text) => Some(text.as_str()),
        other => ["message", "detail", "msg"]
            .iter()
            .find_map(|key| other.get(*key)?.as_str()),
    };
    message.map_or_else(|| inner.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_message_in_every_shape() {
        for (body, message) in [
            (
                r#"{"error":{"message":"no such model","code":404}}"#,
                "no such model",
            ),
            (r#"{"error":"model is busy"}"#, "model is busy"),
            (r#"{"detail":"not allowed"}"#, "not allowed"),
            (r#"{"object":"error","message":"bad"}"#, "bad"),
            (
                r#"{"detail":[{"loc":["body"]}]}"#,
                r#"{"detail":[{"loc":["body"]}]}"#,
            ),
            ("<html>502</html>", "<html>502</html>"),
        ] {
            assert_eq!(message_in(body), message);
        }
    }

    #[test]
    fn keys_never_come_through() {
        let cleaner = Cleaner::new(Some(SecretString::from("my-secret-key-123")));
        let text = "Incorrect key my-secret-key-123,\n\u{1b}[31m or \"sk-abcdefghijklmnop\" or ***my-secret-key-123***";
        let clean = cleaner.clean(text);
        assert_eq!(clean, "Incorrect key [key], [31m or [key] or ***[key]***");
        assert!(!cleaner.detail(text).contains("secret"));
        assert!(cleaner.clean(&"word ".repeat(1000)).len() <= MAX_MESSAGE + 4);
        assert_eq!(cleaner.clean(" \n"), "no message");
        assert!(cleaner.clean(&"x".repeat(1000)).len() < 10);
    }

    #[test]
    fn tells_quota_from_rate() {
        let cleaner = Cleaner::new(None);
        let error = |status, body: &str| CallError::from(cleaner.status(status, body.as_bytes()));
        assert!(
            error(
                429,
                r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#
            )
            .is_passing()
        );
        let quota = error(
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#,
        );
        assert!(!quota.is_passing());
        assert!(matches!(
            quota.into_model_error("e"),
            ModelError::Quota { status: 429, .. }
        ));
        assert!(error(402, "pay").into_model_error("e").is_fatal());
        assert!(error(401, "no").into_model_error("e").is_fatal());
        assert!(!error(400, "no").into_model_error("e").is_fatal());
        assert!(error(503, "").is_passing());
        assert!(!error(500, "tools param requires --jinja flag").is_passing());
        assert!(error(400, "This model does not support tools").blames(&["tool"]));
        assert!(!error(429, "tool").blames(&["tool"]));
    }
}
