//! What repeats of a scenario are worth: reliability, correlation, effective number of episodes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::metric::Metric;
use super::pairs::Pair;
use crate::stats::{Components, Proportion, Reliability, components, reliability};

/// pass^k of both versions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassK {
    /// Attempts.
    pub k: u64,
    /// Of the baseline.
    pub baseline: Reliability,
    /// Of the candidate.
    pub candidate: Reliability,
}

/// How alike the episodes of a scenario are, in each version and in their differences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Correlation {
    /// Of the baseline.
    pub baseline: Option<Components>,
    /// Of the candidate.
    pub candidate: Option<Components>,
    /// Of the paired differences, on which the verdict rests.
    pub difference: Option<Components>,
}

/// pass^k for every k that the repeats allow, up to eight; a scenario in one condition is one task. Empty when the metric is
/// not a success that one may hope for.
pub(super) fn pass_k(metric: Metric, pairs: &[Pair<'_>]) -> Vec<PassK> {
    if !(metric.is_binary() && metric.higher_is_better()) {
        return Vec::new();
    }
    let mut tasks: BTreeMap<_, [u64; 3]> = BTreeMap::new();
    for pair in pairs {
        if let (Some(before), Some(after)) = (metric.of(pair.baseline), metric.of(pair.candidate)) {
            let [n, b, c] = tasks.entry((pair.scenario, pair.condition)).or_default();
            *n += 1;
            *b += u64::from(before > 0.5);
            *c += u64::from(after > 0.5);
        }
    }
    let side = |of: fn(&[u64; 3]) -> u64| -> Vec<Proportion> {
        tasks
            .values()
            .map(|task| Proportion::at_most(of(task), task[0]))
            .collect()
    };
    let (baseline, candidate) = (side(|task| task[1]), side(|task| task[2]));
    (1..=8)
        .map_while(|k| {
            Some(PassK {
                k,
                baseline: reliability(&baseline, k).ok()?,
                candidate: reliability(&candidate, k).ok()?,
            })
        })
        .collect()
}

/// Intraclass correlation by scenario, over all conditions of the pairs.
pub(super) fn correlation(metric: Metric, pairs: &[Pair<'_>]) -> Correlation {
    let mut scenarios: BTreeMap<&str, [Vec<f64>; 3]> = BTreeMap::new();
    for pair in pairs {
        if let (Some(before), Some(after)) = (metric.of(pair.baseline), metric.of(pair.candidate)) {
            let [b, c, d] = scenarios.entry(pair.scenario).or_default();
            b.push(before);
            c.push(after);
            d.push(after - before);
        }
    }
    let of = |side: usize| {
        let groups: Vec<Vec<f64>> = scenarios
            .values()
            .filter_map(|sides| sides.get(side).cloned())
            .collect();
        components(&groups).ok()
    };
    Correlation {
        baseline: of(0),
        candidate: of(1),
        difference: of(2),
    }
}
