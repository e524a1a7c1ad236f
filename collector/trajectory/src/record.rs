//! The record types: what is written to the journal, stored in Parquet, and read by every analysis.
//!
//! One struct is one table and one field is one column, in the order given here. Texts that agents and
//! servers sent (arguments, results, message contents) are kept exactly as they were seen; everything that
//! is filtered, grouped or averaged stands beside them in a typed field. Times are UTC microseconds since
//! the Unix epoch.

use serde::{Deserialize, Serialize};

/// Version of the stored record; raised with any change to the structs of this module.
pub const SCHEMA_VERSION: i32 = 1;

/// How an episode ended, seen as a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The episode ran to its end (whatever the outcome) or was imported whole.
    Completed,
    /// The agent itself could not go on, for example because it never answered with anything usable.
    AgentFault,
    /// Transport or provider failed; the episode says nothing about the agent and is excluded, and counted.
    InfraError,
    /// Stopped from outside before its end.
    Cancelled,
}

impl Status {
    /// The name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::AgentFault => "agent_fault",
            Self::InfraError => "infra_error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What is known about a recorded argument or result text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capture {
    /// The text is complete, as it was sent.
    Captured,
    /// The source did not record it; different from an empty text.
    NotCaptured,
    /// The source cut it off.
    Truncated,
    /// It was recorded, and is not what it should be (for example arguments that are not JSON).
    Invalid,
}

