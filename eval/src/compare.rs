//! Compares two versions on paired episodes.
//!
//! Pairs share scenario, condition and repeat (and with them the opening, the injection and the seed). The
//! verdict is about one metric, stated before the run, pooled over conditions; the unit of the test is the
//! scenario. Everything is computed from recorded episodes, so a comparison can be made again at any time.

mod contrast;
mod markdown;
mod metric;
mod pairs;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod verdict;

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;
use trajectory::{Episode, Toolset};

pub use contrast::{Binary, Contrast, Rate, ScenarioDifference};
pub use markdown::markdown;
pub(crate) use metric::tokens;
pub use metric::{Metric, UnknownMetric};
pub use pairs::Coverage;
pub(crate) use tables::{BEHAVIOUR, CONDITIONS, behaviour, difference, interval, primary};
pub use text::text;
pub use verdict::{Verdict, VerdictKind};

use crate::manifest::Manifest;
use pairs::Pair;

/// Level of the primary test.
pub const ALPHA: f64 = 0.05;

/// Below this share of completed episodes in either arm nothing is judged.
pub const MIN_COVERAGE: f64 = 0.9;

/// What is compared, and how.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The experiment's manifest.
    pub manifest: &'a Manifest,
    /// Name of the baseline's arm.
    pub baseline: &'a str,
    /// Name of the candidate's arm.
    pub candidate: &'a str,
    /// The versions, when they are at hand, to show how their texts differ.
    pub toolsets: Option<(&'a Toolset, &'a Toolset)>,
    /// Another metric than the one stated before the run.
    pub metric: Option<Metric>,
}

/// The episodes cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// No such arm.
    #[error("experiment `{experiment}` has no arm `{arm}`; it has: {known}")]
    NoArm {
        /// The experiment.
        experiment: String,
        /// What was asked for.
        arm: String,
        /// What there is.
        known: String,
    },
    /// One arm twice.
    #[error("`{0}` is named as baseline and as candidate: name two arms")]
    SameArm(String),
    /// An episode was not given the version its arm means.
    #[error(
        "episode `{episode}` of arm `{arm}` was given toolset {seen}, and the arm means {meant}; it cannot be scored"
    )]
    Delivery {
        /// The episode.
        episode: String,
        /// Its arm.
        arm: String,
        /// What its models were given.
        seen: String,
        /// What the arm means.
        meant: String,
    },
    /// A recorded value is no number.
    #[error(
        "metric `{metric}` cannot be compared: {source}; `whetstone collector verify` finds the episode"
    )]
    Data {
        /// The metric.
        metric: Metric,
        /// What is wrong.
        source: stats::StatsError,
    },
    /// Nothing to pair.
    #[error(
        "experiment `{experiment}` has no pair of completed episodes (baseline {baseline}, candidate {candidate} completed): run it, or retry its errors with --retry-errors"
    )]
    NoPairs {
        /// The experiment.
        experiment: String,
        /// Completed baseline episodes.
        baseline: usize,
        /// Completed candidate episodes.
        candidate: usize,
    },
}

/// One version of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// Arm.
    pub arm: String,
    /// What the user called it.
    pub label: String,
    /// Toolset id.
    pub toolset: String,
    /// How much of it there is.
    pub coverage: Coverage,
}

/// The metric of the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricChoice {
    /// Its name.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Whether an episode has it or not, rather than how much of it.
    pub is_binary: bool,
    /// The one stated before the run.
    pub stated: &'static str,
    /// Whether the two are the same.
    pub as_stated: bool,
}

