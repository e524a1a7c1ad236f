//! The `collector` commands.

mod import;
mod ls;
mod show;
mod verify;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use trajectory::Exit;
use trajectory::store::{Filter, Store};

/// Gets trajectories into the store, and looks at them.
#[derive(Debug, Parser)]
#[command(name = "collector", version, arg_required_else_help = true)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// A `collector` command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Import traces that Langfuse exported.
    Import(import::ImportArgs),
    /// List episodes.
    Ls(ls::LsArgs),
    /// Show one episode: tools, messages, calls, scores.
    Show(show::ShowArgs),
    /// Turn journals of recorded episodes into Parquet.
    Seal(verify::SealArgs),
    /// Check every file of the store.
    Verify(verify::VerifyArgs),
}

/// Where the store is.
#[derive(Debug, Clone, Args)]
pub struct StoreArgs {
    /// Folder of the trajectory store.
    #[arg(
        long,
        env = "WHETSTONE_STORE",
        default_value = ".whetstone/store",
        value_name = "DIR"
    )]
    pub store: PathBuf,
}

impl StoreArgs {
    fn open(&self) -> anyhow::Result<Store> {
        Ok(Store::open(&self.store)?)
    }
}

/// Which episodes are meant.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterArgs {
    /// Only this experiment.
    #[arg(long, short = 'e', value_name = "NAME")]
    pub experiment: Option<String>,
    /// Only this arm (toolset version of a plan).
    #[arg(long, value_name = "NAME")]
    pub arm: Option<String>,
    /// Only this condition.
    #[arg(long, value_name = "NAME")]
    pub condition: Option<String>,
    /// Only this scenario, or imported traces of this name.
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
}

impl FilterArgs {
    fn filter(&self) -> Filter {
        Filter {
            experiment: self.experiment.clone(),
            arm: self.arm.clone(),
            condition: self.condition.clone(),
            scenario: self.scenario.clone(),
            episode: None,
        }
    }
}

/// Runs a parsed command line; what the command gives goes to `out`.
pub fn run(cli: Cli, out: &mut dyn Write) -> anyhow::Result<Exit> {
    cli.command.run(out)
}

impl Command {
    /// Runs the command; what it gives goes to `out`.
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        match self {
            Self::Import(arguments) => import::run(&arguments, out),
            Self::Ls(arguments) => ls::run(&arguments, out),
            Self::Show(arguments) => show::run(&arguments, out),
            Self::Seal(arguments) => verify::seal(&arguments, out),
            Self::Verify(arguments) => verify::run(&arguments, out),
        }
    }
}
