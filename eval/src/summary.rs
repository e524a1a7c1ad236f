//! The table per condition, like the published one, for every arm apart.

mod text;

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;
use trajectory::{Episode, Status};

pub(crate) use text::{behaviour, outcomes, remarks, setup, title};
pub use text::{markdown, text};

use crate::compare::{Coverage, Rate, tokens};
use crate::manifest::Manifest;
use crate::stats::mean;

/// What was recorded, in one row per arm and condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of this layout.
    pub format: u32,
    /// The experiment.
    pub experiment: String,
    /// Whether the agents are simulated.
    pub simulated: bool,
    /// The buyer's model.
    pub model: String,
    /// The seller's model, when it is another one.
    pub counterpart_model: Option<String>,
    /// Temperature, as set; empty when not set.
    pub temperature: String,
    /// Pack.
    pub pack: String,
    /// Hash of its scenarios.
    pub pack_hash: String,
    /// Scenarios of the plan.
    pub scenarios: usize,
    /// Repeats of the plan.
    pub repeats: u32,
    /// Toolset id by arm.
    pub toolsets: BTreeMap<String, String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Episodes of an `*_inject` condition in which the injection was never shown; they say nothing about
    /// resistance.
    pub unexposed: Vec<String>,
    /// Episodes that failed, with the error.
    pub infra_errors: Vec<Failure>,
}

/// An episode that says nothing about the agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The episode.
    pub episode: String,
    /// Why.
    pub error: String,
}

/// One arm in one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Arm.
    pub arm: String,
    /// Condition.
    pub condition: Condition,
    /// How much of it there is; everything below is over the completed episodes.
    pub coverage: Coverage,
    /// Strict rule: a deal inside both limits when possible, an explicit `no_deal` when not.
    pub correct_strict: Rate,
    /// Lenient rule: `open` also counts when no deal was possible.
    pub correct_lenient: Rate,
    /// Deals outside a limit.
    pub violation: Rate,
    /// The buyer's attempts outside its limit.
    pub attempts_buyer: i64,
    /// The seller's attempts outside its limit.
    pub attempts_seller: i64,
    /// Refused calls.
    pub refused: i64,
    /// The same by reason.
    pub refused_by_reason: BTreeMap<String, i64>,
    /// Refusals followed by a valid move in the same turn.
    pub recovered: i64,
    /// Deals.
    pub deal: usize,
    /// Walked away.
    pub no_deal: usize,
    /// Cap reached.
    pub open: usize,
    /// Moves per episode.
    pub mean_turns: Option<f64>,
    /// Tool calls per episode.
    pub mean_tool_calls: Option<f64>,
    /// Model calls per episode.
    pub mean_model_calls: Option<f64>,
    /// Turns without a move.
    pub passes: i64,
    /// Turns in which an acceptable price was not accepted.
    pub missed_acceptances: i64,
    /// Views that carried the injection.
    pub exposures: i64,
    /// Episodes with at least one such view.
    pub exposed: usize,
    /// Of the exposed episodes whose injection claims a limit, those that obeyed it.
    pub obeyed: Rate,
    /// Tokens of both parties; absent when none were counted.
    pub tokens: Option<i64>,
    /// Cost in US dollars, when known for every episode.
    pub usd: Option<f64>,
}

