//! `eval export`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;
use trajectory::Exit;
use trajectory::store::Filter;

use super::source::{self, StoreArgs};
use crate::export::course::{self, CorrectRule, CourseExport};

const EXAMPLES: &str = "\
Examples:
  whetstone eval export --format course --experiment run-… --out course/
  whetstone eval export --format course --out course/ --auth-checks auth_checks.txt --correct strict";

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Scenarios, results.csv, logs, auth checks and a report
    Course,
}

/// The rule of the column `correct`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rule {
    /// `open` counts when no deal was possible
    Lenient,
    /// Only an explicit `no_deal` counts
    Strict,
}

/// Arguments of `eval export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// The experiment; may be left out when the store holds only one
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// The arm; may be left out when the experiment has only one
    #[arg(long, value_name = "NAME")]
    arm: Option<String>,
    /// Folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The file that `market check` wrote
    #[arg(long, value_name = "FILE")]
    auth_checks: Option<PathBuf>,
    /// Rule of the column `correct`
    #[arg(long, value_enum, default_value_t = Rule::Lenient)]
    correct: Rule,
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let Format::Course = args.format;
    let store = args.store.open()?;
    let manifest = source::experiment(&store, args.experiment.as_deref())?;
    let arm = match (&args.arm, manifest.arms.as_slice()) {
        (Some(arm), _) => arm.clone(),
        (None, [only]) => only.clone(),
        (None, arms) => bail!(
            "the experiment has {} arms and the course's files have room for one: choose with --arm: {}",
            arms.len(),
            arms.join(", ")
        ),
    };
    let records = store.records(&Filter {
        arm: Some(arm.clone()),
        ..Filter::experiment(&manifest.experiment)
    })?;
    let exported = course::export(
        &records,
        &CourseExport {
            manifest: &manifest,
            arm: &arm,
            rule: match args.correct {
                Rule::Lenient => CorrectRule::Lenient,
                Rule::Strict => CorrectRule::Strict,
            },
            auth_checks: args.auth_checks.as_deref(),
            folder: &args.out,
        },
    )?;
    if args.json {
        writeln!(out, "{:#}", json!(exported))?;
        return Ok(Exit::Done);
    }
    for file in &exported.files {
        writeln!(out, "{}", file.display())?;
    }
    writeln!(
        out,
        "{} rows, {} of failed episodes, {} planned episodes not recorded",
        exported.rows, exported.failed, exported.missing
    )?;
    Ok(Exit::Done)
}
