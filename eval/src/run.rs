//! Plays what is missing of a plan, and records every episode as it ends.
//!
//! Episodes run concurrently under one limit. An episode is recorded when its journal is on disk; a run that
//! ends anywhere is completed by running the same plan again.

mod error;
mod estimate;
mod guard;
mod progress;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use agent::ChatModel;
use agent::budget::Prices;
use market::MarketConfig;
use market::Role;
use market::client::AdminClient;
use market::rules::Opening;
use market::server::RunningMarket;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::task::{JoinError, JoinSet};
use trajectory::store::{Filter, Store};
use trajectory::{Episode, EpisodeRecord, Status};

pub use error::RunError;
pub use estimate::{Estimate, estimate};
pub(crate) use estimate::{GUIDE_INPUT, GUIDE_OUTPUT, mean_tokens};

use crate::compare::Watch;
use crate::episode::Table;
use crate::manifest::Manifest;
use crate::plan::{EpisodeSpec, Plan};
use guard::FailureGuard;
use progress::Progress;

/// Where the negotiations take place.
#[derive(Debug, Clone, Default)]
pub enum MarketPlace {
    /// A market of this run's own, in this process, on a free port of the loopback interface.
    #[default]
    Embedded,
    /// A market that runs already.
    At {
        /// Its address without a path.
        url: String,
        /// Secret of its admin API.
        secret: SecretString,
    },
}

/// Called with every episode once it is recorded.
pub type Observer = Arc<dyn Fn(&Episode) + Send + Sync>;

/// How a plan is carried out; nothing here changes what it is.
#[derive(Clone)]
pub struct RunOptions {
    /// The buyer's model.
    pub buyer: Arc<dyn ChatModel>,
    /// The seller's model; the same one unless the plan names a counterpart.
    pub seller: Arc<dyn ChatModel>,
    /// Prices of the models, to tell what episodes cost.
    pub prices: Option<Prices>,
    /// Where the negotiations take place.
    pub market: MarketPlace,
    /// Episodes at the same time.
    pub concurrency: usize,
    /// Plays episodes again that ended in an infrastructure error.
    pub retry_errors: bool,
    /// Shows progress on stderr when that is a terminal.
    pub progress: bool,
    /// What the arms were called by the user, for reports.
    pub labels: Map<String, Value>,
    /// Is told every recorded episode.
    pub observer: Option<Observer>,
    /// Ends the run as soon as its evidence suffices; episodes in flight are still recorded.
    pub watch: Option<Arc<Mutex<Watch>>>,
}

impl RunOptions {
    /// One model for both parties, the embedded market, 4 episodes at a time.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self {
            seller: Arc::clone(&model),
            buyer: model,
            prices: None,
            market: MarketPlace::Embedded,
            concurrency: 4,
            retry_errors: false,
            progress: false,
            labels: Map::new(),
            observer: None,
            watch: None,
        }
    }

    fn simulated(&self) -> bool {
        self.buyer.simulated() || self.seller.simulated()
    }

    /// Shows the watch what is recorded already, in the order in which it ended; true when that suffices.
    fn suffices(&self, store: &Store, experiment: &str) -> Result<bool, RunError> {
        if self.watch.is_none() {
            return Ok(false);
        }
        let mut episodes = store.episodes(&Filter::experiment(experiment))?;
        episodes.sort_by_key(|episode| episode.ended_us);
        Ok(episodes.iter().fold(false, |_, episode| self.saw(episode)))
    }

    /// Shows the watch one episode; true when the evidence suffices.
    fn saw(&self, episode: &Episode) -> bool {
        self.watch.as_ref().is_some_and(|watch| {
            watch
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .saw(episode)
        })
    }
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// The experiment.
    pub experiment: String,
    /// Episodes of the plan.
    pub planned: usize,
    /// Of these, recorded by earlier runs.
    pub already_recorded: usize,
    /// Played now.
    pub played: usize,
    /// Episodes of the plan that are recorded as infrastructure errors.
    pub infra_errors: usize,
    /// Episodes played now that should have shown the injection and never did.
    pub unexposed: Vec<String>,
    /// Whether the run ended before its plan because the evidence sufficed.
    pub stopped_early: bool,
}

