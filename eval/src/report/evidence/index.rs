//! Every episode of both versions, side by side with its counterpart where there is one.

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;
use trajectory::{Episode, EpisodeRecord, Status};

use crate::compare::Metric;

/// One place of the plan: scenario, condition and repeat, with what either version made of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Pair<'a> {
    pub(super) scenario: &'a str,
    pub(super) condition: &'a str,
    pub(super) repeat: i32,
    pub(super) baseline: Option<&'a Episode>,
    pub(super) candidate: Option<&'a Episode>,
}

/// A pair of which both episodes ran to their end; the tables of the comparison count these.
#[derive(Debug, Clone, Copy)]
pub(super) struct Complete<'a> {
    pub(super) scenario: &'a str,
    pub(super) condition: &'a str,
    pub(super) baseline: &'a Episode,
    pub(super) candidate: &'a Episode,
}

/// Where a condition stands in every table; unknown ones come last, by name.
fn position(condition: &str) -> usize {
    Condition::ALL
        .iter()
        .position(|known| known.as_str() == condition)
        .unwrap_or(Condition::ALL.len())
}

/// All episodes, by condition, scenario and repeat.
pub(super) fn pair<'a>(
    baseline: &[&'a EpisodeRecord],
    candidate: &[&'a EpisodeRecord],
) -> Vec<Pair<'a>> {
    let mut places: BTreeMap<(usize, &str, &str, i32, usize), Pair<'a>> = BTreeMap::new();
    let both = baseline
        .iter()
        .map(|record| (true, &record.episode))
        .chain(candidate.iter().map(|record| (false, &record.episode)));
    for (first, episode) in both {
        let scenario = episode.scenario.as_deref().unwrap_or("unknown");
        let condition = episode.condition.as_deref().unwrap_or("unknown");
        let repeat = episode.repeat.unwrap_or(0);
        // A place is played once; a store that holds it twice gets a second row, so that no episode is lost.
        for again in 0.. {
            let place = places
                .entry((position(condition), condition, scenario, repeat, again))
                .or_default();
            (place.scenario, place.condition, place.repeat) = (scenario, condition, repeat);
            let side = if first {
                &mut place.baseline
            } else {
                &mut place.candidate
            };
            if side.is_none() {
                *side = Some(episode);
                break;
            }
        }
    }
    places.into_values().collect()
}

/// The pairs that the comparison counts.
pub(super) fn complete<'a>(pairs: &[Pair<'a>]) -> Vec<Complete<'a>> {
    let ended = |episode: Option<&'a Episode>| {
        episode.filter(|episode| episode.status == Status::Completed)
    };
    pairs
        .iter()
        .filter_map(|pair| {
            Some(Complete {
                scenario: pair.scenario,
                condition: pair.condition,
                baseline: ended(pair.baseline)?,
                candidate: ended(pair.candidate)?,
            })
        })
        .collect()
}

/// One place of the plan, for the index of episodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Played {
    /// Scenario.
    pub scenario: String,
    /// Condition.
    pub condition: String,
    /// Repeat.
    pub repeat: i32,
    /// What the baseline made of it.
    pub baseline: Option<Ended>,
    /// What the candidate made of it.
    pub candidate: Option<Ended>,
    /// Whether the two ended differently: another outcome, another value of a yes/no metric of the verdict,
    /// or only one of them ran to its end.
    pub differs: bool,
}

/// How an episode ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ended {
    /// The episode.
    pub episode: String,
    /// In words.
    pub outcome: String,
    /// Value of the metric of the verdict.
    pub value: Option<f64>,
}

impl Pair<'_> {
    pub(super) fn played(&self, metric: Option<Metric>) -> Played {
        let value = |episode: &Episode| metric.and_then(|metric| metric.of(episode));
        let ended = |episode: &Episode| Ended {
            episode: episode.episode_id.clone(),
            outcome: outcome(episode),
            value: value(episode),
        };
        let differs = match (self.baseline, self.candidate) {
            (Some(before), Some(after)) => {
                before.status != after.status
                    || before.outcome != after.outcome
                    || before.correct_strict != after.correct_strict
                    || metric.is_some_and(Metric::is_binary) && value(before) != value(after)
            }
            _ => true,
        };
        Played {
            scenario: self.scenario.to_owned(),
            condition: self.condition.to_owned(),
            repeat: self.repeat,
            baseline: self.baseline.map(ended),
            candidate: self.candidate.map(ended),
            differs,
        }
    }
}

/// How an episode ended, in words.
pub(in crate::report) fn outcome(episode: &Episode) -> String {
    if episode.status != Status::Completed {
        return episode.status.as_str().replace('_', " ");
    }
    let outcome = episode.outcome.as_deref().unwrap_or("unknown");
    match (episode.price, episode.violation_side.as_deref()) {
        (Some(price), Some(side)) => format!("{outcome} at {price}, outside the limit of {side}"),
        (Some(price), None) => format!("{outcome} at {price}"),
        (None, _) => outcome.to_owned(),
    }
}
