//! Pairs that differ, and texts that differ.

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;
use trajectory::{Episode, Toolset};

use super::metric::Metric;
use super::pairs::Pair;

/// A pair that differs in the metric of the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Discordant {
    /// Scenario.
    pub scenario: String,
    /// Condition.
    pub condition: Condition,
    /// Repeat.
    pub repeat: i32,
    /// The baseline's episode.
    pub baseline_episode: String,
    /// How it ended.
    pub baseline_outcome: String,
    /// The candidate's episode.
    pub candidate_episode: String,
    /// How it ended.
    pub candidate_outcome: String,
    /// Whether the candidate is the better one.
    pub candidate_better: bool,
}

/// A text that differs between the versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChange {
    /// `tool` or `tool(parameter)`.
    pub component: String,
    /// The baseline's text.
    pub baseline: String,
    /// The candidate's text.
    pub candidate: String,
}

pub(super) fn discordant(metric: Metric, pairs: &[Pair<'_>]) -> Vec<Discordant> {
    pairs
        .iter()
        .filter_map(|pair| {
            let (before, after) = (metric.of(pair.baseline)?, metric.of(pair.candidate)?);
            let differs = (after - before).abs() > f64::EPSILON && metric.is_binary();
            differs.then(|| Discordant {
                scenario: pair.scenario.to_owned(),
                condition: pair.condition,
                repeat: pair.repeat,
                baseline_episode: pair.baseline.episode_id.clone(),
                baseline_outcome: outcome(pair.baseline),
                candidate_episode: pair.candidate.episode_id.clone(),
                candidate_outcome: outcome(pair.candidate),
                candidate_better: (after > before) == metric.higher_is_better(),
            })
        })
        .collect()
}

fn outcome(episode: &Episode) -> String {
    let outcome = episode.outcome.as_deref().unwrap_or("unknown");
    match (episode.price, episode.violation_side.as_deref()) {
        (Some(price), Some(side)) => format!("{outcome} at {price}, outside the limit of {side}"),
        (Some(price), None) => format!("{outcome} at {price}"),
        (None, _) => outcome.to_owned(),
    }
}

/// The texts in which two versions differ, in the baseline's order.
pub fn changes(baseline: &Toolset, candidate: &Toolset) -> Vec<TextChange> {
    let after: BTreeMap<_, _> = candidate.components().into_iter().collect();
    baseline
        .components()
        .into_iter()
        .filter_map(|(component, before)| {
            let after = after.get(&component)?;
            (*after != before).then(|| TextChange {
                component: component.to_string(),
                baseline: before,
                candidate: after.clone(),
            })
        })
        .collect()
}
