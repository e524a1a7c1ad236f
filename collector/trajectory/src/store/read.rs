//! Reading: sealed parts and journals, seen as one.
//!
//! Journals are read before parts. Between the two a sealer may commit, and then the episode is found twice,
//! which is resolved; the other way round it would be found nowhere.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::table::{Row, Table};
use super::{Filter, Store, StoreError, durable, journal, part};
use crate::record::{Call, Episode, EpisodeRecord, Message, Score, Status, ToolRow};
use crate::toolset::{Toolset, ToolsetError};

/// The parts of a partition, in name order.
pub(super) fn parts(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found = durable::list(folder)?;
    found.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "parquet")
    });
    Ok(found)
}

fn status(text: &str) -> Option<Status> {
    [
        Status::Completed,
        Status::AgentFault,
        Status::InfraError,
        Status::Cancelled,
    ]
    .into_iter()
    .find(|status| status.as_str() == text)
}

/// Ids and statuses of the sealed episodes of an experiment.
pub(super) fn sealed_ids(
    store: &Store,
    experiment: &str,
) -> Result<BTreeMap<String, Status>, StoreError> {
    let mut ids = BTreeMap::new();
    for path in parts(&store.partition(Table::Episodes, experiment))? {
        for [id, text] in part::read_texts(&path, ["episode_id", "status"])? {
            let status = status(&text).ok_or_else(|| StoreError::Inconsistent {
                episode: id.clone(),
                what: "has an unknown status in the episodes table",
            })?;
            ids.insert(id, status);
        }
    }
    Ok(ids)
}

fn experiments(store: &Store, filter: &Filter) -> Result<Vec<String>, StoreError> {
    let mut names = store.experiments()?;
    if let Some(wanted) = &filter.experiment {
        super::check_experiment(wanted)?;
        names.retain(|name| name == wanted);
    }
    Ok(names)
}

/// What a filter selects in one experiment, before an episode prefix is resolved.
struct Found {
    /// Unsealed records.
    journalled: Vec<EpisodeRecord>,
    /// Sealed episodes by the part they are in.
    sealed: Vec<(PathBuf, Vec<Episode>)>,
    /// Definitions found in journals, of selected and other episodes.
    tools: Vec<ToolRow>,
}

fn find(store: &Store, experiment: &str, filter: &Filter) -> Result<Found, StoreError> {
    let journals = journal::read_folder(&store.journal_folder(experiment))?;
    let mut sealed = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for path in parts(&store.partition(Table::Episodes, experiment))? {
        let mut episodes = part::read::<Episode>(&path, experiment)?;
        episodes.retain(|episode| seen.insert(episode.episode_id.clone()) && filter.fits(episode));
        if !episodes.is_empty() {
            sealed.push((path, episodes));
        }
    }
    let mut journalled = Vec::new();
    let mut tools = Vec::new();
    for record in journals.records {
        tools.extend(record.tools.iter().cloned());
        if filter.fits(&record.episode) && !seen.contains(&record.episode.episode_id) {
            journalled.push(record);
        }
    }
    Ok(Found {
        journalled,
        sealed,
        tools,
    })
}

pub(super) fn episodes(store: &Store, filter: &Filter) -> Result<Vec<Episode>, StoreError> {
    let mut episodes = Vec::new();
    for experiment in experiments(store, filter)? {
        let found = find(store, &experiment, filter)?;
        episodes.extend(found.sealed.into_iter().flat_map(|(_, episodes)| episodes));
        episodes.extend(found.journalled.into_iter().map(|record| record.episode));
    }
    episodes.sort_by(|a, b| (&a.experiment, &a.episode_id).cmp(&(&b.experiment, &b.episode_id)));
    filter.resolve(episodes)
}

/// The rows that a part of another table holds for episodes of the part `episodes`, by episode.
fn rows_of<T: Row>(
    store: &Store,
    experiment: &str,
    episodes: &Path,
    wanted: &BTreeSet<String>,
) -> Result<HashMap<String, Vec<T>>, StoreError> {
    let mut grouped: HashMap<String, Vec<T>> = HashMap::new();
    // Parts belong together by name: rows of a part without an episodes part are not committed.
    let Some(name) = episodes.file_name() else {
        return Ok(grouped);
    };
    let path = store.partition(T::TABLE, experiment).join(name);
    if path.is_file() {
        for row in part::read::<T>(&path, experiment)? {
            if let Some(id) = row
                .episode_id()
                .filter(|id| wanted.contains(*id))
                .map(str::to_owned)
            {
                grouped.entry(id).or_default().push(row);
            }
        }
    }
    Ok(grouped)
}

