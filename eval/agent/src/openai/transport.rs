//! The HTTP stack under the chat call: a limit on requests in flight, retries, and a leaf that sends one
//! request, reads the whole reply, and turns everything that is no usable reply into a [`CallError`].
//!
//! The client library reads error bodies only in one provider's shape and loses the status of all others, so
//! the decision what is an error is made here, below it.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::future::BoxFuture;
use serde_json::Value;
use tower::retry::Policy;
use tower::{Service, ServiceBuilder};
use trajectory::clock;

use super::error::{CallError, Cleaner, Failure, message_in};
use super::wire::WireReply;
use crate::budget::{Budget, Claim};
use crate::causes::in_one_line;

/// Replies larger than this are no chat replies.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// Wait before the first retry; doubled with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The whole stack, outermost first: concurrency limit, retries, sender.
pub(super) fn stack(
    client: reqwest::Client,
    budget: Arc<Budget>,
    cleaner: Arc<Cleaner>,
    max_concurrency: usize,
    retries: u32,
    max_wait: Duration,
) -> impl Service<
    HttpRequestFactory,
    Response = reqwest::Response,
    Error = impl Into<OpenAIError> + Send + Sync + 'static,
    Future = impl Send + 'static,
> + Clone
+ Send
+ Sync
+ 'static {
    ServiceBuilder::new()
        .concurrency_limit(max_concurrency.max(1))
        .retry(Backoff {
            retries,
            max_wait,
            made: 0,
        })
        .service(Sender {
            client,
            budget,
            cleaner,
        })
}

/// Decides whether, and after which wait, a failed request is sent again.
#[derive(Clone)]
struct Backoff {
    retries: u32,
    max_wait: Duration,
    made: u32,
}

impl Policy<HttpRequestFactory, reqwest::Response, CallError> for Backoff {
    type Future = tokio::time::Sleep;

    fn retry(
        &mut self,
        _: &mut HttpRequestFactory,
        result: &mut Result<reqwest::Response, CallError>,
    ) -> Option<Self::Future> {
        let error = result.as_mut().err()?;
        self.made += 1;
        error.attempts = self.made;
        if !error.is_passing() || self.made > self.retries {
            return None;
        }
        let wait = wait_before(
            self.made,
            error.retry_after,
            self.max_wait,
            jitter(self.made),
        );
        tracing::debug!(
            attempt = self.made,
            wait_ms = wait.as_millis(),
            "asking again after: {error}"
        );
        Some(tokio::time::sleep(wait))
    }

    fn clone_request(&mut self, request: &HttpRequestFactory) -> Option<HttpRequestFactory> {
        Some(request.clone())
    }
}

/// Half to the whole of the doubled wait, or what the server asked for and up to a tenth more, so that
/// requests that failed together do not come back together; never more than `max_wait`.
fn wait_before(attempt: u32, asked: Option<Duration>, max_wait: Duration, jitter: f64) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1_u32 << attempt.saturating_sub(1).min(16));
    let wait = match asked {
        Some(asked) => asked.min(max_wait).mul_f64(1.0 + 0.1 * jitter),
        None => doubled.min(max_wait).mul_f64(0.5 + 0.5 * jitter),
    };
    wait.min(max_wait)
}

/// A number in [0, 1) that differs between requests. Only waiting depends on it, no result does.
fn jitter(attempt: u32) -> f64 {
    let mixed = clock::now_us()
        .unsigned_abs()
        .wrapping_add(u64::from(attempt))
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as f64 / (1_u64 << 24) as f64
}

/// `Retry-After` as seconds or as an HTTP date.
fn wait_asked_for(header: &str, now_us: i64) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(header)
        .ok()?
        .timestamp()
        .as_microsecond();
    u64::try_from(at.saturating_sub(now_us))
        .ok()
        .map(Duration::from_micros)
}

/// Sends one request and reads its reply.
#[derive(Clone)]
struct Sender {
    client: reqwest::Client,
    budget: Arc<Budget>,
    cleaner: Arc<Cleaner>,
}

impl Service<HttpRequestFactory> for Sender {
    type Response = reqwest::Response;
    type Error = CallError;
    type Future = BoxFuture<'static, Result<reqwest::Response, CallError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let sender = self.clone();
        Box::pin(async move { sender.send(&factory).await })
    }
}

