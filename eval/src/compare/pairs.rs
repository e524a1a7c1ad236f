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
pub(super) type Key<'a> = (&'a str, Condition, i32);

/// What is recorded of every pair, whatever became of it: baseline and candidate.
pub(super) type Recorded<'a> = BTreeMap<Key<'a>, [Option<&'a Episode>; 2]>;

/// Sorts the episodes of both arms into pairs; those without scenario, condition or repeat belong to none.
pub(super) fn recorded<'a>(baseline: &[&'a Episode], candidate: &[&'a Episode]) -> Recorded<'a> {
    let mut pairs = Recorded::new();
    for (side, episodes) in [baseline, candidate].into_iter().enumerate() {
        for episode in episodes {
            let Some(key) = key(episode) else { continue };
            if let Some(place) = pairs.entry(key).or_default().get_mut(side) {
                *place = Some(*episode);
            }
        }
    }
    pairs
}

/// What an episode shares with its partner.
pub(super) fn key(episode: &Episode) -> Option<Key<'_>> {
    let condition = episode.condition.as_deref()?.parse().ok()?;
    Some((episode.scenario.as_deref()?, condition, episode.repeat?))
}

/// The pairs whose episodes both ran to their end.
pub(super) fn complete<'a>(recorded: &Recorded<'a>) -> Vec<Pair<'a>> {
    let ended = |episode: Option<&'a Episode>| {
        episode.filter(|episode| episode.status == Status::Completed)
    };
    recorded
        .iter()
        .filter_map(|(key, sides)| {
            let [baseline, candidate] = sides.map(ended);
            let (scenario, condition, repeat) = *key;
            Some(Pair {
                scenario,
                condition,
                repeat,
                baseline: baseline?,
                candidate: candidate?,
            })
        })
        .collect()
}
