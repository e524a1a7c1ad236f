//! The negotiation market: an MCP server in which a buyer and a seller negotiate one item.
//!
//! It answers one question under controlled conditions: what do agents do with these tools, and does another
//! wording of their descriptions change it? A [`scenario::Scenario`] gives item and limits, a [`Condition`] is
//! two flags, a toolset version gives the descriptions. [`server::start`] runs the server;
//! [`client::AdminClient`] opens negotiations and reads what was counted; the parties speak MCP with the tokens
//! they were given. The rules themselves ([`rules`]) know nothing of all that.

mod admin;
mod catalog;
mod check;
pub mod cli;
pub mod client;
mod condition;
mod config;
pub mod contract;
mod gate;
mod handler;
pub mod injection;
mod plain;
mod registry;
mod role;
pub mod rules;
pub mod scenario;
pub mod server;
mod token;

pub use admin::DEFAULT_MAX_MOVES;
pub use catalog::{CatalogError, TOOLSET_META};
pub use condition::{Condition, UnknownCondition};
pub use config::MarketConfig;
pub use handler::REFUSAL_META;
pub use role::Role;
