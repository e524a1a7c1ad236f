//! Shared by the tests of this crate.

/// Fails unless both are within `tolerance`.
#[track_caller]
pub(crate) fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() < tolerance,
        "{found} instead of {expected}"
    );
}
