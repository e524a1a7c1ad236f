//! From episodes to a proposal: diagnose, draft, judge, write down.

use std::collections::{BTreeMap, BTreeSet};

use trajectory::{EpisodeRecord, Toolset};

use crate::classes;
use crate::diagnosis::{self, Diagnosis};
use crate::guard::{self, Guard, Limits, Reason, Rejection};
use crate::patch::Edit;
use crate::reflect::{Brief, Observation, ReflectError, Reflector, Spent};

/// Options of a proposal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Seed of everything that is left to chance.
    pub seed: u64,
    /// How large things may become, and how many edits there may be.
    pub limits: Limits,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// What goes wrong.
    pub diagnosis: Diagnosis,
    /// The new version; none when nothing could be proposed.
    pub candidate: Option<Toolset>,
    /// The edits it consists of.
    pub edits: Vec<Edit>,
    /// Everything that was rejected.
    pub rejected: Vec<Rejection>,
    /// Failure modes a model saw.
    pub observed: Vec<Observation>,
    /// What it cost.
    pub spent: Spent,
    /// Name of the reflector.
    pub reflector: String,
    /// Things worth telling a reader.
    pub notes: Vec<String>,
    /// How large things were allowed to become.
    pub limits: Limits,
}

impl Outcome {
    /// Rejections by reason.
    pub fn rejections(&self) -> BTreeMap<Reason, usize> {
        guard::count(&self.rejected)
    }

    /// Why there is no candidate, in one sentence.
    pub fn why_nothing(&self) -> String {
        if self.diagnosis.scope.episodes == 0 {
            return "no episode says anything about the agents".to_owned();
        }
        if self.diagnosis.modes.is_empty() {
            return format!(
                "no failure was found in {} episodes",
                self.diagnosis.scope.episodes
            );
        }
        if self.diagnosis.blamed.is_empty() {
            return "no text of the toolset is to blame for the failures found".to_owned();
        }
        if self.rejected.is_empty() {
            return format!(
                "`{}` found nothing to say that the texts do not say already",
                self.reflector
            );
        }
        let counts: Vec<String> = self
            .rejections()
            .iter()
            .map(|(reason, n)| format!("{n} {reason}"))
            .collect();
        format!(
            "everything `{}` proposed was rejected: {}",
            self.reflector,
            counts.join(", ")
        )
    }
}

/// The episodes cannot be the ground for a proposal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// Nothing to look at.
    #[error("no episodes: record some with `eval run`, or import traces with `collector import`")]
    NoEpisodes,
    /// Texts of several versions were read.
    #[error("the episodes saw {} different toolsets ({}): failures under one text say nothing about another; choose one with --arm, --condition or --experiment, or with --toolset ID", .ids.len(), .ids.join(", "))]
    MixedToolsets {
        /// Ids, with the number of episodes.
        ids: Vec<String>,
    },
    /// The texts to be rewritten are not the ones that were read.
    #[error(
        "the episodes saw toolset {seen}, not {given}: a rewrite of texts the agents never read would not rest on evidence; leave --toolset out, or record episodes with it"
    )]
    OtherToolset {
        /// Seen.
        seen: String,
        /// Given.
        given: String,
    },
    /// The reflector failed.
    #[error(transparent)]
    Reflect(#[from] ReflectError),
}

/// Diagnoses the episodes and proposes a new version of `toolset`, the tool list their agents saw.
///
/// A toolset that was not recorded with the episodes (imported traces often lack it) may be given from outside; one
/// that contradicts what was recorded is refused.
pub async fn propose(
    records: &[EpisodeRecord],
    toolset: &Toolset,
    reflector: &dyn Reflector,
    options: &Options,
) -> Result<Outcome, ProposeError> {
    let group = one_group(records, toolset)?;
    let diagnosis = diagnosis::diagnose(&group, Some(toolset), options.seed);
    let analysed: Vec<&EpisodeRecord> = group
        .into_iter()
        .filter(|record| classes::says_something(record))
        .collect();
    let mut outcome = Outcome {
        diagnosis,
        candidate: None,
        edits: Vec::new(),
        rejected: Vec::new(),
        observed: Vec::new(),
        spent: Spent::default(),
        reflector: reflector.name(),
        notes: Vec::new(),
        limits: options.limits,
    };
    if outcome.diagnosis.blamed.is_empty() {
        return Ok(outcome);
    }
    let failures: BTreeSet<String> = outcome
        .diagnosis
        .findings()
        .map(|finding| finding.id.clone())
        .collect();
    let mut guard = Guard::new(toolset, &analysed, failures, options.limits);
    for _ in 0..reflector.rounds() {
        let brief = Brief {
            diagnosis: &outcome.diagnosis,
            toolset,
            records: &analysed,
            limits: &options.limits,
            seed: options.seed,
            accepted: guard.accepted(),
            rejected: &outcome.rejected,
        };
        let draft = reflector.draft(&brief).await?;
        outcome.spent.add(draft.spent);
        outcome.notes.extend(draft.notes);
        outcome.observed = draft.observed;
        let rejected = match draft.patch {
            Ok(patch) => guard.judge(patch),
            Err(rejection) => vec![rejection],
        };
        let mended = !rejected.is_empty();
        outcome.rejected.extend(rejected);
        // Another round is for mending what was rejected; a clean patch leaves nothing to mend.
        if !mended {
            break;
        }
    }
    outcome.edits = guard.accepted().to_vec();
    outcome.candidate = (!outcome.edits.is_empty()).then(|| guard.candidate().clone());
    Ok(outcome)
}

/// All episodes, when they saw one tool list and `toolset` is that one.
fn one_group<'a>(
    records: &'a [EpisodeRecord],
    toolset: &Toolset,
) -> Result<Vec<&'a EpisodeRecord>, ProposeError> {
    let mut groups = diagnosis::split(records);
    match groups.as_mut_slice() {
        [] => Err(ProposeError::NoEpisodes),
        [group] => match &group.toolset {
            Some(seen) if *seen != toolset.id() => Err(ProposeError::OtherToolset {
                seen: seen.clone(),
                given: toolset.id(),
            }),
            _ => Ok(std::mem::take(&mut group.records)),
        },
        several => Err(ProposeError::MixedToolsets {
            ids: several
                .iter()
                .map(|group| {
                    let id = group.toolset.as_deref().unwrap_or("not recorded");
                    format!("{id}: {}", group.records.len())
                })
                .collect(),
        }),
    }
}
