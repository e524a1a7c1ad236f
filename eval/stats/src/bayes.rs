//! Statements in plain language: how probable it is that one rate is higher, given the data and flat priors.

use crate::Proportion;
use crate::special::{beta_cdf, ln_beta_function};

/// `P(second > first)` of two independent rates with uniform priors.
///
/// The posteriors are `Beta(k+1, n-k+1)`; with whole numbers the probability has a closed form,
/// `sum over i < a2 of B(a1+i, b1+b2) / ((b2+i)·B(1+i, b2)·B(a1, b1))`. Bowyer et al. (2025), arXiv 2503.01747,
/// recommend such statements for small evaluations.
pub fn probability_second_higher(first: Proportion, second: Proportion) -> f64 {
    // The sum runs over the successes of one sample; by symmetry the shorter of both sums will do.
    if second.successes() <= first.successes() {
        higher(first, second)
    } else {
        1.0 - higher(second, first)
    }
}

fn higher(first: Proportion, second: Proportion) -> f64 {
    let (a1, b1) = posterior(first);
    let (_, b2) = posterior(second);
    let scale = ln_beta_function(a1, b1);
    let terms = (0..=second.successes()).map(|i| {
        let i = i as f64;
        (ln_beta_function(a1 + i, b1 + b2) - (b2 + i).ln() - ln_beta_function(1.0 + i, b2) - scale)
            .exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

fn posterior(p: Proportion) -> (f64, f64) {
    (p.successes() as f64 + 1.0, p.failures() as f64 + 1.0)
}

/// The probability that pairs with only `b` are more frequent than pairs with only `c`, with a uniform prior on
/// the kinds of pairs: `1 - I_1/2(b+1, c+1)`.
///
/// Of a Dirichlet posterior only the ratio of the two discordant kinds matters. Bowyer et al. (2025), arXiv
/// 2503.01747.
pub fn probability_paired_higher(b: u64, c: u64) -> f64 {
    1.0 - beta_cdf(0.5, b as f64 + 1.0, c as f64 + 1.0)
}
