//! Contrast: a failure beside a success of the same scenario, so that a reader sees what went differently.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use trajectory::EpisodeRecord;

use crate::classes::{Class, Finding};

/// A pair of episodes of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contrast {
    /// Id of the finding that shows the failure.
    pub failure: String,
    /// Its episode.
    pub failed_episode: String,
    /// An episode of the same scenario in which the class could have shown itself and did not.
    pub success_episode: String,
    /// The scenario.
    pub scenario: String,
    /// Whether both ran under the same condition.
    pub same_condition: bool,
    /// Whether the success was correct in the strict sense (as opposed to merely without this failure).
    pub success_correct: bool,
}

/// The best pair there is: correct before incorrect, then the same condition before another, then by id.
pub(super) fn find(
    class: Class,
    findings: &[Finding],
    records: &[&EpisodeRecord],
) -> Option<Contrast> {
    let failed: BTreeSet<&str> = findings
        .iter()
        .map(|finding| finding.episode_id.as_str())
        .collect();
    let mut successes: BTreeMap<&str, Vec<&EpisodeRecord>> = BTreeMap::new();
    for record in records.iter().filter(|record| class.at_risk(record)) {
        let id = record.episode.episode_id.as_str();
        if let (Some(scenario), false) = (record.episode.scenario.as_deref(), failed.contains(id)) {
            successes.entry(scenario).or_default().push(record);
        }
    }
    let mut best: Option<((bool, bool), Contrast)> = None;
    for finding in findings {
        let Some(scenario) = finding.scenario.as_deref() else {
            continue;
        };
        for record in successes.get(scenario).into_iter().flatten() {
            let same_condition = record.episode.condition == finding.condition;
            let success_correct = record.episode.correct_strict == Some(true);
            let quality = (success_correct, same_condition);
            if best.as_ref().is_none_or(|(known, _)| quality > *known) {
                let contrast = Contrast {
                    failure: finding.id.clone(),
                    failed_episode: finding.episode_id.clone(),
                    success_episode: record.episode.episode_id.clone(),
                    scenario: scenario.to_owned(),
                    same_condition,
                    success_correct,
                };
                if quality == (true, true) {
                    return Some(contrast);
                }
                best = Some((quality, contrast));
            }
        }
    }
    best.map(|(_, contrast)| contrast)
}
