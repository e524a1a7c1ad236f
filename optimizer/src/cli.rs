//! The command line: `optimizer diagnose`, `optimizer propose`, `optimizer diff`.

mod diagnose;
mod diff;
mod propose;
mod source;

use std::io::Write;

use clap::{Parser, Subcommand};
use trajectory::Exit;

/// Finds the tool descriptions that mislead agents and rewrites them
#[derive(Debug, Parser)]
#[command(name = "optimizer", version, about, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  optimizer diagnose --experiment baseline-run
  optimizer propose --experiment baseline-run --out v2.json
  optimizer diff baseline v2.json";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what goes wrong in recorded episodes, how often, and which description is to blame
    Diagnose(diagnose::Args),
    /// Propose a new version of the descriptions, with the evidence for every edit
    Propose(Box<propose::Args>),
    /// Show the difference of two toolset versions, word by word
    Diff(diff::Args),
}

impl Command {
    /// Runs the command; results go to `out`.
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        match self {
            Self::Diagnose(args) => diagnose::run(&args, out),
            Self::Propose(args) => propose::run(&args, out),
            Self::Diff(args) => diff::run(&args, out),
        }
    }
}

/// Runs `optimizer`.
pub fn run(cli: Cli, out: &mut dyn Write) -> anyhow::Result<Exit> {
    cli.command.run(out)
}
