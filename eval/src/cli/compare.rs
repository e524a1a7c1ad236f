//! `eval compare`.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, bail};
use serde_json::{Map, Value, json};
use trajectory::Exit;
use trajectory::store::{Filter, Store};

use super::analysis::AnalysisArgs;
use super::model::ModelArgs;
use super::model::Names;
use super::plan::{CarryArgs, Extra, PlanArgs, block_on, dry_run};
use super::source::{self, StoreArgs};
use crate::analysis::{Analysis, Stopping};
use crate::compare::{self, Comparison, Metric, Request, VerdictKind, Watch};
use crate::files::write_whole;
use crate::manifest::Manifest;
use crate::plan::{Arm, Plan};
use crate::report::{Annotations, Transcripts};
use crate::run as runner;

const EXAMPLES: &str = "\
Examples:
  whetstone eval compare --baseline baseline --candidate v2.json --pack bargain-40 --model sim
  whetstone eval compare --baseline v1.json --candidate v2.json --model gpt-4o-mini --report report.html
  whetstone eval compare --read --experiment compare-… --json
  whetstone eval compare --candidate v2.json --gate     exit code 0 improved, 3 not shown, 4 regressed, 5 indecisive
  whetstone eval compare --candidate v2.json --plan analysis.json --sequential
  whetstone eval compare --aa --pack bargain-40 --model sim     what chance alone does

Both versions are played side by side, in random order, on the same scenarios, conditions, repeats and seeds.
Five scenarios cannot show a difference at .05, whatever it is: use a pack with 12 or more.";

/// Name of the arm of the baseline.
const BASELINE: &str = "baseline";
/// Name of the arm of the candidate.
const CANDIDATE: &str = "candidate";

/// Arguments of `eval compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct Args {
    /// The version to compare with: `baseline`, a file, or an id in the store; with --read, an arm
    #[arg(long, value_name = "FILE", default_value = BASELINE)]
    baseline: String,
    /// The version to judge: a file, `baseline`, or an id in the store; with --read, an arm
    #[arg(long, value_name = "FILE", required_unless_present_any = ["read", "aa"])]
    candidate: Option<String>,
    /// Compare the baseline with itself, with other random numbers in each arm, and tell the noise floor
    #[arg(long, conflicts_with = "candidate")]
    aa: bool,
    /// Judge what is recorded; play nothing
    #[arg(long)]
    read: bool,
    /// Let the exit code tell the verdict: 0 improved, 3 within the margin or inconclusive, 4 regressed, 5 indecisive
    #[arg(long)]
    gate: bool,
    /// Write a page to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Which transcripts the page carries
    #[arg(long, value_enum, default_value_t, requires = "report")]
    transcripts: Transcripts,
    #[command(flatten)]
    analysis: AnalysisArgs,
    #[command(flatten)]
    plan: PlanArgs,
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

pub(super) fn run(
    args: &Args,
    annotations: &Annotations,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let comparison = if args.read {
        read(args)?
    } else {
        let Some(plan) = play(args, out)? else {
            return Ok(Exit::Done);
        };
        let store = args.store.open()?;
        let manifest = Manifest::require(&store, &plan.experiment)?;
        let analysis = args.analysis.is_given().then_some(&plan.analysis);
        judge(&store, &manifest, (BASELINE, CANDIDATE), analysis)?
    };
    if let Some(file) = &args.report {
        let store = args.store.open()?;
        let page = super::report::page(&store, &comparison, annotations, args.transcripts)?;
        write_whole(file, page.as_bytes())
            .with_context(|| format!("writing `{}`", file.display()))?;
    }
    if args.json {
        writeln!(out, "{:#}", json!(comparison))?;
    } else {
        write!(out, "{}", compare::text(&comparison))?;
        if let Some(file) = &args.report {
            writeln!(out, "report: {}", file.display())?;
        }
    }
    Ok(exit(comparison.verdict.kind, args.gate))
}

fn exit(verdict: VerdictKind, gate: bool) -> Exit {
    if gate { verdict.exit() } else { Exit::Done }
}

