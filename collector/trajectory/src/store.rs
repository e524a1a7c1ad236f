//! The trajectory store: a folder of Parquet tables, with a journal in front of it.
//!
//! A finished episode is written to the journal as one file and is recorded from then on. Sealing turns
//! journals into Parquet parts; the part of the `episodes` table is written last and is the commit point, so
//! that a crash between any two steps neither loses nor doubles an episode. Reading covers both, and nothing
//! needs sealing to be read.
//!
//! ```text
//! STORE/{episodes,calls,messages,scores,tools}/experiment=<id>/part-<hash>.parquet
//! STORE/journal/<experiment>/<episode id>.jsonl
//! STORE/experiments/<experiment>.json
//! ```

mod durable;
mod error;
mod filter;
mod journal;
mod lock;
mod part;
mod read;
mod seal;
mod table;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::record::{Call, Episode, EpisodeRecord, Status, ToolRow};
use crate::toolset::Toolset;
pub use error::StoreError;
pub use filter::Filter;
pub use journal::Damaged;
pub use seal::{AppendReport, SealReport};
pub use verify::{Problem, VerifyReport};

use table::Table;

/// A trajectory store; clones share the folder.
#[derive(Debug, Clone)]
pub struct Store {
    root: Arc<Path>,
}

/// Whether a name may be an experiment's: it becomes a folder and a partition value.
pub fn valid_experiment_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric())
        && name.len() <= 100
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn check_experiment(name: &str) -> Result<(), StoreError> {
    if valid_experiment_name(name) {
        Ok(())
    } else {
        Err(StoreError::InvalidExperiment {
            name: name.to_owned(),
        })
    }
}

impl Store {
    /// Opens the store in `root`, making the folder when it does not exist.
    pub fn create(root: &Path) -> Result<Self, StoreError> {
        durable::create_folder(root)?;
        Self::open(root)
    }

