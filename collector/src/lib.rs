//! Importers and views for trajectories.
//!
//! `collector import` reads what tracing systems export into the trajectory store, one episode per trace;
//! `ls`, `show` and `verify` look at what is there, wherever it came from.
//!
//! ```no_run
//! use std::path::{Path, PathBuf};
//!
//! use collector::import::{ImportOptions, import};
//!
//! let files = [PathBuf::from("observations.jsonl")];
//! let summary = import(&files, Path::new(".whetstone/store"), &ImportOptions::default())?;
//! println!("{} tool calls in {} traces", summary.calls, summary.traces);
//! # Ok::<(), collector::import::ImportError>(())
//! ```

pub mod cli;
pub mod import;
pub mod terminal;
