//! Behaviour of the optimizer on episodes built here: from findings to files.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the builders of tests fail by panicking, as the tests themselves do"
)]

mod classes;
mod cli;
mod diagnosis;
mod diff;
mod endings;
mod fixture;
mod guard;
mod hostile;
mod imported;
mod mined;
mod model;
mod structural;
mod wording;
