//! `market tools`.

use std::io::Write;
use std::path::PathBuf;

use comfy_table::{Table, presets};
use trajectory::Exit;

/// Arguments of `market tools`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A toolset file is any `tools/list` dump whose tools differ from the market's own in descriptions only.

Examples:
  market tools
  market tools --json > v2.json        a version file to edit
  market tools --toolset v2.json       check it and look at it")]
pub struct Args {
    /// Version file; the built-in baseline when absent
    #[arg(long, value_name = "FILE")]
    toolset: Option<PathBuf>,
    /// With the optional `note` on the four moves
    #[arg(long)]
    notes: bool,
    /// Print the version file itself
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let toolset = super::toolset(args.toolset.as_deref(), args.notes)?;
    if args.json {
        out.write_all(toolset.to_pretty().as_bytes())?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["tool", "parameter", "description"]);
    for (component, text) in toolset.components() {
        // A tool's name once, in front of its parameters.
        let (tool, parameter) = match component.parameter {
            None => (component.tool, String::new()),
            Some(path) => (String::new(), path),
        };
        table.add_row([tool, parameter, printable(&text)]);
    }
    writeln!(out, "{table}")?;
    writeln!(out, "version {}", toolset.id())?;
    Ok(Exit::Done)
}

/// Texts of a file are foreign: no escape sequence may reach the terminal. Lines are kept.
fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| *c == '\n' || !c.is_control())
        .collect()
}
