//! Wilson's score interval for a proportion.

use super::Z_95;

/// Two-sided 95 % interval for `successes` out of `n`; (0, 1) when `n` is 0.
///
/// With `p = k/n`: `(p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`. The ends are exactly 0 at no
/// success and exactly 1 at no failure. Wilson (1927), J. Am. Stat. Assoc. 22, 209-212; recommended for small
/// n by Newcombe (1998), Stat. Med. 17, 857-872.
pub fn wilson(successes: u64, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let successes = successes.min(n);
    let size = n as f64;
    let p = successes as f64 / size;
    let z2 = Z_95 * Z_95;
    let center = p + z2 / (2.0 * size);
    let half = Z_95 * (p * (1.0 - p) / size + z2 / (4.0 * size * size)).sqrt();
    let scale = 1.0 + z2 / size;
    let low = if successes == 0 {
        0.0
    } else {
        ((center - half) / scale).max(0.0)
    };
    let high = if successes == n {
        1.0
    } else {
        ((center + half) / scale).min(1.0)
    };
    (low, high)
}
