//! A rate held against none at all: how many episodes show that something happens in one arm and never in the other.

use crate::error::inside_unit;
use crate::fisher::fisher_exact;
use crate::special::{binomial_cdf, bisect};
use crate::{Proportion, StatsError};

/// Episodes per arm up to which a number is looked for.
pub const AGAINST_NONE_UP_TO: u64 = 1_000_000;

/// Which of Fisher's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// Only "more in the first arm" is asked, and was asked before looking.
    One,
    /// More or fewer.
    Two,
}

/// The fewest events in `n` episodes that Fisher's exact test tells from none in `n` others; `None` when even `n` are
/// too few.
///
/// # Errors
/// `alpha` is not between 0 and 1.
pub fn fewest_against_none(n: u64, alpha: f64, sides: Sides) -> Result<Option<u64>, StatsError> {
    inside_unit("alpha", alpha)?;
    let none = Proportion::at_most(0, n);
    let significant = |k: &u64| {
        let found = fisher_exact(Proportion::at_most(*k, n), none);
        let p = match sides {
            Sides::One => found.p_greater,
            Sides::Two => found.p,
        };
        p <= alpha
    };
    // With k events each halves p at least, so the search ends after a few steps.
    Ok((1..=n).find(significant))
}

/// Chance that Fisher's test of `n` episodes with this rate against `n` without any event rejects: the chance of
/// [`fewest_against_none`] events or more. Exact; the same as [`crate::fisher_power`] with a second rate of 0, without
/// its sum over all outcomes.
///
/// # Errors
/// `rate` or `alpha` is not between 0 and 1.
pub fn power_against_none(n: u64, rate: f64, alpha: f64, sides: Sides) -> Result<f64, StatsError> {
    inside_unit("the rate", rate)?;
    Ok(fewest_against_none(n, alpha, sides)?.map_or(0.0, |k| at_least(k, n, rate)))
}

/// `P(X >= k)` for `k` above 0.
fn at_least(k: u64, n: u64, rate: f64) -> f64 {
    1.0 - binomial_cdf(k.saturating_sub(1), n, rate)
}

/// The smallest rate that is told from none with this power, with `n` episodes per arm; `None` when no rate is.
///
/// # Errors
/// `alpha` or `power` is not between 0 and 1.
pub fn detectable_against_none(
    n: u64,
    alpha: f64,
    power: f64,
    sides: Sides,
) -> Result<Option<f64>, StatsError> {
    inside_unit("the power", power)?;
    let fewest = fewest_against_none(n, alpha, sides)?;
    Ok(fewest.map(|k| bisect(0.0, 1.0, |rate| at_least(k, n, rate) < power)))
}

/// The episodes per arm from which on a rate is told from none with this power; `None` beyond [`AGAINST_NONE_UP_TO`].
///
/// The power falls by a step wherever one more event becomes necessary. The answer is the first number after which
/// no such step takes it below `power` again.
///
/// # Errors
/// `rate`, `alpha` or `power` is not between 0 and 1.
pub fn needed_against_none(
    rate: f64,
    alpha: f64,
    power: f64,
    sides: Sides,
) -> Result<Option<u64>, StatsError> {
    for (what, value) in [("the rate", rate), ("the power", power)] {
        inside_unit(what, value)?;
    }
    let fewest = |n| fewest_against_none(n, alpha, sides);
    let reached = |n| Ok(power_against_none(n, rate, alpha, sides)? >= power);
    let mut high = AGAINST_NONE_UP_TO;
    if !reached(high)? {
        return Ok(None);
    }
    // Between two steps the power only grows, and steps only go up: each stretch is searched by halving, the last one
    // first, until one does not reach the power from its beginning to its end.
    loop {
        let step = fewest(high)?;
        let first = first_where(high, |n| Ok(fewest(n)? >= step))?;
        let enough = first_where(high, |n| Ok(n >= first && reached(n)?))?;
        let before = enough.saturating_sub(1);
        if enough > first || !reached(before)? {
            return Ok(Some(enough));
        }
        high = before;
    }
}

