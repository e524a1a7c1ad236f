//! The admin API: how the runner opens, passes, reads and closes negotiations. Not part of MCP, and with a
//! secret of its own: a party that could mint tokens could raise its own limit.

use axum::extract::{FromRequest, Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use http::StatusCode;
use secrecy::ExposeSecret as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trajectory::Toolset;

use crate::gate::{Gate, MCP_PATH, problem};
use crate::injection::Injection;
use crate::registry::OpenError;
use crate::role::Role;
use crate::rules::{Counters, Event, Opening, Status, Terms};
use crate::scenario::{Pack, Scenario};

/// What is needed to open a negotiation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenRequest {
    /// Item and limits.
    pub scenario: Scenario,
    /// Whether the server enforces the limits.
    #[serde(default)]
    pub enforce: bool,
    /// What the target's views carry.
    #[serde(default)]
    pub inject: Option<Injection>,
    /// How it begins.
    #[serde(default)]
    pub opening: Opening,
    /// Moves and passes after which it ends as `open`.
    #[serde(default = "default_max_moves")]
    pub max_moves: u32,
    /// Id of a registered toolset version; the baseline when absent.
    #[serde(default)]
    pub toolset: Option<String>,
}

/// The cap of the published experiment.
pub const DEFAULT_MAX_MOVES: u32 = 8;

fn default_max_moves() -> u32 {
    DEFAULT_MAX_MOVES
}

/// What is known about a negotiation from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Where it stands.
    pub status: Status,
    /// Price of the deal.
    pub price: Option<i64>,
    /// Whose turn it is; absent once closed or at the cap.
    pub next_role: Option<Role>,
    /// Moves and passes that are left.
    pub moves_left: u32,
    /// What the server counted.
    pub counters: Counters,
    /// What happened, without any injection.
    pub events: Vec<Event>,
}

#[derive(Deserialize)]
struct PassRequest {
    role: Role,
}

pub(crate) fn router() -> Router<Gate> {
    Router::new()
        .route("/admin/toolsets", post(register))
        .route("/admin/negotiations", post(open))
        .route("/admin/negotiations/{id}", get(report))
        .route("/admin/negotiations/{id}", delete(close))
        .route("/admin/negotiations/{id}/pass", post(pass))
        .route("/admin/stats", get(stats))
}

/// A JSON body whose faults are told as JSON.
struct Body<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        match Json::from_request(request, state).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => {
                // The text quotes the body at most in part, and the sender holds the admin secret.
                let told: String = rejection
                    .body_text()
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(400)
                    .collect();
                Err(problem(rejection.status(), &told))
            }
        }
    }
}

fn not_found(id: &str) -> Response {
    let id: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
    problem(
        StatusCode::NOT_FOUND,
        &format!("no negotiation `{id}`: it was closed, expired, or never opened here"),
    )
}

fn refused(error: &OpenError) -> Response {
    let status = match error {
        OpenError::Full(_) | OpenError::TooManyToolsets(_) | OpenError::Random(_) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        OpenError::UnknownToolset(_)
        | OpenError::MaxMoves
        | OpenError::Scenario(_)
        | OpenError::Injection { .. }
        | OpenError::Catalog(_) => StatusCode::UNPROCESSABLE_ENTITY,
    };
    problem(status, &error.to_string())
}

async fn register(State(gate): State<Gate>, Body(value): Body<Value>) -> Response {
    let toolset = match Toolset::from_value(value) {
        Ok(toolset) => toolset,
        Err(error) => return problem(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
    };
    match gate.registry.register(&toolset) {
        Ok(id) => Json(json!({"toolset_id": id})).into_response(),
        Err(error) => refused(&error),
    }
}

async fn open(State(gate): State<Gate>, Body(request): Body<OpenRequest>) -> Response {
    // The same checks as for files, so that no limit or text gets in that a file could not hold.
    let checked = Pack::parse("request", "request", &json!([request.scenario]).to_string());
    let scenario = match checked.map(|pack| pack.scenarios.into_iter().next()) {
        Ok(Some(scenario)) => scenario,
        Ok(None) => return refused(&OpenError::Scenario("missing".to_owned())),
        Err(error) => return refused(&OpenError::Scenario(error.to_string())),
    };
    let terms = Terms {
        scenario,
        enforce: request.enforce,
        inject: request.inject,
        opening: request.opening,
        max_moves: request.max_moves,
        notes: false,
    };
    match gate.registry.open(terms, request.toolset.as_deref()) {
        Ok(opened) => Json(json!({
            "negotiation_id": opened.negotiation_id,
            "buyer_token": opened.buyer_token.expose_secret(),
            "seller_token": opened.seller_token.expose_secret(),
            "toolset_id": opened.toolset_id,
            "mcp_path": MCP_PATH,
        }))
        .into_response(),
        Err(error) => refused(&error),
    }
}

async fn report(State(gate): State<Gate>, Path(id): Path<String>) -> Response {
    let report = gate.registry.with(&id, |negotiation| Report {
        status: negotiation.status(),
        price: negotiation.price(),
        next_role: negotiation.next_role(),
        moves_left: negotiation.moves_left(),
        counters: negotiation.counters().clone(),
        events: negotiation.events().to_vec(),
    });
    report.map_or_else(|| not_found(&id), |report| Json(report).into_response())
}

async fn pass(
    State(gate): State<Gate>,
    Path(id): Path<String>,
    Body(request): Body<PassRequest>,
) -> Response {
    match gate
        .registry
        .with(&id, |negotiation| negotiation.pass(request.role))
    {
        None => not_found(&id),
        Some(true) => Json(json!({"passed": request.role})).into_response(),
        Some(false) => problem(
            StatusCode::CONFLICT,
            &format!("it is not the {}'s turn", request.role),
        ),
    }
}

async fn close(State(gate): State<Gate>, Path(id): Path<String>) -> Response {
    if gate.registry.close(&id) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        not_found(&id)
    }
}

async fn stats(State(gate): State<Gate>) -> Response {
    Json(json!({"negotiations": gate.registry.len()})).into_response()
}
