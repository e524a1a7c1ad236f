//! Options that say what is played, shared by `run` and `compare`.

use std::io::Write;

use anyhow::{Context as _, bail};
use market::Condition;
use market::rules::Opening;
use market::scenario::Pack;
use secrecy::SecretString;
use serde_json::{Map, Value};
use trajectory::Exit;
use trajectory::store::{Filter, Store};

use super::model::{ModelArgs, Names};
use super::source::StoreArgs;
use crate::analysis::Analysis;
use crate::compare::Metric;
use crate::figures::{SIMULATED, one_line};
use crate::manifest::Manifest;
use crate::plan::{Arm, Plan};
use crate::run::{MarketPlace, RunOptions, estimate};

/// Environment variable with the admin secret of a market that runs already.
const SECRET: &str = "WHETSTONE_MARKET_ADMIN_SECRET";

/// What is played.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Plan")]
pub(super) struct PlanArgs {
    /// Scenario pack: `reference`, `bargain-40`, or a JSON file
    #[arg(long, value_name = "PACK", default_value = "reference")]
    pack: String,
    /// Which conditions
    #[arg(
        long,
        value_name = "LIST",
        default_value = "all",
        help = "`all`, or a comma-separated list of prompt, server, prompt_inject, server_inject"
    )]
    conditions: String,
    /// Repeats of every scenario in every condition
    #[arg(long, value_name = "N", default_value_t = 3)]
    repeats: u32,
    /// Name of the experiment; derived from the settings when absent
    #[arg(long, value_name = "NAME")]
    pub(super) experiment: Option<String>,
    /// Seed of the order and of everything that is drawn
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How negotiations begin: listing, buyer or seller
    #[arg(long, value_name = "OPENING", default_value = "listing", value_parser = opening)]
    opening: Opening,
    /// Moves and passes after which a negotiation ends as open
    #[arg(long, value_name = "N", default_value_t = market::DEFAULT_MAX_MOVES)]
    max_moves: u32,
    /// Model calls a turn may take
    #[arg(long, value_name = "N", default_value_t = 6)]
    max_calls_per_turn: u32,
    /// Let moves carry a note to the counterpart
    #[arg(long)]
    notes: bool,
    /// Injection of the conditions that have one, by id
    #[arg(long, value_name = "ID", default_value = market::injection::DEFAULT)]
    injection: String,
}

/// What the command itself adds to a plan.
pub(super) struct Extra {
    /// How it will be judged.
    pub(super) analysis: Analysis,
    /// Whether every arm draws numbers of its own.
    pub(super) seeds_by_arm: bool,
}

impl Extra {
    /// The usual analysis, the same numbers in all arms.
    pub(super) fn usual() -> Self {
        Self {
            analysis: Analysis::of(Metric::CorrectStrict),
            seeds_by_arm: false,
        }
    }
}

/// How it is carried out.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Running")]
pub(super) struct CarryArgs {
    /// Episodes at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) concurrency: u16,
    /// Play episodes again that ended in an infrastructure error
    #[arg(long)]
    pub(super) retry_errors: bool,
    /// Use a market that runs already (secret in `WHETSTONE_MARKET_ADMIN_SECRET`) instead of starting one
    #[arg(long, value_name = "URL")]
    pub(super) market: Option<String>,
    /// Show the plan and what it is likely to take, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

fn opening(text: &str) -> Result<Opening, String> {
    [Opening::Listing, Opening::Buyer, Opening::Seller]
        .into_iter()
        .find(|opening| opening.as_str() == text)
        .ok_or_else(|| "use listing, buyer or seller".to_owned())
}

impl PlanArgs {
    /// The plan; `prefix` begins the name of an experiment that was given none.
    pub(super) fn plan(
        &self,
        prefix: &str,
        arms: Vec<Arm>,
        names: &Names,
        models: &ModelArgs,
        extra: Extra,
    ) -> anyhow::Result<Plan> {
        let pack = Pack::load(&self.pack)?;
        let conditions = Condition::parse_list(&self.conditions)?;
        let arms = if self.notes {
            arms.into_iter()
                .map(|arm| Arm {
                    toolset: market::contract::with_notes(&arm.toolset),
                    ..arm
                })
                .collect()
        } else {
            arms
        };
        let mut plan = Plan {
            conditions,
            repeats: self.repeats,
            seed: self.seed,
            counterpart_model: names.seller.clone(),
            temperature: Some(models.temperature),
            tool_calling: models.tool_calling.as_str().to_owned(),
            opening: self.opening,
            max_moves: self.max_moves,
            max_calls_per_turn: self.max_calls_per_turn,
            notes: self.notes,
            injection: Some(market::injection::find(&self.injection)?),
            analysis: extra.analysis,
            seeds_by_arm: extra.seeds_by_arm,
            ..Plan::new(pack, arms, names.buyer.clone())
        };
        plan.experiment = self
            .experiment
            .clone()
            .unwrap_or_else(|| plan.derived_name(prefix));
        plan.check()?;
        Ok(plan)
    }
}

impl CarryArgs {
    pub(super) fn place(&self) -> anyhow::Result<MarketPlace> {
        let Some(url) = &self.market else {
            return Ok(MarketPlace::Embedded);
        };
        let secret = std::env::var(SECRET).unwrap_or_default();
        if secret.is_empty() {
            bail!("--market needs the admin secret of that market in {SECRET}");
        }
        Ok(MarketPlace::At {
            url: url.clone(),
            secret: SecretString::from(secret),
        })
    }

