//! Which model, and how it is asked: the options of the command line, and the way from a name to a model.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::budget::{BudgetLimits, Prices};
use crate::model::ChatModel;
use crate::openai::OpenAiModel;
use crate::record::RecordingModel;
use crate::replay::ReplayModel;
use crate::sim::SimModel;

/// Base URL used when none is given.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// How tools are put to a model, and how its calls are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolCalling {
    /// The API's own tool calls.
    Native,
    /// One JSON object `{name, arguments}`, constrained by a schema built from the served tools.
    Schema,
    /// Tools described in the prompt, calls read from the text.
    Text,
    /// Native; calls written as text are read too, and a server that refuses tools is asked with `Schema`,
    /// then `Text`.
    #[default]
    Auto,
}

impl ToolCalling {
    /// All modes, in the order they are documented.
    pub const ALL: [Self; 4] = [Self::Native, Self::Schema, Self::Text, Self::Auto];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Schema => "schema",
            Self::Text => "text",
            Self::Auto => "auto",
        }
    }
}

impl FromStr for ToolCalling {
    type Err = ModelSetupError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| ModelSetupError::ToolCalling {
                given: text.to_owned(),
            })
    }
}

/// How a model is asked.
///
/// Nothing here is read from the environment except by [`ModelOptions::from_env`].
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// Base URL of the chat-completions API, up to and without `/chat/completions`; absent,
    /// [`OPENAI_BASE_URL`].
    pub base_url: Option<String>,
    /// API key; local servers need none.
    pub api_key: Option<SecretString>,
    /// How tools are called.
    pub tool_calling: ToolCalling,
    /// Appends every request and reply to this file.
    pub record: Option<PathBuf>,
    /// Longest wait for one reply.
    pub timeout: Duration,
    /// Retries after the first attempt.
    pub retries: u32,
    /// Longest wait between two attempts, whatever `Retry-After` asks for.
    pub max_retry_wait: Duration,
    /// Requests in flight at the same time.
    pub max_concurrency: usize,
    /// Bound on the tokens of a reply when the request sets none.
    pub max_output_tokens: u32,
    /// What the run may use.
    pub budget: BudgetLimits,
    /// Prices of the model, needed for a budget in money.
    pub prices: Option<Prices>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            tool_calling: ToolCalling::Auto,
            record: None,
            // Small local models write a few tokens per second.
            timeout: Duration::from_secs(300),
            retries: 3,
            max_retry_wait: Duration::from_secs(60),
            max_concurrency: 8,
            max_output_tokens: 1024,
            budget: BudgetLimits::default(),
            prices: None,
        }
    }
}

impl ModelOptions {
    /// The defaults, with `OPENAI_BASE_URL` and `OPENAI_API_KEY` taken from the environment.
    pub fn from_env() -> Self {
        let variable = |name| {
            std::env::var(name)
                .ok()
                .map(|v| v.trim().to_owned())
                .filter(|v| !v.is_empty())
        };
        Self {
            base_url: variable("OPENAI_BASE_URL"),
            api_key: variable("OPENAI_API_KEY").map(SecretString::from),
            ..Self::default()
        }
    }
}

/// A model could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ModelSetupError {
    /// No name.
    #[error("the model's name is empty: use `sim`, `openai:NAME` or `replay:FILE`")]
    Empty,
    /// The simulation has no such profile.
    #[error("there is no simulated profile `{given}`: use one of {}", .known.join(", "))]
    UnknownProfile {
        /// What was asked for.
        given: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A kind of model that this version does not have.
    #[error(
        "`{given}`: running an external host per turn (`command:...`) is not available in this version; use `openai:NAME` with its endpoint, `sim` or `replay:FILE`"
    )]
    CommandUnavailable {
        /// What was asked for.
        given: String,
    },
    /// No such way to call tools.
    #[error("`{given}` is no way to call tools: use native, schema, text or auto")]
    ToolCalling {
        /// What was asked for.
        given: String,
    },
    /// The base URL is not one.
    #[error(
        "the base URL `{given}` cannot be used: {reason}; set OPENAI_BASE_URL to something like `{OPENAI_BASE_URL}` or `http://127.0.0.1:8080/v1`"
    )]
    BaseUrl {
        /// What was given, without user and password.
        given: String,
        /// Why not.
        reason: String,
    },
    /// The key is missing where one is needed.
    #[error(
        "no API key for {endpoint}: set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server (or use `--model sim`, which needs neither)"
    )]
    NoKey {
        /// Where it is needed.
        endpoint: String,
    },
    /// The key cannot stand in an HTTP header.
    #[error(
        "OPENAI_API_KEY holds characters that cannot stand in an HTTP header: remove line breaks and anything that is not plain ASCII"
    )]
    Key,
    /// A budget in money without prices.
    #[error(
        "a budget in US dollars needs the model's prices: give the price of a million input and output tokens, or set the budget in calls or tokens"
    )]
    NoPrices,
    /// The HTTP client could not be made.
    #[error("cannot set up the HTTP client: {message}")]
    Http {
        /// What went wrong.
        message: String,
    },
    /// A recording cannot be read.
    #[error("cannot read the recording `{file}`{}: {message}", .line.map(|n| format!(", line {n}")).unwrap_or_default())]
    Replay {
        /// The file.
        file: String,
        /// The line, from 1.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
    /// A recording cannot be written.
    #[error("cannot write the recording `{file}`: {message}")]
    Record {
        /// The file.
        file: String,
        /// What the system said.
        message: String,
    },
}

