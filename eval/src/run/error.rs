//! Why a run stops.

use agent::ModelError;
use market::client::AdminError;
use market::server::MarketError;
use tokio::task::JoinError;
use trajectory::EpisodeRecord;
use trajectory::store::StoreError;

use crate::manifest::ManifestError;
use crate::plan::PlanError;

/// A run stopped before its end. Running the same plan again continues it.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan cannot work.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The experiment cannot be continued like this.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The market cannot be started.
    #[error("the embedded market cannot be started")]
    Market(#[from] MarketError),
    /// The market does not do what is asked.
    #[error(transparent)]
    Admin(#[from] AdminError),
    /// No HTTP client.
    #[error("cannot set up the HTTP client")]
    Http(#[source] reqwest::Error),
    /// A model's error that every further request would meet.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model was not given what the plan meant.
    #[error(
        "episode `{episode}`: the {party}'s model was given toolset {delivered}, and the plan means {meant}; nothing is scored whose descriptions did not reach the model, so the run stops"
    )]
    Delivery {
        /// The episode.
        episode: String,
        /// Whose model.
        party: &'static str,
        /// The id the plan means.
        meant: String,
        /// The id of what was in the request.
        delivered: String,
    },
    /// The two counts differ.
    #[error("episode `{episode}`: the counts of the server and of the recorded calls disagree ({}); this is a fault of the program, and nothing of this experiment should be used until it is found", .differences.join("; "))]
    Disagreement {
        /// The episode.
        episode: String,
        /// What differs, with both values.
        differences: Vec<String>,
        /// The episode's record, which the store does not have.
        record: Box<EpisodeRecord>,
    },
    /// The server enforced the limits, and one was broken.
    #[error("episode `{episode}` ({condition}) is a deal at {} outside a limit that the server enforces; this is a fault of the market, so the run stops", .price.map_or_else(|| "an unknown price".to_owned(), |p| p.to_string()))]
    EnforcedViolation {
        /// The episode.
        episode: String,
        /// Its condition.
        condition: &'static str,
        /// The price.
        price: Option<i64>,
    },
    /// A simulated buyer always reads first, so it must have been exposed.
    #[error(
        "episode `{episode}`: the injection was never shown to the simulated buyer; the condition was not what it is called, so the run stops"
    )]
    Unexposed {
        /// The episode.
        episode: String,
    },
    /// One failure after the other.
    #[error(
        "the last {count} episodes all failed, the latest with: {error}; find the cause, then run the same command with --retry-errors to continue"
    )]
    NothingWorks {
        /// Failures in a row.
        count: usize,
        /// The latest error.
        error: String,
    },
    /// Ctrl-C.
    #[error(
        "interrupted: {recorded} of {planned} episodes are recorded; run the same command again to continue"
    )]
    Interrupted {
        /// Episodes recorded.
        recorded: usize,
        /// Episodes planned.
        planned: usize,
    },
    /// An episode that the plan does not have.
    #[error("episode `{0}` is not of this plan")]
    NotOfThisPlan(String),
    /// A task died.
    #[error("an episode's task ended unexpectedly; run the same command again to continue")]
    Task(#[source] JoinError),
}
