//! The runner's view of a market: a typed client of the admin API.

use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trajectory::Toolset;

pub use crate::admin::{OpenRequest, Report};
use crate::role::Role;

/// A call of the admin API failed.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// Nobody answered, or not in HTTP.
    #[error("no answer from the market at {url}: is it running, and is the address right?")]
    Transport {
        /// What was called.
        url: String,
        /// Why.
        source: reqwest::Error,
    },
    /// The secret is wrong.
    #[error(
        "the market at {url} does not take this admin secret: set WHETSTONE_MARKET_ADMIN_SECRET to the one it was started with"
    )]
    Unauthorized {
        /// What was called.
        url: String,
    },
    /// The market refused.
    #[error("the market at {url} answered {status}: {told}")]
    Refused {
        /// What was called.
        url: String,
        /// HTTP status.
        status: u16,
        /// Its own words.
        told: String,
    },
}

/// A negotiation that was opened, with the tokens of its parties.
#[derive(Debug, Clone, Deserialize)]
pub struct Opened {
    /// The id that both parties use.
    pub negotiation_id: String,
    /// The buyer's token.
    pub buyer_token: SecretString,
    /// The seller's token.
    pub seller_token: SecretString,
    /// Id of the version that is served to both.
    pub toolset_id: String,
}

/// A client of the admin API.
#[derive(Debug, Clone)]
pub struct AdminClient {
    http: reqwest::Client,
    base: String,
    secret: SecretString,
}

impl AdminClient {
    /// `base` is the market's address without a path.
    pub fn new(http: reqwest::Client, base: &str, secret: SecretString) -> Self {
        Self {
            http,
            base: base.trim_end_matches('/').to_owned(),
            secret,
        }
    }

    /// Address of the MCP endpoint of the same market.
    pub fn mcp_url(&self) -> String {
        format!("{}{}", self.base, crate::gate::MCP_PATH)
    }

    /// Registers a version; gives its id.
    ///
    /// # Errors
    /// The market does not answer or does not serve such a version.
    pub async fn register(&self, toolset: &Toolset) -> Result<String, AdminError> {
        #[derive(Deserialize)]
        struct Registered {
            toolset_id: String,
        }
        let told: Registered = self
            .json(Method::POST, "/admin/toolsets", Some(&toolset.to_value()))
            .await?;
        Ok(told.toolset_id)
    }

    /// Opens a negotiation.
    ///
    /// # Errors
    /// The market does not answer, is full, or refuses the terms.
    pub async fn open(&self, request: &OpenRequest) -> Result<Opened, AdminError> {
        self.json(Method::POST, "/admin/negotiations", Some(&json!(request)))
            .await
    }

    /// Passes the turn of a party that made no move.
    ///
    /// # Errors
    /// The market does not answer, or it is not that party's turn.
    pub async fn pass(&self, id: &str, role: Role) -> Result<(), AdminError> {
        let path = format!("/admin/negotiations/{id}/pass");
        self.send(Method::POST, &path, Some(&json!({"role": role})))
            .await
            .map(drop)
    }

    /// Reads where a negotiation stands and what was counted.
    ///
    /// # Errors
    /// The market does not answer or does not know the negotiation.
    pub async fn report(&self, id: &str) -> Result<Report, AdminError> {
        self.json(Method::GET, &format!("/admin/negotiations/{id}"), None)
            .await
    }

    /// Drops a negotiation and its tokens.
    ///
    /// # Errors
    /// The market does not answer or does not know the negotiation.
    pub async fn close(&self, id: &str) -> Result<(), AdminError> {
        self.send(Method::DELETE, &format!("/admin/negotiations/{id}"), None)
            .await
            .map(drop)
    }

    async fn json<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, AdminError> {
        let url = format!("{}{path}", self.base);
        let response = self.send(method, path, body).await?;
        response
            .json()
            .await
            .map_err(|source| AdminError::Transport {
                url,
                source: source.without_url(),
            })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<reqwest::Response, AdminError> {
        let url = format!("{}{path}", self.base);
        let mut request = self
            .http
            .request(method, &url)
            .bearer_auth(self.secret.expose_secret());
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request
            .send()
            .await
            .map_err(|source| AdminError::Transport {
                url: url.clone(),
                source: source.without_url(),
            })?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(AdminError::Unauthorized { url });
        }
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.unwrap_or_default();
        let told = serde_json::from_str::<Value>(&text)
            .ok()
            .and_then(|value| {
                value
                    .get("error")
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            })
            .unwrap_or(text);
        let told: String = told.chars().filter(|c| !c.is_control()).take(400).collect();
        Err(AdminError::Refused {
            url,
            status: status.as_u16(),
            told,
        })
    }
}
