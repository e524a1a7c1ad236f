//! Checking every file of a store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::table::{Row, Table};
use super::{Store, StoreError, durable, journal, part, read, seal};
use crate::record::{Call, Episode, Message, Score, ToolRow};

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line of a journal, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

/// What a check of the store saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Experiments.
    pub experiments: usize,
    /// Files read.
    pub files: usize,
    /// Rows read, by table, and unsealed episodes under `journals`.
    pub rows: BTreeMap<&'static str, usize>,
    /// What was found; empty for a sound store.
    pub problems: Vec<Problem>,
}

impl VerifyReport {
    fn problem(&mut self, path: &Path, line: Option<usize>, what: String) {
        self.problems.push(Problem {
            path: path.to_owned(),
            line,
            what,
        });
    }
}

pub(super) fn verify(store: &Store) -> Result<VerifyReport, StoreError> {
    let mut report = VerifyReport::default();
    for experiment in store.experiments()? {
        report.experiments += 1;
        let mut sealed: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        check::<Episode>(store, &experiment, &mut report, |report, path, episode| {
            let id = episode.episode_id.clone();
            if let Some(name) = durable::name_of(path) {
                members.entry(name).or_default().insert(id.clone());
            }
            if let Some(other) = sealed.insert(id, path.to_owned()) {
                let what = format!(
                    "episode `{}` is also in `{}`",
                    episode.episode_id,
                    other.display()
                );
                report.problem(path, None, what);
            }
            if episode.experiment != experiment {
                let what = format!(
                    "episode `{}` is of experiment `{}`",
                    episode.episode_id, episode.experiment
                );
                report.problem(path, None, what);
            }
        })?;
        check_children::<Call>(store, &experiment, &mut report, &members)?;
        check_children::<Message>(store, &experiment, &mut report, &members)?;
        check_children::<Score>(store, &experiment, &mut report, &members)?;
        check::<ToolRow>(store, &experiment, &mut report, |_, _, _| ())?;
        for path in seal::orphans(store, &experiment)? {
            let what = "no part of the episodes table has this name, so its rows are not committed: record or import the episodes again, or remove the file";
            report.problem(&path, None, what.to_owned());
        }
        check_journals(store, &experiment, &mut report, &sealed)?;
    }
    Ok(report)
}

/// Reads every part of a table and shows each row to `see`.
fn check<T: Row>(
    store: &Store,
    experiment: &str,
    report: &mut VerifyReport,
    mut see: impl FnMut(&mut VerifyReport, &Path, &T),
) -> Result<(), StoreError> {
    for path in read::parts(&store.partition(T::TABLE, experiment))? {
        report.files += 1;
        match part::read::<T>(&path, experiment) {
            Ok(rows) => {
                *report.rows.entry(T::TABLE.folder()).or_default() += rows.len();
                for row in &rows {
                    see(report, &path, row);
                }
            }
            Err(error) => report.problem(&path, None, with_causes(&error)),
        }
    }
    Ok(())
}

fn check_children<T: Row>(
    store: &Store,
    experiment: &str,
    report: &mut VerifyReport,
    members: &BTreeMap<String, BTreeSet<String>>,
) -> Result<(), StoreError> {
    let mut strangers: BTreeMap<PathBuf, usize> = BTreeMap::new();
    check::<T>(store, experiment, report, |_, path, row| {
        let known = durable::name_of(path).and_then(|name| members.get(&name));
        // Parts without any episodes part are reported once, as a whole.
        if known.is_some_and(|known| row.episode_id().is_some_and(|id| !known.contains(id))) {
            *strangers.entry(path.to_owned()).or_default() += 1;
        }
    })?;
    for (path, count) in strangers {
        report.problem(
            &path,
            None,
            format!("{count} rows belong to no episode of the episodes part of this name"),
        );
    }
    Ok(())
}

fn check_journals(
    store: &Store,
    experiment: &str,
    report: &mut VerifyReport,
    sealed: &BTreeMap<String, PathBuf>,
) -> Result<(), StoreError> {
    let folder = store.journal_folder(experiment);
    let journals = journal::read_folder(&folder)?;
    report.files += journals.records.len() + journals.damaged.len();
    *report.rows.entry("journals").or_default() += journals.records.len();
    for damaged in journals.damaged {
        report.problem(
            &damaged.path,
            Some(damaged.line),
            format!("damaged journal: {}", damaged.reason),
        );
    }
    for (record, file) in journals.records.iter().zip(&journals.files) {
        if sealed.contains_key(&record.episode.episode_id) {
            report.problem(
                file,
                None,
                "the episode is sealed already; the next write removes this journal".to_owned(),
            );
        }
    }
    let folders = Table::ALL.map(|table| store.partition(table, experiment));
    for path in folders
        .iter()
        .chain([&folder])
        .map(|folder| durable::list(folder))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
    {
        if durable::is_temporary(&path) {
            report.problem(
                &path,
                None,
                "unfinished file of a killed process; the next write removes it".to_owned(),
            );
        }
    }
    Ok(())
}

fn with_causes(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
