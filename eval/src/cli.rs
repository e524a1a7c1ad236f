//! The command line of `eval`: parses, calls, prints.

mod analysis;
mod compare;
mod export;
mod model;
mod plan;
mod planning;
mod report;
mod run;
mod source;
mod stats;

use std::io::Write;

use trajectory::Exit;

use crate::report::Annotations;

/// Episodes of the market: plan, run, compare, report, export.
#[derive(Debug, clap::Parser)]
#[command(name = "eval", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples (`eval` is a builtin of most shells, so call it through whetstone):
  whetstone eval plan --effect 0.15
  whetstone eval run --pack reference --conditions all --repeats 3 --model sim
  whetstone eval compare --baseline baseline --candidate v2.json --pack bargain-40 --model sim --report report.html
  whetstone eval report --experiment compare-… --out report.html
  whetstone eval export --format course --experiment run-… --out course/";

/// The commands of `eval`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Play what is missing of an experiment, and show the table per condition
    Run(Box<run::Args>),
    /// Compare two toolset versions on paired episodes
    Compare(Box<compare::Args>),
    /// Say how many scenarios and episodes a question needs, and what they cost
    Plan(Box<planning::Args>),
    /// Show a recorded experiment again, as a page, Markdown, JSON or text
    Report(Box<report::Args>),
    /// Write a recorded experiment in the form others expect
    Export(export::Args),
    /// The statistics as a calculator: intervals, tests, corrections
    Stats(stats::Args),
}

impl Command {
    /// Runs the command; its result goes to `out`. A report also shows what `annotations` find.
    ///
    /// # Errors
    /// Whatever stops the command, told so that the user knows what to do.
    pub fn run(self, annotations: &Annotations, out: &mut dyn Write) -> anyhow::Result<Exit> {
        match self {
            Self::Run(args) => run::run(&args, out),
            Self::Compare(args) => compare::run(&args, annotations, out),
            Self::Plan(args) => planning::run(&args, out),
            Self::Report(args) => report::run(&args, annotations, out),
            Self::Export(args) => export::run(&args, out),
            Self::Stats(args) => stats::run(&args, out),
        }
    }
}

/// Runs a parsed command line.
///
/// # Errors
/// As [`Command::run`].
pub fn run(cli: Cli, annotations: &Annotations, out: &mut dyn Write) -> anyhow::Result<Exit> {
    cli.command.run(annotations, out)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
