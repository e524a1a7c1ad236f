//! Distribution functions, from `statrs`, with arguments that cannot make it panic.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::{beta_reg, ln_beta};
use statrs::function::factorial::ln_binomial;

/// Quantile of the standard normal distribution; infinite at the ends.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    if probability <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if probability >= 1.0 {
        return f64::INFINITY;
    }
    Normal::standard().inverse_cdf(probability)
}

/// `P(Z > z)` of the standard normal distribution.
pub(crate) fn normal_above(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// `P(X > x)` of the chi-squared distribution.
pub(crate) fn chi_squared_above(x: f64, degrees: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    ChiSquared::new(degrees).map_or(f64::NAN, |chi| chi.sf(x))
}

/// Quantile of the chi-squared distribution.
pub(crate) fn chi_squared_quantile(probability: f64, degrees: f64) -> f64 {
    ChiSquared::new(degrees).map_or(f64::NAN, |chi| chi.inverse_cdf(probability.clamp(0.0, 1.0)))
}

/// Regularised incomplete beta function `I_x(a, b)`.
pub(crate) fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x >= 1.0 {
        1.0
    } else {
        beta_reg(a, b, x)
    }
}

/// `ln B(a, b)`.
pub(crate) fn ln_beta_function(a: f64, b: f64) -> f64 {
    ln_beta(a, b)
}

/// Quantile of the beta distribution: the `x` with `I_x(a, b) = probability`.
///
/// Found by halving an interval on the distribution function, which is exact to the last digits.
pub(crate) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    bisect(0.0, 1.0, |x| beta_cdf(x, a, b) < probability)
}

/// Quantile of Student's t; `None` when `probability` is not inside (0, 1) or there are no degrees of freedom.
pub fn t_quantile(probability: f64, degrees_of_freedom: f64) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .ok()
        .map(|t| t.inverse_cdf(probability))
}

/// `P(T <= t)` of Student's t; `None` without degrees of freedom or for NaN.
pub(crate) fn t_cdf(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    if t.is_infinite() {
        return Some(if t > 0.0 { 1.0 } else { 0.0 });
    }
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .ok()
        .filter(|_| !t.is_nan())
        .map(|student| student.cdf(t))
}

/// Two-sided p of Student's t; `None` without degrees of freedom.
pub(crate) fn t_two_sided(t: f64, degrees_of_freedom: f64) -> Option<f64> {
    if t.is_nan() {
        return None;
    }
    if t.is_infinite() {
        return Some(0.0);
    }
    StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .ok()
        .map(|student| (2.0 * student.sf(t.abs())).min(1.0))
}

/// `P(X = k)` for `X ~ Bin(n, p)`.
pub(crate) fn binomial_mass(k: u64, n: u64, p: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    if p <= 0.0 {
        return if k == 0 { 1.0 } else { 0.0 };
    }
    if p >= 1.0 {
        return if k == n { 1.0 } else { 0.0 };
    }
    (ln_binomial(n, k) + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()).exp()
}

/// `P(X <= k)` for `X ~ Bin(n, p)`, by the incomplete beta function.
pub(crate) fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        1.0
    } else {
        beta_cdf(1.0 - p, (n - k) as f64, k as f64 + 1.0)
    }
}

/// The end of an interval where `below` turns from true to false, to the last bit.
pub(crate) fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    // Two hundred halvings are more than doubles have bits for; it ends when the middle is an end.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;

    /// Values of `SciPy` 1.17.1.
    #[test]
    fn the_primitives_give_scipys_digits() {
        close(statrs::function::gamma::ln_gamma(10.3), 13.482_036_79, 6e-9);
        close(beta_cdf(0.5, 10.0, 7.0), 0.227_249_145_5, 6e-11);
        close(beta_cdf(0.3, 0.5, 15.5), 0.999_030_713_9, 6e-11);
        close(beta_quantile(0.025, 10.0, 7.0), 0.354_346_094_3, 6e-11);
        close(beta_quantile(0.975, 2.0, 14.0), 0.319_484_566_6, 6e-11);
        close(t_quantile(0.975, 3.0).unwrap(), 3.182_446_305, 6e-10);
        close(t_quantile(0.975, 4.0).unwrap(), 2.776_445_105, 6e-10);
        close(normal_quantile(0.975), 1.959_963_985, 6e-10);
        close(binomial_cdf(5, 17, 0.5), 0.071_731_567_38, 6e-12);
        close(
            chi_squared_above(17.355_932_20, 1.0) / 3.099_293e-05,
            1.0,
            2e-7,
        );
    }

    #[test]
    fn masses_sum_to_the_distribution_function() {
        for (n, p) in [(1, 0.3), (17, 0.5), (60, 0.03), (500, 0.7)] {
            let mut sum = 0.0;
            for k in 0..=n {
                sum += binomial_mass(k, n, p);
                close(binomial_cdf(k, n, p), sum, 1e-11);
            }
        }
        assert_eq!(
            (binomial_mass(0, 5, 0.0), binomial_mass(5, 5, 1.0)),
            (1.0, 1.0)
        );
    }
}
