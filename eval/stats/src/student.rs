//! Student's t for one sample, and what a comparison could have seen.

use serde::Serialize;

use crate::error::finite;
use crate::search::fewest;
use crate::special::{t_quantile, t_two_sided};
use crate::{EXACT_UP_TO, Level, StatsError, mean, smallest_p, standard_deviation};

/// Mean of a sample with its t interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OneSample {
    /// Mean.
    pub mean: f64,
    /// Standard error.
    pub se: f64,
    /// Values.
    pub n: usize,
    /// `mean / se`; absent when nothing varies.
    pub t: Option<f64>,
    /// Two-sided p with n - 1 degrees of freedom; absent when nothing varies.
    pub p: Option<f64>,
    /// Interval.
    pub interval: (f64, f64),
}

/// One-sample t: the mean of independent values (one for each scenario) against 0. Student (1908), Biometrika 6, 1-25.
///
/// # Errors
/// A value is not finite, or there are fewer than two.
pub fn one_sample(values: &[f64], level: Level) -> Result<OneSample, StatsError> {
    finite(values)?;
    let (Some(mean), Some(deviation)) = (mean(values), standard_deviation(values)) else {
        return Err(StatsError::TooFew {
            method: "a t interval",
            what: "values",
            needed: 2,
            found: values.len(),
        });
    };
    let degrees = values.len() as f64 - 1.0;
    let se = deviation / (values.len() as f64).sqrt();
    let half = t_quantile(1.0 - level.alpha() / 2.0, degrees).unwrap_or(f64::INFINITY) * se;
    let t = (se > 0.0).then(|| mean / se);
    Ok(OneSample {
        mean,
        se,
        n: values.len(),
        t,
        p: t.and_then(|t| t_two_sided(t, degrees)),
        interval: if se > 0.0 {
            (mean - half, mean + half)
        } else {
            (mean, mean)
        },
    })
}

/// The smallest true difference that a two-sided test at `alpha` on `clusters` means with this standard deviation
/// finds with a chance of about 80 %: `(t(1-alpha/2) + t(.8))·s/√K` with K - 1 degrees of freedom.
///
/// It takes the spread that was seen for the true one, so it is a rough figure; Bloom (1995), Eval. Rev. 19,
/// 547-556, with t for z. `None` below two clusters.
pub fn detectable_difference(standard_deviation: f64, clusters: usize, alpha: f64) -> Option<f64> {
    let degrees = clusters.checked_sub(1).filter(|degrees| *degrees > 0)? as f64;
    let factor = t_quantile(1.0 - alpha / 2.0, degrees)? + t_quantile(0.8, degrees)?;
    Some(factor * standard_deviation / (clusters as f64).sqrt())
}

/// The fewest clusters with which a sign-flip test can reach `alpha` at all: six for .05.
pub fn fewest_clusters(alpha: f64) -> usize {
    (1..=EXACT_UP_TO)
        .find(|clusters| smallest_p(*clusters) <= alpha)
        .unwrap_or(EXACT_UP_TO)
}

/// The fewest clusters with which [`detectable_difference`] is at most `difference`, [`fewest_clusters`] at least.
/// `None` when more than a million would be needed, or `difference` is not above 0.
pub fn clusters_needed(standard_deviation: f64, difference: f64, alpha: f64) -> Option<usize> {
    if !(difference > 0.0 && standard_deviation.is_finite() && standard_deviation >= 0.0) {
        return None;
    }
    let found = fewest(fewest_clusters(alpha).max(2) as u64, |clusters| {
        usize::try_from(clusters)
            .ok()
            .and_then(|clusters| detectable_difference(standard_deviation, clusters, alpha))
            .is_some_and(|found| found <= difference)
    })?;
    usize::try_from(found).ok()
}