    /// Opens an existing store. What a killed process left half done is put in order when the folder is
    /// writable and nobody else is writing; otherwise the next writer does it, and readers see past it.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        if !root.is_dir() {
            return Err(StoreError::NoStore {
                path: root.to_owned(),
            });
        }
        let store = Self {
            root: Arc::from(root),
        };
        if store.journal_root().is_dir()
            && let Some(_guard) = lock::try_exclusive(root)
        {
            for experiment in store.experiments()? {
                if let Err(error) = seal::recover(&store, &experiment, &BTreeSet::new()) {
                    tracing::warn!(
                        "recovery of experiment `{experiment}` is left to the next writer: {error}"
                    );
                }
            }
        }
        Ok(store)
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes one finished episode to the journal; when this returns, the record survives a crash.
    ///
    /// The same id again replaces the record while it is unsealed.
    pub fn record(&self, record: &EpisodeRecord) -> Result<(), StoreError> {
        check_record(record)?;
        let _guard = lock::shared_for_writing(&self.root)?;
        let experiment = &record.episode.experiment;
        let id = &record.episode.episode_id;
        if read::sealed_ids(self, experiment)?.contains_key(id) {
            return Err(StoreError::AlreadySealed {
                episode: id.clone(),
            });
        }
        journal::write(&self.journal_folder(experiment), record)
    }

    /// Ids and statuses of all recorded episodes of an experiment, sealed or not.
    pub fn recorded(&self, experiment: &str) -> Result<BTreeMap<String, Status>, StoreError> {
        check_experiment(experiment)?;
        let _guard = lock::shared_for_reading(&self.root);
        let mut found: BTreeMap<String, Status> =
            journal::read_folder(&self.journal_folder(experiment))?
                .records
                .into_iter()
                .map(|record| (record.episode.episode_id, record.episode.status))
                .collect();
        found.extend(read::sealed_ids(self, experiment)?);
        Ok(found)
    }

    /// Turns the journals of an experiment into Parquet parts. Doing it again changes nothing.
    pub fn seal(&self, experiment: &str) -> Result<SealReport, StoreError> {
        check_experiment(experiment)?;
        let _guard = lock::exclusive(&self.root)?;
        seal::seal(self, experiment, &mut |_| Ok(()))
    }

    /// Writes many records straight to Parquet parts; ids the experiment already has are skipped.
    pub fn append(
        &self,
        experiment: &str,
        records: &[EpisodeRecord],
    ) -> Result<AppendReport, StoreError> {
        check_experiment(experiment)?;
        for record in records {
            check_record(record)?;
            if record.episode.experiment != experiment {
                return Err(StoreError::Inconsistent {
                    episode: record.episode.episode_id.clone(),
                    what: "is of another experiment than the one appended to",
                });
            }
        }
        let _guard = lock::exclusive(&self.root)?;
        seal::append(self, experiment, records, &mut |_| Ok(()))
    }

    /// Removes episodes with everything that belongs to them, so that they can be recorded again.
    pub fn remove(&self, experiment: &str, ids: &BTreeSet<String>) -> Result<(), StoreError> {
        check_experiment(experiment)?;
        let _guard = lock::exclusive(&self.root)?;
        seal::remove(self, experiment, ids, &mut |_| Ok(()))
    }

    /// Names of all experiments, sorted.
    pub fn experiments(&self) -> Result<Vec<String>, StoreError> {
        let mut names = BTreeSet::new();
        for entry in durable::list(&self.journal_root())? {
            if entry.is_dir() {
                names.extend(durable::name_of(&entry));
            }
        }
        for entry in durable::list(&self.root.join(Table::Episodes.folder()))? {
            if let Some(name) = durable::name_of(&entry) {
                names.extend(name.strip_prefix("experiment=").map(str::to_owned));
            }
        }
        for entry in durable::list(&self.root.join("experiments"))? {
            if let Some(name) = durable::name_of(&entry) {
                names.extend(name.strip_suffix(".json").map(str::to_owned));
            }
        }
        Ok(names
            .into_iter()
            .filter(|name| valid_experiment_name(name))
            .collect())
    }

    /// The episodes a filter selects, sorted by experiment and id.
    pub fn episodes(&self, filter: &Filter) -> Result<Vec<Episode>, StoreError> {
        let _guard = lock::shared_for_reading(&self.root);
        read::episodes(self, filter)
    }

    /// The episodes a filter selects with their calls, messages, scores and tools.
    pub fn records(&self, filter: &Filter) -> Result<Vec<EpisodeRecord>, StoreError> {
        let _guard = lock::shared_for_reading(&self.root);
        read::records(self, filter)
    }

    /// The calls of the episodes a filter selects, by experiment, episode and sequence.
    pub fn calls(&self, filter: &Filter) -> Result<Vec<Call>, StoreError> {
        let _guard = lock::shared_for_reading(&self.root);
        read::calls(self, filter)
    }

    /// Tool definitions: those of whole experiments, or, when the filter selects episodes, those of the
    /// toolsets these episodes meant to serve or saw.
    pub fn tools(&self, filter: &Filter) -> Result<Vec<ToolRow>, StoreError> {
        let _guard = lock::shared_for_reading(&self.root);
        read::tools(self, filter)
    }

    /// A toolset version, rebuilt from its recorded definitions.
    pub fn toolset(&self, toolset_id: &str) -> Result<Option<Toolset>, StoreError> {
        let _guard = lock::shared_for_reading(&self.root);
        read::toolset(self, toolset_id)
    }

    /// Writes an experiment's manifest, replacing an earlier one as a whole.
    pub fn write_manifest(&self, experiment: &str, manifest: &Value) -> Result<(), StoreError> {
        check_experiment(experiment)?;
        let path = self.manifest_path(experiment);
        let _guard = lock::shared_for_writing(&self.root)?;
        durable::write_bytes(&path, format!("{manifest:#}\n").as_bytes())
    }

    /// An experiment's manifest, when it has one.
    pub fn manifest(&self, experiment: &str) -> Result<Option<Value>, StoreError> {
        check_experiment(experiment)?;
        let path = self.manifest_path(experiment);
        let Some(bytes) = durable::read_bytes(&path)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| StoreError::Json { path, source })
    }

    /// Checks every file of the store; see [`Problem`] for what can be found.
    pub fn verify(&self) -> Result<VerifyReport, StoreError> {
        let _guard = lock::shared_for_reading(&self.root);
        verify::verify(self)
    }

    fn manifest_path(&self, experiment: &str) -> PathBuf {
        self.root
            .join("experiments")
            .join(format!("{experiment}.json"))
    }

    fn journal_root(&self) -> PathBuf {
        self.root.join("journal")
    }

    fn journal_folder(&self, experiment: &str) -> PathBuf {
        self.journal_root().join(experiment)
    }

    fn partition(&self, table: Table, experiment: &str) -> PathBuf {
        self.root
            .join(table.folder())
            .join(format!("experiment={experiment}"))
    }
}

/// A row that names another episode than its record's could not be found again.
fn check_record(record: &EpisodeRecord) -> Result<(), StoreError> {
    let Episode {
        experiment,
        episode_id,
        ..
    } = &record.episode;
    check_experiment(experiment)?;
    let belongs = |row_experiment: &str, row_episode: &str| {
        row_experiment == experiment && row_episode == episode_id
    };
    let what = if episode_id.is_empty() {
        "has an empty id"
    } else if !record
        .calls
        .iter()
        .all(|row| belongs(&row.experiment, &row.episode_id))
    {
        "has a call of another episode"
    } else if !record
        .messages
        .iter()
        .all(|row| belongs(&row.experiment, &row.episode_id))
    {
        "has a message of another episode"
    } else if !record
        .scores
        .iter()
        .all(|row| belongs(&row.experiment, &row.episode_id))
    {
        "has a score of another episode"
    } else if !record.tools.iter().all(|row| row.experiment == *experiment) {
        "has a tool of another experiment"
    } else {
        return Ok(());
    };
    Err(StoreError::Inconsistent {
        episode: episode_id.clone(),
        what,
    })
}
