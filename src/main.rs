//! `whetstone`: every command of the project under one name.

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use trajectory::Exit;

mod demo;

/// Finds the tool descriptions that mislead agents, rewrites them, and says honestly whether that helped.
#[derive(Debug, Parser)]
#[command(name = "whetstone", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  whetstone demo                                         the whole loop, offline, in under a minute
  whetstone collector import traces.jsonl                read a Langfuse export
  whetstone optimizer diagnose --experiment import-…     what goes wrong, and which text is to blame
  whetstone eval compare --baseline baseline --candidate v2.json --model gpt-4o-mini

Exit codes: 0 done, 1 failed, 2 wrong use, 3 no improvement or inconclusive, 4 regressed, 5 indecisive
(3 to 5 from `optimizer propose`, and from `eval compare` with --gate).";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the whole loop offline with simulated agents: record, diagnose, propose, compare, report
    Demo(demo::Args),
    /// The negotiation market: serve it, open negotiations, attack it, print its tools
    Market {
        #[command(subcommand)]
        command: market::cli::Command,
    },
    /// Trajectories: import them and look at them
    Collector {
        #[command(subcommand)]
        command: collector::cli::Command,
    },
    /// Tool descriptions: diagnose, rewrite, show differences
    Optimizer {
        #[command(subcommand)]
        command: optimizer::cli::Command,
    },
    /// Episodes of the market: run, compare, report, export
    Eval {
        #[command(subcommand)]
        command: eval::cli::Command,
    },
    /// Print the completion script of a shell
    #[command(
        after_help = "Example:\n  whetstone completions bash > ~/.local/share/bash-completion/completions/whetstone"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    whetstone::start(run)
}

fn run(cli: Cli, out: &mut dyn Write) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Demo(args) => demo::run(&args, out),
        Command::Market { command } => command.run(out),
        Command::Collector { command } => command.run(out),
        Command::Optimizer { command } => command.run(out),
        Command::Eval { command } => command.run(&whetstone::annotations(), out),
        Command::Completions { shell } => {
            // `generate` panics when its writer fails, so it gets memory and we write that ourselves.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "whetstone", &mut script);
            out.write_all(&script)?;
            Ok(Exit::Done)
        }
    }
}