/// The first number that passes, when `high` does and all from the first on.
fn first_where(
    high: u64,
    passes: impl Fn(u64) -> Result<bool, StatsError>,
) -> Result<u64, StatsError> {
    let (mut low, mut high) = (1, high);
    while low < high {
        let middle = low.midpoint(high);
        if passes(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;
    use crate::{fisher_power, fisher_power_one_sided};

    #[test]
    fn it_agrees_with_the_sum_over_all_outcomes() {
        for (n, rate) in [(15, 0.4), (30, 0.2), (45, 0.175)] {
            let one = power_against_none(n, rate, 0.05, Sides::One).unwrap();
            close(
                one,
                fisher_power_one_sided(n, rate, 0.0, 0.05).unwrap(),
                1e-9,
            );
            let two = power_against_none(n, rate, 0.05, Sides::Two).unwrap();
            close(two, fisher_power(n, rate, 0.0, 0.05).unwrap(), 1e-9);
        }
    }

    #[test]
    fn the_fewest_events() {
        let fewest = |n, sides| fewest_against_none(n, 0.05, sides).unwrap();
        for (n, one, two) in [(15, 4, 5), (30, 5, 6), (60, 5, 6), (174, 5, 6)] {
            assert_eq!(
                (fewest(n, Sides::One), fewest(n, Sides::Two)),
                (Some(one), Some(two)),
                "{n}"
            );
        }
        assert_eq!((fewest(0, Sides::One), fewest(1, Sides::Two)), (None, None));
    }

    #[test]
    fn what_n_episodes_can_tell_from_none() {
        for (n, one, two) in [(15, 0.337, 0.408), (30, 0.214, 0.251), (60, 0.109, 0.129)] {
            for (sides, expected) in [(Sides::One, one), (Sides::Two, two)] {
                let found = detectable_against_none(n, 0.05, 0.8, sides)
                    .unwrap()
                    .unwrap();
                close(found, expected, 0.001);
                close(
                    power_against_none(n, found, 0.05, sides).unwrap(),
                    0.8,
                    1e-9,
                );
            }
        }
    }

    /// The published numbers are rounded up to a ten or a five.
    #[test]
    fn how_many_episodes_a_rate_needs() {
        for (rate, one, two) in [(0.04, 170, 200), (0.10, 70, 80), (0.175, 40, 45)] {
            for (sides, rounded) in [(Sides::One, one), (Sides::Two, two)] {
                let n = needed_against_none(rate, 0.05, 0.8, sides)
                    .unwrap()
                    .unwrap();
                assert!(
                    n <= rounded && rounded - n < 10,
                    "{rate}: {n}, not about {rounded}"
                );
            }
        }
    }

    #[test]
    fn from_the_answer_on_the_power_is_kept() {
        for rate in [0.02, 0.04, 0.1, 0.175, 0.3, 0.5, 0.8, 0.99] {
            for sides in [Sides::One, Sides::Two] {
                for power in [0.3, 0.8, 0.95] {
                    let n = needed_against_none(rate, 0.05, power, sides)
                        .unwrap()
                        .unwrap();
                    let at = |n| power_against_none(n, rate, 0.05, sides).unwrap();
                    assert!(
                        at(n - 1) < power,
                        "{rate} {sides:?} {power}: {n} is not the first"
                    );
                    assert!(
                        (n..n + 500).all(|n| at(n) >= power),
                        "{rate} {sides:?} {power}: {n}"
                    );
                }
            }
        }
        assert_eq!(
            needed_against_none(1e-7, 0.05, 0.8, Sides::One).unwrap(),
            None
        );
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(
                needed_against_none(bad, 0.05, 0.8, Sides::One).is_err(),
                "{bad}"
            );
        }
    }
}