/// One episode of an experiment, or one imported trace.
///
/// Optional numbers are absent when the episode does not have them (an imported trace has no price), which
/// is different from zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: i32,
    /// Identity: derived from the plan or from the imported trace, never counted up.
    pub episode_id: String,
    /// The experiment (also the partition folder).
    pub experiment: String,
    /// Where it comes from: `market`, `langfuse`, …
    pub source: String,
    /// Scenario id, or the name of an imported trace.
    pub scenario: Option<String>,
    /// Condition name (`prompt`, `server`, `prompt_inject`, `server_inject`).
    pub condition: Option<String>,
    /// Arm: which toolset version the plan meant, by its name in the plan (`baseline`, `candidate`, …).
    pub arm: Option<String>,
    /// Repeat within scenario, condition and arm, from 0.
    pub repeat: Option<i32>,
    /// Seed of the episode's random draws.
    pub seed: Option<i64>,
    /// Model of the buyer, or of the imported trace's agent.
    pub model: Option<String>,
    /// Model of the counterpart when it is another one.
    pub counterpart_model: Option<String>,
    /// Whether the agents were simulated; such an episode says nothing about any language model.
    pub simulated: bool,
    /// Id of the toolset version the plan meant to serve.
    pub toolset_meant: Option<String>,
    /// Id of the tool list that was handed to the models (hash over what the client received).
    pub toolset_seen: Option<String>,
    /// Hash of the system prompts.
    pub prompt_hash: Option<String>,
    /// How the episode ended as a measurement.
    pub status: Status,
    /// Why it ended: `deal`, `no_deal`, `move_cap`, `error`, …
    pub termination: Option<String>,
    /// Error text of an episode that did not complete.
    pub error: Option<String>,
    /// `deal`, `no_deal` or `open`; free text for imported traces.
    pub outcome: Option<String>,
    /// Price of the deal, in whole currency units.
    pub price: Option<i64>,
    /// The seller's limit, in whole currency units.
    pub reserve: Option<i64>,
    /// The buyer's limit, in whole currency units.
    pub budget: Option<i64>,
    /// `reserve <= budget`.
    pub deal_possible: Option<bool>,
    /// A deal inside both limits when possible; an explicit `no_deal` when not.
    pub correct_strict: Option<bool>,
    /// As `correct_strict`, but `open` also counts when no deal was possible.
    pub correct_lenient: Option<bool>,
    /// A deal outside a limit.
    pub violation: Option<bool>,
    /// Whose limit the deal broke: `buyer`, `seller` or `both`.
    pub violation_side: Option<String>,
    /// Buyer's `propose` and `accept_proposal` calls outside its own limit, executed or not.
    pub attempted_violations_buyer: Option<i32>,
    /// Seller's `propose` and `accept_proposal` calls outside its own limit, executed or not.
    pub attempted_violations_seller: Option<i32>,
    /// Moves the server refused, all reasons.
    pub refused_calls: Option<i32>,
    /// Refusals by reason, as a JSON object of counts.
    pub refused_by_reason: Option<String>,
    /// Refusals followed by a valid move in the same turn.
    pub recovered_refusals: Option<i32>,
    /// Moves that went through.
    pub turns: Option<i32>,
    /// Tool calls the hosts made.
    pub tool_calls: Option<i32>,
    /// `get_negotiation` calls.
    pub polls: Option<i32>,
    /// Turns in which the standing price was inside the caller's limit and was not accepted.
    pub missed_acceptances: Option<i32>,
    /// Buyer views that carried the injection.
    pub exposures: Option<i32>,
    /// An attempt in (limit, claimed] after exposure.
    pub obeyed: Option<bool>,
    /// `(budget - price) / (budget - reserve)`, feasible deals only.
    pub surplus_buyer: Option<f64>,
    /// `(price - reserve) / (budget - reserve)`, feasible deals only.
    pub surplus_seller: Option<f64>,
    /// `4 * surplus_buyer * surplus_seller`.
    pub quality: Option<f64>,
    /// Turns that were passed because the host made no move.
    pub passes: Option<i32>,
    /// Model calls, both roles.
    pub model_calls: Option<i32>,
    /// Prompt tokens of the buyer's (or the only) model, as the provider counted them.
    pub input_tokens_buyer: Option<i64>,
    /// Completion tokens of the buyer's (or the only) model.
    pub output_tokens_buyer: Option<i64>,
    /// Prompt tokens of the seller's model.
    pub input_tokens_seller: Option<i64>,
    /// Completion tokens of the seller's model.
    pub output_tokens_seller: Option<i64>,
    /// Cost in US dollars, when prices are known.
    pub cost_usd: Option<f64>,
    /// Time spent in the buyer's model calls, microseconds.
    pub model_time_us_buyer: Option<i64>,
    /// Time spent in the seller's model calls, microseconds.
    pub model_time_us_seller: Option<i64>,
    /// Start.
    pub started_us: Option<i64>,
    /// End.
    pub ended_us: Option<i64>,
    /// Metrics without a column of their own: a JSON object of numbers.
    pub metrics: Option<String>,
    /// Everything else worth keeping (item, opening, injection id, tags, …): a JSON object.
    pub attributes: Option<String>,
}

