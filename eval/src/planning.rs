//! How many episodes a question needs, what they cost, and what a number of them can show.
//!
//! Four questions: two or more versions on the same scenarios ([`versions`]), a rate against none
//! ([`violation`]), pairs that count as independent ([`mcnemar`]), and a run that may stop early
//! ([`sequential`]). Every question is a struct with an `answer`; [`text`] writes an answer for people. The
//! plan of a run itself is [`crate::plan`].

pub mod mcnemar;
mod price;
mod recorded;
pub mod sequential;
mod text;
pub mod versions;
pub mod violation;

pub use price::Price;
pub use recorded::{Recorded, recorded};
pub use text::text;

use serde::Serialize;

use crate::compare::Metric;

/// Below this many scenarios a comparison is worth little.
pub const FEW_SCENARIOS: u64 = 12;

/// The levels a question is asked at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Levels {
    /// Chance to find a difference where there is none.
    pub alpha: f64,
    /// Chance to find the difference if it is there.
    pub power: f64,
}

impl Levels {
    /// Levels inside the range in which every method here answers.
    ///
    /// # Errors
    /// One of them is outside of it.
    pub fn new(alpha: f64, power: f64) -> Result<Self, PlanningError> {
        // Beyond twenty scenarios signs are drawn 100,000 times, and no p below 1/100,001 can come of it.
        within("--alpha", "from 0.0001 to 0.5", alpha, 1e-4, 0.5)?;
        within("--power", "from 0.01 to 0.999", power, 0.01, 0.999)?;
        Ok(Self { alpha, power })
    }
}

/// The question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum PlanningError {
    /// A number outside its range.
    #[error("{flag} must be {range}, not {value}")]
    Range {
        /// The flag.
        flag: &'static str,
        /// Its range, in words.
        range: &'static str,
        /// What was given.
        value: f64,
    },
    /// A rate cannot change so much.
    #[error(
        "a rate of {base} cannot change by {effect}: it can fall by {base} and rise by {rise:.3}; give --effect as a share, such as 0.15 for 15 percentage points"
    )]
    Change {
        /// The rate.
        base: f64,
        /// The change.
        effect: f64,
        /// The most it can rise by.
        rise: f64,
    },
    /// Something must be given.
    #[error("metric `{metric}` {why}: give {flags}")]
    Missing {
        /// The metric.
        metric: Metric,
        /// Why.
        why: &'static str,
        /// What.
        flags: &'static str,
    },
    /// Something was given that the metric does not have.
    #[error("metric `{metric}` {is}: {flag} does not apply, use {instead}")]
    Unused {
        /// The metric.
        metric: Metric,
        /// What kind of metric it is.
        is: &'static str,
        /// What was given.
        flag: &'static str,
        /// What to give.
        instead: &'static str,
    },
    /// A rate of 0 or 1 does not vary.
    #[error(
        "a base rate of {0} leaves nothing to vary; for a rate that should stay at 0 ask --question violation"
    )]
    Certain(f64),
    /// The design has no variance at all.
    #[error(
        "with an ICC of 1 and a correlation of 1 nothing varies between the versions: there is nothing to plan"
    )]
    NothingVaries,
    /// An experiment has too little to learn from.
    #[error("experiment `{experiment}` cannot be planned from: {why}")]
    Recorded {
        /// The experiment.
        experiment: String,
        /// Why not.
        why: String,
    },
    /// The statistics refuse.
    #[error(transparent)]
    Stats(#[from] stats::StatsError),
}

/// Refuses what is outside a range, NaN included.
fn within(
    flag: &'static str,
    range: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<f64, PlanningError> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(PlanningError::Range { flag, range, value })
    }
}

/// An answer to one of the questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "question", rename_all = "snake_case")]
pub enum Answer {
    /// Versions on the same scenarios.
    Versions(Box<versions::Answer>),
    /// A rate against none.
    Violation(violation::Answer),
    /// Pairs as if independent.
    Mcnemar(mcnemar::Answer),
    /// A run that may stop early.
    Sequential(sequential::Answer),
}
