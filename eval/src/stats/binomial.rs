//! Probabilities of the binomial distribution with p = 1/2.

use statrs::function::factorial::ln_binomial;

/// `P(X = k)` for `X ~ Bin(n, 1/2)`.
pub(super) fn mass(k: u64, n: u64) -> f64 {
    (ln_binomial(n, k) - n as f64 * std::f64::consts::LN_2).exp()
}

/// `P(X <= k)` for `X ~ Bin(n, 1/2)`, summed term by term.
pub(super) fn cumulative(k: u64, n: u64) -> f64 {
    (0..=k.min(n)).map(|i| mass(i, n)).sum()
}