/// The one episode a prefix means, resolved first so that it does not cost reading a whole store.
fn named(store: &Store, filter: &Filter) -> Result<Option<BTreeSet<(String, String)>>, StoreError> {
    if filter.episode.is_none() {
        return Ok(None);
    }
    let found = episodes(store, filter)?;
    Ok(Some(
        found
            .into_iter()
            .map(|episode| (episode.experiment, episode.episode_id))
            .collect(),
    ))
}

fn is_named(only: Option<&BTreeSet<(String, String)>>, episode: &Episode) -> bool {
    only.is_none_or(|only| only.contains(&(episode.experiment.clone(), episode.episode_id.clone())))
}

pub(super) fn records(store: &Store, filter: &Filter) -> Result<Vec<EpisodeRecord>, StoreError> {
    let only = named(store, filter)?;
    let mut records = Vec::new();
    for experiment in experiments(store, filter)? {
        let found = find(store, &experiment, filter)?;
        let tools = experiment_tools(store, &experiment, found.tools)?;
        let mut of_experiment = found.journalled;
        of_experiment.retain(|record| is_named(only.as_ref(), &record.episode));
        for (path, mut episodes) in found.sealed {
            episodes.retain(|episode| is_named(only.as_ref(), episode));
            join(store, &experiment, &path, episodes, &mut of_experiment)?;
        }
        for record in &mut of_experiment {
            record.calls.sort_by_key(|row| row.sequence);
            record.messages.sort_by_key(|row| row.sequence);
            let Episode {
                toolset_meant,
                toolset_seen,
                ..
            } = &record.episode;
            let mut ids: Vec<&String> = toolset_seen.iter().chain(toolset_meant).collect();
            ids.dedup();
            let rows = ids.into_iter().filter_map(|id| tools.get(id)).flatten();
            record.tools = rows.cloned().collect();
        }
        records.append(&mut of_experiment);
    }
    records.sort_by(|a, b| {
        let (a, b) = (&a.episode, &b.episode);
        (&a.experiment, &a.episode_id).cmp(&(&b.experiment, &b.episode_id))
    });
    Ok(records)
}

/// Adds the episodes of one part with their rows of the other tables.
fn join(
    store: &Store,
    experiment: &str,
    part: &Path,
    episodes: Vec<Episode>,
    records: &mut Vec<EpisodeRecord>,
) -> Result<(), StoreError> {
    if episodes.is_empty() {
        return Ok(());
    }
    let ids: BTreeSet<String> = episodes
        .iter()
        .map(|episode| episode.episode_id.clone())
        .collect();
    let mut calls = rows_of::<Call>(store, experiment, part, &ids)?;
    let mut messages = rows_of::<Message>(store, experiment, part, &ids)?;
    let mut scores = rows_of::<Score>(store, experiment, part, &ids)?;
    records.extend(episodes.into_iter().map(|episode| {
        let id = episode.episode_id.as_str();
        EpisodeRecord {
            calls: calls.remove(id).unwrap_or_default(),
            messages: messages.remove(id).unwrap_or_default(),
            scores: scores.remove(id).unwrap_or_default(),
            tools: Vec::new(),
            episode,
        }
    }));
    Ok(())
}

pub(super) fn calls(store: &Store, filter: &Filter) -> Result<Vec<Call>, StoreError> {
    let only = named(store, filter)?;
    let mut calls = Vec::new();
    for experiment in experiments(store, filter)? {
        let found = find(store, &experiment, filter)?;
        for record in found.journalled {
            if is_named(only.as_ref(), &record.episode) {
                calls.extend(record.calls);
            }
        }
        for (path, episodes) in found.sealed {
            let ids: BTreeSet<String> = episodes
                .into_iter()
                .filter(|episode| is_named(only.as_ref(), episode))
                .map(|episode| episode.episode_id)
                .collect();
            if !ids.is_empty() {
                calls.extend(
                    rows_of::<Call>(store, &experiment, &path, &ids)?
                        .into_values()
                        .flatten(),
                );
            }
        }
    }
    calls.sort_by(|a, b| {
        (&a.experiment, &a.episode_id, a.sequence).cmp(&(&b.experiment, &b.episode_id, b.sequence))
    });
    Ok(calls)
}

