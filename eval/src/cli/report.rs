//! `eval report`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::json;
use trajectory::Exit;
use trajectory::store::{Filter, Store};
use trajectory::{EpisodeRecord, Toolset};

use super::source::{self, StoreArgs};
use crate::analysis::Analysis;
use crate::compare::{self, Comparison, Metric};
use crate::files::write_whole;
use crate::report::{self, Annotations, Evidence, Material, Transcripts};
use crate::summary;

const EXAMPLES: &str = "\
Examples:
  whetstone eval report --experiment compare-… --out report.html
  whetstone eval report --format md
  whetstone eval report --experiment three-versions --baseline v1 --candidate v3 --format json";

/// How it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A page of its own
    Html,
    /// Markdown
    Md,
    /// JSON
    Json,
    /// For the terminal
    Text,
}

/// Arguments of `eval report`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The experiment; may be left out when the store holds only one
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// File to write; standard output when absent
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Arm to compare with; the first one when absent
    #[arg(long, value_name = "ARM", requires = "candidate")]
    baseline: Option<String>,
    /// Arm to judge; the second one when absent
    #[arg(long, value_name = "ARM", requires = "baseline")]
    candidate: Option<String>,
    /// Metric of the verdict; the one stated before the run when absent
    #[arg(long, value_name = "METRIC")]
    metric: Option<Metric>,
    /// Which transcripts the page carries
    #[arg(long, value_enum, default_value_t)]
    transcripts: Transcripts,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) fn run(
    args: &Args,
    annotations: &Annotations,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let store = args.store.open()?;
    let manifest = source::experiment(&store, args.experiment.as_deref())?;
    let arms = match (&args.baseline, &args.candidate, manifest.arms.as_slice()) {
        (Some(baseline), Some(candidate), _) | (_, _, [baseline, candidate]) => {
            Some((baseline.clone(), candidate.clone()))
        }
        _ => None,
    };
    let text = if let Some((baseline, candidate)) = &arms {
        let asked = args.metric.map(|metric| Analysis {
            primary_metric: metric,
            ..manifest.analysis.clone()
        });
        let comparison =
            super::compare::judge(&store, &manifest, (baseline, candidate), asked.as_ref())?;
        match args.format {
            Format::Html => page(&store, &comparison, annotations, args.transcripts)?,
            Format::Md => {
                let evidence = Recorded::read(&store, &comparison)?.evidence(annotations);
                report::markdown(&comparison, &evidence)
            }
            Format::Json => {
                let evidence = Recorded::read(&store, &comparison)?.evidence(annotations);
                let mut value = json!(comparison);
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("evidence".to_owned(), json!(evidence));
                }
                format!("{value:#}\n")
            }
            Format::Text => compare::text(&comparison),
        }
    } else {
        let episodes = store.episodes(&Filter::experiment(&manifest.experiment))?;
        let summary = summary::summarize(&episodes, &manifest);
        match args.format {
            Format::Html => report::summary(&summary)?,
            Format::Md => format!(
                "# {}\n\n{}",
                summary::title(&summary),
                summary::markdown(&summary)
            ),
            Format::Json => format!("{:#}\n", json!(summary)),
            Format::Text => summary::text(&summary),
        }
    };
    match &args.out {
        Some(file) => {
            write_whole(file, text.as_bytes())
                .with_context(|| format!("writing `{}`", file.display()))?;
            writeln!(out, "{}", file.display())?;
        }
        None => write!(out, "{text}")?,
    }
    Ok(Exit::Done)
}

/// What is recorded about the episodes of a comparison.
struct Recorded<'a> {
    comparison: &'a Comparison,
    records: Vec<EpisodeRecord>,
    baseline: Option<Toolset>,
    candidate: Option<Toolset>,
}

impl<'a> Recorded<'a> {
    fn read(store: &Store, comparison: &'a Comparison) -> anyhow::Result<Self> {
        let mut records = Vec::new();
        for side in [&comparison.baseline, &comparison.candidate] {
            records.extend(store.records(&Filter {
                arm: Some(side.arm.clone()),
                ..Filter::experiment(&comparison.experiment)
            })?);
        }
        Ok(Self {
            comparison,
            records,
            baseline: store.toolset(&comparison.baseline.toolset)?,
            candidate: store.toolset(&comparison.candidate.toolset)?,
        })
    }

    fn material(&self) -> Material<'_> {
        Material {
            comparison: self.comparison,
            records: &self.records,
            toolsets: (self.baseline.as_ref(), self.candidate.as_ref()),
        }
    }

    fn evidence(&self, annotations: &Annotations) -> Evidence {
        Evidence::of(self.material(), annotations)
    }
}

/// The page of a comparison, with what is recorded about its episodes.
pub(super) fn page(
    store: &Store,
    comparison: &Comparison,
    annotations: &Annotations,
    transcripts: Transcripts,
) -> anyhow::Result<String> {
    let recorded = Recorded::read(store, comparison)?;
    let evidence = recorded.evidence(annotations);
    let material = recorded.material();
    Ok(report::comparison(
        material,
        &evidence,
        annotations,
        transcripts,
    )?)
}
