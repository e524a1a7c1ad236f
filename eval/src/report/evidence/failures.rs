//! Failure classes before and after.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::FailureClass;

/// Episodes of one version that show a class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Affected {
    /// Episodes in which it could have happened; absent when the class was not looked for.
    pub at_risk: Option<usize>,
    /// Ids of the episodes in which it happened.
    pub episodes: Vec<String>,
}

/// A class of failure in both versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its name.
    pub class: String,
    /// What it means.
    pub meaning: String,
    /// Whether it is only waste.
    pub waste: bool,
    /// The baseline's episodes.
    pub baseline: Affected,
    /// The candidate's episodes.
    pub candidate: Affected,
}

/// Both versions' classes: failures before waste, then by the number of episodes.
pub(super) fn merge(baseline: Vec<FailureClass>, candidate: Vec<FailureClass>) -> Vec<Failure> {
    let mut merged: BTreeMap<String, Failure> = BTreeMap::new();
    let both = baseline
        .into_iter()
        .map(|class| (true, class))
        .chain(candidate.into_iter().map(|class| (false, class)));
    for (first, found) in both {
        let failure = merged
            .entry(found.class.clone())
            .or_insert_with(|| Failure {
                class: found.class,
                meaning: found.meaning,
                waste: found.waste,
                baseline: Affected::default(),
                candidate: Affected::default(),
            });
        let affected = Affected {
            at_risk: Some(found.at_risk),
            episodes: found.episodes,
        };
        if first {
            failure.baseline = affected;
        } else {
            failure.candidate = affected;
        }
    }
    let happened =
        |failure: &Failure| failure.baseline.episodes.len() + failure.candidate.episodes.len();
    let mut rows: Vec<Failure> = merged
        .into_values()
        .filter(|failure| happened(failure) > 0)
        .collect();
    rows.sort_by_key(|failure| (failure.waste, std::cmp::Reverse(happened(failure))));
    rows
}
