//! Compares two versions on paired episodes.
//!
//! Pairs share scenario, condition and repeat (and with them the opening, the injection and the seed). The
//! verdict is about one metric, stated before the run; the unit of the test is the scenario. Everything is computed
//! from recorded episodes, so a comparison can be made again at any time.

mod cell;
mod comparison;
mod contrast;
mod differing;
mod error;
mod families;
mod guards;
mod interaction;
mod markdown;
mod metric;
mod noise;
mod pairs;
mod reach;
mod repeats;
mod robustness;
mod sequence;
mod side;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod totals;
mod verdict;

use market::Condition;
use trajectory::{Episode, Toolset};

pub use cell::Cell;
pub use comparison::{AnalysisUsed, Comparison, MetricChoice};
pub use contrast::{Binary, Contrast, Counts, Rate, ScenarioDifference};
pub use differing::{Discordant, TextChange, changes};
pub use error::CompareError;
pub use families::{Families, Test};
pub use guards::{Guard, GuardState};
pub use interaction::TwoByTwoEffect;
pub use markdown::markdown;
pub(crate) use metric::tokens;
pub use metric::{Metric, UnknownMetric};
pub use noise::NoiseFloor;
pub use pairs::Coverage;
pub use reach::Reach;
pub use repeats::{Correlation, PassK};
pub use robustness::{Estimate, Robustness};
pub use sequence::{Sequence, Watch};
pub use side::Side;
pub(crate) use tables::{
    BEHAVIOUR, CONDITIONS, GUARDS, behaviour, difference, further, guard_table, interval, primary,
    tests_table,
};
pub(crate) use text::analysis;
pub use text::text;
pub use totals::Totals;
pub use verdict::{Verdict, VerdictKind};

use crate::analysis::{Analysis, Stopping};
use crate::manifest::Manifest;
use pairs::Pair;
use verdict::Grounds;

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
    /// Another analysis than the one stated before the run.
    pub analysis: Option<&'a Analysis>,
    /// Whether to measure the noise floor.
    pub noise_floor: bool,
}

const METHODS: [&str; 12] = [
    "pairs share scenario, condition and repeat, and are played side by side in random order; a pair counts when both episodes ran to their end",
    "rates: Wilson 95 % intervals, as if episodes were independent",
    "difference: candidate minus baseline; per condition Newcombe's paired 95 % interval (method 10), pooled the cluster-robust t interval over scenarios (CR1)",
    "b / c: pairs in which only the baseline / only the candidate has it; McNemar: exact, two-sided, as if pairs were independent",
    "sign-flip: on the scenarios' mean differences, two-sided, exact up to 20 scenarios; this is the test of the verdict",
    "confirmatory tests are corrected with Holm's method, all others with Benjamini and Hochberg's: those are hints for a next experiment",
    "guards: one-sided 95 % bounds over scenarios, for yes/no metrics the wider of these and Tango's for pairs; held when the upper bound is inside the margin stated before the run",
    "no difference within the margin: the 90 % interval lies inside it (two one-sided tests)",
    "bootstrap: scenarios drawn with replacement, then their repeats, percentiles; with up to 7 scenarios all draws of scenario means",
    "counts: exact Poisson ratio, and the same with the overdispersion seen between episodes of a condition",
    "e-value: uniform mixture over the share of differing pairs that favour the candidate; valid at any time, for the hypothesis that no scenario differs",
    "pairing removes what scenarios share, not the sampling noise of the models: equal seeds do not mean equal randomness with a hosted model",
];