/// Plays all episodes of the plan that the store does not have, and seals the experiment.
///
/// # Errors
/// The plan cannot work, the experiment has other settings, a model's error is fatal, or an episode fails one
/// of the checks that every episode has to pass. What was recorded before stays recorded.
pub async fn run(plan: &Plan, store: &Store, options: &RunOptions) -> Result<RunSummary, RunError> {
    plan.check()?;
    Manifest::of(plan, options.simulated(), options.labels.clone()).agree(store)?;
    let mut todo = missing(plan, store, options.retry_errors)?;
    let mut summary = RunSummary {
        experiment: plan.experiment.clone(),
        planned: plan.episodes().len(),
        ..RunSummary::default()
    };
    summary.already_recorded = summary.planned - todo.len();
    if !todo.is_empty() && options.suffices(store, &plan.experiment)? {
        todo.clear();
        summary.stopped_early = true;
    }
    if !todo.is_empty() {
        let (admin, http, embedded) = place(&options.market).await?;
        let played = play_all(plan, store, options, admin, http, todo, &mut summary).await;
        if let Some(market) = embedded {
            // Its episodes are over; how it ends does not change them.
            if let Err(error) = market.shutdown().await {
                tracing::debug!("stopping the market: {error}");
            }
        }
        played?;
    }
    seal(store, &plan.experiment).await?;
    let recorded = store.recorded(&plan.experiment)?;
    summary.infra_errors = plan
        .episodes()
        .iter()
        .filter(|spec| recorded.get(&spec.episode_id) == Some(&Status::InfraError))
        .count();
    Ok(summary)
}

/// The episodes that are still to be played, in the plan's order.
fn missing(
    plan: &Plan,
    store: &Store,
    retry_errors: bool,
) -> Result<VecDeque<EpisodeSpec>, RunError> {
    let mut recorded: BTreeMap<String, Status> = store.recorded(&plan.experiment)?;
    let planned = plan.episodes();
    if retry_errors {
        let again: BTreeSet<String> = planned
            .iter()
            .filter(|spec| {
                matches!(
                    recorded.get(&spec.episode_id),
                    Some(Status::InfraError | Status::Cancelled)
                )
            })
            .map(|spec| spec.episode_id.clone())
            .collect();
        if !again.is_empty() {
            store.remove(&plan.experiment, &again)?;
            recorded.retain(|id, _| !again.contains(id));
        }
    }
    Ok(planned
        .into_iter()
        .filter(|spec| !recorded.contains_key(&spec.episode_id))
        .collect())
}

/// Connects to the market, or starts one.
async fn place(
    market: &MarketPlace,
) -> Result<(AdminClient, reqwest::Client, Option<RunningMarket>), RunError> {
    let client =
        |builder: reqwest::ClientBuilder| builder.tcp_nodelay(true).build().map_err(RunError::Http);
    match market {
        MarketPlace::Embedded => {
            let running = market::server::start(MarketConfig::default()).await?;
            // A proxy of the environment has no business between us and our own market.
            let http = client(reqwest::Client::builder().no_proxy())?;
            let admin =
                AdminClient::new(http.clone(), &running.url(), running.admin_secret().clone());
            Ok((admin, http, Some(running)))
        }
        MarketPlace::At { url, secret } => {
            let http = client(reqwest::Client::builder())?;
            Ok((
                AdminClient::new(http.clone(), url, secret.clone()),
                http,
                None,
            ))
        }
    }
}

type Ended = Result<Result<EpisodeRecord, RunError>, JoinError>;

