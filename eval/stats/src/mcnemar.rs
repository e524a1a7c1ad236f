//! `McNemar`'s test for paired yes/no outcomes.

use serde::Serialize;

use crate::special::{binomial_cdf, binomial_mass, chi_squared_above};

/// Exact two-sided p of `McNemar`'s test with `b` and `c` discordant pairs: under the null hypothesis the
/// smaller of them is at most what `Bin(b + c, 1/2)` gives by chance, `min(1, 2·P(X <= min(b, c)))`.
///
/// `McNemar` (1947), Psychometrika 12, 153-157; exact form: Mosteller (1952), Biometrics 8, 220-226. Without
/// discordant pairs the p is 1.
pub fn mcnemar_exact(b: u64, c: u64) -> f64 {
    (2.0 * binomial_cdf(b.min(c), b.saturating_add(c), 0.5)).min(1.0)
}

/// Mid-p of the same test: half of the observed point's probability is left out on either side, which makes
/// up for the exact test's discreteness.
///
/// Fagerland, Lydersen & Laake (2013), BMC Med. Res. Methodol. 13, 91.
pub fn mcnemar_mid_p(b: u64, c: u64) -> f64 {
    let (smaller, all) = (b.min(c), b.saturating_add(c));
    (2.0 * binomial_cdf(smaller, all, 0.5) - binomial_mass(smaller, all, 0.5)).min(1.0)
}

/// A statistic that is compared with the chi-squared distribution of one degree of freedom or more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquare {
    /// The statistic.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: f64,
    /// `P(X > statistic)`.
    pub p: f64,
}

impl ChiSquare {
    pub(crate) fn of(statistic: f64, degrees: f64) -> Self {
        Self {
            statistic,
            degrees,
            p: chi_squared_above(statistic, degrees),
        }
    }
}

/// The large-sample form `(b-c)²/(b+c)`, with `corrected` Edwards' `(|b-c|-1)²/(b+c)`; `None` without discordant
/// pairs. For comparison with other programs: with few pairs the exact test is the one to read.
pub fn mcnemar_chi_squared(b: u64, c: u64, corrected: bool) -> Option<ChiSquare> {
    let all = b.saturating_add(c);
    if all == 0 {
        return None;
    }
    let distance = b.abs_diff(c) as f64;
    let distance = if corrected {
        (distance - 1.0).max(0.0)
    } else {
        distance
    };
    Some(ChiSquare::of(distance * distance / all as f64, 1.0))
}