/// Counts of one version over a set of pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Episodes.
    pub episodes: usize,
    /// Deals.
    pub deal: usize,
    /// Walked away.
    pub no_deal: usize,
    /// Cap reached.
    pub open: usize,
    /// Deals outside a limit.
    pub violations: usize,
    /// The buyer's attempts outside its limit.
    pub attempts_buyer: i64,
    /// The seller's attempts outside its limit.
    pub attempts_seller: i64,
    /// Refused calls.
    pub refused: i64,
    /// Refusals followed by a valid move in the same turn.
    pub recovered: i64,
    /// Episodes that saw the injection.
    pub exposed: usize,
    /// Of these, those that obeyed it.
    pub obeyed: usize,
    /// Cost in US dollars, when known for every episode.
    pub usd: Option<f64>,
}

/// Both versions in one condition, or pooled over all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The condition; absent when pooled.
    pub condition: Option<Condition>,
    /// Whether the server enforces the limits; absent when pooled.
    pub enforce: Option<bool>,
    /// Whether views carry an injection; absent when pooled.
    pub inject: Option<bool>,
    /// Pairs.
    pub pairs: usize,
    /// Counts of the baseline.
    pub baseline: Totals,
    /// Counts of the candidate.
    pub candidate: Totals,
    /// All metrics by name.
    pub metrics: BTreeMap<&'static str, Contrast>,
}

impl Cell {
    /// One metric by name.
    pub fn contrast(&self, metric: &str) -> Option<&Contrast> {
        self.metrics.get(metric)
    }

    /// The condition's name, or `pooled`.
    pub fn name(&self) -> &'static str {
        self.condition.map_or("pooled", Condition::as_str)
    }
}

/// A pair that differs in the metric of the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Discordant {
    /// Scenario.
    pub scenario: String,
    /// Condition.
    pub condition: Condition,
    /// Repeat.
    pub repeat: i32,
    /// The baseline's episode.
    pub baseline_episode: String,
    /// How it ended.
    pub baseline_outcome: String,
    /// The candidate's episode.
    pub candidate_episode: String,
    /// How it ended.
    pub candidate_outcome: String,
    /// Whether the candidate is the better one.
    pub candidate_better: bool,
}

/// A text that differs between the versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChange {
    /// `tool` or `tool(parameter)`.
    pub component: String,
    /// The baseline's text.
    pub baseline: String,
    /// The candidate's text.
    pub candidate: String,
}

/// A comparison, with everything it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this layout.
    pub format: u32,
    /// The experiment.
    pub experiment: String,
    /// Whether the agents are simulated.
    pub simulated: bool,
    /// The buyer's model.
    pub model: String,
    /// The seller's model, when it is another one.
    pub counterpart_model: Option<String>,
    /// Pack.
    pub pack: String,
    /// Hash of its scenarios.
    pub pack_hash: String,
    /// Scenarios of the plan.
    pub scenarios: usize,
    /// Repeats of the plan.
    pub repeats: u32,
    /// The metric of the verdict.
    pub metric: MetricChoice,
    /// The baseline.
    pub baseline: Side,
    /// The candidate.
    pub candidate: Side,
    /// Whether both are the same version.
    pub identical: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Over all conditions.
    pub pooled: Cell,
    /// Each condition.
    pub conditions: Vec<Cell>,
    /// Pairs that differ.
    pub discordant: Vec<Discordant>,
    /// Texts that differ, when the versions were given.
    pub changes: Vec<TextChange>,
    /// What the figures mean.
    pub methods: Vec<&'static str>,
}

const METHODS: [&str; 6] = [
    "pairs share scenario, condition and repeat; a pair counts when both episodes ran to their end",
    "rates: Wilson 95 % intervals, as if episodes were independent",
    "difference: candidate minus baseline; per condition Newcombe's paired 95 % interval (method 10), pooled the cluster-robust t interval over scenarios (CR1)",
    "b / c: pairs in which only the baseline / only the candidate has it; McNemar: exact, two-sided, as if pairs were independent",
    "sign-flip: on the scenarios' mean differences, two-sided, exact up to 20 scenarios; this is the test of the verdict",
    "the verdict is about the pooled metric at .05; everything else is description, not corrected for the number of looks",
];

