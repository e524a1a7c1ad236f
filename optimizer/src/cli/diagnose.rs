//! `optimizer diagnose`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::json;
use trajectory::Exit;

use super::source::{EpisodeArgs, write_file};
use crate::diagnosis::{self, Diagnosis};

/// Arguments of `optimizer diagnose`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Failures are found by fixed rules in the recorded calls, without a model. Episodes that saw different
toolsets are diagnosed apart.

Examples:
  optimizer diagnose --experiment baseline-run
  optimizer diagnose --experiment baseline-run --condition prompt_inject --format markdown --out diagnosis.md
  optimizer diagnose --experiment import-traces --json | jq '.diagnoses[].modes[].class'")]
pub struct Args {
    #[command(flatten)]
    episodes: EpisodeArgs,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write the result to a file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Findings shown per failure (text and markdown; JSON has all)
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// Seed that orders texts with equal blame
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let store = args.episodes.store.open()?;
    let records = args.episodes.records(&store)?;
    let mut diagnoses: Vec<Diagnosis> = diagnosis::split(&records)
        .iter()
        .map(|group| {
            let recorded = group
                .records
                .iter()
                .find_map(|record| diagnosis::recorded_toolset(record));
            diagnosis::diagnose(&group.records, recorded.as_ref(), args.seed)
        })
        .collect();
    diagnoses.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.findings().count()));
    let format = if args.json { Format::Json } else { args.format };
    let text = match format {
        Format::Json => format!("{:#}\n", json!({ "diagnoses": diagnoses })),
        Format::Text => joined(&diagnoses, |diagnosis| diagnosis.to_text(args.examples)),
        Format::Markdown => joined(&diagnoses, |diagnosis| diagnosis.to_markdown(args.examples)),
    };
    match &args.out {
        Some(path) => {
            write_file(path, &text)?;
            writeln!(std::io::stderr(), "written: {}", path.display())
                .context("reporting the file")?;
        }
        None => out.write_all(text.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// One document after the other; with several, a line first that says why, and one last for those without findings.
fn joined(diagnoses: &[Diagnosis], render: impl Fn(&Diagnosis) -> String) -> String {
    let [first, _, ..] = diagnoses else {
        return diagnoses.iter().map(render).collect();
    };
    let (shown, clean): (Vec<&Diagnosis>, Vec<&Diagnosis>) = diagnoses
        .iter()
        .partition(|diagnosis| !diagnosis.modes.is_empty());
    let mut parts = vec![format!(
        "The episodes saw {} different toolsets; each is diagnosed by itself, the most findings first.\n",
        diagnoses.len()
    )];
    if shown.is_empty() {
        parts.push(render(first));
    }
    parts.extend(shown.into_iter().map(render));
    if !clean.is_empty() {
        let episodes: usize = clean.iter().map(|diagnosis| diagnosis.scope.episodes).sum();
        parts.push(format!(
            "No failure of a known class was found for {} of the toolsets ({episodes} episodes).\n",
            clean.len()
        ));
    }
    parts.join("\n")
}
