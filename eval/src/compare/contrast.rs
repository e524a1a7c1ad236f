//! One metric in two versions over one set of pairs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::metric::Metric;
use super::pairs::Pair;
use crate::stats::{
    Bootstrap, ClusteredMean, ENUMERATED_UP_TO, Level, PairedCells, RESAMPLES, RateRatio, SignFlip,
    StatsError, bootstrap_clusters, bootstrap_enumerated, clustered_mean, mcnemar_exact,
    mcnemar_mid_p, mean, newcombe_paired, overdispersed_ratio, overdispersion, poisson_ratio,
    probability_paired_higher, sign_flip, tango, wilson,
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
    /// Tango's score interval for the same, as if pairs were independent.
    pub tango: (f64, f64),
    /// The one-sided 95 % bounds of the same: Tango's interval at 90 %.
    pub tango_90: (f64, f64),
    /// The probability that the candidate's rate is the higher one, with a uniform prior on the kinds of pairs.
    pub probability_higher: f64,
}

/// What is added when a metric counts events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Counts {
    /// Events of the baseline.
    pub baseline: u64,
    /// Events of the candidate.
    pub candidate: u64,
    /// Candidate's rate over baseline's, as if events were independent (Poisson).
    pub poisson: RateRatio,
    /// How much more the counts vary between episodes than Poisson counts do; 1 or less is no more.
    pub overdispersion: Option<f64>,
    /// The ratio with that overdispersion; absent when a count is 0.
    pub adjusted: Option<RateRatio>,
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
    /// Ratio of the rates of a metric that counts events.
    pub counts: Option<Counts>,
    /// Bootstrap over scenarios, of the metric of the verdict only.
    pub bootstrap: Option<Bootstrap>,
}

impl Contrast {
    /// # Errors
    /// A value is not finite.
    pub(super) fn of(metric: Metric, pairs: &[Pair<'_>], seed: u64) -> Result<Self, StatsError> {
        let values = values(metric, pairs);
        let clusters = by_scenario(&values);
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
        let baseline = mean(&values.iter().map(|value| value.before).collect::<Vec<_>>());
        let candidate = mean(&values.iter().map(|value| value.after).collect::<Vec<_>>());
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
            counts: metric.is_count().then(|| counts(&values)).flatten(),
            bootstrap: None,
        })
    }

    /// Adds the bootstrap over scenarios; nothing happens without values.
    pub(super) fn resample(&mut self, pairs: &[Pair<'_>], seed: u64) {
        self.bootstrap = if self.scenarios <= ENUMERATED_UP_TO {
            bootstrap_enumerated(&self.means(), Level::P95).ok()
        } else {
            let values = values(self.metric, pairs);
            let clusters: Vec<Vec<f64>> = by_scenario(&values).into_values().collect();
            bootstrap_clusters(&clusters, RESAMPLES, seed, Level::P95).ok()
        };
    }

    /// Mean difference of every scenario.
    pub fn means(&self) -> Vec<f64> {
        self.by_scenario
            .iter()
            .map(|scenario| scenario.difference)
            .collect()
    }
}

/// One pair in which both episodes have the metric.
pub(super) struct PairValue<'a> {
    pub(super) pair: Pair<'a>,
    pub(super) before: f64,
    pub(super) after: f64,
}

/// The pairs in which both episodes have the metric.
pub(super) fn values<'a>(metric: Metric, pairs: &[Pair<'a>]) -> Vec<PairValue<'a>> {
    pairs
        .iter()
        .filter_map(|pair| {
            Some(PairValue {
                pair: *pair,
                before: metric.of(pair.baseline)?,
                after: metric.of(pair.candidate)?,
            })
        })
        .collect()
}

/// Candidate minus baseline, by scenario.
pub(super) fn by_scenario<'a>(values: &[PairValue<'a>]) -> BTreeMap<&'a str, Vec<f64>> {
    let mut clusters: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for value in values {
        clusters
            .entry(value.pair.scenario)
            .or_default()
            .push(value.after - value.before);
    }
    clusters
}

fn binary(values: &[PairValue<'_>]) -> Binary {
    let has = |value: f64| value > 0.5;
    let (mut cells, mut n) = (PairedCells::default(), 0);
    for value in values {
        n += 1;
        match (has(value.after), has(value.before)) {
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
        tango: tango(cells, Level::P95),
        tango_90: tango(cells, Level::P90),
        probability_higher: probability_paired_higher(c, b),
    }
}

/// `None` without pairs.
fn counts(values: &[PairValue<'_>]) -> Option<Counts> {
    let exposure = values.len() as f64;
    // Counts are recorded as whole numbers.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of counts; the cast saturates"
    )]
    let total = |of: fn(&PairValue<'_>) -> f64| values.iter().map(of).sum::<f64>().round() as u64;
    let (baseline, candidate) = (total(|v| v.before), total(|v| v.after));
    let poisson = poisson_ratio(candidate, exposure, baseline, exposure, Level::P95).ok()?;
    // Conditions differ in their rates; what varies inside each of them is what counts.
    let mut groups: BTreeMap<_, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for value in values {
        let group = groups.entry(value.pair.condition).or_default();
        group.0.push(value.before);
        group.1.push(value.after);
    }
    let groups: Vec<Vec<f64>> = groups.into_values().flat_map(|(a, b)| [a, b]).collect();
    let phi = overdispersion(&groups).ok().flatten();
    Some(Counts {
        baseline,
        candidate,
        poisson,
        overdispersion: phi,
        adjusted: phi.and_then(|phi| {
            let (first, second) = ((candidate, exposure), (baseline, exposure));
            overdispersed_ratio(first, second, phi, Level::P95).ok()
        }),
    })
}