impl Episode {
    /// An episode with nothing known but its identity.
    pub fn new(experiment: &str, episode_id: &str, source: &str) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            episode_id: episode_id.to_owned(),
            experiment: experiment.to_owned(),
            source: source.to_owned(),
            scenario: None,
            condition: None,
            arm: None,
            repeat: None,
            seed: None,
            model: None,
            counterpart_model: None,
            simulated: false,
            toolset_meant: None,
            toolset_seen: None,
            prompt_hash: None,
            status: Status::Completed,
            termination: None,
            error: None,
            outcome: None,
            price: None,
            reserve: None,
            budget: None,
            deal_possible: None,
            correct_strict: None,
            correct_lenient: None,
            violation: None,
            violation_side: None,
            attempted_violations_buyer: None,
            attempted_violations_seller: None,
            refused_calls: None,
            refused_by_reason: None,
            recovered_refusals: None,
            turns: None,
            tool_calls: None,
            polls: None,
            missed_acceptances: None,
            exposures: None,
            obeyed: None,
            surplus_buyer: None,
            surplus_seller: None,
            quality: None,
            passes: None,
            model_calls: None,
            input_tokens_buyer: None,
            output_tokens_buyer: None,
            input_tokens_seller: None,
            output_tokens_seller: None,
            cost_usd: None,
            model_time_us_buyer: None,
            model_time_us_seller: None,
            started_us: None,
            ended_us: None,
            metrics: None,
            attributes: None,
        }
    }
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The experiment.
    pub experiment: String,
    /// The episode.
    pub episode_id: String,
    /// Position within the episode, from 0, shared by both roles.
    pub sequence: i32,
    /// Turn of the episode, from 0; absent for imported traces.
    pub turn: Option<i32>,
    /// `buyer` or `seller`; absent for imported traces.
    pub role: Option<String>,
    /// Tool name as the model wrote it.
    pub tool: String,
    /// MCP server, where the source names one.
    pub server: Option<String>,
    /// Call id given by the model or the source.
    pub call_id: Option<String>,
    /// Arguments, JSON text exactly as seen.
    pub arguments: Option<String>,
    /// What is known about `arguments`.
    pub arguments_state: Capture,
    /// Result, JSON or plain text exactly as the model got it.
    pub result: Option<String>,
    /// What is known about `result`.
    pub result_state: Capture,
    /// Whether the call failed; absent when the source does not say.
    pub is_error: Option<bool>,
    /// Class of the failure (the market's refusal reason, `unknown_tool`, `protocol_error`, …).
    pub error_class: Option<String>,
    /// The sentence the agent was shown.
    pub error_message: Option<String>,
    /// Start.
    pub started_us: Option<i64>,
    /// End.
    pub ended_us: Option<i64>,
}

/// One message of a model conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The experiment.
    pub experiment: String,
    /// The episode.
    pub episode_id: String,
    /// Position within the episode, from 0.
    pub sequence: i32,
    /// Turn of the episode, from 0.
    pub turn: Option<i32>,
    /// Whose conversation: `buyer` or `seller`; absent for imported traces.
    pub party: Option<String>,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Text.
    pub content: Option<String>,
    /// Tool calls of an assistant message, JSON text.
    pub tool_calls: Option<String>,
    /// Model that wrote an assistant message.
    pub model: Option<String>,
    /// Prompt tokens.
    pub input_tokens: Option<i64>,
    /// Completion tokens.
    pub output_tokens: Option<i64>,
    /// Time to the whole reply, microseconds.
    pub latency_us: Option<i64>,
    /// Finish reason as the provider wrote it.
    pub finish_reason: Option<String>,
    /// Reply fields we have no column for, JSON text.
    pub extra: Option<String>,
}

/// One judgement of an episode or of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The experiment.
    pub experiment: String,
    /// The episode.
    pub episode_id: String,
    /// The call it is about (its `call_id` or source id), absent for the whole episode.
    pub call_id: Option<String>,
    /// Name.
    pub name: String,
    /// Numeric value; 0 and -1 are values, not absence.
    pub value: Option<f64>,
    /// Text value.
    pub text: Option<String>,
    /// Who judged.
    pub source: Option<String>,
    /// Comment.
    pub comment: Option<String>,
}

/// One tool of one toolset version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRow {
    /// The experiment.
    pub experiment: String,
    /// Toolset version.
    pub toolset_id: String,
    /// Position in the list, from 0.
    pub position: i32,
    /// Name.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Input schema, JSON text.
    pub input_schema: Option<String>,
    /// Output schema, JSON text.
    pub output_schema: Option<String>,
    /// Annotations, JSON text.
    pub annotations: Option<String>,
    /// The whole definition as seen, JSON text.
    pub definition: String,
    /// First seen.
    pub first_seen_us: Option<i64>,
    /// Last seen.
    pub last_seen_us: Option<i64>,
}

/// Everything recorded about one episode: the unit of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRecord {
    /// The episode.
    pub episode: Episode,
    /// Its tool calls, in order.
    pub calls: Vec<Call>,
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// Its scores.
    pub scores: Vec<Score>,
    /// The tool definitions its models saw.
    pub tools: Vec<ToolRow>,
}
