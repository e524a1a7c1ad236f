//! Where experiments and toolsets come from.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use trajectory::Toolset;
use trajectory::store::Store;

use crate::manifest::{Manifest, ManifestError};

/// Which store.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct StoreArgs {
    /// Folder of the trajectory store
    #[arg(
        long,
        value_name = "DIR",
        env = "WHETSTONE_STORE",
        default_value = ".whetstone/store"
    )]
    pub(super) store: PathBuf,
}

impl StoreArgs {
    pub(super) fn open(&self) -> anyhow::Result<Store> {
        Ok(Store::open(&self.store)?)
    }

    pub(super) fn create(&self) -> anyhow::Result<Store> {
        Ok(Store::create(&self.store)?)
    }
}

/// The manifest of the named experiment, or of the only one there is.
pub(super) fn experiment(store: &Store, name: Option<&str>) -> anyhow::Result<Manifest> {
    if let Some(name) = name {
        return Ok(Manifest::require(store, name)?);
    }
    let mut found = Vec::new();
    for name in store.experiments()? {
        match Manifest::read(store, &name) {
            Ok(Some(manifest)) => found.push(manifest),
            // Imported experiments are none of ours.
            Ok(None) | Err(ManifestError::Foreign(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match found.len() {
        1 => found.pop().context("the only experiment"),
        0 => bail!(
            "the store `{}` has no experiment yet: record one with `whetstone eval run`",
            store.root().display()
        ),
        _ => {
            let names: Vec<&str> = found
                .iter()
                .map(|manifest| manifest.experiment.as_str())
                .collect();
            bail!(
                "the store has several experiments, choose one with --experiment: {}",
                names.join(", ")
            )
        }
    }
}

/// A toolset named on the command line: `baseline`, a file, or an id found in the store.
pub(super) fn toolset(name: &str, store: &Path) -> anyhow::Result<Toolset> {
    if name == "baseline" {
        return Ok(market::contract::baseline());
    }
    let path = Path::new(name);
    if path.is_file() {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading `{name}`"))?;
        return Toolset::parse(&text).with_context(|| format!("reading the toolset `{name}`"));
    }
    if name.starts_with("ts_") {
        let found = Store::open(store)?.toolset(name)?;
        return found.with_context(|| {
            format!(
                "the store `{}` has no toolset `{name}`; `whetstone collector ls` shows the ids",
                store.display()
            )
        });
    }
    bail!("`{name}` is neither a file, nor `baseline`, nor the id of a toolset (`ts_…`)")
}
