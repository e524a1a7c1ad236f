//! Which episodes are compared with which, and what is left out.

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;
use trajectory::{Episode, Status};

/// Two episodes that differ in nothing but the toolset version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) scenario: &'a str,
    pub(super) condition: Condition,
    pub(super) repeat: i32,
    pub(super) baseline: &'a Episode,
    pub(super) candidate: &'a Episode,
}

/// How much of an arm there is to compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Episodes the plan has.
    pub planned: usize,
    /// Episodes that ran to their end.
    pub completed: usize,
    /// Infrastructure errors, excluded.
    pub infra_errors: usize,
    /// Stopped from outside, or the agent could not go on: excluded as well.
    pub other: usize,
    /// Not recorded yet.
    pub missing: usize,
}

impl Coverage {
    /// Completed episodes among the planned ones.
    pub fn share(self) -> f64 {
        if self.planned == 0 {
            0.0
        } else {
            self.completed as f64 / self.planned as f64
        }
    }

    pub(crate) fn of(planned: usize, episodes: &[&Episode]) -> Self {
        let with = |status: Status| {
            episodes
                .iter()
                .filter(|episode| episode.status == status)
                .count()
        };
        let (completed, infra_errors) = (with(Status::Completed), with(Status::InfraError));
        let other = episodes.len() - completed - infra_errors;
        Self {
            planned,
            completed,
            infra_errors,
            other,
            missing: planned.saturating_sub(episodes.len()),
        }
    }
}

/// Scenario, condition and repeat: what the two episodes of a pair share.
type Key<'a> = (&'a str, Condition, i32);

fn by_key<'a>(episodes: &[&'a Episode]) -> BTreeMap<Key<'a>, &'a Episode> {
    episodes
        .iter()
        .filter(|episode| episode.status == Status::Completed)
        .filter_map(|episode| {
            let condition = episode.condition.as_deref()?.parse().ok()?;
            Some((
                (episode.scenario.as_deref()?, condition, episode.repeat?),
                *episode,
            ))
        })
        .collect()
}

/// Pairs of completed episodes, by scenario, condition and repeat.
pub(super) fn pair<'a>(baseline: &[&'a Episode], candidate: &[&'a Episode]) -> Vec<Pair<'a>> {
    let theirs = by_key(candidate);
    by_key(baseline)
        .into_iter()
        .filter_map(|(key, baseline)| {
            let (scenario, condition, repeat) = key;
            theirs.get(&key).map(|candidate| Pair {
                scenario,
                condition,
                repeat,
                baseline,
                candidate,
            })
        })
        .collect()
}
