//! `collector import`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use trajectory::Exit;

use super::StoreArgs;
use crate::import::{ImportOptions, Summary, import};
use crate::terminal::one_line;

const EXAMPLES: &str = "\
Reads, by their content and not their names:
  Langfuse observations or events exports (JSONL or JSON), trace downloads, API responses.

Examples:
  collector import 1764500000000-lf-events-export.jsonl
  collector import exports/ --experiment support-agent
  collector import trace.json --dry-run
  zcat observations.jsonl.gz | collector import - --json";

/// Arguments of `collector import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own on the command line"
)]
pub struct ImportArgs {
    /// Files, folders, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Name of the experiment; without it, one derived from the content.
    #[arg(long, short = 'e', value_name = "NAME")]
    pub experiment: Option<String>,
    /// Say what would be imported, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Fail, and write nothing, when any row cannot be read.
    #[arg(long)]
    pub strict: bool,
    /// Take traces anew that were imported before, for example when they were not finished then.
    #[arg(long)]
    pub replace: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    pub json: bool,
    /// Largest single JSON document, in MiB.
    #[arg(
        long,
        default_value_t = 512,
        value_name = "MIB",
        hide_short_help = true
    )]
    pub max_document: usize,
    /// Where the store is.
    #[command(flatten)]
    pub store: StoreArgs,
}

pub(super) fn run(arguments: &ImportArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let options = ImportOptions {
        experiment: arguments.experiment.clone(),
        dry_run: arguments.dry_run,
        strict: arguments.strict,
        replace: arguments.replace,
        progress: progress(),
        document_limit: arguments.max_document.clamp(1, 1 << 20) << 20,
    };
    let result = import(&arguments.files, &arguments.store.store, &options);
    options.progress.finish_and_clear();
    let summary = result?;
    if arguments.json {
        let text = serde_json::to_string_pretty(&summary)?;
        writeln!(out, "{}", crate::terminal::plain_json(&text))?;
    } else {
        write!(out, "{}", text(&summary))?;
        if !summary.dry_run {
            writeln!(
                out,
                "\nlook at them:  collector ls --experiment {}",
                summary.experiment
            )?;
        }
    }
    Ok(Exit::Done)
}

/// On the terminal's error stream, and nowhere when that is no terminal.
fn progress() -> ProgressBar {
    let template = "reading {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// The summary for people.
fn text(summary: &Summary) -> String {
    let mut text = String::new();
    let _ = write_text(&mut text, summary);
    text
}

fn write_text(out: &mut String, summary: &Summary) -> std::fmt::Result {
    for file in &summary.files {
        let shapes: Vec<String> = file
            .shapes
            .iter()
            .map(|(shape, count)| format!("{count} x {shape}"))
            .collect();
        let what = file.problem.clone().unwrap_or_else(|| shapes.join(", "));
        writeln!(
            out,
            "{}: {}",
            one_line(&file.file, 200),
            one_line(&what, 300)
        )?;
    }
    let verb = if summary.dry_run { "would go" } else { "went" };
    writeln!(
        out,
        "{} of {} traces {verb} into experiment `{}`",
        summary.added, summary.traces, summary.experiment
    )?;
    let failed = format!("{} known to have failed", summary.failed_calls);
    for (name, count, detail) in [
        ("observations", summary.observations, String::new()),
        ("tool calls", summary.calls, failed),
        (
            "definitions",
            summary.definitions,
            format!("toolset versions: {}", summary.toolsets),
        ),
        ("scores", summary.scores, String::new()),
        ("duplicates", summary.duplicates, "merged".to_owned()),
        (
            "orphans",
            summary.orphans,
            "their parents are not in the files".to_owned(),
        ),
        ("rejected rows", summary.rejected_rows, String::new()),
    ] {
        let detail = if detail.is_empty() || count == 0 {
            String::new()
        } else {
            format!("  ({detail})")
        };
        writeln!(out, "  {name:<14}{count:>8}{detail}")?;
    }
    for row in &summary.rejected {
        writeln!(
            out,
            "rejected {} line {}: {}",
            one_line(&row.file, 200),
            row.line,
            one_line(&row.reason, 300)
        )?;
    }
    let unlisted = summary.rejected_rows.saturating_sub(summary.rejected.len());
    if unlisted > 0 {
        writeln!(out, "rejected {unlisted} more rows")?;
    }
    for note in &summary.notes {
        writeln!(out, "note: {}", one_line(note, 400))?;
    }
    Ok(())
}
