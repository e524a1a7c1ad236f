//! One metric in two versions over one set of pairs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::metric::Metric;
use super::pairs::Pair;
use crate::stats::{
    ClusteredMean, Level, PairedCells, SignFlip, StatsError, clustered_mean, mcnemar_exact,
    mcnemar_mid_p, mean, newcombe_paired, sign_flip, wilson,
};

/// A rate with its Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// Episodes that have it.
    pub successes: u64,
    /// Episodes.
    pub n: u64,
    /// 95 % interval, as if episodes were independent.
    pub wilson: (f64, f64),
}

impl Rate {
    /// A rate.
    pub fn new(successes: u64, n: u64) -> Self {
        Self {
            successes,
            n,
            wilson: wilson(successes, n),
        }
    }
}

/// What is added when a metric is yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Binary {
    /// Rate of the baseline.
    pub baseline: Rate,
    /// Rate of the candidate.
    pub candidate: Rate,
    /// Pairs in which only the baseline has it.
    pub b: u64,
    /// Pairs in which only the candidate has it.
    pub c: u64,
    /// Exact two-sided p of `McNemar`'s test, as if pairs were independent.
    pub mcnemar_p: f64,
    /// Its mid-p.
    pub mcnemar_mid_p: f64,
    /// Newcombe's interval for the paired difference, candidate minus baseline, as if pairs were independent.
    pub newcombe: (f64, f64),
}

/// The difference of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioDifference {
    /// The scenario.
    pub scenario: String,
    /// Pairs.
    pub pairs: usize,
    /// Mean of candidate minus baseline.
    pub difference: f64,
}

/// One metric compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contrast {
    /// The metric.
    pub metric: Metric,
    /// Pairs in which both episodes have it.
    pub pairs: usize,
    /// Scenarios these pairs come from.
    pub scenarios: usize,
    /// Mean of the baseline.
    pub baseline: Option<f64>,
    /// Mean of the candidate.
    pub candidate: Option<f64>,
    /// Candidate minus baseline.
    pub difference: Option<f64>,
    /// The difference with standard errors and interval by scenario; approximate below 12 scenarios.
    pub clustered: Option<ClusteredMean>,
    /// Sign-flip test on the scenarios' mean differences: the primary test.
    pub sign_flip: SignFlip,
    /// What the test rests on.
    pub by_scenario: Vec<ScenarioDifference>,
    /// Rates and discordant pairs of a yes/no metric.
    pub binary: Option<Binary>,
}

impl Contrast {
    /// # Errors
    /// A value is not finite.
    pub(super) fn of(metric: Metric, pairs: &[Pair<'_>], seed: u64) -> Result<Self, StatsError> {
        let mut values: Vec<(f64, f64)> = Vec::with_capacity(pairs.len());
        let mut clusters: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for pair in pairs {
            if let (Some(before), Some(after)) =
                (metric.of(pair.baseline), metric.of(pair.candidate))
            {
                values.push((before, after));
                clusters
                    .entry(pair.scenario)
                    .or_default()
                    .push(after - before);
            }
        }
        let by_scenario: Vec<ScenarioDifference> = clusters
            .iter()
            .map(|(scenario, differences)| ScenarioDifference {
                scenario: (*scenario).to_owned(),
                pairs: differences.len(),
                difference: mean(differences).unwrap_or(0.0),
            })
            .collect();
        let means: Vec<f64> = by_scenario
            .iter()
            .map(|scenario| scenario.difference)
            .collect();
        let baseline = mean(&values.iter().map(|value| value.0).collect::<Vec<_>>());
        let candidate = mean(&values.iter().map(|value| value.1).collect::<Vec<_>>());
        Ok(Self {
            metric,
            pairs: values.len(),
            scenarios: clusters.len(),
            baseline,
            candidate,
            difference: baseline
                .zip(candidate)
                .map(|(before, after)| after - before),
            clustered: clustered_mean(&clusters.into_values().collect::<Vec<_>>()).ok(),
            sign_flip: sign_flip(&means, seed)?,
            by_scenario,
            binary: metric.is_binary().then(|| binary(&values)),
        })
    }

    /// The difference counted so that more is better.
    pub(super) fn gain(&self) -> Option<f64> {
        self.difference.map(|difference| {
            if self.metric.higher_is_better() {
                difference
            } else {
                -difference
            }
        })
    }
}

fn binary(values: &[(f64, f64)]) -> Binary {
    let has = |value: f64| value > 0.5;
    let (mut cells, mut n) = (PairedCells::default(), 0);
    for (before, after) in values {
        n += 1;
        match (has(*after), has(*before)) {
            (true, true) => cells.both += 1,
            (true, false) => cells.first_only += 1,
            (false, true) => cells.second_only += 1,
            (false, false) => cells.neither += 1,
        }
    }
    let (b, c) = (cells.second_only, cells.first_only);
    Binary {
        baseline: Rate::new(cells.both + b, n),
        candidate: Rate::new(cells.both + c, n),
        b,
        c,
        mcnemar_p: mcnemar_exact(b, c),
        mcnemar_mid_p: mcnemar_mid_p(b, c),
        newcombe: newcombe_paired(cells, Level::P95),
    }
}
