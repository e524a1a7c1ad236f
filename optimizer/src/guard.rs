//! The guard: nothing a rewriter says reaches a toolset without passing here.
//!
//! Every edit is judged on its own, in the order of the patch, against the original toolset, the episodes and what
//! was accepted before it. What fails is kept with a named reason, counted and shown; the rest of the patch goes on.
//! The last check looks at the result and not at the edit: the canonical structure of the toolset must be the same
//! bytes as before.

pub(crate) mod characters;
pub(crate) mod evidence;
pub(crate) mod language;
pub(crate) mod leaks;
pub(crate) mod markup;
pub(crate) mod size;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;
use trajectory::{ComponentId, EpisodeRecord, Toolset};

use crate::patch::{Edit, Patch};
use evidence::Evidence;
pub use size::Limits;

/// Why a reply or an edit was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The reply is not a patch.
    NotJson,
    /// The reply was cut off.
    Truncated,
    /// The model declined.
    Refusal,
    /// No reply, no edits, or an edit without text.
    Empty,
    /// The toolset has no such tool.
    UnknownTool,
    /// The tool has no such parameter.
    UnknownParameter,
    /// A cited failure does not exist, or none is cited.
    UnknownFailure,
    /// The text says what it said before.
    NoChange,
    /// The component was already rewritten.
    Duplicate,
    /// More edits than allowed.
    TooManyEdits,
    /// The text, or with it the whole toolset, is longer than the limits.
    TooLong,
    /// More words change than a reviewer can follow.
    EditTooLarge,
    /// Applied, something other than a text would change.
    StructureChanged,
    /// A placeholder of the original text is gone.
    PlaceholderDropped,
    /// Words taken over from what a counterpart or a tool said in an episode.
    CopiesTrace,
    /// A number, name or secret that is in the episodes and not in the original texts or schemas.
    LeaksValue,
    /// Characters that readers do not see, or that look like others.
    InvisibleUnicode,
    /// Tags, code, headings, links or encoded data that the original does not have.
    Markup,
    /// Orders aimed at the agent's other tools, its user or its instructions.
    InstructionLike,
    /// Wins by urgency or claims of superiority, and not by information.
    Coercive,
    /// The same text for the same component was rejected before.
    AlreadyRejected,
}

impl Reason {
    /// The name as written in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotJson => "not_json",
            Self::Truncated => "truncated",
            Self::Refusal => "refusal",
            Self::Empty => "empty",
            Self::UnknownTool => "unknown_tool",
            Self::UnknownParameter => "unknown_parameter",
            Self::UnknownFailure => "unknown_failure",
            Self::NoChange => "no_change",
            Self::Duplicate => "duplicate",
            Self::TooManyEdits => "too_many_edits",
            Self::TooLong => "too_long",
            Self::EditTooLarge => "edit_too_large",
            Self::StructureChanged => "structure_changed",
            Self::PlaceholderDropped => "placeholder_dropped",
            Self::CopiesTrace => "copies_trace",
            Self::LeaksValue => "leaks_value",
            Self::InvisibleUnicode => "invisible_unicode",
            Self::Markup => "markup",
            Self::InstructionLike => "instruction_like",
            Self::Coercive => "coercive",
            Self::AlreadyRejected => "already_rejected",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that was rejected, kept for the proposal and for the rewriter's next round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// What exactly, for people.
    pub detail: String,
    /// The edit; none when a whole reply was unusable.
    pub edit: Option<Box<Edit>>,
}

impl Rejection {
    /// A rejection of a whole reply.
    pub(crate) fn of_reply(reason: Reason, detail: &str) -> Self {
        Self {
            reason,
            detail: detail.to_owned(),
            edit: None,
        }
    }
}

/// A failed check.
pub(crate) type Fault = (Reason, String);

/// Counts rejections by reason.
pub fn count(rejections: &[Rejection]) -> BTreeMap<Reason, usize> {
    let mut counts = BTreeMap::new();
    for rejection in rejections {
        *counts.entry(rejection.reason).or_default() += 1;
    }
    counts
}

/// Judges edits, round by round, and holds the candidate they add up to.
#[derive(Debug)]
pub struct Guard {
    original: Toolset,
    candidate: Toolset,
    evidence: Evidence,
    failures: BTreeSet<String>,
    limits: Limits,
    accepted: Vec<Edit>,
    rejected: BTreeSet<(ComponentId, String)>,
}