impl Sender {
    async fn send(&self, factory: &HttpRequestFactory) -> Result<reqwest::Response, CallError> {
        let request = factory.build().await.map_err(|error| Failure::Transport {
            message: self.cleaner.clean(&in_one_line(&error)),
        })?;
        let claim = claim(
            request
                .body()
                .and_then(reqwest::Body::as_bytes)
                .unwrap_or_default(),
        );
        let reservation = self.budget.reserve(claim).map_err(Failure::Budget)?;

        // A request that was sent and not answered may have been charged, so its reservation stays.
        let response = self
            .client
            .execute(request)
            .await
            .map_err(|error| self.lost(error))?;
        let status = response.status();
        let retry_after = response
            .headers()
            .get(http::header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| wait_asked_for(text, clock::now_us()));
        let with_wait = |failure: Failure| CallError {
            retry_after,
            ..failure.into()
        };
        let body = self.read(response).await?;
        if !status.is_success() {
            self.budget.release(&reservation);
            return Err(with_wait(self.cleaner.status(status.as_u16(), &body)));
        }
        let Ok(reply) = serde_json::from_slice::<WireReply>(&body) else {
            let start = self.cleaner.clean(&String::from_utf8_lossy(&body));
            return Err(with_wait(Failure::BadReply {
                message: format!("the body is no JSON object: `{start}`"),
            }));
        };
        if let Some(problem) = reply.problem() {
            return Err(with_wait(self.without_choices(problem)));
        }
        self.budget.settle(&reservation, claim, &reply.usage());
        Ok(http::Response::new(reqwest::Body::from(body)).into())
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Vec<u8>, CallError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error))? {
            if body.len() + chunk.len() > MAX_BODY {
                let message = format!("the body is larger than {MAX_BODY} bytes");
                return Err(Failure::BadReply { message }.into());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn lost(&self, error: reqwest::Error) -> CallError {
        let what = if error.is_timeout() {
            "timed out"
        } else {
            "the connection failed"
        };
        // The address may carry a password; the message names the endpoint anyway.
        let text = format!("{what}: {}", in_one_line(&error.without_url()));
        Failure::Transport {
            message: self.cleaner.clean(&text),
        }
        .into()
    }

    /// Some gateways answer with HTTP 200 and an error in place of choices; its code then stands for the
    /// status.
    fn without_choices(&self, problem: &Value) -> Failure {
        if problem.is_null() {
            return Failure::BadReply {
                message: "the reply has no choices".to_owned(),
            };
        }
        let text = problem.to_string();
        let code = problem.get("code").or_else(|| problem.get("status"));
        let status = code
            .and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..600).contains(code));
        if let Some(status) = status {
            self.cleaner.status(status, text.as_bytes())
        } else {
            let message = self.cleaner.clean(&message_in(&text));
            Failure::BadReply {
                message: format!("the reply holds an error in place of choices: {message}"),
            }
        }
    }
}

/// The most a request can use: a token stands for at least one byte of the request, and the reply is bounded
/// by the request itself.
fn claim(body: &[u8]) -> Claim {
    let output = serde_json::from_slice::<Value>(body).ok().and_then(|body| {
        ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|key| body.get(*key)?.as_u64())
    });
    Claim {
        input_tokens: body.len() as u64,
        output_tokens: output.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_stay_below_the_cap() {
        let cap = Duration::from_secs(3);
        let waits: Vec<u128> = (1..=5)
            .map(|n| wait_before(n, None, cap, 1.0).as_millis())
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 3000, 3000]);
        assert_eq!(wait_before(1, None, cap, 0.0).as_millis(), 250);
        assert_eq!(
            wait_before(1, Some(Duration::from_secs(2)), cap, 0.5).as_millis(),
            2100
        );
        assert_eq!(
            wait_before(1, Some(Duration::from_secs(3600)), cap, 1.0),
            cap
        );
        assert_eq!(wait_before(9, None, Duration::ZERO, 1.0), Duration::ZERO);
        assert!((0.0..1.0).contains(&jitter(1)));
    }

    #[test]
    fn reads_retry_after_in_both_forms() {
        assert_eq!(wait_asked_for("7", 0), Some(Duration::from_secs(7)));
        assert_eq!(wait_asked_for(" 0.5 ", 0), Some(Duration::from_millis(500)));
        let now = 1_445_412_470_000_000; // Wed, 21 Oct 2015 07:27:50 GMT
        assert_eq!(
            wait_asked_for("Wed, 21 Oct 2015 07:28:00 GMT", now),
            Some(Duration::from_secs(10))
        );
        assert_eq!(wait_asked_for("Wed, 21 Oct 2015 07:27:00 GMT", now), None);
        for bad in ["soon", "-5", "NaN", "inf", "1e300", ""] {
            assert_eq!(wait_asked_for(bad, now), None, "{bad}");
        }
    }

    #[test]
    fn a_claim_bounds_the_request() {
        let body = br#"{"messages":[],"max_tokens":50}"#;
        let claim = claim(body);
        assert_eq!(
            (claim.input_tokens, claim.output_tokens),
            (body.len() as u64, 50)
        );
    }
}
