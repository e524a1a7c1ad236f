//! `market check`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use comfy_table::{Table, presets};
use serde_json::json;
use trajectory::Exit;

use super::{Target, block_on};
use crate::check::{self, Check};

/// Arguments of `market check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Opens negotiations of its own, attacks them, and closes them again; those of others are left alone. Exits with 1
if one check fails. No token and no secret is printed or written.

Examples:
  market check
  market check --url http://127.0.0.1:9000 --out auth_checks.txt
  market check --json")]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// File for the result, one line for each check, the four defences first
    #[arg(long, value_name = "FILE", default_value = "auth_checks.txt")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let base = args.target.base()?;
    let secret = args.target.secret.known()?;
    let http = Target::http()?;
    let checks = block_on(async { Ok(check::run(http, &base, secret).await?) })?;
    let failed = checks.iter().filter(|check| !check.passed).count();

    std::fs::write(&args.out, lines(&checks))
        .with_context(|| format!("writing the result to `{}`", args.out.display()))?;
    if args.json {
        let value = json!({
            "url": base, "passed": checks.len() - failed, "failed": failed, "checks": checks,
            "file": args.out.display().to_string(),
        });
        writeln!(out, "{value:#}")?;
    } else {
        writeln!(out, "{}", table(&checks))?;
        for check in checks.iter().filter(|check| !check.passed) {
            writeln!(out, "\n{check}")?;
        }
        writeln!(
            out,
            "{} of {} checks passed; written to {}",
            checks.len() - failed,
            checks.len(),
            args.out.display()
        )?;
    }
    Ok(if failed == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn lines(checks: &[Check]) -> String {
    use std::fmt::Write as _;
    checks.iter().fold(String::new(), |mut lines, check| {
        // Writing to memory cannot fail.
        let _ = writeln!(lines, "{check}");
        lines
    })
}

/// One row for each check; what was seen is cut short here, and stands whole in the file.
fn table(checks: &[Check]) -> Table {
    const MOST: usize = 90;
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(["", "check", "seen"]);
    for check in checks {
        let mut seen: String = check.seen.chars().take(MOST).collect();
        if seen.len() < check.seen.len() {
            seen.push('…');
        }
        let verdict = if check.passed { "pass" } else { "FAIL" };
        table.add_row([verdict, &check.name, &seen]);
    }
    table
}
