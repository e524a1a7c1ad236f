//! Statistics of the comparisons: pure functions, each with its formula and source.
//!
//! What decides everything here: episodes of one scenario are correlated, so the scenario is the unit that
//! results generalise over. The sign-flip test on scenario means is the primary test; the exact `McNemar`
//! test and the intervals for paired proportions treat every pair as independent and stand beside it.

mod binomial;
mod cluster;
mod mcnemar;
mod newcombe;
mod signflip;
mod student;
mod wilson;

pub use cluster::{ClusteredMean, clustered_mean};
pub use mcnemar::{mcnemar_exact, mcnemar_mid_p};
pub use newcombe::{PairedCells, newcombe_paired};
pub use signflip::{
    EXACT_UP_TO, MONTE_CARLO_DRAWS, SignFlip, SignFlipMethod, sign_flip, smallest_p,
};
pub use student::{detectable_difference, t_quantile};
pub use wilson::wilson;

/// The 97.5 % quantile of the standard normal distribution, for two-sided 95 % intervals.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Arithmetic mean; `None` for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation of a sample (divisor n - 1); `None` below two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests;
