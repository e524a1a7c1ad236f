//! Fisher's exact test of a 2×2 table.

use serde::Serialize;
use statrs::function::factorial::ln_binomial;

use crate::Proportion;

/// Probabilities within this factor of the observed one count as equal: they differ by rounding.
const SAME: f64 = 1.0 + 1e-7;

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fisher {
    /// Two-sided: all tables that are at most as probable as the observed one.
    pub p: f64,
    /// One-sided: the first rate is larger.
    pub p_greater: f64,
    /// One-sided: the first rate is smaller.
    pub p_less: f64,
}

/// Fisher's exact test that two independent proportions are equal, given the margins of their table.
///
/// The successes of the first sample follow the hypergeometric distribution. Without trials or without any
/// difference in the margins every p is 1. The time grows with the number of possible tables: ten million take seconds.
/// Fisher (1935), J. R. Stat. Soc. 98, 39-82.
pub fn fisher_exact(first: Proportion, second: Proportion) -> Fisher {
    let masses = Hypergeometric::new(
        first.n(),
        second.n(),
        first.successes() + second.successes(),
    );
    let observed = masses.mass(first.successes());
    let (mut p, mut p_greater, mut p_less) = (0.0, 0.0, 0.0);
    for k in masses.range() {
        let mass = masses.mass(k);
        if mass <= observed * SAME {
            p += mass;
        }
        if k >= first.successes() {
            p_greater += mass;
        }
        if k <= first.successes() {
            p_less += mass;
        }
    }
    Fisher {
        p: p.min(1.0),
        p_greater: f64::min(p_greater, 1.0),
        p_less: f64::min(p_less, 1.0),
    }
}

/// Successes of the first of two groups when `successes` fall on both in all possible ways.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hypergeometric {
    first: u64,
    second: u64,
    successes: u64,
}

impl Hypergeometric {
    pub(crate) fn new(first: u64, second: u64, successes: u64) -> Self {
        Self {
            first,
            second,
            successes: successes.min(first + second),
        }
    }

    /// The possible numbers.
    pub(crate) fn range(self) -> std::ops::RangeInclusive<u64> {
        self.successes.saturating_sub(self.second)..=self.successes.min(self.first)
    }

    /// Probability of one of them.
    pub(crate) fn mass(self, k: u64) -> f64 {
        if !self.range().contains(&k) {
            return 0.0;
        }
        (ln_binomial(self.first, k) + ln_binomial(self.second, self.successes - k)
            - ln_binomial(self.first + self.second, self.successes))
        .exp()
    }
}
