//! How many episodes a question needs.

use serde::Serialize;

use crate::error::inside_unit;
use crate::fisher::fisher_exact;
use crate::mcnemar::mcnemar_exact;
use crate::search::fewest;
use crate::special::{binomial_cdf, binomial_mass, normal_quantile, t_cdf, t_quantile};
use crate::{Proportion, StatsError};

/// Chance that Fisher's two-sided exact test of two samples of `n` rejects at `alpha`, by summing over all outcomes.
///
/// # Errors
/// A rate or `alpha` is out of range.
pub fn fisher_power(n: u64, first: f64, second: f64, alpha: f64) -> Result<f64, StatsError> {
    fisher_power_by(n, first, second, alpha, false)
}

/// As [`fisher_power`], for the one-sided test that the first rate is larger.
///
/// # Errors
/// As [`fisher_power`].
pub fn fisher_power_one_sided(
    n: u64,
    first: f64,
    second: f64,
    alpha: f64,
) -> Result<f64, StatsError> {
    fisher_power_by(n, first, second, alpha, true)
}

fn fisher_power_by(
    n: u64,
    first: f64,
    second: f64,
    alpha: f64,
    greater: bool,
) -> Result<f64, StatsError> {
    for rate in [first, second] {
        if !(0.0..=1.0).contains(&rate) {
            return Err(StatsError::Range {
                what: "a rate",
                range: "from 0 to 1",
                value: rate,
            });
        }
    }
    inside_unit("alpha", alpha)?;
    let (mut power, negligible) = (0.0, 1e-12);
    for x in 0..=n {
        let mass_x = binomial_mass(x, n, first);
        if mass_x < negligible {
            continue;
        }
        for y in 0..=n {
            let mass = mass_x * binomial_mass(y, n, second);
            if mass < negligible * 1e-3 {
                continue;
            }
            let found = fisher_exact(Proportion::at_most(x, n), Proportion::at_most(y, n));
            let p = if greater { found.p_greater } else { found.p };
            if p <= alpha {
                power += mass;
            }
        }
    }
    Ok(power)
}

/// Chance that the exact two-sided McNemar test of `n` pairs rejects at `alpha`, when pairs with only the first have the
/// probability `b` and pairs with only the second `c`; summed over all numbers of discordant pairs.
///
/// # Errors
/// The probabilities or `alpha` are out of range.
pub fn mcnemar_power(n: u64, b: f64, c: f64, alpha: f64) -> Result<f64, StatsError> {
    inside_unit("alpha", alpha)?;
    let discordant = b + c;
    if !(b >= 0.0 && c >= 0.0 && discordant <= 1.0) {
        return Err(StatsError::Range {
            what: "the share of discordant pairs",
            range: "from 0 to 1",
            value: discordant,
        });
    }
    if discordant == 0.0 {
        return Ok(0.0);
    }
    let share = b / discordant;
    // With more discordant pairs, as many of the rarer kind stay significant or more do: the largest such number is
    // carried along instead of being looked for each time.
    let (mut power, mut most) = (0.0, None);
    for d in 0..=n {
        let mass = binomial_mass(d, n, discordant);
        if mass < 1e-14 {
            continue;
        }
        let mut next = most.map_or(0, |fewer: u64| fewer + 1);
        while 2 * next < d && mcnemar_exact(next, d - next) <= alpha {
            most = Some(next);
            next += 1;
        }
        if let Some(rarer) = most {
            let either = binomial_cdf(rarer, d, share) + binomial_cdf(rarer, d, 1.0 - share);
            power += mass * either;
        }
    }
    Ok(power)
}

/// The smallest difference that a power function reaches `power` with, on a grid of .001; `None` when none does.
fn smallest(
    most: f64,
    power: f64,
    at: impl Fn(f64) -> Result<f64, StatsError>,
) -> Result<Option<f64>, StatsError> {
    // Power grows with the difference but for the small steps of an exact test, so halving comes close enough and the
    // last steps are walked.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a difference of rates in thousandths"
    )]
    let last = (most * 1000.0 + 1e-9).floor().max(0.0) as u32;
    let (mut low, mut high) = (0_u32, last);
    if last == 0 || at(f64::from(last) / 1000.0)? < power {
        return Ok(None);
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        if at(f64::from(middle) / 1000.0)? >= power {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(f64::from(high) / 1000.0))
}

