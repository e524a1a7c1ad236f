//! `market`: the same as `whetstone market`.

use std::process::ExitCode;

fn main() -> ExitCode {
    whetstone::start(market::cli::run)
}
