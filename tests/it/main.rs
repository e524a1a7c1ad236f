//! End-to-end tests: the binaries, run as a user runs them.

mod cli;
mod demo;
mod kill;
mod market_server;
mod real_model;
mod support;
