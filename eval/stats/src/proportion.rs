//! A rate and its intervals.

use serde::Serialize;

use crate::special::beta_quantile;
use crate::{Level, StatsError};

/// The most trials: up to here every whole number is also a floating-point number, and sums of counts do not overflow.
const MOST_TRIALS: u64 = 1 << 53;

/// `successes` out of `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Proportion {
    successes: u64,
    n: u64,
}

impl Proportion {
    /// A proportion; `n` may be 0, about which nothing is known.
    ///
    /// # Errors
    /// There are more successes than trials, or more than 2^53 trials.
    pub fn new(successes: u64, n: u64) -> Result<Self, StatsError> {
        if successes > n {
            return Err(StatsError::Proportion {
                part: successes,
                whole: n,
            });
        }
        if n > MOST_TRIALS {
            return Err(StatsError::Range {
                what: "the number of trials",
                range: "at most 2^53",
                value: n as f64,
            });
        }
        Ok(Self { successes, n })
    }

    /// A proportion of which at most all are successes, and at most 2^53 trials.
    pub fn at_most(successes: u64, n: u64) -> Self {
        let n = n.min(MOST_TRIALS);
        Self {
            successes: successes.min(n),
            n,
        }
    }

    /// Successes.
    pub fn successes(self) -> u64 {
        self.successes
    }

    /// Trials.
    pub fn n(self) -> u64 {
        self.n
    }

    /// Failures.
    pub fn failures(self) -> u64 {
        self.n - self.successes
    }

    /// Successes over trials; `None` without trials.
    pub fn rate(self) -> Option<f64> {
        (self.n > 0).then(|| self.successes as f64 / self.n as f64)
    }

    /// Wilson's score interval; (0, 1) without trials.
    ///
    /// With `p = k/n`: `(p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`. The ends are exactly 0 at no
    /// success and exactly 1 at no failure. Wilson (1927), J. Am. Stat. Assoc. 22, 209-212; recommended for
    /// small n by Newcombe (1998), Stat. Med. 17, 857-872.
    pub fn wilson(self, level: Level) -> (f64, f64) {
        let Some(p) = self.rate() else {
            return (0.0, 1.0);
        };
        let (size, z) = (self.n as f64, level.z());
        let z2 = z * z;
        let center = p + z2 / (2.0 * size);
        let half = z * (p * (1.0 - p) / size + z2 / (4.0 * size * size)).sqrt();
        let scale = 1.0 + z2 / size;
        self.ends((center - half) / scale, (center + half) / scale)
    }

    /// Wilson's interval with continuity correction; (0, 1) without trials.
    ///
    /// `(2np + z² ∓ 1 ∓ z·sqrt(z² ∓ 2 - 1/n + 4p(nq ± 1))) / 2(n + z²)`: method 4 of Newcombe (1998), Stat. Med.
    /// 17, 857-872.
    pub fn wilson_corrected(self, level: Level) -> (f64, f64) {
        let Some(p) = self.rate() else {
            return (0.0, 1.0);
        };
        let (n, q, z) = (self.n as f64, 1.0 - p, level.z());
        let z2 = z * z;
        let scale = 2.0 * (n + z2);
        let low = 2.0 * n * p + z2
            - 1.0
            - z * (z2 - 2.0 - 1.0 / n + 4.0 * p * (n * q + 1.0))
                .max(0.0)
                .sqrt();
        let high = 2.0 * n * p
            + z2
            + 1.0
            + z * (z2 + 2.0 - 1.0 / n + 4.0 * p * (n * q - 1.0))
                .max(0.0)
                .sqrt();
        self.ends(low / scale, high / scale)
    }

    /// Clopper and Pearson's exact interval; (0, 1) without trials.
    ///
    /// The `alpha/2` quantile of `Beta(k, n-k+1)` and the `1-alpha/2` quantile of `Beta(k+1, n-k)`. It never covers
    /// less than its level, which is what a claim about safety needs. Clopper & Pearson (1934), Biometrika 26,
    /// 404-413.
    pub fn clopper_pearson(self, level: Level) -> (f64, f64) {
        let tail = level.alpha() / 2.0;
        self.between_quantiles(tail, (0.0, 1.0), (1.0, 0.0))
    }

