//! Counts over the pairs that the comparison is about.

use std::collections::BTreeMap;

use serde::Serialize;
use trajectory::Episode;

use super::index::Complete;
use crate::compare::{Metric, Rate};
use crate::stats::mean;

/// Both versions' means of one metric in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioMeans {
    /// The scenario.
    pub scenario: String,
    /// Pairs.
    pub pairs: usize,
    /// Mean of the baseline.
    pub baseline: f64,
    /// Mean of the candidate.
    pub candidate: f64,
    /// Candidate minus baseline.
    pub difference: f64,
}

pub(super) fn by_scenario(metric: Metric, pairs: &[Complete<'_>]) -> Vec<ScenarioMeans> {
    let mut values: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for pair in pairs {
        if let (Some(before), Some(after)) = (metric.of(pair.baseline), metric.of(pair.candidate)) {
            let (baseline, candidate) = values.entry(pair.scenario).or_default();
            baseline.push(before);
            candidate.push(after);
        }
    }
    let mut rows: Vec<ScenarioMeans> = values
        .into_iter()
        .filter_map(|(scenario, (before, after))| {
            let (baseline, candidate) = (mean(&before)?, mean(&after)?);
            Some(ScenarioMeans {
                scenario: scenario.to_owned(),
                pairs: before.len(),
                baseline,
                candidate,
                difference: candidate - baseline,
            })
        })
        .collect();
    let gain = |row: &ScenarioMeans| {
        if metric.higher_is_better() {
            row.difference
        } else {
            -row.difference
        }
    };
    rows.sort_by(|a, b| {
        gain(b)
            .total_cmp(&gain(a))
            .then_with(|| a.scenario.cmp(&b.scenario))
    });
    rows
}

/// Episodes with one value of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The value.
    pub value: i64,
    /// Episodes that have it.
    pub episodes: usize,
}

/// How a count is distributed over the episodes of both versions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distribution {
    /// The metric.
    pub metric: Metric,
    /// The baseline's episodes by value.
    pub baseline: Vec<Count>,
    /// The candidate's episodes by value.
    pub candidate: Vec<Count>,
    /// Mean of the baseline.
    pub baseline_mean: f64,
    /// Mean of the candidate.
    pub candidate_mean: f64,
}

/// `None` when no pair has the count.
pub(super) fn distribution(metric: Metric, pairs: &[Complete<'_>]) -> Option<Distribution> {
    let both: Vec<(f64, f64)> = pairs
        .iter()
        .filter_map(|pair| metric.of(pair.baseline).zip(metric.of(pair.candidate)))
        .collect();
    let (before, after): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
    Some(Distribution {
        metric,
        baseline_mean: mean(&before)?,
        candidate_mean: mean(&after)?,
        baseline: tally(&before),
        candidate: tally(&after),
    })
}

fn tally(values: &[f64]) -> Vec<Count> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for value in values {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the metrics shown this way are 32-bit counts"
        )]
        let whole = value.round() as i64;
        *counts.entry(whole).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(value, episodes)| Count { value, episodes })
        .collect()
}

/// Attempts outside the own limit of one version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AttemptsByRole {
    /// The buyer's.
    pub buyer: i64,
    /// The seller's.
    pub seller: i64,
}

impl AttemptsByRole {
    fn add(&mut self, episode: &Episode) {
        self.buyer += i64::from(episode.attempted_violations_buyer.unwrap_or(0));
        self.seller += i64::from(episode.attempted_violations_seller.unwrap_or(0));
    }
}

/// Attempts outside the own limit in one condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempts {
    /// The condition.
    pub condition: String,
    /// Pairs.
    pub pairs: usize,
    /// The baseline's.
    pub baseline: AttemptsByRole,
    /// The candidate's.
    pub candidate: AttemptsByRole,
}

/// In the order of the pairs, which is that of the conditions.
pub(super) fn attempts(pairs: &[Complete<'_>]) -> Vec<Attempts> {
    let mut rows: Vec<Attempts> = Vec::new();
    for pair in pairs {
        if rows
            .last()
            .is_none_or(|row| row.condition != pair.condition)
        {
            rows.push(Attempts {
                condition: pair.condition.to_owned(),
                pairs: 0,
                baseline: AttemptsByRole::default(),
                candidate: AttemptsByRole::default(),
            });
        }
        if let Some(row) = rows.last_mut() {
            row.pairs += 1;
            row.baseline.add(pair.baseline);
            row.candidate.add(pair.candidate);
        }
    }
    rows
}

/// How one version met an injection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exposure {
    /// Episodes.
    pub episodes: usize,
    /// Episodes in which the agent read the injection.
    pub exposed: usize,
    /// Views that carried it.
    pub views: i64,
    /// Of the exposed episodes, those that obeyed it.
    pub obeyed: Rate,
}

/// Injection exposure and obedience in one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Injection {
    /// The condition.
    pub condition: String,
    /// The baseline's.
    pub baseline: Exposure,
    /// The candidate's.
    pub candidate: Exposure,
}

fn injected(condition: &str) -> bool {
    condition
        .parse::<market::Condition>()
        .is_ok_and(market::Condition::inject)
}

pub(super) fn injection(pairs: &[Complete<'_>]) -> Vec<Injection> {
    let mut grouped: Vec<(&str, Vec<&Complete<'_>>)> = Vec::new();
    for pair in pairs.iter().filter(|pair| injected(pair.condition)) {
        match grouped.last_mut() {
            Some((condition, found)) if *condition == pair.condition => found.push(pair),
            _ => grouped.push((pair.condition, vec![pair])),
        }
    }
    grouped
        .into_iter()
        .map(|(condition, pairs)| Injection {
            condition: condition.to_owned(),
            baseline: exposure(pairs.iter().map(|pair| pair.baseline)),
            candidate: exposure(pairs.iter().map(|pair| pair.candidate)),
        })
        .collect()
}

fn exposure<'a>(episodes: impl Iterator<Item = &'a Episode>) -> Exposure {
    let (mut count, mut exposed, mut obeyed, mut views) = (0, 0, 0, 0);
    for episode in episodes {
        count += 1;
        let seen = episode.exposures.unwrap_or(0);
        views += i64::from(seen);
        if seen > 0 {
            exposed += 1;
            obeyed += u64::from(episode.obeyed == Some(true));
        }
    }
    Exposure {
        episodes: count,
        exposed,
        views,
        obeyed: Rate::new(obeyed, exposed as u64),
    }
}
