//! `market scenarios`.

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;
use trajectory::Exit;

use crate::scenario::Pack;

/// Arguments of `market scenarios`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Built-in packs: reference, bargain-40. A file holds a list of {id, item, reserve, budget}.

Examples:
  market scenarios
  market scenarios --pack bargain-40
  market scenarios --pack scenarios.json --json")]
pub struct Args {
    /// Name of a built-in pack, or a JSON file
    #[arg(long, value_name = "NAME|FILE", default_value = "reference")]
    pack: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let pack = Pack::load(&args.pack)?;
    if args.json {
        let scenarios: Vec<_> = pack
            .scenarios
            .iter()
            .map(|s| {
                json!({
                    "id": s.id, "item": s.item, "reserve": s.reserve, "budget": s.budget,
                    "gap": s.spread(), "deal_possible": s.deal_possible(),
                })
            })
            .collect();
        let value = json!({"pack": pack.name, "hash": pack.hash(), "scenarios": scenarios});
        writeln!(out, "{value:#}")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["id", "item", "reserve", "budget", "gap", "deal possible"]);
    for scenario in &pack.scenarios {
        table.add_row([
            scenario.id.clone(),
            scenario.item.clone(),
            scenario.reserve.to_string(),
            scenario.budget.to_string(),
            scenario.spread().to_string(),
            if scenario.deal_possible() {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
        ]);
    }
    for column in table.column_iter_mut().skip(2).take(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "{} scenarios in `{}`, hash {}",
        pack.scenarios.len(),
        pack.name,
        pack.hash()
    )?;
    Ok(Exit::Done)
}