/// Definitions of an experiment by toolset, each in list order.
fn experiment_tools(
    store: &Store,
    experiment: &str,
    journalled: Vec<ToolRow>,
) -> Result<BTreeMap<String, Vec<ToolRow>>, StoreError> {
    let mut rows = sealed_tools(store, experiment)?;
    rows.extend(journalled);
    let mut grouped: BTreeMap<String, Vec<ToolRow>> = BTreeMap::new();
    for row in merge_tools(rows) {
        grouped.entry(row.toolset_id.clone()).or_default().push(row);
    }
    Ok(grouped)
}

pub(super) fn sealed_tools(store: &Store, experiment: &str) -> Result<Vec<ToolRow>, StoreError> {
    let mut rows = Vec::new();
    for path in parts(&store.partition(Table::Tools, experiment))? {
        rows.append(&mut part::read::<ToolRow>(&path, experiment)?);
    }
    Ok(rows)
}

/// One row per toolset and tool, with the whole time it was seen; by toolset and position.
pub(super) fn merge_tools(rows: Vec<ToolRow>) -> Vec<ToolRow> {
    let mut merged: BTreeMap<(String, String), ToolRow> = BTreeMap::new();
    for row in rows {
        let key = (row.toolset_id.clone(), row.name.clone());
        match merged.get_mut(&key) {
            None => {
                merged.insert(key, row);
            }
            Some(known) => {
                known.first_seen_us = match (known.first_seen_us, row.first_seen_us) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                known.last_seen_us = known.last_seen_us.max(row.last_seen_us);
            }
        }
    }
    let mut rows: Vec<ToolRow> = merged.into_values().collect();
    rows.sort_by(|a, b| {
        (&a.toolset_id, a.position, &a.name).cmp(&(&b.toolset_id, b.position, &b.name))
    });
    rows
}

pub(super) fn tools(store: &Store, filter: &Filter) -> Result<Vec<ToolRow>, StoreError> {
    let wanted: Option<BTreeSet<String>> = if filter.selects_episodes() {
        let episodes = episodes(store, filter)?;
        Some(
            episodes
                .into_iter()
                .flat_map(|episode| [episode.toolset_seen, episode.toolset_meant])
                .flatten()
                .collect(),
        )
    } else {
        None
    };
    let mut rows = Vec::new();
    for experiment in experiments(store, filter)? {
        let journals = journal::read_folder(&store.journal_folder(&experiment))?;
        let journalled = journals
            .records
            .into_iter()
            .flat_map(|record| record.tools)
            .collect();
        rows.extend(
            experiment_tools(store, &experiment, journalled)?
                .into_values()
                .flatten()
                .filter(|row| {
                    wanted
                        .as_ref()
                        .is_none_or(|wanted| wanted.contains(&row.toolset_id))
                }),
        );
    }
    Ok(rows)
}

pub(super) fn toolset(store: &Store, toolset_id: &str) -> Result<Option<Toolset>, StoreError> {
    let mut incomplete = None;
    for experiment in store.experiments()? {
        let journals = journal::read_folder(&store.journal_folder(&experiment))?;
        let journalled = journals
            .records
            .into_iter()
            .flat_map(|record| record.tools)
            .collect();
        let Some(rows) = experiment_tools(store, &experiment, journalled)?.remove(toolset_id)
        else {
            continue;
        };
        let broken = |source: ToolsetError| StoreError::Toolset {
            id: toolset_id.to_owned(),
            source,
        };
        let definitions: Vec<Value> = rows
            .iter()
            .map(|row| serde_json::from_str(&row.definition))
            .collect::<Result<_, _>>()
            .map_err(|error| broken(error.into()))?;
        let tools = definitions.len();
        let toolset = Toolset::from_value(Value::Array(definitions)).map_err(broken)?;
        if toolset.id() == toolset_id {
            return Ok(Some(toolset));
        }
        incomplete = Some(StoreError::IncompleteToolset {
            id: toolset_id.to_owned(),
            tools,
        });
    }
    incomplete.map_or(Ok(None), Err)
}
