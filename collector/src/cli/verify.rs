//! `collector verify` and `collector seal`.

use std::io::Write;

use clap::Args;
use serde_json::json;
use trajectory::Exit;

use super::StoreArgs;
use crate::terminal::one_line;

const VERIFY_EXAMPLES: &str = "\
Exits with 1 when anything is wrong.

Examples:
  collector verify
  collector verify --store trajectories/reference --json";

/// Arguments of `collector verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the store is.
    #[command(flatten)]
    pub store: StoreArgs,
}

const SEAL_EXAMPLES: &str = "\
Runs seal their experiments themselves; this is for those that were killed. Nothing needs sealing for
Whetstone to read it, but other programs see only what is sealed.

Examples:
  collector seal
  collector seal reference";

/// Arguments of `collector seal`.
#[derive(Debug, Args)]
#[command(after_help = SEAL_EXAMPLES)]
pub struct SealArgs {
    /// Experiments; without any, all.
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// Where the store is.
    #[command(flatten)]
    pub store: StoreArgs,
}

pub(super) fn run(arguments: &VerifyArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let report = arguments.store.open()?.verify()?;
    let exit = if report.problems.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    };
    if arguments.json {
        let problems: Vec<_> = report
            .problems
            .iter()
            .map(
                |problem| json!({"path": problem.path, "line": problem.line, "what": problem.what}),
            )
            .collect();
        let value = json!({
            "experiments": report.experiments,
            "files": report.files,
            "rows": report.rows,
            "problems": problems,
        });
        writeln!(
            out,
            "{}",
            crate::terminal::plain_json(&format!("{value:#}"))
        )?;
        return Ok(exit);
    }
    for problem in &report.problems {
        let line = problem
            .line
            .map(|line| format!(" line {line}"))
            .unwrap_or_default();
        writeln!(
            out,
            "{}{line}: {}",
            one_line(&problem.path.display().to_string(), 300),
            one_line(&problem.what, 400)
        )?;
    }
    let rows: Vec<String> = report
        .rows
        .iter()
        .map(|(table, count)| format!("{count} {table}"))
        .collect();
    let counts = if rows.is_empty() {
        "no rows".to_owned()
    } else {
        rows.join(", ")
    };
    writeln!(
        out,
        "{} files of {} experiments read ({counts}): {}",
        report.files,
        report.experiments,
        match report.problems.len() {
            0 => "all sound".to_owned(),
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        }
    )?;
    Ok(exit)
}

pub(super) fn seal(arguments: &SealArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let store = arguments.store.open()?;
    let experiments = if arguments.experiments.is_empty() {
        store.experiments()?
    } else {
        arguments.experiments.clone()
    };
    let mut exit = Exit::Done;
    for experiment in experiments {
        let report = store.seal(&experiment)?;
        writeln!(out, "{experiment}: {} episodes sealed", report.episodes)?;
        for damaged in report.damaged {
            exit = Exit::Failed;
            let path = damaged.path.display().to_string();
            writeln!(
                out,
                "{} line {}: damaged journal, left as it is: {}",
                one_line(&path, 300),
                damaged.line,
                one_line(&damaged.reason, 300)
            )?;
        }
    }
    Ok(exit)
}
