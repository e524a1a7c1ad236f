//! Plans, runs and compares episodes of the market.
//!
//! A [`plan::Plan`] is scenarios × conditions × repeats × arms; [`run::run`] plays what is missing of it and
//! records every episode in a [`trajectory::store::Store`]. What an episode shows is computed from its
//! recorded calls ([`metrics`]) and must agree with what the market counted ([`agreement`]).
//! [`summary::summarize`] makes the table per condition, [`compare::compare`] the paired comparison of two
//! arms, [`report`] the page, [`export`] the course's files.
//!
//! ```
//! use eval::plan::{Arm, Plan};
//!
//! let pack = market::scenario::Pack::load("reference")?;
//! let arm = Arm { name: "baseline".to_owned(), toolset: market::contract::baseline() };
//! let plan = Plan::new(pack, vec![arm], "sim:careless");
//! assert_eq!(plan.episodes().len(), 5 * 4 * 3);
//! # Ok::<(), market::scenario::ScenarioError>(())
//! ```

pub mod agreement;
pub mod analysis;
pub mod calculator;
pub mod cli;
pub mod compare;
mod episode;
pub mod export;
mod figures;
mod files;
pub mod manifest;
pub mod metrics;
pub mod plan;
pub mod planning;
pub mod prompts;
pub mod report;
pub mod run;
pub use stats;
pub mod summary;
mod table;
