//! `eval`: the same as `whetstone eval`.

use std::process::ExitCode;

fn main() -> ExitCode {
    whetstone::start(|cli, out| eval::cli::run(cli, &whetstone::annotations(), out))
}
