//! Evidence that may be looked at after every pair: e-values and confidence sequences.

use serde::Serialize;
use statrs::function::factorial::ln_binomial;

use crate::special::{bisect, ln_beta_function};
use crate::{Level, Proportion, StatsError};

/// Natural logarithm of the e-value of `successes` in `m` discordant pairs.
///
/// `e = 2^m / ((m+1)·C(m,S))`: the likelihood of all success rates, mixed uniformly, against the fair coin's. Under the
/// null hypothesis its mean is 1 at any stopping time, so it exceeds `1/alpha` with a probability of at most `alpha`,
/// however often one looks. Ville (1939); Robbins (1970), Ann. Math. Stat. 41, 1397-1409; Ramdas et al. (2023),
/// Stat. Sci. 38, 576-601.
pub fn ln_e_value(pairs: Proportion) -> f64 {
    let m = pairs.n() as f64;
    m * std::f64::consts::LN_2 - (m + 1.0).ln() - ln_binomial(pairs.n(), pairs.successes())
}

/// An e-value with what it means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EValue {
    /// Successes and discordant pairs.
    pub pairs: Proportion,
    /// The e-value: 20 or more rejects at .05 at any time.
    pub e: f64,
    /// Its logarithm, for those too large to be shown.
    pub ln_e: f64,
    /// `min(1, 1/e)`: a p value that is valid at any stopping time.
    pub p: f64,
}

/// The e-value of discordant pairs.
pub fn e_value(pairs: Proportion) -> EValue {
    let ln_e = ln_e_value(pairs);
    EValue {
        pairs,
        e: ln_e.exp(),
        ln_e,
        p: (-ln_e).exp().min(1.0),
    }
}

/// The e-value that rejects at this level: `1/alpha`.
pub fn threshold(level: Level) -> f64 {
    1.0 / level.alpha()
}

/// Confidence sequence of a rate: an interval that holds at all times together; (0, 1) without trials.
///
/// All rates whose uniform-mixture e-value `B(S+1, m-S+1) / (p^S·(1-p)^(m-S))` is below `1/alpha`. Robbins (1970); Howard
/// et al. (2021), Ann. Stat. 49, 1055-1080.
pub fn confidence_sequence(trials: Proportion, level: Level) -> (f64, f64) {
    let Some(estimate) = trials.rate() else {
        return (0.0, 1.0);
    };
    let (s, f) = (trials.successes() as f64, trials.failures() as f64);
    let mixture = ln_beta_function(s + 1.0, f + 1.0);
    let limit = -level.alpha().ln();
    // Times ln of 0 is only reached with a factor of 0.
    let part = |times: f64, p: f64| if times > 0.0 { times * p.ln() } else { 0.0 };
    let excluded = |p: f64| mixture - part(s, p) - part(f, 1.0 - p) >= limit;
    let low = if s > 0.0 {
        bisect(0.0, estimate, excluded)
    } else {
        0.0
    };
    let high = if f > 0.0 {
        bisect(estimate, 1.0, |p| !excluded(p))
    } else {
        1.0
    };
    (low, high)
}

/// The fewest pairs, all of one sign, with which the e-value reaches its threshold: 8 at 95 %.
///
/// # Errors
/// More than a thousand would be needed.
pub fn fewest_pairs(level: Level) -> Result<u64, StatsError> {
    let limit = threshold(level).ln();
    (1..=1_000)
        .find(|m| ln_e_value(Proportion::at_most(*m, *m)) >= limit)
        .ok_or(StatsError::Undefined {
            method: "an e-process",
            why: "more than a thousand pairs would be needed",
        })
}
