//! `eval run`.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use serde_json::{Map, Value, json};
use trajectory::Exit;
use trajectory::store::Filter;

use super::model::ModelArgs;
use super::plan::{CarryArgs, Extra, PlanArgs, block_on, dry_run};
use super::source::{self, StoreArgs};
use crate::figures::one_line;
use crate::manifest::Manifest;
use crate::plan::Arm;
use crate::run::RunSummary;
use crate::{run as runner, summary};

const EXAMPLES: &str = "\
Examples:
  whetstone eval run --pack reference --conditions all --repeats 3 --model sim
  whetstone eval run --model gpt-4o-mini --conditions prompt_inject,server_inject --dry-run
  whetstone eval run --toolset v2.json --pack bargain-40 --model sim:careful --experiment v2
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 whetstone eval run --model openai:qwen --tool-calling schema --concurrency 1

Running the same command again plays only what is missing. Ctrl-C lets the episodes in flight end.";

/// Arguments of `eval run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    plan: PlanArgs,
    /// Toolset version to serve: `baseline`, a file, or an id in the store
    #[arg(long, value_name = "FILE", default_value = "baseline")]
    toolset: String,
    /// Name of the arm; `baseline`, or the file's name
    #[arg(long, value_name = "NAME")]
    arm: Option<String>,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    carry: CarryArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let toolset = source::toolset(&args.toolset, &args.store.store)?;
    let name = args.arm.clone().unwrap_or_else(|| arm_name(&args.toolset));
    let arms = vec![Arm {
        name: name.clone(),
        toolset,
    }];
    let labels = Map::from_iter([(name, Value::from(args.toolset.clone()))]);
    if args.carry.dry_run {
        let names = args.models.names();
        let plan = args
            .plan
            .plan("run", arms, &names, &args.models, Extra::usual())?;
        return dry_run(&plan, &names, &args.models, &args.store, args.json, out);
    }
    let models = args.models.build(usize::from(args.carry.concurrency))?;
    let names = models.names(args.models.counterpart_model.is_some());
    let plan = args
        .plan
        .plan("run", arms, &names, &args.models, Extra::usual())?;
    let options = args.carry.options(models, args.models.prices()?, labels)?;
    let store = args.store.create()?;
    let done = block_on(async { Ok(runner::run(&plan, &store, &options).await?) })?;

    let manifest = Manifest::require(&store, &plan.experiment)?;
    let episodes = store.episodes(&Filter::experiment(&plan.experiment))?;
    let summary = summary::summarize(&episodes, &manifest);
    if done.infra_errors == done.planned {
        let error = summary
            .infra_errors
            .first()
            .map(|failure| failure.error.as_str())
            .unwrap_or_default();
        bail!(
            "no episode could be played, the first error: {}; run again with --retry-errors",
            one_line(error)
        );
    }
    if args.json {
        writeln!(out, "{:#}", json!({"run": done, "summary": summary}))?;
    } else {
        write!(out, "{}", summary::text(&summary))?;
        writeln!(out, "{}", told(&done))?;
    }
    Ok(Exit::Done)
}

/// What a run did, in one line.
pub(super) fn told(done: &RunSummary) -> String {
    let stopped = if done.stopped_early {
        "; stopped early, the evidence suffices"
    } else {
        ""
    };
    format!(
        "{} episodes planned, {} recorded before, {} played now, {} infrastructure errors{stopped}",
        done.planned, done.already_recorded, done.played, done.infra_errors
    )
}

/// `baseline`, an id as it is, or the file's name without what an arm's name should not have.
fn arm_name(toolset: &str) -> String {
    let stem = Path::new(toolset)
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let name: String = stem
        .unwrap_or_default()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    if name.is_empty() {
        "version".to_owned()
    } else {
        name
    }
}
