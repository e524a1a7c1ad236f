//! Golden cases and properties of the public functions.
#![cfg(test)]

mod extremes;
mod golden_counts;
mod golden_paired;
mod golden_rates;
mod golden_scenarios;
mod properties;
mod refusals;

use stats::Proportion;

/// Fails unless `found` has the digits of `expected`, given to so many decimals.
#[track_caller]
fn digits(found: f64, expected: f64, decimals: i32) {
    let tolerance = 0.5001 * 10_f64.powi(-decimals);
    assert!(
        (found - expected).abs() <= tolerance,
        "{found} instead of {expected}"
    );
}

/// Both ends to six decimals.
#[track_caller]
fn ends(found: (f64, f64), expected: (f64, f64)) {
    digits(found.0, expected.0, 6);
    digits(found.1, expected.1, 6);
}

fn proportion(successes: u64, n: u64) -> Proportion {
    Proportion::new(successes, n).unwrap()
}