/// Makes the model that `spec` names: `sim`, `sim:PROFILE`, `openai:NAME`, `replay:FILE`, or a plain model
/// name, which means the same as `openai:NAME`.
pub fn build_model(
    spec: &str,
    options: &ModelOptions,
) -> Result<Arc<dyn ChatModel>, ModelSetupError> {
    let spec = spec.trim();
    let model: Arc<dyn ChatModel> = match spec.split_once(':') {
        _ if spec.is_empty() => return Err(ModelSetupError::Empty),
        Some(("openai" | "sim" | "replay", "")) => return Err(ModelSetupError::Empty),
        _ if spec == "sim" => Arc::new(SimModel::new("careless", options.budget)?),
        Some(("sim", profile)) => Arc::new(SimModel::new(profile, options.budget)?),
        Some(("replay", file)) => Arc::new(ReplayModel::open(std::path::Path::new(file))?),
        Some(("command", _)) => {
            return Err(ModelSetupError::CommandUnavailable {
                given: spec.to_owned(),
            });
        }
        Some(("openai", name)) => Arc::new(OpenAiModel::new(name, options)?),
        // Local servers use names with a colon of their own, such as `llama3.2:3b`.
        _ => Arc::new(OpenAiModel::new(spec, options)?),
    };
    Ok(match &options.record {
        Some(file) => Arc::new(RecordingModel::create(model, file)?),
        None => model,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_models() {
        let local = ModelOptions {
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            ..ModelOptions::default()
        };
        for (spec, name, simulated) in [
            ("sim", "sim:careless", true),
            ("sim:careful", "sim:careful", true),
            ("openai:gpt-4o-mini", "gpt-4o-mini", false),
            ("llama3.2:3b", "llama3.2:3b", false),
            (" qwen ", "qwen", false),
        ] {
            let model = build_model(spec, &local).unwrap();
            assert_eq!(
                (model.name(), model.simulated()),
                (name, simulated),
                "{spec}"
            );
        }
    }

    #[test]
    fn wrong_names_say_what_there_is() {
        let error = |spec: &str| {
            build_model(spec, &ModelOptions::default())
                .err()
                .unwrap()
                .to_string()
        };
        assert!(error("sim:wild").contains("careless, careful, gullible, stubborn"));
        assert!(error("command:codex").contains("not available in this version"));
        assert!(error("").contains("empty"));
        assert!(error("openai:").contains("empty"));
        assert!(error("gpt-4o-mini").contains("OPENAI_API_KEY"));
        assert!(error("replay:/nowhere/x.jsonl").contains("/nowhere/x.jsonl"));
        let budget = BudgetLimits {
            usd: Some(1.0),
            ..BudgetLimits::default()
        };
        let options = ModelOptions {
            budget,
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            ..ModelOptions::default()
        };
        assert!(matches!(
            build_model("m", &options),
            Err(ModelSetupError::NoPrices)
        ));
        assert!(
            "xml"
                .parse::<ToolCalling>()
                .unwrap_err()
                .to_string()
                .contains("native, schema, text or auto")
        );
    }

    #[test]
    fn options_never_show_the_key() {
        let options = ModelOptions {
            api_key: Some(SecretString::from("hunter2hunter2")),
            ..ModelOptions::default()
        };
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
