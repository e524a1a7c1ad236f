//! What a comparison could have seen, and what it would need.

use serde::Serialize;

use super::contrast::Contrast;
use crate::stats::{clusters_needed, detectable_difference, smallest_p, standard_deviation};

/// How far a comparison reaches, by the spread that was seen between scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reach {
    /// Scenarios.
    pub scenarios: usize,
    /// Pairs for each scenario, on average.
    pub pairs_per_scenario: f64,
    /// The smallest p that a sign-flip test on so many scenarios can give.
    pub smallest_p: f64,
    /// Whether that is at most alpha.
    pub can_reject: bool,
    /// Standard deviation of the scenarios' mean differences.
    pub spread: Option<f64>,
    /// The smallest true difference that is found with a chance of about 80 %; absent without any spread, which would
    /// claim that the smallest difference could have been seen.
    pub detectable: Option<f64>,
    /// The margin within which the versions count as equal, in the metric's unit.
    pub margin: Option<f64>,
    /// Scenarios with which a difference of the margin's size would be found with a chance of about 80 %.
    pub scenarios_for_margin: Option<usize>,
    /// Scenarios with which a difference as large as the one seen would be.
    pub scenarios_for_observed: Option<usize>,
}

/// The reach of the primary test. `margin` is a share: of the baseline's mean when the metric is no yes or no.
pub(super) fn reach(contrast: &Contrast, alpha: f64, margin: f64) -> Reach {
    let means = contrast.means();
    let spread = standard_deviation(&means).filter(|spread| *spread > 1e-9);
    let margin = if contrast.metric.is_binary() {
        Some(margin)
    } else {
        contrast
            .baseline
            .map(|mean| mean.abs() * margin)
            .filter(|margin| *margin > 0.0)
    };
    let needed = |difference: Option<f64>| clusters_needed(spread?, difference?.abs(), alpha);
    Reach {
        scenarios: means.len(),
        pairs_per_scenario: if means.is_empty() {
            0.0
        } else {
            contrast.pairs as f64 / means.len() as f64
        },
        smallest_p: smallest_p(means.len()),
        can_reject: smallest_p(means.len()) <= alpha,
        spread,
        detectable: spread.and_then(|spread| detectable_difference(spread, means.len(), alpha)),
        margin,
        scenarios_for_margin: needed(margin),
        scenarios_for_observed: needed(contrast.difference.filter(|d| d.abs() > 1e-9)),
    }
}
