//! Student's t, and what a comparison could have seen.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Quantile of Student's t; `None` when `probability` is not inside (0, 1) or there are no degrees of freedom.
pub fn t_quantile(probability: f64, degrees_of_freedom: f64) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .ok()
        .map(|t| t.inverse_cdf(probability))
}

/// The smallest true difference that a two-sided test at .05 on `clusters` means with this standard deviation
/// finds with a chance of about 80 %: `(t(.975) + t(.8))·s/√K` with K - 1 degrees of freedom.
///
/// It takes the spread that was seen for the true one, so it is a rough figure; Bloom (1995), Eval. Rev. 19,
/// 547-556, with t for z. `None` below two clusters.
pub fn detectable_difference(standard_deviation: f64, clusters: usize) -> Option<f64> {
    let degrees = clusters.checked_sub(1).filter(|degrees| *degrees > 0)? as f64;
    let factor = t_quantile(0.975, degrees)? + t_quantile(0.8, degrees)?;
    Some(factor * standard_deviation / (clusters as f64).sqrt())
}
