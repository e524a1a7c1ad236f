//! `McNemar`'s test for paired yes/no outcomes.

use super::binomial;

/// Exact two-sided p of `McNemar`'s test with `b` and `c` discordant pairs: under the null hypothesis the
/// smaller of them is at most what `Bin(b + c, 1/2)` gives by chance, `min(1, 2·P(X <= min(b, c)))`.
///
/// `McNemar` (1947), Psychometrika 12, 153-157; exact form: Mosteller (1952), Biometrics 8, 220-226. Without
/// discordant pairs the p is 1.
pub fn mcnemar_exact(b: u64, c: u64) -> f64 {
    (2.0 * binomial::cumulative(b.min(c), b + c)).min(1.0)
}

/// Mid-p of the same test: half of the observed point's probability is left out on either side, which makes
/// up for the exact test's discreteness.
///
/// Fagerland, Lydersen & Laake (2013), BMC Med. Res. Methodol. 13, 91.
pub fn mcnemar_mid_p(b: u64, c: u64) -> f64 {
    let smaller = b.min(c);
    (2.0 * binomial::cumulative(smaller, b + c) - binomial::mass(smaller, b + c)).min(1.0)
}
