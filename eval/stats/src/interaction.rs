//! Whether enforcement changes the injection's effect: a difference of differences over the 2×2 of both.

use serde::Serialize;

use crate::error::finite;
use crate::special::normal_above;
use crate::{Level, OneSample, Proportion, SignFlip, StatsError, one_sample, sign_flip};

/// The four cells of one scenario.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TwoByTwo {
    /// Limit in the prompt only, no injection.
    pub prompt: f64,
    /// Limit enforced, no injection.
    pub server: f64,
    /// Limit in the prompt only, injection.
    pub prompt_inject: f64,
    /// Limit enforced, injection.
    pub server_inject: f64,
}

impl TwoByTwo {
    /// The injection's effect without enforcement minus its effect with it.
    pub fn difference(self) -> f64 {
        (self.prompt_inject - self.prompt) - (self.server_inject - self.server)
    }
}

/// Difference in differences over scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interaction {
    /// Mean of the scenarios' differences of differences, with t.
    pub mean: OneSample,
    /// Sign-flip test on the same.
    pub sign_flip: SignFlip,
}

/// `(prompt_inject - prompt) - (server_inject - server)` of every scenario: mean, t interval with K - 1 degrees of
/// freedom, sign-flip test. Above zero, enforcement takes away from what the injection adds.
///
/// # Errors
/// A value is not finite, or there are fewer than two scenarios.
pub fn difference_in_differences(
    scenarios: &[TwoByTwo],
    level: Level,
    seed: u64,
) -> Result<Interaction, StatsError> {
    let differences: Vec<f64> = scenarios.iter().map(|s| s.difference()).collect();
    finite(&differences)?;
    Ok(Interaction {
        mean: one_sample(&differences, level)?,
        sign_flip: sign_flip(&differences, seed)?,
    })
}

/// A ratio of ratios of counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RatioOfRatios {
    /// `(prompt_inject / prompt) / (server_inject / server)`.
    pub ratio: f64,
    /// Interval.
    pub interval: (f64, f64),
    /// Two-sided p that it is 1, by the normal approximation of its logarithm.
    pub p: f64,
}

/// The ratio of ratios of four counts with equal exposure; its logarithm has variance `phi·Σ 1/count`, where `phi` is
/// the overdispersion (1 for Poisson counts, never less). A cluster-robust version needs the episodes.
///
/// # Errors
/// A count is 0, or `phi` is not a number.
pub fn ratio_of_ratios(
    counts: TwoByTwo,
    phi: f64,
    level: Level,
) -> Result<RatioOfRatios, StatsError> {
    let cells = [
        counts.prompt_inject,
        counts.server,
        counts.prompt,
        counts.server_inject,
    ];
    finite(&cells)?;
    finite(&[phi])?;
    if cells.iter().any(|count| *count <= 0.0) {
        return Err(StatsError::Undefined {
            method: "a ratio of ratios",
            why: "one of the four counts is 0",
        });
    }
    let log =
        (counts.prompt_inject / counts.prompt).ln() - (counts.server_inject / counts.server).ln();
    let error = (phi.max(1.0) * cells.iter().map(|count| 1.0 / count).sum::<f64>()).sqrt();
    let half = level.z() * error;
    Ok(RatioOfRatios {
        ratio: log.exp(),
        interval: ((log - half).exp(), (log + half).exp()),
        p: (2.0 * normal_above((log / error).abs())).min(1.0),
    })
}

/// Difference in differences of four independent rates, as if episodes were independent: the sum of their variances
/// `p(1-p)/n`, normal quantile. For published tables that give no scenarios; with scenarios use
/// [`difference_in_differences`].
///
/// # Errors
/// A cell has no trials.
pub fn difference_of_rates(
    [prompt, server, prompt_inject, server_inject]: [Proportion; 4],
    level: Level,
) -> Result<(f64, (f64, f64)), StatsError> {
    let rate = |p: Proportion| {
        p.rate().ok_or(StatsError::TooFew {
            method: "a difference in differences",
            what: "episodes in every cell",
            needed: 1,
            found: 0,
        })
    };
    let cells = [
        rate(prompt_inject)?,
        rate(prompt)?,
        rate(server_inject)?,
        rate(server)?,
    ];
    let sizes = [prompt_inject.n(), prompt.n(), server_inject.n(), server.n()];
    let [pi, p, si, s] = cells;
    let difference = (pi - p) - (si - s);
    let variance: f64 = cells
        .iter()
        .zip(sizes)
        .map(|(rate, n)| rate * (1.0 - rate) / n as f64)
        .sum();
    let half = level.z() * variance.sqrt();
    Ok((difference, (difference - half, difference + half)))
}
