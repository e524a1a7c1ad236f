//! `optimizer`: the same as `whetstone optimizer`.

use std::process::ExitCode;

fn main() -> ExitCode {
    whetstone::start(optimizer::cli::run)
}
