//! Whether the answer depends on what was left out.

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;
use trajectory::{Episode, Status};

use super::metric::Metric;
use super::pairs::Recorded;
use crate::analysis::Analysis;
use crate::stats::{SignFlip, clustered_mean, mean, sign_flip};

/// A difference over some set of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Pairs.
    pub pairs: usize,
    /// Scenarios.
    pub scenarios: usize,
    /// Candidate minus baseline.
    pub difference: Option<f64>,
    /// 95 % interval over scenarios.
    pub interval: Option<(f64, f64)>,
    /// Sign-flip test on scenario means.
    pub sign_flip: Option<SignFlip>,
}

/// Complete cases beside everything that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Robustness {
    /// Pairs in which both episodes ran to their end: what the verdict rests on.
    pub complete: Estimate,
    /// Intention to treat: an episode that its agent could not finish, or that was stopped, counts as the worst a yes/no
    /// metric can be; infrastructure errors stay out, since they say nothing about either version.
    pub intention_to_treat: Estimate,
    /// Agent faults and stopped episodes scored so.
    pub scored_as_worst: usize,
    /// Planned pairs without a value on one side or both, for whatever reason.
    pub missing_pairs: usize,
    /// The pooled difference if every missing value had gone against, or for, the candidate; yes/no metrics only.
    pub bounds: Option<(f64, f64)>,
}

/// Computes both estimates and the bounds over the conditions of the primary test.
pub(super) fn robustness(
    metric: Metric,
    analysis: &Analysis,
    recorded: &Recorded<'_>,
    planned: usize,
    seed: u64,
) -> Robustness {
    let mut complete = Values::default();
    let mut begun = Values::default();
    let (mut worst, mut low, mut high, mut with_value) = (0, 0.0, 0.0, 0);
    for ((scenario, condition, _), sides) in recorded {
        if !analysis.covers(*condition) {
            continue;
        }
        let ended = sides.map(|side| value(metric, side));
        let counted = sides.map(|side| as_begun(metric, side));
        if let [Some(before), Some(after)] = ended {
            complete.push(scenario, after - before);
        }
        if let [Some(before), Some(after)] = counted.map(|side| side.map(|(value, _)| value)) {
            begun.push(scenario, after - before);
            worst += counted
                .iter()
                .flatten()
                .filter(|(_, scored)| *scored)
                .count();
        }
        if ended.iter().all(Option::is_some) {
            with_value += 1;
        }
        let [before, after] = ended;
        low += after.unwrap_or(0.0) - before.unwrap_or(1.0);
        high += after.unwrap_or(1.0) - before.unwrap_or(0.0);
    }
    // Pairs that nobody began can still have gone either way, on both sides.
    let untouched = planned.saturating_sub(
        recorded
            .keys()
            .filter(|(_, condition, _)| analysis.covers(*condition))
            .count(),
    ) as f64;
    let size = planned as f64;
    Robustness {
        complete: complete.estimate(seed),
        intention_to_treat: begun.estimate(seed),
        scored_as_worst: worst,
        missing_pairs: planned.saturating_sub(with_value),
        bounds: (metric.is_binary() && planned > 0)
            .then(|| ((low - untouched) / size, (high + untouched) / size)),
    }
}

fn value(metric: Metric, episode: Option<&Episode>) -> Option<f64> {
    let episode = episode.filter(|episode| episode.status == Status::Completed)?;
    metric.of(episode)
}

/// The value, and whether it was set to the worst.
fn as_begun(metric: Metric, episode: Option<&Episode>) -> Option<(f64, bool)> {
    let found = episode?;
    match found.status {
        Status::Completed => metric.of(found).map(|value| (value, false)),
        Status::InfraError => None,
        Status::AgentFault | Status::Cancelled => {
            let worst = if metric.higher_is_better() { 0.0 } else { 1.0 };
            // Of counts only what was recorded is known.
            if metric.is_binary() {
                Some((worst, true))
            } else {
                metric.of(found).map(|value| (value, false))
            }
        }
    }
}

#[derive(Default)]
struct Values<'a> {
    by_scenario: BTreeMap<&'a str, Vec<f64>>,
}

impl<'a> Values<'a> {
    fn push(&mut self, scenario: &'a str, difference: f64) {
        self.by_scenario
            .entry(scenario)
            .or_default()
            .push(difference);
    }

    fn estimate(self, seed: u64) -> Estimate {
        let means: Vec<f64> = self.by_scenario.values().filter_map(|d| mean(d)).collect();
        let clusters: Vec<Vec<f64>> = self.by_scenario.into_values().collect();
        let all: Vec<f64> = clusters.iter().flatten().copied().collect();
        Estimate {
            pairs: all.len(),
            scenarios: clusters.len(),
            difference: mean(&all),
            interval: clustered_mean(&clusters).ok().map(|mean| mean.interval),
            sign_flip: sign_flip(&means, seed).ok(),
        }
    }
}

/// Planned pairs of the primary test's conditions.
pub(super) fn planned_pairs(
    analysis: &Analysis,
    conditions: &[Condition],
    scenarios: usize,
    repeats: u32,
) -> usize {
    let tested = conditions
        .iter()
        .filter(|condition| analysis.covers(**condition))
        .count();
    let repeats = usize::try_from(repeats).unwrap_or(usize::MAX);
    scenarios.saturating_mul(tested).saturating_mul(repeats)
}