/// Plays both arms; `None` when only the plan was asked for.
fn play(args: &Args, out: &mut dyn Write) -> anyhow::Result<Option<Plan>> {
    let candidate = if args.aa {
        args.baseline.as_str()
    } else {
        args.candidate
            .as_deref()
            .context("--candidate is missing")?
    };
    let mut arms = Vec::new();
    let mut labels = Map::new();
    for (name, given) in [(BASELINE, args.baseline.as_str()), (CANDIDATE, candidate)] {
        arms.push(Arm {
            name: name.to_owned(),
            toolset: source::toolset(given, &args.store.store)?,
        });
        labels.insert(name.to_owned(), Value::from(given));
    }
    if args.carry.dry_run {
        let names = args.models.names();
        let plan = plan(args, arms, &names)?;
        dry_run(&plan, &names, &args.models, &args.store, args.json, out)?;
        return Ok(None);
    }
    let models = args.models.build(usize::from(args.carry.concurrency))?;
    let names = models.names(args.models.counterpart_model.is_some());
    let plan = plan(args, arms, &names)?;
    let mut options = args.carry.options(models, args.models.prices()?, labels)?;
    if plan.analysis.stopping == Stopping::Sequential {
        let watch = Watch::new(&plan.analysis, BASELINE, CANDIDATE);
        options.watch = Some(Arc::new(Mutex::new(watch)));
    }
    let store = args.store.create()?;
    let done = block_on(async { Ok(runner::run(&plan, &store, &options).await?) })?;
    if !args.json {
        writeln!(out, "{}\n", super::run::told(&done))?;
    }
    Ok(Some(plan))
}

/// The plan of both arms. An experiment that is there already keeps its analysis unless another one is asked for.
fn plan(args: &Args, arms: Vec<Arm>, names: &Names) -> anyhow::Result<Plan> {
    let prefix = if args.aa { "aa" } else { "compare" };
    let analysis = args.analysis.apply(Analysis::of(Metric::CorrectStrict))?;
    let extra = Extra {
        analysis,
        seeds_by_arm: args.aa,
    };
    let mut plan = args.plan.plan(prefix, arms, names, &args.models, extra)?;
    if !args.analysis.is_given()
        && args.store.store.is_dir()
        && let Some(recorded) = Manifest::read(&args.store.open()?, &plan.experiment)?
    {
        plan.analysis = recorded.analysis;
    }
    Ok(plan)
}

fn read(args: &Args) -> anyhow::Result<Comparison> {
    let store = args.store.open()?;
    let manifest = source::experiment(&store, args.plan.experiment.as_deref())?;
    let baseline = arm(&manifest, &args.baseline, &args.store)?;
    let candidate = arm(
        &manifest,
        args.candidate.as_deref().unwrap_or(CANDIDATE),
        &args.store,
    )?;
    let asked = if args.analysis.is_given() {
        Some(args.analysis.apply(manifest.analysis.clone())?)
    } else {
        None
    };
    judge(&store, &manifest, (&baseline, &candidate), asked.as_ref())
}

/// The arm of that name, or the one that serves the version of that name.
fn arm(manifest: &Manifest, given: &str, store: &StoreArgs) -> anyhow::Result<String> {
    if manifest.arms.iter().any(|arm| arm == given) {
        return Ok(given.to_owned());
    }
    let known = || manifest.arms.join(", ");
    let Ok(toolset) = source::toolset(given, &store.store) else {
        bail!(
            "experiment `{}` has no arm `{given}`, and it is no toolset either; the arms are: {}",
            manifest.experiment,
            known()
        );
    };
    let id = toolset.id();
    manifest
        .arms
        .iter()
        .find(|arm| manifest.toolset(arm) == Some(id.as_str()))
        .cloned()
        .with_context(|| {
            format!(
                "no arm of experiment `{}` serves `{given}` ({id}); its arms are: {}",
                manifest.experiment,
                known()
            )
        })
}

/// Compares two recorded arms.
pub(super) fn judge(
    store: &Store,
    manifest: &Manifest,
    (baseline, candidate): (&str, &str),
    analysis: Option<&Analysis>,
) -> anyhow::Result<Comparison> {
    let episodes = store.episodes(&Filter::experiment(&manifest.experiment))?;
    let version = |arm: &str| match manifest.toolset(arm) {
        Some(id) => store.toolset(id),
        None => Ok(None),
    };
    let versions = version(baseline)?.zip(version(candidate)?);
    let request = Request {
        manifest,
        baseline,
        candidate,
        toolsets: versions.as_ref().map(|(before, after)| (before, after)),
        analysis,
        // Arms of one version that drew different numbers measure what chance alone does.
        noise_floor: manifest.settings.get("seeds_by_arm") == Some(&Value::Bool(true)),
    };
    Ok(compare::compare(&episodes, &request)?)
}