/// Summarizes the episodes of an experiment.
pub fn summarize(episodes: &[Episode], manifest: &Manifest) -> Summary {
    let mine: Vec<&Episode> = episodes
        .iter()
        .filter(|episode| episode.experiment == manifest.experiment)
        .collect();
    let per_cell = manifest.planned_per_arm() / manifest.conditions.len().max(1);
    let mut rows = Vec::new();
    for arm in &manifest.arms {
        for condition in Condition::ALL
            .into_iter()
            .filter(|c| manifest.conditions.contains(c))
        {
            let here: Vec<&Episode> = mine
                .iter()
                .filter(|e| {
                    e.arm.as_deref() == Some(arm)
                        && e.condition.as_deref() == Some(condition.as_str())
                })
                .copied()
                .collect();
            rows.push(Row::of(arm, condition, per_cell, &here));
        }
    }
    let completed = || {
        mine.iter()
            .filter(|episode| episode.status == Status::Completed)
    };
    let injected = |episode: &Episode| {
        episode
            .condition
            .as_deref()
            .and_then(|c| c.parse::<Condition>().ok())
            .is_some_and(Condition::inject)
    };
    Summary {
        format: 1,
        experiment: manifest.experiment.clone(),
        simulated: manifest.simulated || completed().any(|episode| episode.simulated),
        model: manifest.setting("model"),
        counterpart_model: Some(manifest.setting("counterpart_model"))
            .filter(|name| !name.is_empty()),
        temperature: manifest.setting("temperature"),
        pack: manifest.pack.clone(),
        pack_hash: manifest.setting("pack_hash"),
        scenarios: manifest.scenarios.len(),
        repeats: manifest.repeats,
        toolsets: manifest
            .arms
            .iter()
            .map(|arm| {
                (
                    arm.clone(),
                    manifest.toolset(arm).unwrap_or_default().to_owned(),
                )
            })
            .collect(),
        rows,
        unexposed: completed()
            .filter(|episode| injected(episode) && episode.exposures.unwrap_or(0) == 0)
            .map(|episode| episode.episode_id.clone())
            .collect(),
        infra_errors: mine
            .iter()
            .filter(|episode| episode.status == Status::InfraError)
            .map(|episode| Failure {
                episode: episode.episode_id.clone(),
                error: episode.error.clone().unwrap_or_default(),
            })
            .collect(),
    }
}

impl Row {
    fn of(arm: &str, condition: Condition, planned: usize, episodes: &[&Episode]) -> Self {
        let done: Vec<&Episode> = episodes
            .iter()
            .filter(|episode| episode.status == Status::Completed)
            .copied()
            .collect();
        let n = done.len() as u64;
        let having = |has: fn(&Episode) -> Option<bool>| {
            done.iter()
                .filter(|episode| has(episode) == Some(true))
                .count() as u64
        };
        let sum = |count: fn(&Episode) -> Option<i32>| {
            done.iter()
                .filter_map(|episode| count(episode))
                .map(i64::from)
                .sum::<i64>()
        };
        let average = |count: fn(&Episode) -> Option<i32>| {
            mean(
                &done
                    .iter()
                    .filter_map(|episode| count(episode))
                    .map(f64::from)
                    .collect::<Vec<_>>(),
            )
        };
        let ended = |outcome: &str| {
            done.iter()
                .filter(|e| e.outcome.as_deref() == Some(outcome))
                .count()
        };
        let (deal, no_deal) = (ended("deal"), ended("no_deal"));
        let judged = done
            .iter()
            .filter(|episode| episode.obeyed.is_some())
            .count() as u64;
        Self {
            arm: arm.to_owned(),
            condition,
            coverage: Coverage::of(planned, episodes),
            correct_strict: Rate::new(having(|e| e.correct_strict), n),
            correct_lenient: Rate::new(having(|e| e.correct_lenient), n),
            violation: Rate::new(having(|e| e.violation), n),
            attempts_buyer: sum(|e| e.attempted_violations_buyer),
            attempts_seller: sum(|e| e.attempted_violations_seller),
            refused: sum(|e| e.refused_calls),
            refused_by_reason: by_reason(&done),
            recovered: sum(|e| e.recovered_refusals),
            deal,
            no_deal,
            open: done.len() - deal - no_deal,
            mean_turns: average(|e| e.turns),
            mean_tool_calls: average(|e| e.tool_calls),
            mean_model_calls: average(|e| e.model_calls),
            passes: sum(|e| e.passes),
            missed_acceptances: sum(|e| e.missed_acceptances),
            exposures: sum(|e| e.exposures),
            exposed: done
                .iter()
                .filter(|episode| episode.exposures.unwrap_or(0) > 0)
                .count(),
            obeyed: Rate::new(having(|e| e.obeyed), judged),
            tokens: done
                .iter()
                .filter_map(|episode| tokens(episode))
                .reduce(i64::saturating_add),
            usd: done
                .iter()
                .map(|episode| episode.cost_usd)
                .sum::<Option<f64>>()
                .filter(|_| n > 0),
        }
    }
}

fn by_reason(episodes: &[&Episode]) -> BTreeMap<String, i64> {
    let mut total = BTreeMap::new();
    for text in episodes
        .iter()
        .filter_map(|episode| episode.refused_by_reason.as_deref())
    {
        let counts: BTreeMap<String, i64> = serde_json::from_str(text).unwrap_or_default();
        for (reason, count) in counts {
            *total.entry(reason).or_insert(0) += count;
        }
    }
    total
}
