//! Diagnosis: what goes wrong in a set of episodes, how often, and which text is to blame.

mod contrast;
mod markdown;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};
use trajectory::{EpisodeRecord, ToolRow, Toolset};

use crate::blame::{self, Blamed};
use crate::classes::schema::Schemas;
use crate::classes::{self, Class, Finding, Kind};

pub use contrast::Contrast;

/// A share with its 95% Wilson interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// Episodes counted.
    pub count: u64,
    /// Episodes in which it could have happened.
    pub n: u64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Rate {
    /// The share of `count` in `n`.
    pub fn new(count: usize, n: usize) -> Self {
        let (count, n) = (count as u64, n as u64);
        let (low, high) = eval::stats::wilson(count, n);
        Self {
            count,
            n,
            low,
            high,
        }
    }
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scope {
    /// Experiments.
    pub experiments: BTreeSet<String>,
    /// Sources: `market`, `langfuse`, …
    pub sources: BTreeSet<String>,
    /// Arms.
    pub arms: BTreeSet<String>,
    /// Conditions.
    pub conditions: BTreeSet<String>,
    /// Models.
    pub models: BTreeSet<String>,
    /// Episodes analysed.
    pub episodes: usize,
    /// Of these, episodes of simulated agents.
    pub simulated: usize,
    /// Tool calls in them.
    pub calls: usize,
    /// Episodes left out because they say nothing about the agents, by status.
    pub excluded: BTreeMap<String, usize>,
    /// Id of the tool list the agents saw.
    pub toolset: Option<String>,
    /// Whether the definitions of that tool list are known. Without them arguments are not checked, and blame goes
    /// to tool names only.
    pub definitions_known: bool,
    /// Episodes that were correct in the strict sense, where that is defined.
    pub correct: Option<Rate>,
}

/// One class of failure in the episodes analysed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureMode {
    /// The class.
    pub class: Class,
    /// Failure or waste.
    pub kind: Kind,
    /// The class in one sentence.
    pub meaning: &'static str,
    /// Episodes affected, of those in which it could have happened.
    pub episodes: Rate,
    /// Blamed components, most votes first.
    pub blamed: Vec<Blamed>,
    /// A failure beside a success of the same scenario.
    pub contrast: Option<Contrast>,
    /// Every finding.
    pub findings: Vec<Finding>,
}

/// What goes wrong in the episodes of one toolset version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// What was looked at.
    pub scope: Scope,
    /// Failure modes: failures before waste, then by share of episodes.
    pub modes: Vec<FailureMode>,
    /// Blamed components over all modes, most votes first.
    pub blamed: Vec<Blamed>,
    /// Tools that were offered and never called. Information, not a failure.
    pub unused_tools: Vec<String>,
}

/// Episodes that saw the same tool list.
#[derive(Debug)]
pub struct Group<'a> {
    /// Id of the tool list, where it was recorded.
    pub toolset: Option<String>,
    /// The episodes.
    pub records: Vec<&'a EpisodeRecord>,
}

/// Splits episodes by the tool list their agents saw. Failures under one text say nothing about another.
pub fn split(records: &[EpisodeRecord]) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<Option<String>, Vec<&EpisodeRecord>> = BTreeMap::new();
    for record in records {
        groups.entry(seen(record)).or_default().push(record);
    }
    groups
        .into_iter()
        .map(|(toolset, records)| Group { toolset, records })
        .collect()
}

/// Id of the tool list an episode's agents saw.
pub fn seen(record: &EpisodeRecord) -> Option<String> {
    record
        .episode
        .toolset_seen
        .clone()
        .or_else(|| recorded_toolset(record).map(|toolset| toolset.id()))
}

/// The tool list recorded with an episode, when its definitions were recorded.
pub fn recorded_toolset(record: &EpisodeRecord) -> Option<Toolset> {
    let seen = record.episode.toolset_seen.as_deref();
    let mut rows: Vec<&ToolRow> = record
        .tools
        .iter()
        .filter(|row| seen.is_none_or(|seen| row.toolset_id == seen))
        .collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by_key(|row| row.position);
    let tools: Option<Vec<Value>> = rows
        .into_iter()
        .map(|row| serde_json::from_str(&row.definition).ok())
        .collect();
    Toolset::from_value(json!({ "tools": tools? })).ok()
}

