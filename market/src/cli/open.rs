//! `market open`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use trajectory::Exit;

use super::{Target, block_on};
use crate::admin::{DEFAULT_MAX_MOVES, OpenRequest};
use crate::client::{AdminClient, Opened};
use crate::condition::Condition;
use crate::injection;
use crate::rules::Opening;
use crate::scenario::{Pack, Scenario};

/// Arguments of `market open`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Both tokens are printed once and are kept by the market as hashes only. A party sees nothing but its own token
and the address: its limit belongs in its prompt.

Examples:
  market open
  market open --scenario laptop --condition server_inject
  market open --pack bargain-40 --toolset v2.json --json")]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Name of a built-in pack, or a JSON file
    #[arg(long, value_name = "NAME|FILE", default_value = "reference")]
    pack: String,
    /// Id of a scenario of the pack; its first when absent
    #[arg(long, value_name = "ID")]
    scenario: Option<String>,
    /// `prompt`, `server`, `prompt_inject` or `server_inject`
    #[arg(long, value_name = "CONDITION", default_value = "prompt")]
    condition: Condition,
    /// Id of the injection, where the condition has one
    #[arg(long, value_name = "ID", default_value = injection::DEFAULT)]
    injection: String,
    /// How it begins: the market lists the item, or one party names the first price
    #[arg(long, value_enum, default_value_t = Begin::Listing)]
    opening: Begin,
    /// Moves and passes after which it ends
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_MOVES, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_moves: u32,
    /// Version file of the descriptions; the built-in baseline when absent
    #[arg(long, value_name = "FILE")]
    toolset: Option<PathBuf>,
    /// Let moves carry a note to the counterpart
    #[arg(long)]
    notes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Begin {
    Listing,
    Buyer,
    Seller,
}

impl From<Begin> for Opening {
    fn from(begin: Begin) -> Self {
        match begin {
            Begin::Listing => Self::Listing,
            Begin::Buyer => Self::Buyer,
            Begin::Seller => Self::Seller,
        }
    }
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let toolset = super::toolset(args.toolset.as_deref(), args.notes)?;
    let scenario = scenario(&args.pack, args.scenario.as_deref())?;
    // Asked for even where it is not used, so that a misspelt id never passes for a run without effect.
    let injection = injection::find(&args.injection)?;
    let base = args.target.base()?;
    let secret = args.target.secret.known()?;
    let admin = AdminClient::new(Target::http()?, &base, secret);
    let opened = block_on(async {
        let request = OpenRequest {
            scenario: scenario.clone(),
            enforce: args.condition.enforce(),
            inject: args.condition.inject().then_some(injection),
            opening: args.opening.into(),
            max_moves: args.max_moves,
            toolset: Some(admin.register(&toolset).await?),
        };
        Ok(admin.open(&request).await?)
    })?;
    if args.json {
        let value = json!({
            "negotiation_id": opened.negotiation_id,
            "buyer_token": opened.buyer_token.expose_secret(),
            "seller_token": opened.seller_token.expose_secret(),
            "toolset_id": opened.toolset_id,
            "mcp_url": admin.mcp_url(),
        });
        writeln!(out, "{value:#}")?;
        return Ok(Exit::Done);
    }
    describe(args, &scenario, &opened, &admin.mcp_url(), out)?;
    Ok(Exit::Done)
}

fn scenario(pack: &str, id: Option<&str>) -> anyhow::Result<Scenario> {
    let pack = Pack::load(pack)?;
    match id {
        None => pack.scenarios.first(),
        Some(id) => pack.scenarios.iter().find(|scenario| scenario.id == id),
    }
    .cloned()
    .with_context(|| {
        let ids: Vec<_> = pack.scenarios.iter().map(|s| s.id.as_str()).collect();
        format!(
            "no scenario `{}` in the pack `{}`: there are {}",
            id.unwrap_or_default(),
            pack.name,
            ids.join(", ")
        )
    })
}

fn describe(
    args: &Args,
    scenario: &Scenario,
    opened: &Opened,
    mcp_url: &str,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    writeln!(out, "negotiation    {}", opened.negotiation_id)?;
    writeln!(
        out,
        "scenario       {}: {} (seller's limit {}, buyer's limit {})",
        scenario.id, scenario.item, scenario.reserve, scenario.budget
    )?;
    writeln!(out, "condition      {}", args.condition)?;
    writeln!(out, "descriptions   {}", opened.toolset_id)?;
    writeln!(out, "MCP URL        {mcp_url}")?;
    writeln!(out, "buyer's token  {}", opened.buyer_token.expose_secret())?;
    writeln!(
        out,
        "seller's token {}",
        opened.seller_token.expose_secret()
    )?;
    writeln!(out)?;
    writeln!(out, "Configuration for an MCP client that plays the buyer:")?;
    writeln!(out, "{:#}", configuration(mcp_url, &opened.buyer_token))?;
    writeln!(
        out,
        "For the seller, put the seller's token in. Tell the agent its role, its limit and the negotiation id."
    )?;
    Ok(())
}

/// The form that MCP clients share.
fn configuration(mcp_url: &str, token: &SecretString) -> Value {
    json!({"mcpServers": {"market": {
        "type": "http",
        "url": mcp_url,
        "headers": {"Authorization": format!("Bearer {}", token.expose_secret())},
    }}})
}
