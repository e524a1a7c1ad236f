//! `collector`: the same as `whetstone collector`.

use std::process::ExitCode;

fn main() -> ExitCode {
    whetstone::start(collector::cli::run)
}
