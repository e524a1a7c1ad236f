//! Any server that speaks OpenAI's chat-completions API.
//!
//! The client library sends and routes; what a reply means is read with types of our own ([`wire`]), since
//! its types refuse harmless deviations that compatible servers have.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_openai::Client;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

mod endpoint;
mod error;
mod mode;
mod request;
mod schema;
#[cfg(test)]
mod tests;
mod transport;
mod wire;

use crate::budget::Budget;
use crate::model::{ChatModel, ChatReply, ChatRequest, ModelError, ToolSpec};
use crate::options::{ModelOptions, ModelSetupError};
use crate::text_calls;
use endpoint::Endpoint;
use error::{CallError, Cleaner};
use mode::{Dialect, Mode, Style};
use wire::WireReply;

/// A model behind a chat-completions endpoint.
pub(crate) struct OpenAiModel {
    name: String,
    endpoint: String,
    client: Client<Endpoint>,
    cleaner: Arc<Cleaner>,
    mode: Mode,
    max_output_tokens: u32,
}

impl OpenAiModel {
    pub(crate) fn new(name: &str, options: &ModelOptions) -> Result<Self, ModelSetupError> {
        if options.budget.usd.is_some() && options.prices.is_none() {
            return Err(ModelSetupError::NoPrices);
        }
        let endpoint = Endpoint::new(options.base_url.as_deref(), options.api_key.as_ref())?;
        let http = http_client(&endpoint, options.timeout)?;
        let cleaner = Arc::new(Cleaner::new(options.api_key.clone()));
        let service = transport::stack(
            http.clone(),
            Arc::new(Budget::new(options.budget, options.prices)),
            Arc::clone(&cleaner),
            options.max_concurrency,
            options.retries,
            options.max_retry_wait,
        );
        let shown = endpoint.shown().to_owned();
        let client = Client::build(http, endpoint).with_http_service(service);
        Ok(Self {
            name: name.to_owned(),
            endpoint: shown,
            client,
            cleaner,
            mode: Mode::new(options.tool_calling),
            max_output_tokens: options.max_output_tokens,
        })
    }

    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let started = Instant::now();
        let with_tools = !request.tools.is_empty();
        loop {
            let dialect = self.mode.dialect();
            let body = request::body(&self.name, request, dialect, self.max_output_tokens);
            let answer: Result<WireReply, _> = self.client.chat().create_byot(body).await;
            let error = match answer {
                Ok(reply) => {
                    if with_tools {
                        self.mode.worked(dialect.style);
                    }
                    return Ok(self.reply(reply, request, dialect, started.elapsed()));
                }
                Err(error) => CallError::from_library(error, &self.cleaner),
            };
            if !self.mode.adapt(&error, dialect, with_tools, &self.endpoint) {
                return Err(error.into_model_error(&self.endpoint));
            }
        }
    }

    fn reply(
        &self,
        mut reply: WireReply,
        request: &ChatRequest,
        dialect: Dialect,
        took: Duration,
    ) -> ChatReply {
        let usage = reply.usage();
        let mut choice = if reply.choices.is_empty() {
            wire::WireChoice::default()
        } else {
            reply.choices.swap_remove(0)
        };
        let mut message = choice.message.take().unwrap_or_default();
        let mut tool_calls = message.calls();
        let mut style = dialect.style.as_str();
        if tool_calls.is_empty() && !request.tools.is_empty() && self.mode.reads_text(dialect.style)
        {
            let names: Vec<&str> = request.tools.iter().map(ToolSpec::name).collect();
            tool_calls = text_calls::find(message.content.as_deref().unwrap_or_default(), &names);
            if !tool_calls.is_empty() && dialect.style == Style::Native {
                style = "native, call read from text";
            }
        }
        let mut extra = Map::new();
        if !request.tools.is_empty() {
            extra.insert("tool_calling".to_owned(), json!(style));
        }
        let usage_extra = reply
            .usage
            .as_mut()
            .map(|usage| std::mem::take(&mut usage.extra))
            .unwrap_or_default();
        for (key, fields) in [
            ("message", std::mem::take(&mut message.extra)),
            ("choice", choice.extra),
            ("usage", usage_extra),
            ("reply", reply.extra),
        ] {
            let fields: Map<String, Value> = fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .collect();
            if !fields.is_empty() {
                extra.insert(key.to_owned(), Value::Object(fields));
            }
        }
        ChatReply {
            content: message.content,
            tool_calls,
            usage,
            finish_reason: choice.finish_reason,
            model: reply.model,
            latency_us: i64::try_from(took.as_micros()).unwrap_or(i64::MAX),
            extra: (!extra.is_empty()).then_some(Value::Object(extra)),
        }
    }
}

impl ChatModel for OpenAiModel {
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.ask(request))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn simulated(&self) -> bool {
        false
    }
}

fn http_client(endpoint: &Endpoint, timeout: Duration) -> Result<reqwest::Client, ModelSetupError> {
    let mut builder = reqwest::Client::builder()
        .timeout(timeout)
        .connect_timeout(timeout.min(Duration::from_secs(15)))
        // A redirect of a POST becomes a GET, and the key must not travel to another host.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("whetstone/", env!("CARGO_PKG_VERSION")));
    if endpoint.is_loopback() {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| ModelSetupError::Http {
        message: crate::causes::in_one_line(&error),
    })
}
