//! End to end: simulated agents over the embedded market, through real HTTP.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

mod analysis;
mod book;
mod commands;
mod judging;
mod model;
mod planning;
mod playing;
mod resuming;
mod stats_command;
mod stats_golden;
mod stats_golden_counts;
mod support;
