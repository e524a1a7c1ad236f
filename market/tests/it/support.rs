//! A market of its own for every test, and a party that speaks JSON-RPC by hand.

use market::MarketConfig;
use market::client::{AdminClient, OpenRequest, Report};
use market::server::{RunningMarket, start};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

/// A running market and its admin.
pub(crate) struct World {
    pub(crate) market: RunningMarket,
    pub(crate) admin: AdminClient,
    pub(crate) http: reqwest::Client,
}

/// One party of one negotiation.
pub(crate) struct Party {
    http: reqwest::Client,
    mcp_url: String,
    pub(crate) token: String,
    pub(crate) id: String,
}

/// An open negotiation.
pub(crate) struct Game {
    pub(crate) id: String,
    pub(crate) buyer: Party,
    pub(crate) seller: Party,
    pub(crate) toolset_id: String,
}

/// Reserve 40, budget 120, limits not enforced, listed by the market.
pub(crate) fn terms() -> Value {
    json!({
        "scenario": {"id": "s", "item": "bicycle", "reserve": 40, "budget": 120},
        "enforce": false, "opening": "listing", "max_moves": 8,
    })
}

/// `terms()` with some keys replaced.
pub(crate) fn terms_with(changes: Value) -> Value {
    let mut terms = terms();
    for (key, value) in changes.as_object().expect("an object") {
        terms[key] = value.clone();
    }
    terms
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(MarketConfig::default()).await
    }

    pub(crate) async fn with(config: MarketConfig) -> Self {
        let market = start(config).await.expect("the market starts");
        let http = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        let admin = AdminClient::new(http.clone(), &market.url(), market.admin_secret().clone());
        Self {
            market,
            admin,
            http,
        }
    }

    pub(crate) fn admin_secret(&self) -> String {
        self.market.admin_secret().expose_secret().to_owned()
    }

    pub(crate) async fn open(&self, terms: Value) -> Game {
        let request: OpenRequest = serde_json::from_value(terms).expect("terms");
        let opened = self
            .admin
            .open(&request)
            .await
            .expect("the negotiation opens");
        let party = |token: &SecretString| Party {
            http: self.http.clone(),
            mcp_url: self.market.mcp_url(),
            token: token.expose_secret().to_owned(),
            id: opened.negotiation_id.clone(),
        };
        Game {
            buyer: party(&opened.buyer_token),
            seller: party(&opened.seller_token),
            id: opened.negotiation_id.clone(),
            toolset_id: opened.toolset_id.clone(),
        }
    }

    pub(crate) async fn report(&self, game: &Game) -> Report {
        self.admin
            .report(&game.id)
            .await
            .expect("the negotiation is there")
    }

    /// The report without its counters: everything a refused call must leave alone.
    pub(crate) async fn state(&self, game: &Game) -> Value {
        let mut report = json!(self.report(game).await);
        report
            .as_object_mut()
            .expect("an object")
            .shift_remove("counters");
        report
    }
}

/// The answer to a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) failed: bool,
    pub(crate) text: String,
    pub(crate) reason: Option<String>,
    pub(crate) value: Value,
}

impl Party {
    pub(crate) fn post(&self, body: &Value) -> reqwest::RequestBuilder {
        self.http
            .post(&self.mcp_url)
            .header("accept", "application/json, text/event-stream")
            .bearer_auth(&self.token)
            .json(body)
    }

    /// The JSON-RPC response to one request.
    pub(crate) async fn rpc(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.post(&body).send().await.expect("an answer");
        assert_eq!(response.status(), 200, "{method} {params}");
        response.json().await.expect("JSON")
    }

    /// Calls a tool with exactly these arguments.
    pub(crate) async fn raw(&self, tool: &str, arguments: Value) -> Told {
        let answer = self
            .rpc("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        let result = answer
            .get("result")
            .unwrap_or_else(|| panic!("a protocol error: {answer}"));
        Told {
            failed: result["isError"].as_bool().unwrap_or_default(),
            text: result["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            reason: result["_meta"]["whetstone/refusal"]
                .as_str()
                .map(str::to_owned),
            value: result["structuredContent"].clone(),
        }
    }

    /// Calls a tool on the party's own negotiation.
    pub(crate) async fn call(&self, tool: &str) -> Told {
        self.raw(tool, json!({"negotiation_id": self.id})).await
    }

    pub(crate) async fn propose(&self, price: i64) -> Told {
        self.raw(
            "propose",
            json!({"negotiation_id": self.id, "price": price}),
        )
        .await
    }

    /// Calls that must go through.
    pub(crate) async fn done(&self, tool: &str) -> Value {
        let told = self.call(tool).await;
        assert!(!told.failed, "{tool}: {}", told.text);
        told.value
    }

    pub(crate) async fn proposed(&self, price: i64) -> Value {
        let told = self.propose(price).await;
        assert!(!told.failed, "{}", told.text);
        told.value
    }
}
