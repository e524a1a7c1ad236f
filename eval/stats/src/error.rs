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
    #[error("{what} must be {range}, not {value}")]
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

/// Refuses NaN and infinities, by position.
pub(crate) fn finite(values: &[f64]) -> Result<(), StatsError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(StatsError::NotFinite {
            position: at + 1,
            value: values.get(at).copied().unwrap_or(f64::NAN),
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
