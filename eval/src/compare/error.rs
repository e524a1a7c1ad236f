//! Why episodes cannot be compared.

use super::Metric;
use crate::stats::StatsError;

/// The episodes cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// No such arm.
    #[error("experiment `{experiment}` has no arm `{arm}`; it has: {known}")]
    NoArm {
        /// The experiment.
        experiment: String,
        /// What was asked for.
        arm: String,
        /// What there is.
        known: String,
    },
    /// One arm twice.
    #[error("`{0}` is named as baseline and as candidate: name two arms")]
    SameArm(String),
    /// An episode was not given the version its arm means.
    #[error(
        "episode `{episode}` of arm `{arm}` was given toolset {seen}, and the arm means {meant}; it cannot be scored"
    )]
    Delivery {
        /// The episode.
        episode: String,
        /// Its arm.
        arm: String,
        /// What its models were given.
        seen: String,
        /// What the arm means.
        meant: String,
    },
    /// A recorded value is no number.
    #[error(
        "metric `{metric}` cannot be compared: {source}; `whetstone collector verify` finds the episode"
    )]
    Data {
        /// The metric.
        metric: Metric,
        /// What is wrong.
        source: StatsError,
    },
    /// The metric was not computed, which is a fault of this program.
    #[error("metric `{0}` was not computed")]
    NoMetric(Metric),
    /// Nothing to pair.
    #[error(
        "experiment `{experiment}` has no pair of completed episodes (baseline {baseline}, candidate {candidate} completed): run it, or retry its errors with --retry-errors"
    )]
    NoPairs {
        /// The experiment.
        experiment: String,
        /// Completed baseline episodes.
        baseline: usize,
        /// Completed candidate episodes.
        candidate: usize,
    },
}