/// The smallest difference between two independent arms of `n` that Fisher's test finds with this power, from `base`
/// upwards or downwards.
///
/// # Errors
/// As [`fisher_power`].
pub fn fisher_detectable(
    n: u64,
    base: f64,
    upward: bool,
    alpha: f64,
    power: f64,
) -> Result<Option<f64>, StatsError> {
    let most = if upward { 1.0 - base } else { base };
    let sign = if upward { 1.0 } else { -1.0 };
    smallest(most, power, |d| {
        fisher_power(n, (base + sign * d).clamp(0.0, 1.0), base, alpha)
    })
}

/// The smallest difference between pairs that McNemar's test finds with this power, when pairs that go the other way have
/// the probability `reverse`.
///
/// # Errors
/// As [`mcnemar_power`].
pub fn mcnemar_detectable(
    n: u64,
    reverse: f64,
    alpha: f64,
    power: f64,
) -> Result<Option<f64>, StatsError> {
    smallest(1.0 - 2.0 * reverse, power, |d| {
        mcnemar_power(n, reverse + d, reverse, alpha)
    })
}

/// The variances that a sample size rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Variances {
    /// Variance of the scenarios' true differences, `w²`.
    pub between: f64,
    /// Variance of one answer of the first version within a scenario.
    pub first: f64,
    /// Repeats of the first version.
    pub first_repeats: f64,
    /// Variance of one answer of the second version within a scenario.
    pub second: f64,
    /// Repeats of the second version.
    pub second_repeats: f64,
}

/// Scenarios needed to find a difference: `n = (z(1-alpha/2) + z(power))²·(w² + sA²/KA + sB²/KB) / d²`. Miller (2024), arXiv
/// 2411.00640, section 5. By the normal distribution: for small n see [`ScenarioDesign`].
///
/// # Errors
/// Something is out of range.
pub fn miller_sample_size(
    variances: Variances,
    difference: f64,
    alpha: f64,
    power: f64,
) -> Result<f64, StatsError> {
    inside_unit("alpha", alpha)?;
    inside_unit("the power", power)?;
    if !(difference.is_finite() && difference != 0.0) {
        return Err(StatsError::Range {
            what: "the difference",
            range: "a number other than 0",
            value: difference,
        });
    }
    let factor = normal_quantile(1.0 - alpha / 2.0) + normal_quantile(power);
    let variance = variances.between
        + variances.first / variances.first_repeats
        + variances.second / variances.second_repeats;
    Ok(factor * factor * variance / (difference * difference))
}

/// A comparison of two versions on the same scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScenarioDesign {
    /// Variance of a single episode's value; `p(1-p)` for a rate.
    pub variance: f64,
    /// Share of it that lies between scenarios: the intraclass correlation.
    pub icc: f64,
    /// Correlation of the versions' scenario effects: how far a scenario that is hard for one is hard for the other.
    pub correlation: f64,
}

impl ScenarioDesign {
    /// Variance of one scenario's mean difference with this many repeats:
    /// `2·variance·(icc·(1-correlation) + (1-icc)/repeats)`.
    pub fn difference_variance(self, repeats: u64) -> f64 {
        2.0 * self.variance
            * (self.icc * (1.0 - self.correlation) + (1.0 - self.icc) / repeats.max(1) as f64)
    }

    /// The smallest difference found with this power on `scenarios` with `repeats`, two-sided at `alpha`:
    /// `(t(1-alpha/2) + t(power))·sqrt(variance of a scenario's difference / K)` with K - 1 degrees of freedom. `None` below six
    /// scenarios at .05, where no sign-flip test can reject, or wherever `2/2^K > alpha`.
    pub fn detectable(self, scenarios: u64, repeats: u64, alpha: f64, power: f64) -> Option<f64> {
        (can_reject(scenarios, alpha)).then_some(())?;
        self.detectable_by_t(scenarios, repeats, alpha, power)
    }

    /// The same by the formula alone, also where the sign-flip test cannot reject.
    pub fn detectable_by_t(
        self,
        scenarios: u64,
        repeats: u64,
        alpha: f64,
        power: f64,
    ) -> Option<f64> {
        let degrees = scenarios.checked_sub(1).filter(|d| *d > 0)? as f64;
        let factor = t_quantile(1.0 - alpha / 2.0, degrees)? + t_quantile(power, degrees)?;
        Some(factor * (self.difference_variance(repeats) / scenarios as f64).sqrt())
    }

