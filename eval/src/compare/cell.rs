//! Both versions in one condition, or pooled over several.

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;

use super::contrast::Contrast;
use super::metric::Metric;
use super::pairs::Pair;
use super::{CompareError, Totals};

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

impl Cell {
    /// Adds the bootstrap to one metric.
    pub(super) fn resample(&mut self, metric: Metric, pairs: &[Pair<'_>], seed: u64) {
        if let Some(contrast) = self.metrics.get_mut(metric.as_str()) {
            contrast.resample(pairs, seed);
        }
    }
}

/// All metrics of some pairs.
pub(super) fn cell(
    condition: Option<Condition>,
    pairs: &[Pair<'_>],
    seed: u64,
) -> Result<Cell, CompareError> {
    cell_of(&Metric::ALL, condition, pairs, seed)
}

/// Some metrics of some pairs.
pub(super) fn cell_of(
    metrics: &[Metric],
    condition: Option<Condition>,
    pairs: &[Pair<'_>],
    seed: u64,
) -> Result<Cell, CompareError> {
    Ok(Cell {
        condition,
        enforce: condition.map(Condition::enforce),
        inject: condition.map(Condition::inject),
        pairs: pairs.len(),
        baseline: Totals::of(pairs.iter().map(|pair| pair.baseline)),
        candidate: Totals::of(pairs.iter().map(|pair| pair.candidate)),
        metrics: metrics
            .iter()
            .map(|metric| {
                Contrast::of(*metric, pairs, seed)
                    .map(|contrast| (metric.as_str(), contrast))
                    .map_err(|source| CompareError::Data {
                        metric: *metric,
                        source,
                    })
            })
            .collect::<Result<_, _>>()?,
    })
}