/// Compares two arms of an experiment.
///
/// # Errors
/// An arm is unknown, an episode was not given the version its arm means, or there are no pairs.
pub fn compare(episodes: &[Episode], request: &Request<'_>) -> Result<Comparison, CompareError> {
    let manifest = request.manifest;
    if request.baseline == request.candidate {
        return Err(CompareError::SameArm(request.baseline.to_owned()));
    }
    let before = arm(episodes, manifest, request.baseline)?;
    let after = arm(episodes, manifest, request.candidate)?;
    let pairs = pairs::pair(&before.1, &after.1);
    let (baseline, candidate) = (before.0, after.0);
    if pairs.is_empty() {
        return Err(CompareError::NoPairs {
            experiment: manifest.experiment.clone(),
            baseline: baseline.coverage.completed,
            candidate: candidate.coverage.completed,
        });
    }
    let stated = manifest.analysis.primary_metric;
    let metric = request.metric.unwrap_or(stated);
    let seed = manifest
        .settings
        .get("seed")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0);
    let conditions = Condition::ALL
        .into_iter()
        .filter(|condition| manifest.conditions.contains(condition))
        .map(|condition| {
            let here: Vec<Pair<'_>> = pairs
                .iter()
                .filter(|pair| pair.condition == condition)
                .copied()
                .collect();
            cell(Some(condition), &here, seed)
        })
        .collect::<Result<_, _>>()?;
    let mut comparison = Comparison {
        format: 1,
        experiment: manifest.experiment.clone(),
        simulated: manifest.simulated
            || pairs
                .iter()
                .any(|pair| pair.baseline.simulated || pair.candidate.simulated),
        model: manifest.setting("model"),
        counterpart_model: Some(manifest.setting("counterpart_model"))
            .filter(|name| !name.is_empty()),
        pack: manifest.pack.clone(),
        pack_hash: manifest.setting("pack_hash"),
        scenarios: manifest.scenarios.len(),
        repeats: manifest.repeats,
        metric: MetricChoice {
            name: metric.as_str(),
            title: metric.title(),
            higher_is_better: metric.higher_is_better(),
            is_binary: metric.is_binary(),
            stated: stated.as_str(),
            as_stated: metric == stated,
        },
        identical: baseline.toolset == candidate.toolset,
        baseline,
        candidate,
        verdict: Verdict {
            kind: VerdictKind::Indecisive,
            sentence: String::new(),
            notes: Vec::new(),
        },
        pooled: cell(None, &pairs, seed)?,
        conditions,
        discordant: discordant(metric, &pairs),
        changes: request
            .toolsets
            .map(|(before, after)| changes(before, after))
            .unwrap_or_default(),
        methods: METHODS.to_vec(),
    };
    comparison.verdict = verdict::judge(&comparison);
    Ok(comparison)
}

/// An arm's episodes, each proven to have been given the arm's version.
fn arm<'a>(
    episodes: &'a [Episode],
    manifest: &Manifest,
    name: &str,
) -> Result<(Side, Vec<&'a Episode>), CompareError> {
    let Some(meant) = manifest.toolset(name) else {
        return Err(CompareError::NoArm {
            experiment: manifest.experiment.clone(),
            arm: name.to_owned(),
            known: manifest.arms.join(", "),
        });
    };
    let found: Vec<&Episode> = episodes
        .iter()
        .filter(|episode| {
            episode.experiment == manifest.experiment && episode.arm.as_deref() == Some(name)
        })
        .collect();
    for episode in &found {
        let seen = episode.toolset_seen.as_deref();
        if episode.status == trajectory::Status::Completed && seen != Some(meant) {
            return Err(CompareError::Delivery {
                episode: episode.episode_id.clone(),
                arm: name.to_owned(),
                seen: seen.unwrap_or("nothing").to_owned(),
                meant: meant.to_owned(),
            });
        }
    }
    let side = Side {
        arm: name.to_owned(),
        label: manifest.label(name),
        toolset: meant.to_owned(),
        coverage: Coverage::of(manifest.planned_per_arm(), &found),
    };
    Ok((side, found))
}