    /// The chance to find `difference`: [`ScenarioDesign::detectable`] solved for the power, `P(T <= |difference|/se -
    /// t(1-alpha/2))` with K - 1 degrees of freedom. 0 where the sign-flip test cannot reject.
    pub fn power(self, difference: f64, scenarios: u64, repeats: u64, alpha: f64) -> f64 {
        if !can_reject(scenarios, alpha) {
            return 0.0;
        }
        let degrees = scenarios.saturating_sub(1) as f64;
        let error = (self.difference_variance(repeats) / scenarios as f64).sqrt();
        t_quantile(1.0 - alpha / 2.0, degrees)
            .and_then(|critical| t_cdf(difference.abs() / error - critical, degrees))
            .unwrap_or(0.0)
    }

    /// The smallest difference that `scenarios` can find however often they are repeated: what lies between scenarios
    /// stays.
    pub fn detectable_with_endless_repeats(
        self,
        scenarios: u64,
        alpha: f64,
        power: f64,
    ) -> Option<f64> {
        self.detectable(scenarios, u64::MAX, alpha, power)
    }

    /// The fewest scenarios with which `difference` is found; `None` when a million do not do.
    pub fn scenarios_needed(
        self,
        difference: f64,
        repeats: u64,
        alpha: f64,
        power: f64,
    ) -> Option<u64> {
        let enough = |k: u64| {
            self.detectable(k, repeats, alpha, power)
                .is_some_and(|found| found <= difference)
        };
        fewest(2, enough)
    }
}

/// Whether a sign-flip test on this many scenarios can reject at `alpha` at all.
pub fn can_reject(scenarios: u64, alpha: f64) -> bool {
    crate::smallest_p(usize::try_from(scenarios).unwrap_or(usize::MAX)) <= alpha
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sign_flip;
    use crate::tests::close;

    /// As defined: over all numbers of discordant pairs and all their splits.
    fn mcnemar_power_by_definition(n: u64, b: f64, c: f64, alpha: f64) -> f64 {
        let mut power = 0.0;
        for d in 0..=n {
            for x in (0..=d).filter(|x| mcnemar_exact(*x, d - x) <= alpha) {
                power += binomial_mass(d, n, b + c) * binomial_mass(x, d, b / (b + c));
            }
        }
        power
    }

    #[test]
    fn mcnemars_power_is_the_sum_over_all_outcomes() {
        for (n, b, c, alpha) in [
            (1, 0.9, 0.0, 0.05),
            (15, 0.25, 0.05, 0.05),
            (40, 0.5, 0.5, 0.3),
            (120, 0.3, 0.1, 0.05),
            (120, 0.02, 0.4, 0.001),
        ] {
            let expected = mcnemar_power_by_definition(n, b, c, alpha);
            close(mcnemar_power(n, b, c, alpha).unwrap(), expected, 1e-9);
        }
    }

    #[test]
    fn power_and_detectable_difference_agree() {
        let design = ScenarioDesign {
            variance: 0.25,
            icc: 0.45,
            correlation: 0.7,
        };
        for (scenarios, repeats) in [(6, 1), (12, 3), (40, 5), (1_000, 2)] {
            let found = design.detectable(scenarios, repeats, 0.05, 0.8).unwrap();
            close(design.power(found, scenarios, repeats, 0.05), 0.8, 1e-6);
            close(design.power(-found, scenarios, repeats, 0.05), 0.8, 1e-6);
            let endless = design.detectable_with_endless_repeats(scenarios, 0.05, 0.8);
            assert!(endless.unwrap() < found);
        }
        close(design.power(0.9, 5, 3, 0.05), 0.0, 1e-12);
    }

    /// The formula is for the t test; the sign-flip test keeps its promise from 12 scenarios on, not with 6.
    #[test]
    fn the_sign_flip_test_has_the_power_of_the_formula_from_twelve_scenarios_on() {
        use rand::rngs::ChaCha8Rng;
        use rand::{RngExt as _, SeedableRng as _};
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut normal = || normal_quantile(random.random::<f64>());
        let design = ScenarioDesign {
            variance: 0.25,
            icc: 0.45,
            correlation: 0.7,
        };
        let deviation = design.difference_variance(3).sqrt();
        for (scenarios, expected) in [(6, 0.60), (8, 0.77), (12, 0.80)] {
            let change = design.detectable(scenarios, 3, 0.05, 0.8).unwrap();
            let runs = 2_000;
            let rejected = (0..runs)
                .filter(|_| {
                    let values: Vec<f64> = (0..scenarios)
                        .map(|_| change + deviation * normal())
                        .collect();
                    sign_flip(&values, 1).unwrap().p <= 0.05
                })
                .count();
            close(rejected as f64 / f64::from(runs), expected, 0.03);
        }
    }
}
