//! Sizes: of one text, of one edit, of the whole toolset.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use trajectory::Toolset;

use super::{Fault, Reason};
use crate::patch::Edit;

/// How large things may become.
///
/// Clients cut descriptions off (the lowest cut-off known for function descriptions is 1024 characters), every
/// character is paid for in every request, and longer descriptions help no further: hence caps per text and a cap on
/// the growth of the whole.
///
/// The growth rule is applied to the sum of all texts of the toolset, not to each of them: a one-line description of
/// 20 characters could otherwise never say anything. And it has a floor: a toolset may always grow to
/// `floor_per_tool` characters for each tool and `floor_per_parameter` for each parameter, about three sentences and
/// one; only beyond that may the whole be at most `growth` times what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Characters of a tool's description.
    pub tool_characters: usize,
    /// Characters of a parameter's description.
    pub parameter_characters: usize,
    /// Growth of the sum of all texts.
    pub growth: usize,
    /// Characters per tool that are always allowed in the sum.
    pub floor_per_tool: usize,
    /// Characters per parameter that are always allowed in the sum.
    pub floor_per_parameter: usize,
    /// Words one edit may add and remove together.
    pub edit_words: usize,
    /// Edits of one proposal.
    pub edits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_characters: 1000,
            parameter_characters: 300,
            growth: 2,
            floor_per_tool: 400,
            floor_per_parameter: 120,
            edit_words: 160,
            edits: 12,
        }
    }
}

impl Limits {
    /// The cap of one component.
    pub(crate) fn cap(&self, is_parameter: bool) -> usize {
        if is_parameter {
            self.parameter_characters
        } else {
            self.tool_characters
        }
    }

    /// Characters the sum of all texts may reach.
    pub(crate) fn whole(&self, original: &Toolset) -> usize {
        let floor: usize = original
            .components()
            .iter()
            .map(|(id, _)| {
                if id.parameter.is_some() {
                    self.floor_per_parameter
                } else {
                    self.floor_per_tool
                }
            })
            .sum();
        floor.max(total(original).saturating_mul(self.growth))
    }
}

/// Characters of all texts.
pub(crate) fn total(toolset: &Toolset) -> usize {
    toolset
        .components()
        .iter()
        .map(|(_, text)| text.chars().count())
        .sum()
}

pub(crate) fn check(
    edit: &Edit,
    old: &str,
    candidate: &Toolset,
    original: &Toolset,
    limits: &Limits,
) -> Result<(), Fault> {
    let length = edit.text.chars().count();
    let cap = limits.cap(edit.parameter.is_some());
    let before = old.chars().count();
    // A text that was over the cap may stay over it while it becomes shorter.
    if length > cap && length >= before {
        return Err((
            Reason::TooLong,
            format!("{length} characters; at most {cap} are allowed"),
        ));
    }
    let whole = total(candidate)
        .saturating_sub(before)
        .saturating_add(length);
    let allowed = limits.whole(original);
    if whole > allowed && length >= before {
        return Err((
            Reason::TooLong,
            format!(
                "all texts together would have {whole} characters; at most {allowed} are allowed"
            ),
        ));
    }
    let words = changed_words(old, &edit.text);
    if words > limits.edit_words {
        return Err((
            Reason::EditTooLarge,
            format!(
                "{words} words change; at most {} may, so that a reviewer can follow",
                limits.edit_words
            ),
        ));
    }
    Ok(())
}

/// Words added and removed.
pub(crate) fn changed_words(old: &str, new: &str) -> usize {
    TextDiff::from_words(old, new)
        .iter_all_changes()
        .filter(|change| change.tag() != ChangeTag::Equal && !change.value().trim().is_empty())
        .count()
}