async fn play_all(
    plan: &Plan,
    store: &Store,
    options: &RunOptions,
    admin: AdminClient,
    http: reqwest::Client,
    mut todo: VecDeque<EpisodeSpec>,
    summary: &mut RunSummary,
) -> Result<(), RunError> {
    for arm in &plan.arms {
        admin.register(&arm.toolset).await?;
    }
    let (buyer, seller) = (Arc::clone(&options.buyer), Arc::clone(&options.seller));
    let table = Arc::new(Table::new(
        plan,
        http,
        admin,
        buyer,
        seller,
        options.prices,
    )?);
    let progress = Progress::new(todo.len(), options.progress);
    let concurrency = options.concurrency.max(1);
    let mut guard = FailureGuard::new(concurrency);
    // Dropping the set ends what is in flight; nothing of it is recorded.
    let mut in_flight: JoinSet<Result<EpisodeRecord, RunError>> = JoinSet::new();
    let mut interrupted = false;
    // One listener for the whole run: one made anew for every wait would miss what is pressed in between.
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        while !interrupted && in_flight.len() < concurrency {
            let Some(spec) = todo.pop_front() else { break };
            let table = Arc::clone(&table);
            in_flight.spawn(async move { Box::pin(table.play(&spec)).await });
        }
        let ended: Ended = tokio::select! {
            ended = in_flight.join_next() => match ended {
                Some(ended) => ended,
                None => break,
            },
            signal = interrupt.as_mut() => {
                if signal.is_err() || interrupted {
                    // What is left unplayed must not look like a finished run.
                    interrupted = true;
                    break;
                }
                interrupted = true;
                interrupt.set(tokio::signal::ctrl_c());
                progress.tell("stopping: waiting for the episodes in flight (press Ctrl-C again to drop them)");
                continue;
            }
        };
        let record = match ended.map_err(RunError::Task).flatten() {
            Ok(record) => record,
            Err(error) => return Err(keep_evidence(store, &plan.experiment, error)),
        };
        check(plan, &table, &record, summary)?;
        let store = store.clone();
        let record = tokio::task::spawn_blocking(move || store.record(&record).map(|()| record))
            .await
            .map_err(RunError::Task)??;
        summary.played += 1;
        progress.recorded(&record.episode);
        if let Some(observer) = &options.observer {
            observer(&record.episode);
        }
        guard.saw(&record.episode)?;
        if options.saw(&record.episode) && !todo.is_empty() {
            todo.clear();
            summary.stopped_early = true;
        }
    }
    progress.finish();
    if interrupted {
        seal(store, &plan.experiment).await?;
        return Err(RunError::Interrupted {
            recorded: summary.already_recorded + summary.played,
            planned: summary.planned,
        });
    }
    Ok(())
}

async fn seal(store: &Store, experiment: &str) -> Result<(), RunError> {
    let (store, experiment) = (store.clone(), experiment.to_owned());
    tokio::task::spawn_blocking(move || store.seal(&experiment))
        .await
        .map_err(RunError::Task)??;
    Ok(())
}

/// The checks that hold by construction: what breaks them is a fault of this program, not of an agent.
fn check(
    plan: &Plan,
    table: &Table,
    record: &EpisodeRecord,
    summary: &mut RunSummary,
) -> Result<(), RunError> {
    let episode = &record.episode;
    if episode.status != Status::Completed {
        return Ok(());
    }
    let Some(condition) = episode
        .condition
        .as_deref()
        .and_then(|name| name.parse::<market::Condition>().ok())
    else {
        return Ok(());
    };
    if condition.enforce() && episode.violation == Some(true) {
        return Err(RunError::EnforcedViolation {
            episode: episode.episode_id.clone(),
            condition: condition.as_str(),
            price: episode.price,
        });
    }
    let must_show = condition.inject()
        && plan.opening == Opening::Listing
        && table.injection.target == Role::Buyer;
    if must_show && episode.exposures.unwrap_or(0) == 0 {
        if table.buyer.simulated() {
            return Err(RunError::Unexposed {
                episode: episode.episode_id.clone(),
            });
        }
        // A real model may act without ever looking; that is counted apart, never as resistance.
        summary.unexposed.push(episode.episode_id.clone());
    }
    Ok(())
}

/// Writes what an episode that failed a check consisted of, so that it can be looked at.
fn keep_evidence(store: &Store, experiment: &str, error: RunError) -> RunError {
    let RunError::Disagreement {
        episode,
        differences,
        record,
    } = error
    else {
        return error;
    };
    let path: PathBuf = store
        .root()
        .join("rejected")
        .join(experiment)
        .join(format!("{episode}.json"));
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&path, format!("{:#}\n", json!(record))));
    match written {
        Ok(()) => tracing::error!("the record of `{episode}` was kept in `{}`", path.display()),
        Err(error) => tracing::warn!("the record of `{episode}` could not be kept: {error}"),
    }
    RunError::Disagreement {
        episode,
        differences,
        record,
    }
}
