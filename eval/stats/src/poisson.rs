//! Counts: attempts, refusals, polls.

use serde::Serialize;

use crate::error::{finite, inside_unit};
use crate::special::{binomial_cdf, chi_squared_quantile, normal_above};
use crate::{Level, Proportion, StatsError};

/// The ratio of two rates of counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateRatio {
    /// First rate over second rate; infinite when only the second count is 0, absent when both are.
    pub ratio: Option<f64>,
    /// Interval of the ratio; the upper end is infinite (`null` in JSON) when the second count is 0.
    pub interval: (f64, f64),
    /// Exact two-sided p that the rates are equal: twice the smaller tail.
    pub p: f64,
}

/// Exact ratio of two Poisson rates, `first` events in `first_exposure` against `second` in `second_exposure`.
///
/// Given the sum, the first count is binomial with share `t1/(t1+t2)`; Clopper and Pearson's interval of that share
/// becomes the interval of the ratio. Przyborowski & Wilenski (1940), Biometrika 31, 313-323. It takes events as
/// independent: for counts that come in clusters see [`overdispersion`].
///
/// # Errors
/// An exposure is not a positive number, or one is nothing beside the other.
pub fn poisson_ratio(
    first: u64,
    first_exposure: f64,
    second: u64,
    second_exposure: f64,
    level: Level,
) -> Result<RateRatio, StatsError> {
    for exposure in [first_exposure, second_exposure] {
        if !(exposure.is_finite() && exposure > 0.0) {
            return Err(StatsError::Range {
                what: "an exposure (episodes, hours)",
                range: "a positive number",
                value: exposure,
            });
        }
    }
    // Not as a quotient of sums, which overflow.
    let share = inside_unit(
        "the share of the first exposure",
        1.0 / (1.0 + second_exposure / first_exposure),
    )?;
    let all = first.saturating_add(second);
    let scale = second_exposure / first_exposure;
    let (low, high) = Proportion::at_most(first, all).clopper_pearson(level);
    let odds = |p: f64| {
        if p >= 1.0 {
            f64::INFINITY
        } else {
            p / (1.0 - p) * scale
        }
    };
    let below = binomial_cdf(first, all, share);
    // As a sum over the second count, which keeps the digits of a small tail.
    let above = binomial_cdf(all - first, all, 1.0 - share);
    let ratio = match (first, second) {
        (0, 0) => None,
        (_, 0) => Some(f64::INFINITY),
        _ => Some(first as f64 / second as f64 * scale),
    };
    Ok(RateRatio {
        ratio,
        interval: (odds(low), odds(high)),
        p: (2.0 * below.min(above)).min(1.0),
    })
}

/// Garwood's exact interval of a Poisson count.
///
/// `chi²(alpha/2; 2k)/2` to `chi²(1-alpha/2; 2k+2)/2`, from 0 at no event. Garwood (1936), Biometrika 28, 437-442.
pub fn garwood(events: u64, level: Level) -> (f64, f64) {
    let (k, tail) = (events as f64, level.alpha() / 2.0);
    let low = if events == 0 {
        0.0
    } else {
        chi_squared_quantile(tail, 2.0 * k) / 2.0
    };
    (low, chi_squared_quantile(1.0 - tail, 2.0 * k + 2.0) / 2.0)
}

/// The one-sided upper bound of a Poisson count; 2.996 at no event and 95 %.
pub fn garwood_upper(events: u64, level: Level) -> f64 {
    chi_squared_quantile(level.get(), 2.0 * events as f64 + 2.0) / 2.0
}

/// How much more counts vary between episodes than a Poisson distribution lets them: Pearson's
/// `sum (x-m)²/m / (n-groups)` with `m` the mean of the episode's group; 1 for Poisson counts.
///
/// `None` when no group has a count, or no group has two episodes. `McCullagh` & Nelder (1989), Generalized Linear
/// Models, section 6.2.
///
/// # Errors
/// A count is not finite or below 0.
pub fn overdispersion(groups: &[Vec<f64>]) -> Result<Option<f64>, StatsError> {
    let (mut pearson, mut degrees) = (0.0, 0.0);
    for group in groups {
        finite(group)?;
        if let Some(bad) = group.iter().find(|count| **count < 0.0) {
            return Err(StatsError::Range {
                what: "a count",
                range: "0 or more",
                value: *bad,
            });
        }
        let Some(mean) = crate::mean(group).filter(|mean| *mean > 0.0) else {
            continue;
        };
        pearson += group.iter().map(|x| (x - mean).powi(2) / mean).sum::<f64>();
        degrees += group.len() as f64 - 1.0;
    }
    Ok((degrees > 0.0).then(|| pearson / degrees))
}

/// The ratio of two counts with equal exposure per unit when events come in clusters: `ln RR` has the variance
/// `phi·(1/a + 1/b)`, compared with the normal distribution.
///
/// # Errors
/// A count is 0, an exposure not positive, or `phi` below 0.
pub fn overdispersed_ratio(
    (first, first_exposure): (u64, f64),
    (second, second_exposure): (u64, f64),
    phi: f64,
    level: Level,
) -> Result<RateRatio, StatsError> {
    if first == 0 || second == 0 {
        return Err(StatsError::Undefined {
            method: "the normal approximation of a rate ratio",
            why: "one of the counts is 0",
        });
    }
    if !(phi.is_finite() && phi >= 0.0) {
        return Err(StatsError::Range {
            what: "the overdispersion",
            range: "0 or more",
            value: phi,
        });
    }
    let share = 1.0 / (1.0 + second_exposure / first_exposure);
    inside_unit("the share of the first exposure", share)?;
    let (a, b) = (first as f64, second as f64);
    let log = (a / b).ln() + (second_exposure / first_exposure).ln();
    // Less variation than Poisson would make the interval narrower than chance allows.
    let error = (phi.max(1.0) * (1.0 / a + 1.0 / b)).sqrt();
    let half = level.z() * error;
    Ok(RateRatio {
        ratio: Some(log.exp()),
        interval: ((log - half).exp(), (log + half).exp()),
        p: (2.0 * normal_above((log / error).abs())).min(1.0),
    })
}
