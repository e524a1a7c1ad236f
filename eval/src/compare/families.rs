//! Several tests at once: the few that the verdict rests on, and the many that are looked at besides.

use market::Condition;
use serde::Serialize;

use super::cell::Cell;
use super::contrast::Contrast;
use super::metric::Metric;
use crate::analysis::{Analysis, PrimaryContrast};
use crate::stats::{Adjusted, adjust, mean};

/// One test of a family.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Test {
    /// The metric.
    pub metric: Metric,
    /// The condition; absent when pooled.
    pub condition: Option<Condition>,
    /// Candidate minus baseline, over pairs.
    pub difference: Option<f64>,
    /// Mean of the scenarios' differences: what the test is about. It differs from `difference` when scenarios have
    /// unequal numbers of pairs.
    pub scenario_mean: Option<f64>,
    /// Two-sided p of the test alone.
    pub p: f64,
    /// The same, corrected for the number of tests in the family.
    pub adjusted_p: f64,
    /// Whether `adjusted_p` is at most alpha.
    pub rejected: bool,
}

impl Test {
    /// The condition's name, or `pooled`.
    pub fn place(&self) -> &'static str {
        self.condition.map_or("pooled", Condition::as_str)
    }
}

/// Tests that are corrected together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Families {
    /// The tests the verdict rests on; corrected with Holm's method, which bounds the chance of any false rejection.
    pub confirmatory: Vec<Test>,
    /// Everything else: hints for the next experiment. Corrected with Benjamini and Hochberg's method, which bounds the
    /// expected share of false ones among the rejected.
    pub exploratory: Vec<Test>,
}

/// The tests of a comparison. `primary_p` replaces the sign-flip p of the pooled primary test, for sequential runs.
pub(super) fn families(
    analysis: &Analysis,
    metric: Metric,
    pooled: &Cell,
    conditions: &[Cell],
    primary_p: Option<f64>,
) -> Families {
    let per_condition = analysis.contrast == PrimaryContrast::PerCondition;
    let primary = |cell: &Cell| match cell.condition {
        None => !per_condition,
        Some(condition) => per_condition && analysis.covers(condition),
    };
    let (mut confirmatory, mut exploratory) = (Vec::new(), Vec::new());
    for cell in [pooled].into_iter().chain(conditions) {
        for contrast in cell.metrics.values() {
            let chosen = contrast.metric == metric;
            // Other metrics are looked at pooled only: ten metrics in five places would drown everything.
            if contrast.pairs == 0 || !(chosen || cell.condition.is_none()) {
                continue;
            }
            if chosen && primary(cell) {
                confirmatory.push(test(cell, contrast, primary_p.filter(|_| !per_condition)));
            } else {
                exploratory.push(test(cell, contrast, None));
            }
        }
    }
    correct(&mut confirmatory, analysis.alpha, |adjusted| adjusted.holm);
    correct(&mut exploratory, analysis.alpha, |adjusted| adjusted.bh);
    Families {
        confirmatory,
        exploratory,
    }
}

fn test(cell: &Cell, contrast: &Contrast, p: Option<f64>) -> Test {
    Test {
        metric: contrast.metric,
        condition: cell.condition,
        difference: contrast.difference,
        scenario_mean: mean(&contrast.means()),
        p: p.unwrap_or(contrast.sign_flip.p),
        adjusted_p: 1.0,
        rejected: false,
    }
}

fn correct(tests: &mut [Test], alpha: f64, of: fn(Adjusted) -> Vec<f64>) {
    let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
    // Permutation p values are always in range.
    let Ok(adjusted) = adjust(&p) else { return };
    for (test, p) in tests.iter_mut().zip(of(adjusted)) {
        test.adjusted_p = p;
        test.rejected = p <= alpha;
    }
}
