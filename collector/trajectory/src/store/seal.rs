//! Writing parts: sealing journals, appending imports, removing episodes, and putting in order what a killed
//! process left.
//!
//! Every function here runs under the exclusive lock. Each takes a hook that is called after every step that
//! changes the disk; tests make it fail to see that any such state reads right.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::table::{Row, Table};
use super::{Damaged, Store, StoreError, durable, journal, part, read};
use crate::canonical::sha256_hex;
use crate::record::{Call, Episode, EpisodeRecord, Message, Score, ToolRow};

/// Episodes per part: large enough for good compression, small enough to hold in memory.
const PART_EPISODES: usize = 2000;

/// The tools table has one part per experiment, rewritten as a whole: it is small, and its rows are unique.
const TOOLS_PART: &str = "part-tools.parquet";

/// Called after each step with its name.
pub(super) type Hook<'a> = &'a mut dyn FnMut(&str) -> Result<(), StoreError>;

/// What sealing did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SealReport {
    /// Episodes written to Parquet.
    pub episodes: usize,
    /// Parts of the episodes table written.
    pub parts: usize,
    /// Journals that could not be read, and stay.
    pub damaged: Vec<Damaged>,
}

/// What appending did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppendReport {
    /// Episodes written to Parquet.
    pub added: usize,
    /// Episodes the experiment had already, or that came twice.
    pub skipped: usize,
}

pub(super) fn seal(
    store: &Store,
    experiment: &str,
    hook: Hook<'_>,
) -> Result<SealReport, StoreError> {
    recover(store, experiment, &BTreeSet::new())?;
    let folder = store.journal_folder(experiment);
    let journals = journal::read_folder(&folder)?;
    let mut report = SealReport {
        damaged: journals.damaged,
        ..SealReport::default()
    };
    let mut by_id: BTreeMap<&str, (&EpisodeRecord, Vec<&PathBuf>)> = BTreeMap::new();
    for (record, file) in journals.records.iter().zip(&journals.files) {
        let entry = by_id
            .entry(&record.episode.episode_id)
            .or_insert_with(|| (record, Vec::new()));
        entry.1.push(file);
    }
    let sealed = read::sealed_ids(store, experiment)?;
    let pending: Vec<(&EpisodeRecord, Vec<&PathBuf>)> = by_id.into_values().collect();
    for chunk in pending.chunks(PART_EPISODES) {
        let records: Vec<&EpisodeRecord> = chunk
            .iter()
            .map(|(record, _)| *record)
            .filter(|record| !sealed.contains_key(&record.episode.episode_id))
            .collect();
        if !records.is_empty() {
            write_part(store, experiment, &records, hook)?;
            report.episodes += records.len();
            report.parts += 1;
        }
        for file in chunk.iter().flat_map(|(_, files)| files) {
            durable::remove(file)?;
            hook("journal removed")?;
        }
        durable::sync_folder(&folder)?;
    }
    Ok(report)
}

pub(super) fn append(
    store: &Store,
    experiment: &str,
    records: &[EpisodeRecord],
    hook: Hook<'_>,
) -> Result<AppendReport, StoreError> {
    let mut known: BTreeSet<String> = read::sealed_ids(store, experiment)?.into_keys().collect();
    let journals = journal::read_folder(&store.journal_folder(experiment))?;
    known.extend(
        journals
            .records
            .into_iter()
            .map(|record| record.episode.episode_id),
    );
    let mut new: Vec<&EpisodeRecord> = records
        .iter()
        .filter(|record| known.insert(record.episode.episode_id.clone()))
        .collect();
    new.sort_by(|a, b| a.episode.episode_id.cmp(&b.episode.episode_id));
    let incoming: BTreeSet<String> = new
        .iter()
        .map(|record| record.episode.episode_id.clone())
        .collect();
    recover(store, experiment, &incoming)?;
    for chunk in new.chunks(PART_EPISODES) {
        write_part(store, experiment, chunk, hook)?;
    }
    Ok(AppendReport {
        added: new.len(),
        skipped: records.len() - new.len(),
    })
}

/// Writes one part of every table, the episodes last.
fn write_part(
    store: &Store,
    experiment: &str,
    records: &[&EpisodeRecord],
    hook: Hook<'_>,
) -> Result<(), StoreError> {
    let name = part_name(store, experiment, records);
    write_tools(
        store,
        experiment,
        records
            .iter()
            .flat_map(|record| record.tools.iter().cloned()),
        hook,
    )?;
    let calls: Vec<Call> = records
        .iter()
        .flat_map(|record| record.calls.iter().cloned())
        .collect();
    write_rows(store, experiment, &name, &calls, hook)?;
    let messages: Vec<Message> = records
        .iter()
        .flat_map(|record| record.messages.iter().cloned())
        .collect();
    write_rows(store, experiment, &name, &messages, hook)?;
    let scores: Vec<Score> = records
        .iter()
        .flat_map(|record| record.scores.iter().cloned())
        .collect();
    write_rows(store, experiment, &name, &scores, hook)?;
    let episodes: Vec<Episode> = records
        .iter()
        .map(|record| record.episode.clone())
        .collect();
    write_rows(store, experiment, &name, &episodes, hook)
}

fn part_name(store: &Store, experiment: &str, records: &[&EpisodeRecord]) -> String {
    let ids: Vec<&str> = records
        .iter()
        .map(|record| record.episode.episode_id.as_str())
        .collect();
    let hash = sha256_hex(ids.join("\n").as_bytes());
    let stem = &hash[..16];
    let folder = store.partition(Table::Episodes, experiment);
    // Sealed ids are never sealed again, so a part of this name can only be one that somebody else put there.
    std::iter::once(format!("part-{stem}.parquet"))
        .chain((2..=9999).map(|number| format!("part-{stem}-{number}.parquet")))
        .find(|name| !folder.join(name).exists())
        .unwrap_or_default()
}