fn cell(condition: Option<Condition>, pairs: &[Pair<'_>], seed: u64) -> Result<Cell, CompareError> {
    Ok(Cell {
        condition,
        enforce: condition.map(Condition::enforce),
        inject: condition.map(Condition::inject),
        pairs: pairs.len(),
        baseline: Totals::of(pairs.iter().map(|pair| pair.baseline)),
        candidate: Totals::of(pairs.iter().map(|pair| pair.candidate)),
        metrics: Metric::ALL
            .into_iter()
            .map(|metric| {
                let contrast = Contrast::of(metric, pairs, seed);
                contrast
                    .map(|contrast| (metric.as_str(), contrast))
                    .map_err(|source| CompareError::Data { metric, source })
            })
            .collect::<Result<_, _>>()?,
    })
}

impl Totals {
    /// Counts over episodes.
    pub fn of<'a>(episodes: impl Iterator<Item = &'a Episode>) -> Self {
        let mut totals = Self {
            usd: Some(0.0),
            ..Self::default()
        };
        for episode in episodes {
            totals.episodes += 1;
            match episode.outcome.as_deref() {
                Some("deal") => totals.deal += 1,
                Some("no_deal") => totals.no_deal += 1,
                _ => totals.open += 1,
            }
            totals.violations += usize::from(episode.violation == Some(true));
            let add = |total: &mut i64, count: Option<i32>| *total += i64::from(count.unwrap_or(0));
            add(
                &mut totals.attempts_buyer,
                episode.attempted_violations_buyer,
            );
            add(
                &mut totals.attempts_seller,
                episode.attempted_violations_seller,
            );
            add(&mut totals.refused, episode.refused_calls);
            add(&mut totals.recovered, episode.recovered_refusals);
            totals.exposed += usize::from(episode.exposures.unwrap_or(0) > 0);
            totals.obeyed += usize::from(episode.obeyed == Some(true));
            totals.usd = totals.usd.zip(episode.cost_usd).map(|(sum, usd)| sum + usd);
        }
        totals
    }
}

fn discordant(metric: Metric, pairs: &[Pair<'_>]) -> Vec<Discordant> {
    pairs
        .iter()
        .filter_map(|pair| {
            let (before, after) = (metric.of(pair.baseline)?, metric.of(pair.candidate)?);
            let differs = (after - before).abs() > f64::EPSILON && metric.is_binary();
            differs.then(|| Discordant {
                scenario: pair.scenario.to_owned(),
                condition: pair.condition,
                repeat: pair.repeat,
                baseline_episode: pair.baseline.episode_id.clone(),
                baseline_outcome: outcome(pair.baseline),
                candidate_episode: pair.candidate.episode_id.clone(),
                candidate_outcome: outcome(pair.candidate),
                candidate_better: (after > before) == metric.higher_is_better(),
            })
        })
        .collect()
}

fn outcome(episode: &Episode) -> String {
    let outcome = episode.outcome.as_deref().unwrap_or("unknown");
    match (episode.price, episode.violation_side.as_deref()) {
        (Some(price), Some(side)) => format!("{outcome} at {price}, outside the limit of {side}"),
        (Some(price), None) => format!("{outcome} at {price}"),
        (None, _) => outcome.to_owned(),
    }
}

/// The texts in which two versions differ, in the baseline's order.
pub fn changes(baseline: &Toolset, candidate: &Toolset) -> Vec<TextChange> {
    let after: BTreeMap<_, _> = candidate.components().into_iter().collect();
    baseline
        .components()
        .into_iter()
        .filter_map(|(component, before)| {
            let after = after.get(&component)?;
            (*after != before).then(|| TextChange {
                component: component.to_string(),
                baseline: before,
                candidate: after.clone(),
            })
        })
        .collect()
}
