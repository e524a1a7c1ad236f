//! What can go wrong with a store, told so that the reader knows what to do.

use std::io;
use std::path::{Path, PathBuf};

use arrow::error::ArrowError;
use parquet::errors::ParquetError;

use crate::toolset::ToolsetError;

/// A store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder does not exist.
    #[error(
        "no trajectory store at `{}`: record or import something first, or name its folder with --store",
        path.display()
    )]
    NoStore {
        /// The folder.
        path: PathBuf,
    },
    /// The name cannot be a folder and a partition value.
    #[error(
        "`{name}` cannot be an experiment's name: use 1 to 100 letters, digits, `.`, `_` and `-`, starting with a letter or digit"
    )]
    InvalidExperiment {
        /// The name.
        name: String,
    },
    /// A record contradicts itself.
    #[error("episode `{episode}` {what}")]
    Inconsistent {
        /// The episode.
        episode: String,
        /// What is wrong, as a predicate.
        what: &'static str,
    },
    /// The episode is in Parquet already.
    #[error("episode `{episode}` is already sealed: remove it before recording it again")]
    AlreadySealed {
        /// The episode.
        episode: String,
    },
    /// Reading or writing failed.
    #[error("cannot {action} `{}`{}", path.display(), hint(source.kind()))]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Written by a newer version of this program.
    #[error(
        "`{}` has schema version {found}, and this program knows versions up to {known}: update whetstone to read it",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The newest version known here.
        known: i32,
    },
    /// A column that every version has is missing.
    #[error("`{}` has no column `{column}`: it is no table of a trajectory store", path.display())]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// Not a readable Parquet file, or not writable as one.
    #[error("`{}` is not a sound Parquet file; `collector verify` checks the whole store", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: ParquetError,
    },
    /// Columns could not be read or built.
    #[error("columns of `{}` cannot be converted", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: ArrowError,
    },
    /// Rows could not be read or built.
    #[error("rows of `{}` cannot be converted", path.display())]
    Rows {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: Box<serde_arrow::Error>,
    },
    /// A JSON file is not JSON.
    #[error("`{}` is not JSON", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: serde_json::Error,
    },
    /// A prefix of an id fits several episodes.
    #[error(
        "`{prefix}` is the start of {count} episode ids ({examples}, …): write more of the id, or name the experiment"
    )]
    AmbiguousEpisode {
        /// What was given.
        prefix: String,
        /// How many it fits.
        count: usize,
        /// Two of them.
        examples: String,
    },
    /// The recorded definitions do not form a toolset.
    #[error("the recorded definitions of toolset `{id}` are unreadable: record or import it again")]
    Toolset {
        /// The toolset.
        id: String,
        /// Why it failed.
        source: ToolsetError,
    },
    /// Definitions of the toolset are missing.
    #[error(
        "toolset `{id}` is incomplete in this store ({tools} tools are there, and their hash is another): record or import it again"
    )]
    IncompleteToolset {
        /// The toolset.
        id: String,
        /// How many definitions were found.
        tools: usize,
    },
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// A full disk reaches us wrapped by the Parquet writer; unwrapped it can be told plainly.
    pub(super) fn parquet(action: &'static str, path: &Path, error: ParquetError) -> Self {
        let path = path.to_owned();
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(source) => Self::Io {
                    action,
                    path,
                    source: *source,
                },
                Err(inner) => Self::Parquet {
                    path,
                    source: ParquetError::External(inner),
                },
            },
            source => Self::Parquet { path, source },
        }
    }
}

fn hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ": the disk is full; free some space, or choose another folder with --store"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ": the folder is not writable or readable for you; change its permissions, or choose another with --store"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            ": a file is in the way of a folder; choose another folder with --store"
        }
        _ => "",
    }
}
