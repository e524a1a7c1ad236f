//! Statistics of the comparisons: pure functions, each with its formula and source.
//!
//! What decides everything here: episodes of one scenario are correlated, so the scenario is the unit that
//! results generalise over. The sign-flip test on scenario means is the primary test; the exact `McNemar`
//! test and the intervals for paired proportions treat every pair as independent and stand beside it.

//!
//! Every function says its formula, its source and what it refuses; none panics, and none answers for NaN.
//!
//! ```
//! use stats::{Level, Proportion};
//! let (low, high) = Proportion::new(9, 15)?.wilson(Level::P95);
//! assert!((low - 0.357).abs() < 0.001 && (high - 0.802).abs() < 0.001);
//! # Ok::<(), stats::StatsError>(())
//! ```

mod against_none;
mod bayes;
mod bootstrap;
mod cluster;
mod eprocess;
mod error;
mod fisher;
mod interaction;
mod level;
mod mcnemar;
mod multiplicity;
mod paired;
mod poisson;
mod power;
mod proportion;
mod rank;
mod reliability;
mod search;
mod signflip;
mod special;
mod stopping;
mod strata;
mod student;
mod variance;

pub use against_none::{
    AGAINST_NONE_UP_TO, Sides, detectable_against_none, fewest_against_none, needed_against_none,
    power_against_none,
};
pub use bayes::{probability_paired_higher, probability_second_higher};
pub use bootstrap::{
    Bootstrap, ENUMERATED_UP_TO, RESAMPLES, affordable_resamples, bootstrap_clusters,
    bootstrap_enumerated,
};
pub use cluster::{ClusteredMean, clustered_mean};
pub use eprocess::{EValue, confidence_sequence, e_value, fewest_pairs, ln_e_value, threshold};
pub use error::StatsError;
pub use fisher::{Fisher, fisher_exact};
pub use interaction::{
    Interaction, RatioOfRatios, TwoByTwo, difference_in_differences, difference_of_rates,
    ratio_of_ratios,
};
pub use level::Level;
pub use mcnemar::{ChiSquare, mcnemar_chi_squared, mcnemar_exact, mcnemar_mid_p};
pub use multiplicity::{Adjusted, adjust};
pub use paired::{PairedCells, newcombe_paired, tango};
pub use poisson::{
    RateRatio, garwood, garwood_upper, overdispersed_ratio, overdispersion, poisson_ratio,
};
pub use power::{
    ScenarioDesign, Variances, can_reject, fisher_detectable, fisher_power, fisher_power_one_sided,
    mcnemar_detectable, mcnemar_power, miller_sample_size,
};
pub use proportion::{Proportion, newcombe_independent, trials_to_bound, wilson};
pub use rank::{SignedRank, sign_test, signed_rank};
pub use reliability::{Reliability, pass_at_k, pass_hat_k, reliability};
pub use signflip::{
    EXACT_UP_TO, MONTE_CARLO_DRAWS, SignFlip, SignFlipMethod, monte_carlo_draws, sign_flip,
    smallest_p,
};
pub use special::t_quantile;
pub use stopping::{STOPPING_UP_TO, Stopping, stopping};
pub use strata::{
    StratifiedPermutation, StratifiedTest, Stratum, cochran_mantel_haenszel, stratified_permutation,
};
pub use student::{OneSample, clusters_needed, detectable_difference, fewest_clusters, one_sample};
pub use variance::{Components, IccTable, components, icc_table};

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
