//! What data a method refuses, and why.

/// The data cannot be used for the method.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// A count is larger than what it is a part of.
    #[error(
        "{part} out of {whole} is no proportion: the first number must not be larger than the second"
    )]
    Proportion {
        /// Successes.
        part: u64,
        /// Trials.
        whole: u64,
    },
    /// NaN or infinite.
    #[error(
        "value {position} is {value}: only finite numbers can be used; leave the row out, and say so"
    )]
    NotFinite {
        /// From 1.
        position: usize,
        /// The value.
        value: f64,
    },
    /// Too little of something.
    #[error("{method} needs at least {needed} {what}, there {} {found}", if *found == 1 { "is" } else { "are" })]
    TooFew {
        /// The method.
        method: &'static str,
        /// Of what.
        what: &'static str,
        /// How many it needs.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// Outside its range.
    #[error("{what} must be {range}, not {}", plain(*value))]
    Range {
        /// What.
        what: &'static str,
        /// The range, in words.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// The method has no answer for these data.
    #[error("{method} has no answer here: {why}")]
    Undefined {
        /// The method.
        method: &'static str,
        /// Why not.
        why: &'static str,
    },
}

/// A number without hundreds of zeros.
fn plain(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e16 {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// Beyond this the sum of a million squares is no longer finite.
const LARGEST: f64 = 1e150;

/// Refuses NaN, infinities and what cannot be squared and added, by position.
pub(crate) fn finite(values: &[f64]) -> Result<(), StatsError> {
    let usable = |value: &f64| value.abs() <= LARGEST;
    match values.iter().enumerate().find(|(_, value)| !usable(value)) {
        None => Ok(()),
        Some((_, value)) if value.is_finite() => Err(StatsError::Range {
            what: "a value",
            range: "between -1e150 and 1e150",
            value: *value,
        }),
        Some((at, value)) => Err(StatsError::NotFinite {
            position: at + 1,
            value: *value,
        }),
    }
}

/// Refuses what is not strictly between 0 and 1.
pub(crate) fn inside_unit(what: &'static str, value: f64) -> Result<f64, StatsError> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(StatsError::Range {
            what,
            range: "between 0 and 1",
            value,
        })
    }
}