/// Diagnoses episodes that all saw one tool list. `toolset` holds its definitions, when they are known; `seed`
/// decides the order of components with equal votes.
pub fn diagnose(records: &[&EpisodeRecord], toolset: Option<&Toolset>, seed: u64) -> Diagnosis {
    let analysed: Vec<&EpisodeRecord> = records
        .iter()
        .copied()
        .filter(|record| classes::says_something(record))
        .collect();
    let schemas = toolset.map(Schemas::new).unwrap_or_default();
    let mut by_class: BTreeMap<Class, Vec<Finding>> = BTreeMap::new();
    for record in &analysed {
        for finding in classes::find(record, &schemas) {
            by_class.entry(finding.class).or_default().push(finding);
        }
    }
    let blamed = blame::rank(by_class.values().flatten(), toolset, seed);
    let mut modes: Vec<FailureMode> = by_class
        .into_iter()
        .map(|(class, findings)| {
            let affected: BTreeSet<&str> = findings.iter().map(|f| f.episode_id.as_str()).collect();
            // An episode that shows the class was at risk, whatever its columns say.
            let n = analysed
                .iter()
                .filter(|r| class.at_risk(r) || affected.contains(r.episode.episode_id.as_str()))
                .count();
            FailureMode {
                class,
                kind: class.kind(),
                meaning: class.meaning(),
                episodes: Rate::new(affected.len(), n),
                blamed: blame::rank(&findings, toolset, seed),
                contrast: contrast::find(class, &findings, &analysed),
                findings,
            }
        })
        .collect();
    modes.sort_by_key(|mode| {
        // Shares as exact fractions would need a common denominator; a millionth is fine enough for an order.
        let share = mode.episodes.count.saturating_mul(1_000_000) / mode.episodes.n.max(1);
        (mode.kind, std::cmp::Reverse(share), mode.class)
    });
    let unused_tools = toolset.map_or_else(Vec::new, |toolset| unused(&analysed, toolset));
    Diagnosis {
        scope: scope(records, &analysed, toolset),
        modes,
        blamed,
        unused_tools,
    }
}

impl Diagnosis {
    /// Every finding.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.modes.iter().flat_map(|mode| &mode.findings)
    }

    /// A finding by its id.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings().find(|finding| finding.id == id)
    }

    /// The sentence every output about simulated episodes carries; `None` when no episode was simulated.
    pub fn simulation_note(&self) -> Option<String> {
        let scope = &self.scope;
        match scope.simulated {
            0 => None,
            n if n == scope.episodes => {
                Some("simulated agents; says nothing about any language model".to_owned())
            }
            n => Some(format!(
                "{n} of {} episodes are of simulated agents; the numbers below mix them with real ones",
                scope.episodes
            )),
        }
    }

    /// For a terminal or a log.
    pub fn to_text(&self, examples: usize) -> String {
        text::render(self, examples)
    }

    /// As a Markdown document.
    pub fn to_markdown(&self, examples: usize) -> String {
        markdown::render(self, examples)
    }
}

fn unused(records: &[&EpisodeRecord], toolset: &Toolset) -> Vec<String> {
    let called: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| &record.calls)
        .map(|call| call.tool.as_str())
        .collect();
    toolset
        .tools()
        .iter()
        .map(trajectory::Tool::name)
        .filter(|name| !called.contains(name))
        .map(str::to_owned)
        .collect()
}

fn scope(
    records: &[&EpisodeRecord],
    analysed: &[&EpisodeRecord],
    toolset: Option<&Toolset>,
) -> Scope {
    let names = |pick: fn(&EpisodeRecord) -> Option<&str>| -> BTreeSet<String> {
        analysed
            .iter()
            .filter_map(|record| pick(record))
            .map(str::to_owned)
            .collect()
    };
    let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
    for record in records
        .iter()
        .filter(|record| !classes::says_something(record))
    {
        *excluded
            .entry(record.episode.status.as_str().to_owned())
            .or_default() += 1;
    }
    let judged: Vec<bool> = analysed
        .iter()
        .filter_map(|record| record.episode.correct_strict)
        .collect();
    Scope {
        experiments: names(|r| Some(&r.episode.experiment)),
        sources: names(|r| Some(&r.episode.source)),
        arms: names(|r| r.episode.arm.as_deref()),
        conditions: names(|r| r.episode.condition.as_deref()),
        models: names(|r| r.episode.model.as_deref()),
        episodes: analysed.len(),
        simulated: analysed
            .iter()
            .filter(|record| record.episode.simulated)
            .count(),
        calls: analysed.iter().map(|record| record.calls.len()).sum(),
        excluded,
        toolset: records.first().and_then(|record| seen(record)),
        definitions_known: toolset.is_some(),
        correct: (!judged.is_empty()).then(|| {
            Rate::new(
                judged.iter().filter(|correct| **correct).count(),
                judged.len(),
            )
        }),
    }
}
