//! `optimizer propose`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent::{BudgetLimits, ModelOptions, build_model};
use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use trajectory::store::Store;
use trajectory::{EpisodeRecord, Exit, Toolset};

use super::source::{EpisodeArgs, check_free, toolset, write_file};
use crate::diagnosis;
use crate::guard::Limits;
use crate::propose::{Options, Outcome, propose};
use crate::reflect::Reflector;
use crate::reflect::mined::Mined;
use crate::reflect::model::{ModelReflector, ModelSettings};
use crate::visible::line;
use crate::{proposal, version};

/// Arguments of `optimizer propose`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The candidate's status is `unverified`: it rests on what went wrong, and nothing has been run with it.
`eval compare --baseline … --candidate …` says whether it helps.

Exit codes: 0 a version was written; 3 nothing could be proposed, and no file was written.

Examples:
  optimizer propose --experiment baseline-run --out v2.json
  optimizer propose --experiment baseline-run --reflector model --model gpt-4o-mini --out v2.json
  optimizer propose --experiment import-traces --toolset tools.json --out v2.json --proposal why.md
  whetstone eval compare --baseline baseline --candidate v2.json --model gpt-4o-mini")]
pub struct Args {
    #[command(flatten)]
    episodes: EpisodeArgs,
    /// Texts to rewrite: a file, `baseline`, or a toolset id [default: the toolset the episodes saw]
    #[arg(long, value_name = "FILE|ID")]
    toolset: Option<String>,
    /// Who writes: `mined` needs no model and builds sentences from the evidence alone
    #[arg(long, value_enum, default_value_t = Writer::Mined)]
    reflector: Writer,
    /// Version file to write
    #[arg(long, value_name = "FILE", default_value = "v2.json")]
    out: PathBuf,
    /// Proposal for people [default: the version file's name with .md]
    #[arg(long, value_name = "FILE")]
    proposal: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Edits of the proposal at most
    #[arg(long, value_name = "N", default_value_t = Limits::default().edits)]
    max_edits: usize,
    /// Seed that orders texts with equal blame, and of the model's sampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    model: ModelArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Writer {
    Mined,
    Model,
}