    /// The one-sided exact upper bound, `1 - alpha^(1/n)` when there is no success; 1 without trials.
    pub fn upper_bound(self, level: Level) -> f64 {
        if self.failures() == 0 {
            return 1.0;
        }
        let (k, failures) = (self.successes as f64, self.failures() as f64);
        beta_quantile(level.get(), k + 1.0, failures)
    }

    /// Jeffreys' interval; (0, 1) without trials.
    ///
    /// Quantiles of `Beta(k + 1/2, n - k + 1/2)`, with the ends set to 0 at no success and to 1 at no failure.
    /// Brown, Cai & `DasGupta` (2001), Stat. Sci. 16, 101-133.
    pub fn jeffreys(self, level: Level) -> (f64, f64) {
        self.between_quantiles(level.alpha() / 2.0, (0.5, 0.5), (0.5, 0.5))
    }

    /// From the lower quantile of one beta distribution to the upper one of another; the pairs are added to
    /// successes and failures.
    fn between_quantiles(self, tail: f64, lower: (f64, f64), upper: (f64, f64)) -> (f64, f64) {
        let (k, failures) = (self.successes as f64, self.failures() as f64);
        let low = if self.successes == 0 {
            0.0
        } else {
            beta_quantile(tail, k + lower.0, failures + lower.1)
        };
        let high = if self.failures() == 0 {
            1.0
        } else {
            beta_quantile(1.0 - tail, k + upper.0, failures + upper.1)
        };
        (low, high)
    }

    /// Ends inside [0, 1], and exactly there when all trials agree.
    fn ends(self, low: f64, high: f64) -> (f64, f64) {
        let low = if self.successes == 0 {
            0.0
        } else {
            low.max(0.0)
        };
        let high = if self.failures() == 0 {
            1.0
        } else {
            high.min(1.0)
        };
        (low, high)
    }
}

/// The 95 % Wilson interval of counts: [`Proportion::wilson`] at [`Level::P95`].
pub fn wilson(successes: u64, n: u64) -> (f64, f64) {
    Proportion::at_most(successes, n).wilson(Level::P95)
}

/// Newcombe's interval for `p1 - p2` of two independent proportions; (-1, 1) when one of them has no trials.
///
/// `d - sqrt((p1-l1)² + (u2-p2)²)` to `d + sqrt((u1-p1)² + (p2-l2)²)` with the Wilson ends of both: method 10 of
/// Newcombe (1998), Stat. Med. 17, 873-890.
pub fn newcombe_independent(first: Proportion, second: Proportion, level: Level) -> (f64, f64) {
    let (Some(p1), Some(p2)) = (first.rate(), second.rate()) else {
        return (-1.0, 1.0);
    };
    let ((l1, u1), (l2, u2)) = (first.wilson(level), second.wilson(level));
    let low = p1 - p2 - (p1 - l1).hypot(u2 - p2);
    let high = p1 - p2 + (u1 - p1).hypot(p2 - l2);
    (low.max(-1.0), high.min(1.0))
}

/// The smallest `n` with which no success in `n` trials bounds the rate by `rate`, one-sided.
///
/// # Errors
/// `rate` is not between 0 and 1.
pub fn trials_to_bound(rate: f64, level: Level) -> Result<f64, StatsError> {
    let rate = crate::error::inside_unit("the rate to be excluded", rate)?;
    let exact = level.alpha().ln() / (-rate).ln_1p();
    // Rounding must not ask for one trial more than needed.
    let n = exact.ceil();
    let enough = |n: f64| (-rate).ln_1p() * n <= level.alpha().ln() + 1e-12;
    Ok(if n >= 1.0 && enough(n - 1.0) {
        n - 1.0
    } else {
        n
    })
}
