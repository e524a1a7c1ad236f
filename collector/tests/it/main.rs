//! The importers and views, over files as they come.

#![expect(clippy::unwrap_used, reason = "test helpers fail loudly")]

mod files;
mod hostile;
mod views;

use std::path::{Path, PathBuf};

use collector::import::{ImportError, ImportOptions, Summary, import};
use trajectory::EpisodeRecord;
use trajectory::store::{Filter, Store};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A store in a folder of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// A file beside the store.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn import(&self, paths: &[PathBuf], options: &ImportOptions) -> Result<Summary, ImportError> {
        import(paths, &self.store(), options)
    }

    fn records(&self) -> Vec<EpisodeRecord> {
        Store::open(&self.store())
            .unwrap()
            .records(&Filter::default())
            .unwrap()
    }

    /// What a `collector` command prints, or its error.
    fn run(&self, arguments: &[&str]) -> Result<(trajectory::Exit, String), String> {
        use clap::Parser as _;
        let store = self.store();
        let mut line = vec!["collector"];
        line.extend(arguments);
        line.extend(["--store", store.to_str().unwrap()]);
        let cli = collector::cli::Cli::try_parse_from(line).map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        let exit = collector::cli::run(cli, &mut out).map_err(|error| format!("{error:#}"))?;
        Ok((exit, String::from_utf8(out).unwrap()))
    }
}

fn named(experiment: &str) -> ImportOptions {
    ImportOptions {
        experiment: Some(experiment.to_owned()),
        ..ImportOptions::default()
    }
}