/// The model of `--reflector model`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model (with --reflector model)")]
struct ModelArgs {
    /// Model that writes: `openai:NAME`, `NAME`, or `replay:FILE`
    #[arg(long, value_name = "SPEC", env = "WHETSTONE_MODEL")]
    model: Option<String>,
    /// Base URL of an OpenAI-compatible endpoint [default: `OPENAI_BASE_URL`]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Record requests and replies in a file, for `replay:FILE`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Seconds to wait for one reply
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Model calls at most
    #[arg(long, value_name = "N")]
    max_model_calls: Option<u64>,
    /// Tokens at most, input and output together
    #[arg(long, value_name = "N")]
    max_model_tokens: Option<u64>,
    /// Failing episodes the model reads at most
    #[arg(long, value_name = "N", default_value_t = ModelSettings::default().episodes)]
    read_episodes: usize,
    /// Characters of recorded text in one request at most
    #[arg(long, value_name = "N", default_value_t = ModelSettings::default().characters)]
    read_characters: usize,
    /// Rounds of rewriting; from the second on the model sees what was rejected
    #[arg(long, value_name = "N", default_value_t = ModelSettings::default().rounds)]
    rounds: usize,
    /// Sampling temperature
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let proposal_path = args
        .proposal
        .clone()
        .unwrap_or_else(|| args.out.with_extension("md"));
    if proposal_path == args.out {
        bail!(
            "--out and --proposal are the same file `{}`",
            args.out.display()
        );
    }
    check_free(&args.out, args.force)?;
    check_free(&proposal_path, args.force)?;
    let reflector = reflector(args)?;
    let store = args.episodes.store.open()?;
    let mut records = args.episodes.records(&store)?;
    let parent = texts(args, &store, &mut records)?;
    let options = Options {
        seed: args.seed,
        limits: Limits {
            edits: args.max_edits,
            ..Limits::default()
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime for model calls")?;
    let outcome = runtime.block_on(propose(&records, &parent, reflector.as_ref(), &options))?;
    let Some(candidate) = &outcome.candidate else {
        report_nothing(&outcome, args.json, out)?;
        return Ok(Exit::NoImprovement);
    };
    let created = trajectory::clock::now_us();
    let version = version::version(candidate, &outcome, &parent, created);
    // The proposal first: a version file never stands there without its reasons.
    write_file(
        &proposal_path,
        &proposal::render(&outcome, &parent, &version, created),
    )?;
    write_file(&args.out, &version.to_pretty())?;
    report(
        &outcome,
        &parent,
        &version,
        (&args.out, &proposal_path),
        args.json,
        out,
    )?;
    Ok(Exit::Done)
}

fn reflector(args: &Args) -> anyhow::Result<Box<dyn Reflector>> {
    if args.reflector == Writer::Mined {
        return Ok(Box::new(Mined));
    }
    let model = &args.model;
    let Some(spec) = &model.model else {
        bail!(
            "--reflector model needs a model: give --model NAME (or use --reflector mined, which needs none)"
        );
    };
    let defaults = ModelOptions::from_env();
    let options = ModelOptions {
        base_url: model.base_url.clone().or_else(|| defaults.base_url.clone()),
        record: model.record.clone(),
        timeout: model.timeout.map_or(defaults.timeout, Duration::from_secs),
        budget: BudgetLimits {
            calls: model.max_model_calls,
            tokens: model.max_model_tokens,
            usd: None,
        },
        ..defaults
    };
    let settings = ModelSettings {
        episodes: model.read_episodes,
        characters: model.read_characters,
        rounds: model.rounds,
        temperature: model.temperature.or(ModelSettings::default().temperature),
        ..ModelSettings::default()
    };
    let built =
        build_model(spec, &options).with_context(|| format!("setting up the model `{spec}`"))?;
    Ok(Box::new(ModelReflector::new(built, settings)?))
}

/// The texts to rewrite. With `--toolset`, episodes that saw another version are left out.
fn texts(args: &Args, store: &Store, records: &mut Vec<EpisodeRecord>) -> anyhow::Result<Toolset> {
    if let Some(name) = &args.toolset {
        let given = toolset(name, &args.episodes.store)?;
        let id = given.id();
        let all = records.len();
        let fits = |record: &EpisodeRecord| diagnosis::seen(record).is_none_or(|seen| seen == id);
        if records.iter().any(fits) {
            records.retain(fits);
        }
        if records.len() < all {
            tracing::warn!(
                "{} of {all} episodes saw another toolset and are left out",
                all - records.len()
            );
        }
        return Ok(given);
    }
    let Some(seen) = records.iter().find_map(diagnosis::seen) else {
        bail!(
            "the tool definitions were not recorded with these episodes: give the server's `tools/list` result with --toolset FILE"
        );
    };
    let recorded = records
        .iter()
        .find_map(diagnosis::recorded_toolset)
        .filter(|toolset| toolset.id() == seen);
    match recorded {
        Some(toolset) => Ok(toolset),
        None => store.toolset(&seen).with_context(|| format!("reading toolset `{seen}`"))?.with_context(|| {
            format!("toolset `{}` was seen but its definitions are not in the store: give them with --toolset FILE", line(&seen, 40))
        }),
    }
}

fn report_nothing(outcome: &Outcome, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if json {
        writeln!(out, "{:#}", summary(outcome, None))?;
        return Ok(());
    }
    if let Some(note) = outcome.diagnosis.simulation_note() {
        writeln!(out, "** {note} **")?;
    }
    writeln!(out, "nothing proposed: {}", outcome.why_nothing())?;
    rejected(outcome, out)?;
    writeln!(out, "no file was written")?;
    Ok(())
}

fn report(
    outcome: &Outcome,
    parent: &Toolset,
    version: &Toolset,
    (file, proposal): (&Path, &Path),
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if json {
        let files = json!({"version": file, "proposal": proposal, "id": version.id(), "parent": parent.id()});
        writeln!(out, "{:#}", summary(outcome, Some(&files)))?;
        return Ok(());
    }
    if let Some(note) = outcome.diagnosis.simulation_note() {
        writeln!(out, "** {note} **")?;
    }
    writeln!(
        out,
        "{} → {} (unverified), by {}",
        parent.id(),
        version.id(),
        line(&outcome.reflector, 80)
    )?;
    for edit in &outcome.edits {
        writeln!(
            out,
            "  {}: {}",
            line(&edit.component().to_string(), 60),
            line(&edit.reason, 160)
        )?;
    }
    rejected(outcome, out)?;
    let is_baseline = parent.id() == market::contract::baseline().id();
    let baseline = if is_baseline {
        "baseline".to_owned()
    } else {
        parent.id()
    };
    writeln!(out, "version:  {}", file.display())?;
    writeln!(out, "proposal: {}", proposal.display())?;
    writeln!(
        out,
        "next:     whetstone eval compare --baseline {baseline} --candidate {}",
        file.display()
    )?;
    Ok(())
}

fn rejected(outcome: &Outcome, out: &mut dyn Write) -> anyhow::Result<()> {
    for rejection in &outcome.rejected {
        let component = rejection.edit.as_ref().map_or_else(
            || "the reply".to_owned(),
            |edit| edit.component().to_string(),
        );
        writeln!(
            out,
            "  rejected, {}: {}: {}",
            rejection.reason,
            line(&component, 60),
            line(&rejection.detail, 160)
        )?;
    }
    for note in &outcome.notes {
        writeln!(out, "  note: {}", line(note, 200))?;
    }
    Ok(())
}

fn summary(outcome: &Outcome, files: Option<&Value>) -> Value {
    json!({
        "proposed": files.is_some(),
        "why_nothing": files.is_none().then(|| outcome.why_nothing()),
        "files": files,
        "status": "unverified",
        "reflector": outcome.reflector,
        "simulated_episodes": outcome.diagnosis.scope.simulated,
        "episodes": outcome.diagnosis.scope.episodes,
        "edits": outcome.edits,
        "rejected": outcome.rejected,
        "spent": outcome.spent,
        "notes": outcome.notes,
    })
}
