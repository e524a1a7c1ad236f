//! The market from outside: raw HTTP and rmcp's own client against a running server.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "helpers of tests fail by panicking, as the tests themselves do, and take what `json!` makes"
)]

mod auth;
mod bodies;
mod inputs;
mod limits;
mod notices;
mod races;
mod rules;
mod secrecy;
mod support;
mod versions;
