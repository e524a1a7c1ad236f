//! `eval`: the same as `whetstone eval`.

use std::process::ExitCode;

fn main() -> ExitCode {
    whetstone::start(eval::cli::run)
}