impl Guard {
    /// A guard for rewriting `original` on the evidence of `records`, where `failures` are the ids that may be cited.
    pub fn new(
        original: &Toolset,
        records: &[&EpisodeRecord],
        failures: BTreeSet<String>,
        limits: Limits,
    ) -> Self {
        Self {
            original: original.clone(),
            candidate: original.clone(),
            evidence: Evidence::collect(records, original),
            failures,
            limits,
            accepted: Vec::new(),
            rejected: BTreeSet::new(),
        }
    }

    /// Judges a patch: applies what passes to the candidate and returns what does not.
    pub fn judge(&mut self, patch: Patch) -> Vec<Rejection> {
        let mut rejections = Vec::new();
        for edit in patch.edits {
            match self.check(&edit) {
                Ok(candidate) => {
                    self.candidate = candidate;
                    self.accepted.push(edit);
                }
                Err((reason, detail)) => {
                    self.rejected
                        .insert((edit.component(), words::normal(&edit.text)));
                    rejections.push(Rejection {
                        reason,
                        detail,
                        edit: Some(Box::new(edit)),
                    });
                }
            }
        }
        rejections
    }

    /// The edits that passed.
    pub fn accepted(&self) -> &[Edit] {
        &self.accepted
    }

    /// The toolset with the edits that passed.
    pub fn candidate(&self) -> &Toolset {
        &self.candidate
    }

    fn check(&self, edit: &Edit) -> Result<Toolset, Fault> {
        let component = edit.component();
        let old = self.target(edit, &component)?;
        self.citations(edit)?;
        let text = edit.text.as_str();
        if words::squeezed(text) == words::squeezed(&old) {
            return Err((Reason::NoChange, "the text is the same".to_owned()));
        }
        characters::check(text, &self.evidence)?;
        size::check(edit, &old, &self.candidate, &self.original, &self.limits)?;
        markup::check(text, &self.evidence)?;
        markup::placeholders(text, &old)?;
        language::check(text, &old, &self.evidence)?;
        leaks::check(text, &self.evidence)?;
        let mut candidate = self.candidate.clone();
        candidate.set_text(&component, text);
        structure(&self.original, &candidate)?;
        Ok(candidate)
    }

    /// The text to be replaced, when the edit may replace it.
    fn target(&self, edit: &Edit, component: &ComponentId) -> Result<String, Fault> {
        if self.original.tool(&edit.tool).is_none() {
            return Err((
                Reason::UnknownTool,
                format!("there is no tool `{}`", edit.tool),
            ));
        }
        let Some(old) = self.original.text(component) else {
            return Err((
                Reason::UnknownParameter,
                format!("there is no parameter `{component}`"),
            ));
        };
        if edit.text.trim().is_empty() {
            return Err((Reason::Empty, "the new text is empty".to_owned()));
        }
        if self
            .accepted
            .iter()
            .any(|known| known.component() == *component)
        {
            return Err((
                Reason::Duplicate,
                format!("`{component}` was already rewritten"),
            ));
        }
        if self
            .rejected
            .contains(&(component.clone(), words::normal(&edit.text)))
        {
            return Err((
                Reason::AlreadyRejected,
                "the same text was rejected before".to_owned(),
            ));
        }
        if self.accepted.len() >= self.limits.edits {
            return Err((
                Reason::TooManyEdits,
                format!("at most {} edits are allowed", self.limits.edits),
            ));
        }
        Ok(old)
    }

    fn citations(&self, edit: &Edit) -> Result<(), Fault> {
        if edit.answers.is_empty() {
            return Err((
                Reason::UnknownFailure,
                "the edit cites no failure".to_owned(),
            ));
        }
        match edit.answers.iter().find(|id| !self.failures.contains(*id)) {
            Some(id) => Err((
                Reason::UnknownFailure,
                format!(
                    "`{}` is not a failure of these episodes",
                    crate::visible::line(id, 40)
                ),
            )),
            None => Ok(()),
        }
    }
}

/// The structural guard: names, types, `required`, enums, nesting, annotations and order are the same bytes.
pub fn structure(original: &Toolset, candidate: &Toolset) -> Result<(), (Reason, String)> {
    if original.structure() == candidate.structure() {
        return Ok(());
    }
    let detail = "something other than a description would change".to_owned();
    Err((Reason::StructureChanged, detail))
}