    /// Options of the run, with progress for people.
    pub(super) fn options(
        &self,
        models: super::model::Models,
        prices: Option<agent::Prices>,
        labels: Map<String, Value>,
    ) -> anyhow::Result<RunOptions> {
        let buyer = models.buyer;
        Ok(RunOptions {
            seller: models.seller,
            prices,
            market: self.place()?,
            concurrency: usize::from(self.concurrency),
            retry_errors: self.retry_errors,
            progress: true,
            labels,
            ..RunOptions::new(buyer)
        })
    }
}

/// Runs a future to its end on a runtime of its own.
pub(super) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?
        .block_on(future)
}

/// Prints what a run would do.
pub(super) fn dry_run(
    plan: &Plan,
    names: &Names,
    models: &ModelArgs,
    store: &StoreArgs,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let (mut to_play, mut episodes) = (plan.episodes().len(), Vec::new());
    if store.store.is_dir() {
        let store = Store::open(&store.store)?;
        Manifest::of(plan, names.simulated, Map::new()).check(&store)?;
        let recorded = store.recorded(&plan.experiment)?;
        to_play = plan
            .episodes()
            .iter()
            .filter(|spec| !recorded.contains_key(&spec.episode_id))
            .count();
        episodes = store.episodes(&Filter::experiment(&plan.experiment))?;
    }
    let prices = models.prices()?;
    let estimate = estimate(plan, to_play, &episodes, names.simulated, prices.as_ref());
    if json {
        let value = serde_json::json!({
            "experiment": plan.experiment,
            "plan_hash": plan.hash(),
            "settings": plan.settings(),
            "conditions": plan.conditions,
            "repeats": plan.repeats,
            "analysis": plan.analysis,
            "analysis_hash": plan.analysis.hash(),
            "estimate": estimate,
        });
        writeln!(out, "{value:#}")?;
        return Ok(Exit::Done);
    }
    let conditions: Vec<&str> = plan
        .conditions
        .iter()
        .map(|condition| condition.as_str())
        .collect();
    writeln!(out, "experiment   {}", plan.experiment)?;
    writeln!(
        out,
        "plan         {} scenarios ({}) x {} conditions ({}) x {} repeats x {} arm(s) = {} episodes",
        plan.pack.scenarios.len(),
        one_line(&plan.pack.name),
        conditions.len(),
        conditions.join(", "),
        plan.repeats,
        plan.arms.len(),
        estimate.episodes
    )?;
    for arm in &plan.arms {
        writeln!(out, "arm          {} {}", arm.name, arm.toolset.id())?;
    }
    writeln!(
        out,
        "model        {}{}",
        one_line(&names.buyer),
        if names.simulated {
            format!(" ({SIMULATED})")
        } else {
            String::new()
        }
    )?;
    if let Some(seller) = &names.seller {
        writeln!(out, "counterpart  {}", one_line(seller))?;
    }
    writeln!(
        out,
        "recorded     {}, to play {}",
        estimate.recorded, estimate.to_play
    )?;
    writeln!(
        out,
        "model calls  about {}, at most {}",
        estimate.model_calls, estimate.model_calls_at_most
    )?;
    if plan.arms.len() > 1 {
        for line in forecast(plan) {
            writeln!(out, "analysis     {line}")?;
        }
    }
    match (estimate.input_tokens, estimate.output_tokens) {
        (Some(input), Some(output)) => {
            writeln!(
                out,
                "tokens       about {input} in and {output} out ({})",
                estimate.basis
            )?;
            match estimate.usd {
                Some(usd) => writeln!(out, "cost         about ${usd:.2}")?,
                None => writeln!(
                    out,
                    "cost         unknown: give --price-input and --price-output"
                )?,
            }
        }
        _ => writeln!(out, "tokens       none: {}", estimate.basis)?,
    }
    Ok(Exit::Done)
}

/// How the plan will be judged, and what it can never show.
fn forecast(plan: &Plan) -> Vec<String> {
    let analysis = &plan.analysis;
    let scenarios = plan.pack.scenarios.len();
    let tested = plan
        .conditions
        .iter()
        .filter(|condition| analysis.covers(**condition))
        .count();
    let pairs = (scenarios * tested) as u64 * u64::from(plan.repeats);
    let mut lines = vec![format!(
        "{}, {}, alpha {}; sha256 {}",
        analysis.primary_metric,
        analysis.test,
        analysis.alpha,
        analysis.hash()
    )];
    let floor = stats::smallest_p(scenarios);
    if floor > analysis.alpha {
        lines.push(format!(
            "WARNING: {scenarios} scenarios can never show a difference at {} (smallest p {floor:.4}): use more scenarios, not more repeats",
            analysis.alpha
        ));
    } else if scenarios < 12 {
        lines.push(format!(
            "note: {scenarios} scenarios are few; 12 or more, better 20 to 40, carry a conclusion"
        ));
    }
    for guard in &analysis.guards {
        if let Some(needed) = guard.fewest_pairs()
            && needed > pairs
        {
            lines.push(format!(
                "WARNING: guard {guard} can never hold with {pairs} pairs: even without a single event it takes {needed}"
            ));
        }
    }
    lines
}
