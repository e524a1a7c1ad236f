//! Where episodes and toolsets come from, and how files are written.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use trajectory::store::{Filter, Store};
use trajectory::{EpisodeRecord, Toolset};

use crate::visible;

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

/// Which episodes.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct EpisodeArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,
    /// Experiment; may be left out when the store holds only one
    #[arg(long, value_name = "NAME")]
    experiment: Option<String>,
    /// Only episodes of this arm
    #[arg(long, value_name = "NAME")]
    arm: Option<String>,
    /// Only episodes of this condition
    #[arg(long, value_name = "NAME")]
    condition: Option<String>,
    /// Only episodes of this scenario
    #[arg(long, value_name = "ID")]
    scenario: Option<String>,
}

impl StoreArgs {
    pub(super) fn open(&self) -> anyhow::Result<Store> {
        Store::open(&self.store).with_context(|| {
            format!(
                "opening the store `{}` (choose another with --store)",
                self.store.display()
            )
        })
    }
}

impl EpisodeArgs {
    /// The episodes asked for; an error says what there would have been.
    pub(super) fn records(&self, store: &Store) -> anyhow::Result<Vec<EpisodeRecord>> {
        let experiments = store
            .experiments()
            .context("listing the experiments of the store")?;
        let listed = || {
            experiments
                .iter()
                .map(|name| visible::line(name, 100))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let experiment = match (&self.experiment, experiments.as_slice()) {
            (Some(name), _) if experiments.contains(name) => name.clone(),
            (_, []) => bail!(
                "the store `{}` is empty: record episodes with `eval run`, or import traces with `collector import`",
                self.store.store.display()
            ),
            (Some(name), _) => bail!("the store has no experiment `{name}`; it has: {}", listed()),
            (None, [only]) => only.clone(),
            (None, _) => bail!(
                "the store has several experiments, choose one with --experiment: {}",
                listed()
            ),
        };
        let filter = Filter {
            experiment: Some(experiment.clone()),
            arm: self.arm.clone(),
            condition: self.condition.clone(),
            scenario: self.scenario.clone(),
            ..Filter::default()
        };
        let records = store
            .records(&filter)
            .with_context(|| format!("reading experiment `{experiment}`"))?;
        if records.is_empty() {
            bail!(
                "no episode of experiment `{experiment}` matches --arm, --condition and --scenario; `collector ls` shows what there is"
            );
        }
        Ok(records)
    }
}

/// A toolset named on the command line: `baseline`, a file, or an id found in the store.
pub(super) fn toolset(name: &str, store: &StoreArgs) -> anyhow::Result<Toolset> {
    if name == "baseline" {
        return Ok(market::contract::baseline());
    }
    let path = Path::new(name);
    if path.is_file() {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading `{name}`"))?;
        return Toolset::parse(&text).with_context(|| format!("reading the toolset `{name}`"));
    }
    if name.starts_with("ts_") {
        let found = store
            .open()?
            .toolset(name)
            .with_context(|| format!("looking for toolset `{name}`"))?;
        return found.with_context(|| {
            format!(
                "the store `{}` has no toolset `{name}`; `collector ls` shows the ids",
                store.store.display()
            )
        });
    }
    bail!("`{name}` is neither a file, nor `baseline`, nor the id of a toolset (`ts_…`)")
}

/// Whether a file may be written: it does not exist, or it may be replaced.
pub(super) fn check_free(path: &Path, force: bool) -> anyhow::Result<()> {
    if !force && path.exists() {
        bail!(
            "`{}` exists: choose another name, or replace it with --force",
            path.display()
        );
    }
    Ok(())
}

/// Writes a file as a whole: a reader sees the old one or the new one, never a part.
pub(super) fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("making the folder `{}`", folder.display()))?;
    let failed = || format!("writing `{}`", path.display());
    let mut file = tempfile::Builder::new()
        .prefix(".whetstone-")
        .tempfile_in(folder)
        .with_context(failed)?;
    file.write_all(text.as_bytes()).with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}
