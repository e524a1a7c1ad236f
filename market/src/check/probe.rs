//! An attacker's tools: raw requests, and the admin's view of what they did.

use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::Seen;
use crate::client::{AdminClient, AdminError, OpenRequest, Opened, Report};
use crate::rules::{Opening, Refusal};
use crate::scenario::Scenario;

/// What an MCP client accepts.
pub(super) const ACCEPT: &str = "application/json, text/event-stream";

/// A market under attack.
pub(super) struct Probe {
    pub(super) http: reqwest::Client,
    pub(super) base: String,
    pub(super) admin: AdminClient,
    pub(super) secret: SecretString,
    opened: Mutex<Vec<String>>,
}

/// An HTTP answer.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) challenge: Option<String>,
    pub(super) body: Value,
}

/// The answer to a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) failed: bool,
    pub(super) text: String,
    pub(super) reason: Option<String>,
    pub(super) value: Value,
}

/// The terms of the negotiations that are opened for the attacks: limits 40 and 120, listed at 140.
pub(super) fn terms() -> OpenRequest {
    OpenRequest {
        scenario: Scenario {
            id: "check".to_owned(),
            item: "bicycle".to_owned(),
            reserve: 40,
            budget: 120,
        },
        enforce: false,
        inject: None,
        opening: Opening::Listing,
        max_moves: 8,
        toolset: None,
    }
}

impl Probe {
    /// Opens one negotiation, so that a wrong address or secret shows at once.
    pub(super) async fn new(
        http: reqwest::Client,
        base: &str,
        secret: SecretString,
    ) -> Result<Self, AdminError> {
        let probe = Self {
            admin: AdminClient::new(http.clone(), base, secret.clone()),
            http,
            base: base.to_owned(),
            secret,
            opened: Mutex::default(),
        };
        probe.open(&terms()).await?;
        Ok(probe)
    }

    pub(super) async fn open(&self, terms: &OpenRequest) -> Result<Opened, AdminError> {
        let opened = self.admin.open(terms).await?;
        self.opened
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(opened.negotiation_id.clone());
        Ok(opened)
    }

    /// Closes what was opened; what is closed already is no concern.
    pub(super) async fn close_all(&self) {
        let opened =
            std::mem::take(&mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner));
        for id in opened {
            let _ = self.admin.close(&id).await;
        }
    }

    /// Everything that a refused call must leave alone.
    pub(super) async fn state(&self, id: &str) -> anyhow::Result<Value> {
        let mut report = json!(self.admin.report(id).await?);
        if let Some(report) = report.as_object_mut() {
            report.shift_remove("counters");
        }
        Ok(report)
    }

    pub(super) async fn report(&self, id: &str) -> anyhow::Result<Report> {
        Ok(self.admin.report(id).await?)
    }

    /// A request to the MCP endpoint with whatever stands in `headers`.
    pub(super) async fn post(
        &self,
        headers: &[(&str, String)],
        body: &Value,
    ) -> anyhow::Result<Reply> {
        let mut request = self
            .http
            .post(self.admin.mcp_url())
            .header("accept", ACCEPT)
            .json(body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        Reply::read(request).await
    }

    /// Calls a tool as the owner of a token.
    pub(super) async fn call(
        &self,
        token: &SecretString,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<Told> {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let reply = self.post(&[bearer(token)], &body).await?;
        anyhow::ensure!(reply.status == 200, "HTTP {}", reply.status);
        let result = reply
            .body
            .get("result")
            .with_context(|| format!("a protocol error instead of a result: {}", reply.body))?;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        Ok(Told {
            failed: result.get("isError") == Some(&json!(true)),
            text: text(result.pointer("/content/0/text")).unwrap_or_default(),
            reason: text(
                result
                    .get("_meta")
                    .and_then(|meta| meta.get(crate::handler::REFUSAL_META)),
            ),
            value: result.get("structuredContent").cloned().unwrap_or_default(),
        })
    }

    /// Calls a tool that takes nothing but the id.
    pub(super) async fn act(
        &self,
        token: &SecretString,
        tool: &str,
        id: &str,
    ) -> anyhow::Result<Told> {
        self.call(token, tool, json!({"negotiation_id": id})).await
    }

    pub(super) async fn propose(
        &self,
        token: &SecretString,
        id: &str,
        price: i64,
    ) -> anyhow::Result<Told> {
        let arguments = json!({"negotiation_id": id, "price": price});
        self.call(token, crate::contract::PROPOSE, arguments).await
    }
}

impl Reply {
    pub(super) async fn read(request: reqwest::RequestBuilder) -> anyhow::Result<Self> {
        let response = request.send().await.context("no answer")?;
        let status = response.status().as_u16();
        let challenge = response
            .headers()
            .get("www-authenticate")
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let text = response.text().await.context("half an answer")?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Self {
            status,
            challenge,
            body,
        })
    }

    /// Whether it is a 401 with a challenge that leads to the resource's metadata.
    pub(super) fn is_challenge(&self) -> bool {
        self.status == 401
            && self
                .challenge
                .as_deref()
                .is_some_and(|c| c.starts_with("Bearer ") && c.contains("resource_metadata="))
    }

    pub(super) fn describe(&self) -> String {
        match &self.challenge {
            Some(challenge) => format!("HTTP {}, WWW-Authenticate: {challenge}", self.status),
            None => format!("HTTP {}", self.status),
        }
    }
}

impl Told {
    pub(super) fn describe(&self) -> String {
        match (&self.reason, self.failed) {
            (Some(reason), true) => format!("isError, {reason}: \"{}\"", self.text),
            (None, true) => format!("isError without a reason: \"{}\"", self.text),
            (_, false) => format!("the call went through: \"{}\"", self.text),
        }
    }

    /// Whether it is a refusal for this reason with a sentence to act on.
    pub(super) fn refused(&self, reason: Refusal) -> bool {
        self.failed
            && self.reason.as_deref() == Some(reason.as_str())
            && self.text.split_whitespace().count() >= 5
            && self.value.is_null()
    }

    /// The refusal as a finished observation.
    pub(super) fn expect(&self, reason: Refusal) -> Seen {
        (self.describe(), self.refused(reason))
    }
}

/// The header of a party.
pub(super) fn bearer(token: &SecretString) -> (&'static str, String) {
    ("authorization", format!("Bearer {}", token.expose_secret()))
}

/// A harmless request.
pub(super) fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}
