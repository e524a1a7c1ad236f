//! Guards: what must not get worse by more than a margin that was stated before the run.
//!
//! Each is a test of non-inferiority: a guard holds when even the upper end of what the data allow is inside the
//! margin. That nothing bad was seen is not enough.

use serde::Serialize;

use super::contrast::{by_scenario, values};
use super::metric::Metric;
use super::pairs::Pair;
use crate::analysis::GuardRule;
use crate::stats::{Level, PairedCells, clustered_mean, mean, tango};

/// What a guard shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardState {
    /// The upper bound is inside the margin.
    Held,
    /// The lower bound is outside the margin: it got worse by more than was tolerated.
    Broken,
    /// Neither: too little data for this margin.
    NotShown,
    /// No pair has the metric (no injection, no token counts).
    NoData,
}

impl GuardState {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::NotShown => "not shown",
            Self::NoData => "no data",
        }
    }
}

/// One guard, judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Guard {
    /// The rule.
    pub rule: GuardRule,
    /// The margin in the metric's own unit.
    pub margin: Option<f64>,
    /// Pairs.
    pub pairs: usize,
    /// Scenarios.
    pub scenarios: usize,
    /// Mean of the baseline.
    pub baseline: Option<f64>,
    /// Mean of the candidate.
    pub candidate: Option<f64>,
    /// Candidate minus baseline.
    pub difference: Option<f64>,
    /// One-sided 95 % lower bound of the difference.
    pub lower: Option<f64>,
    /// One-sided 95 % upper bound of the difference.
    pub upper: Option<f64>,
    /// What it shows.
    pub state: GuardState,
}

/// Judges one guard over these pairs.
pub(super) fn judge(rule: GuardRule, pairs: &[Pair<'_>]) -> Guard {
    let values = values(rule.metric, pairs);
    let baseline = mean(&values.iter().map(|v| v.before).collect::<Vec<_>>());
    let candidate = mean(&values.iter().map(|v| v.after).collect::<Vec<_>>());
    let clusters: Vec<Vec<f64>> = by_scenario(&values).into_values().collect();
    let mut guard = Guard {
        rule,
        margin: margin(rule, baseline),
        pairs: values.len(),
        scenarios: clusters.len(),
        baseline,
        candidate,
        difference: baseline.zip(candidate).map(|(b, c)| c - b),
        lower: None,
        upper: None,
        state: GuardState::NoData,
    };
    if values.is_empty() {
        return guard;
    }
    guard.state = GuardState::NotShown;
    let Ok(over_scenarios) = clustered_mean(&clusters) else {
        return guard;
    };
    let (mut low, mut high) = over_scenarios.interval_at(Level::P90);
    if rule.metric.is_binary() {
        // When nothing happened in either arm the scenarios do not vary, which proves nothing: the interval for
        // pairs is never narrower than its number of pairs allows. The wider one counts.
        let pairwise = tango(cells(rule.metric, pairs), Level::P90);
        (low, high) = (low.min(pairwise.0).max(-1.0), high.max(pairwise.1).min(1.0));
    }
    (guard.lower, guard.upper) = (Some(low), Some(high));
    // A relative margin moves with the baseline's mean, which is itself uncertain, so the test is on
    // candidate - (1 + margin)·baseline of every pair.
    let (low, high, limit) = if rule.relative {
        let mut excess = std::collections::BTreeMap::<&str, Vec<f64>>::new();
        for value in &values {
            let allowed = (1.0 + rule.margin) * value.before;
            excess
                .entry(value.pair.scenario)
                .or_default()
                .push(value.after - allowed);
        }
        let clusters: Vec<Vec<f64>> = excess.into_values().collect();
        match clustered_mean(&clusters) {
            Ok(mean) => {
                let (low, high) = mean.interval_at(Level::P90);
                (low, high, 0.0)
            }
            Err(_) => return guard,
        }
    } else {
        (low, high, rule.margin)
    };
    guard.state = if high <= limit {
        GuardState::Held
    } else if low > limit {
        GuardState::Broken
    } else {
        GuardState::NotShown
    };
    guard
}

impl GuardRule {
    /// Pairs with which this guard can hold at all, when nothing happens in either arm: Tango's one-sided 95 % bound is then
    /// `z²/(n + z²)`. `None` for metrics that are no yes or no, and for a margin of 0, which no data can show.
    pub fn fewest_pairs(self) -> Option<u64> {
        if !self.metric.is_binary() || self.relative || self.margin <= 0.0 {
            return None;
        }
        let z2 = Level::P90.z().powi(2);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of pairs; the cast saturates"
        )]
        let pairs = (z2 * (1.0 - self.margin) / self.margin).ceil().max(1.0) as u64;
        Some(pairs)
    }
}

fn margin(rule: GuardRule, baseline: Option<f64>) -> Option<f64> {
    if rule.relative {
        baseline.map(|mean| mean * rule.margin)
    } else {
        Some(rule.margin)
    }
}

fn cells(metric: Metric, pairs: &[Pair<'_>]) -> PairedCells {
    let mut cells = PairedCells::default();
    for value in values(metric, pairs) {
        match (value.after > 0.5, value.before > 0.5) {
            (true, true) => cells.both += 1,
            (true, false) => cells.first_only += 1,
            (false, true) => cells.second_only += 1,
            (false, false) => cells.neither += 1,
        }
    }
    cells
}
