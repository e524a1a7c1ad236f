//! How reliably a scenario succeeds: every time, or at least once.

use serde::Serialize;
use statrs::function::factorial::ln_binomial;

use crate::{Proportion, StatsError};

/// pass^k and pass@k, averaged over scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reliability {
    /// Attempts.
    pub k: u64,
    /// The chance that all of `k` attempts succeed: `C(c,k)/C(n,k)`.
    pub pass_hat_k: f64,
    /// The chance that at least one of `k` attempts succeeds: `1 - C(n-c,k)/C(n,k)`.
    pub pass_at_k: f64,
    /// Scenarios with at least `k` attempts.
    pub scenarios: usize,
    /// Scenarios left out because they have fewer.
    pub too_few: usize,
}

/// pass^k of one scenario with `c` successes in `n` attempts: `C(c,k)/C(n,k)`, the unbiased estimate from attempts
/// drawn without replacement. Yao et al. (2024), arXiv 2406.12045; pass@k: Chen et al. (2021), arXiv 2107.03374.
///
/// # Errors
/// `k` is 0, or the scenario has fewer than `k` attempts.
pub fn pass_hat_k(attempts: Proportion, k: u64) -> Result<f64, StatsError> {
    enough(attempts, k)?;
    Ok(choose_ratio(attempts.successes(), attempts.n(), k))
}

/// pass@k of one scenario: `1 - C(n-c,k)/C(n,k)`.
///
/// # Errors
/// As [`pass_hat_k`].
pub fn pass_at_k(attempts: Proportion, k: u64) -> Result<f64, StatsError> {
    enough(attempts, k)?;
    Ok(1.0 - choose_ratio(attempts.failures(), attempts.n(), k))
}

/// Both, averaged over the scenarios that have at least `k` attempts; the others are counted.
///
/// # Errors
/// `k` is 0, or no scenario has `k` attempts.
pub fn reliability(scenarios: &[Proportion], k: u64) -> Result<Reliability, StatsError> {
    let able: Vec<Proportion> = scenarios.iter().filter(|s| s.n() >= k).copied().collect();
    let count = able.len() as f64;
    if k == 0 || able.is_empty() {
        let most = scenarios.iter().map(|s| s.n()).max().unwrap_or(0);
        enough(Proportion::at_most(0, most), k)?;
    }
    let (mut all, mut any) = (0.0, 0.0);
    for scenario in &able {
        all += pass_hat_k(*scenario, k)? / count;
        any += pass_at_k(*scenario, k)? / count;
    }
    Ok(Reliability {
        k,
        pass_hat_k: all,
        pass_at_k: any,
        scenarios: able.len(),
        too_few: scenarios.len() - able.len(),
    })
}

fn enough(attempts: Proportion, k: u64) -> Result<(), StatsError> {
    if k == 0 {
        return Err(StatsError::Range {
            what: "k",
            range: "1 or more",
            value: 0.0,
        });
    }
    if attempts.n() < k {
        return Err(StatsError::TooFew {
            method: "pass^k",
            what: "attempts at a scenario",
            needed: usize::try_from(k).unwrap_or(usize::MAX),
            found: usize::try_from(attempts.n()).unwrap_or(usize::MAX),
        });
    }
    Ok(())
}

/// `C(c,k)/C(n,k)`, as a product while that is short.
fn choose_ratio(c: u64, n: u64, k: u64) -> f64 {
    if c < k {
        return 0.0;
    }
    if k <= 1_000 {
        return (0..k).map(|i| (c - i) as f64 / (n - i) as f64).product();
    }
    (ln_binomial(c, k) - ln_binomial(n, k)).exp()
}
