//! End-to-end tests: the binaries, run as a user runs them.
#![cfg(test)]

mod cli;
mod demo;
mod kill;
mod market_server;
mod real_model;
mod report;
mod support;