fn write_rows<T: Row>(
    store: &Store,
    experiment: &str,
    name: &str,
    rows: &[T],
    hook: Hook<'_>,
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    part::write(&store.partition(T::TABLE, experiment).join(name), rows)?;
    hook(T::TABLE.folder())
}

fn write_tools(
    store: &Store,
    experiment: &str,
    new: impl Iterator<Item = ToolRow>,
    hook: Hook<'_>,
) -> Result<(), StoreError> {
    let known = read::sealed_tools(store, experiment)?;
    let before = known.clone();
    let mut rows = known;
    rows.extend(new);
    let rows = read::merge_tools(rows);
    if rows == before {
        return Ok(());
    }
    let folder = store.partition(Table::Tools, experiment);
    let path = folder.join(TOOLS_PART);
    part::write(&path, &rows)?;
    hook(Table::Tools.folder())?;
    // Other parts of the table, put there by other programs, are in the one just written.
    for other in read::parts(&folder)?
        .into_iter()
        .filter(|other| *other != path)
    {
        durable::remove(&other)?;
        hook("tools part removed")?;
    }
    Ok(())
}

/// Puts in order what a killed process left: unfinished files, journals of sealed episodes, and parts of a
/// seal that was not committed, when their episodes are still in the journal or among `incoming`.
pub(super) fn recover(
    store: &Store,
    experiment: &str,
    incoming: &BTreeSet<String>,
) -> Result<(), StoreError> {
    let folder = store.journal_folder(experiment);
    let mut changed = remove_temporary(&folder)?;
    let mut journals = journal::names(&folder)?;
    if !journals.is_empty() {
        for id in read::sealed_ids(store, experiment)?.into_keys() {
            let name = journal::file_name(&id);
            if journals.remove(&name) {
                durable::remove(&folder.join(name))?;
                changed = true;
            }
        }
    }
    if changed {
        durable::sync_folder(&folder)?;
    }
    for table in Table::ALL {
        remove_temporary(&store.partition(table, experiment))?;
    }
    for path in orphans(store, experiment)? {
        let recorded_elsewhere = part::read_texts(&path, ["episode_id"])?
            .iter()
            .all(|[id]| incoming.contains(id) || journals.contains(&journal::file_name(id)));
        if recorded_elsewhere {
            durable::remove(&path)?;
        }
    }
    Ok(())
}

/// Parts of other tables without the episodes part that would commit them.
pub(super) fn orphans(store: &Store, experiment: &str) -> Result<Vec<PathBuf>, StoreError> {
    let committed: BTreeSet<Option<String>> =
        read::parts(&store.partition(Table::Episodes, experiment))?
            .iter()
            .map(|path| durable::name_of(path))
            .collect();
    let mut found = Vec::new();
    for table in [Table::Calls, Table::Messages, Table::Scores] {
        let parts = read::parts(&store.partition(table, experiment))?;
        found.extend(
            parts
                .into_iter()
                .filter(|path| !committed.contains(&durable::name_of(path))),
        );
    }
    Ok(found)
}

fn remove_temporary(folder: &Path) -> Result<bool, StoreError> {
    let mut changed = false;
    for path in durable::list(folder)? {
        if durable::is_temporary(&path) {
            durable::remove(&path)?;
            changed = true;
        }
    }
    Ok(changed)
}

pub(super) fn remove(
    store: &Store,
    experiment: &str,
    ids: &BTreeSet<String>,
    hook: Hook<'_>,
) -> Result<(), StoreError> {
    recover(store, experiment, &BTreeSet::new())?;
    let folder = store.journal_folder(experiment);
    let journals = journal::names(&folder)?;
    let mut changed = false;
    for name in ids
        .iter()
        .map(|id| journal::file_name(id))
        .filter(|name| journals.contains(name))
    {
        durable::remove(&folder.join(name))?;
        hook("journal removed")?;
        changed = true;
    }
    if changed {
        durable::sync_folder(&folder)?;
    }
    for path in read::parts(&store.partition(Table::Episodes, experiment))? {
        let Some(name) = durable::name_of(&path) else {
            continue;
        };
        let affected = part::read_texts(&path, ["episode_id"])?
            .iter()
            .any(|[id]| ids.contains(id));
        if affected {
            // The episodes go last: until then the episode counts as recorded, and removing it again
            // finishes the work.
            rewrite::<Call>(store, experiment, &name, ids, hook)?;
            rewrite::<Message>(store, experiment, &name, ids, hook)?;
            rewrite::<Score>(store, experiment, &name, ids, hook)?;
            rewrite::<Episode>(store, experiment, &name, ids, hook)?;
        }
    }
    Ok(())
}

fn rewrite<T: Row>(
    store: &Store,
    experiment: &str,
    name: &str,
    without: &BTreeSet<String>,
    hook: Hook<'_>,
) -> Result<(), StoreError> {
    let folder = store.partition(T::TABLE, experiment);
    let path = folder.join(name);
    if !path.is_file() {
        return Ok(());
    }
    let mut rows = part::read::<T>(&path, experiment)?;
    let before = rows.len();
    rows.retain(|row| row.episode_id().is_none_or(|id| !without.contains(id)));
    if rows.is_empty() {
        durable::remove(&path)?;
        durable::sync_folder(&folder)?;
    } else if rows.len() < before {
        part::write(&path, &rows)?;
    } else {
        return Ok(());
    }
    hook(T::TABLE.folder())
}
