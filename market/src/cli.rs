//! The command line: `market serve`, `open`, `tools`, `scenarios`, `check`.

mod check;
mod open;
mod scenarios;
mod secret;
mod serve;
mod tools;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use trajectory::{Exit, Toolset};

use crate::contract;

/// The negotiation market: an MCP server for a buyer and a seller, with bearer tokens and enforced rules
#[derive(Debug, Parser)]
#[command(name = "market", version, about, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  market serve                                   start a market on 127.0.0.1:8765
  market open --scenario bicycle --condition server
                                                 open a negotiation in it and print both tokens
  market check                                   attack it and write auth_checks.txt
  market tools --json > v2.json                  start a version of the descriptions of your own";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a market until Ctrl-C
    Serve(serve::Args),
    /// Open a negotiation in a running market; print its tokens and how to connect
    Open(open::Args),
    /// Print the tools and their descriptions, or the file that holds them
    Tools(tools::Args),
    /// List the scenarios of a pack
    Scenarios(scenarios::Args),
    /// Attack a running market and report how it held
    Check(check::Args),
}

impl Command {
    /// Runs the command; results go to `out`.
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        match self {
            Self::Serve(args) => serve::run(&args, out),
            Self::Open(args) => open::run(&args, out),
            Self::Tools(args) => tools::run(&args, out),
            Self::Scenarios(args) => scenarios::run(&args, out),
            Self::Check(args) => check::run(&args, out),
        }
    }
}

/// Runs `market`.
pub fn run(cli: Cli, out: &mut dyn Write) -> anyhow::Result<Exit> {
    cli.command.run(out)
}

/// The version of a file, or the baseline; with the moves' notes when asked for.
fn toolset(file: Option<&Path>, notes: bool) -> anyhow::Result<Toolset> {
    let toolset = match file {
        None => contract::baseline(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("reading the toolset file `{}`", path.display()))?;
            let toolset = Toolset::parse(&text)
                .with_context(|| format!("the toolset file `{}`", path.display()))?;
            contract::check(&toolset)
                .with_context(|| format!("the toolset file `{}`", path.display()))?;
            toolset
        }
    };
    Ok(if notes {
        contract::with_notes(&toolset)
    } else {
        toolset
    })
}

/// Where the running market is.
#[derive(Debug, clap::Args)]
struct Target {
    /// Address of the running market
    #[arg(
        long,
        value_name = "URL",
        env = "WHETSTONE_MARKET_URL",
        default_value = "http://127.0.0.1:8765"
    )]
    url: String,
    #[command(flatten)]
    secret: secret::SecretArgs,
}

impl Target {
    /// The address without a path; `…/mcp`, which is what people have at hand, is taken too.
    fn base(&self) -> anyhow::Result<String> {
        let base = self.url.trim().trim_end_matches('/');
        let base = base.strip_suffix(crate::gate::MCP_PATH).unwrap_or(base);
        let parsed = reqwest::Url::parse(base)
            .with_context(|| format!("`--url {}`: expected http://HOST:PORT", self.url))?;
        anyhow::ensure!(
            matches!(parsed.scheme(), "http" | "https")
                && parsed.host_str().is_some()
                && parsed.username().is_empty()
                && parsed.password().is_none(),
            "`--url`: expected http://HOST:PORT, without user or password"
        );
        Ok(base.to_owned())
    }

    /// A client that goes straight to the market: no proxy, no redirects.
    fn http() -> anyhow::Result<reqwest::Client> {
        reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(std::time::Duration::from_secs(30))
            .build()
            .context("setting up the HTTP client")
    }
}

/// Runs an asynchronous command to its end.
fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?
        .block_on(future)
}

#[cfg(test)]
mod tests;