/// Compares two arms of an experiment.
///
/// # Errors
/// An arm is unknown, an episode was not given the version its arm means, a value is no number, or there are no pairs.
pub fn compare(episodes: &[Episode], request: &Request<'_>) -> Result<Comparison, CompareError> {
    let manifest = request.manifest;
    if request.baseline == request.candidate {
        return Err(CompareError::SameArm(request.baseline.to_owned()));
    }
    let (mut baseline, before) = side::arm(episodes, manifest, request.baseline)?;
    let (mut candidate, after) = side::arm(episodes, manifest, request.candidate)?;
    let recorded = pairs::recorded(&before, &after);
    let pairs = pairs::complete(&recorded);
    if pairs.is_empty() {
        return Err(CompareError::NoPairs {
            experiment: manifest.experiment.clone(),
            baseline: baseline.coverage.completed,
            candidate: candidate.coverage.completed,
        });
    }
    let analysis = analysis_used(manifest, request.analysis);
    let used = &analysis.used;
    let stated = manifest.analysis.primary_metric;
    let metric = used.primary_metric;
    let seed = seed(manifest);
    let mut planned = robustness::planned_pairs(
        used,
        &manifest.conditions,
        manifest.scenarios.len(),
        manifest.repeats,
    );
    if used.stopping == Stopping::Sequential {
        // What was not begun when the evidence sufficed is not missing.
        for side in [&mut baseline, &mut candidate] {
            side.coverage.planned = recorded.len();
            side.coverage.missing = recorded.len()
                - (side.coverage.completed + side.coverage.infra_errors + side.coverage.other)
                    .min(recorded.len());
        }
        planned = recorded
            .keys()
            .filter(|(_, condition, _)| used.covers(*condition))
            .count();
    }

    let tested: Vec<Pair<'_>> = pairs
        .iter()
        .filter(|pair| used.covers(pair.condition))
        .copied()
        .collect();
    let mut pooled = cell::cell(None, &tested, seed)?;
    pooled.resample(metric, &tested, seed);
    let mut conditions = Vec::new();
    for condition in Condition::ALL {
        if !manifest.conditions.contains(&condition) {
            continue;
        }
        let here: Vec<Pair<'_>> = pairs
            .iter()
            .filter(|pair| pair.condition == condition)
            .copied()
            .collect();
        let mut cell = cell::cell(Some(condition), &here, seed)?;
        cell.resample(metric, &here, seed);
        conditions.push(cell);
    }
    let coverage = [baseline.coverage, candidate.coverage];
    let sequence = sequence::sequence(metric, used, &recorded);
    let sequential_p = (used.stopping == Stopping::Sequential).then_some(sequence.p);
    let families = families::families(used, metric, &pooled, &conditions, sequential_p);
    let guards: Vec<Guard> = used
        .guards
        .iter()
        .map(|rule| guards::judge(*rule, &tested))
        .collect();
    let primary = pooled
        .metrics
        .get(metric.as_str())
        .ok_or(CompareError::NoMetric(metric))?;
    let reach = reach::reach(primary, used.alpha, used.margin);
    let grounds = Grounds {
        analysis: used,
        coverage,
        primary,
        confirmatory: &families.confirmatory,
        guards: &guards,
        sequence: &sequence,
        reach: &reach,
    };
    let kind = grounds.kind();
    let verdict = Verdict {
        kind,
        sentence: grounds.sentence(kind),
        notes: Vec::new(),
    };
    let noise = if request.noise_floor {
        Some(noise::noise_floor(metric, used, &tested, coverage, seed)?)
    } else {
        None
    };
    let mut effects = vec![metric];
    effects.extend(
        [Metric::Violation, Metric::AttemptedViolations]
            .into_iter()
            .filter(|m| *m != metric),
    );
    let mut comparison = Comparison {
        format: comparison::FORMAT,
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
        robustness: robustness::robustness(metric, used, &recorded, planned, seed),
        identical: baseline.toolset == candidate.toolset,
        baseline,
        candidate,
        verdict,
        interactions: effects
            .into_iter()
            .filter_map(|metric| interaction::effect(metric, &pairs, seed))
            .collect(),
        pass_k: repeats::pass_k(metric, &tested),
        correlation: repeats::correlation(metric, &tested),
        noise,
        discordant: differing::discordant(metric, &pairs),
        changes: request
            .toolsets
            .map(|(before, after)| changes(before, after))
            .unwrap_or_default(),
        methods: METHODS.to_vec(),
        pooled,
        conditions,
        families,
        guards,
        reach,
        sequence,
        analysis,
    };
    comparison.verdict.notes = verdict::notes(&comparison);
    Ok(comparison)
}

/// The analysis asked for, compared with the one that was stated.
fn analysis_used(manifest: &Manifest, asked: Option<&Analysis>) -> AnalysisUsed {
    let stated = &manifest.analysis;
    let mut used = asked.unwrap_or(stated).clone();
    // The size is the experiment's own, whatever was asked for.
    used.size = stated.size.as_ref().map(|_| manifest.size());
    let changes = stated.differences(&used);
    AnalysisUsed {
        used_hash: used.hash(),
        stated_hash: stated.hash(),
        as_stated: changes.is_empty(),
        changes,
        intact: manifest.analysis_is_intact(),
        used,
    }
}

fn seed(manifest: &Manifest) -> u64 {
    manifest
        .settings
        .get("seed")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(0)
}

/// Difference and verdict of some pairs, without everything that is only shown: for measuring how often the procedure is
/// wrong. The sequence, which knows the order of the pairs, is left out.
fn judge_pairs(
    metric: Metric,
    analysis: &Analysis,
    pairs: &[Pair<'_>],
    coverage: [Coverage; 2],
    seed: u64,
) -> Result<(f64, VerdictKind), CompareError> {
    let only = |condition: Option<Condition>, pairs: &[Pair<'_>]| {
        cell::cell_of(&[metric], condition, pairs, seed)
    };
    let pooled = only(None, pairs)?;
    let mut conditions = Vec::new();
    if analysis.contrast == crate::analysis::PrimaryContrast::PerCondition {
        for condition in Condition::ALL {
            let here: Vec<Pair<'_>> = pairs
                .iter()
                .filter(|pair| pair.condition == condition)
                .copied()
                .collect();
            conditions.push(only(Some(condition), &here)?);
        }
    }
    let mut sequence = Sequence::new(analysis.alpha);
    if analysis.stopping == Stopping::Sequential {
        for value in contrast::values(metric, pairs) {
            let gain = value.after - value.before;
            sequence.add(if metric.higher_is_better() {
                gain
            } else {
                -gain
            });
        }
    }
    let sequential_p = (analysis.stopping == Stopping::Sequential).then_some(sequence.p);
    let families = families::families(analysis, metric, &pooled, &conditions, sequential_p);
    let guards: Vec<Guard> = analysis
        .guards
        .iter()
        .map(|rule| guards::judge(*rule, pairs))
        .collect();
    let primary = pooled
        .metrics
        .get(metric.as_str())
        .ok_or(CompareError::NoMetric(metric))?;
    let grounds = Grounds {
        analysis,
        coverage,
        primary,
        confirmatory: &families.confirmatory,
        guards: &guards,
        sequence: &sequence,
        reach: &reach::reach(primary, analysis.alpha, analysis.margin),
    };
    Ok((primary.difference.unwrap_or(0.0), grounds.kind()))
}
