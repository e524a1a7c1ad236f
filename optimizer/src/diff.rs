//! The difference of two toolset versions: word by word for every text, and a clear word about anything else.

pub mod html;
pub mod json;
pub mod markdown;
mod structure;
pub mod text;
pub mod unified;

use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use trajectory::Toolset;

/// Whether a run of words is common to both texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tag {
    /// In both.
    Same,
    /// Only in the first.
    Removed,
    /// Only in the second.
    Added,
}

/// A run of words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// Where it stands.
    pub tag: Tag,
    /// The words, with the spaces between them.
    pub text: String,
}

/// One text that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextChange {
    /// The component, as [`trajectory::ComponentId`] writes it.
    pub component: String,
    /// Tool.
    pub tool: String,
    /// Parameter path, or none for the tool's own description.
    pub parameter: Option<String>,
    /// The text of the first version.
    pub before: String,
    /// The text of the second version.
    pub after: String,
    /// The difference in words.
    pub words: Vec<Segment>,
}

/// Everything in which two versions differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Id of the first version.
    pub from: String,
    /// Id of the second version.
    pub to: String,
    /// Tools only the second version has.
    pub added_tools: Vec<String>,
    /// Tools only the first version has.
    pub removed_tools: Vec<String>,
    /// Whether the tools both have stand in another order.
    pub reordered: bool,
    /// What differs besides descriptions, in tools that both have: `search: inputSchema.required`.
    pub structure: Vec<String>,
    /// Texts that differ, in the order of the first version.
    pub texts: Vec<TextChange>,
    /// Texts that are the same in both.
    pub unchanged_texts: usize,
}

impl Difference {
    /// Compares two versions.
    pub fn between(from: &Toolset, to: &Toolset) -> Self {
        let names = |toolset: &Toolset| -> Vec<String> {
            toolset
                .tools()
                .iter()
                .map(|tool| tool.name().to_owned())
                .collect()
        };
        let (old, new) = (names(from), names(to));
        let without = |list: &[String], other: &[String]| -> Vec<String> {
            list.iter()
                .filter(|name| !other.contains(name))
                .cloned()
                .collect()
        };
        let common = |list: &[String], other: &[String]| -> Vec<String> {
            list.iter()
                .filter(|name| other.contains(name))
                .cloned()
                .collect()
        };
        let mut texts = Vec::new();
        let mut unchanged_texts = 0;
        for (component, before) in from.components() {
            // A component that only one version has is a difference of structure.
            let Some(after) = to.text(&component) else {
                continue;
            };
            if before == after {
                unchanged_texts += 1;
                continue;
            }
            texts.push(TextChange {
                component: component.to_string(),
                tool: component.tool,
                parameter: component.parameter,
                words: words(&before, &after),
                before,
                after,
            });
        }
        Self {
            from: from.id(),
            to: to.id(),
            added_tools: without(&new, &old),
            removed_tools: without(&old, &new),
            reordered: common(&old, &new) != common(&new, &old),
            structure: structure::differences(from, to),
            texts,
            unchanged_texts,
        }
    }

    /// Whether the versions are the same.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && !self.beyond_texts()
    }

    /// Whether anything other than a description differs.
    pub fn beyond_texts(&self) -> bool {
        !self.added_tools.is_empty()
            || !self.removed_tools.is_empty()
            || self.reordered
            || !self.structure.is_empty()
    }

    /// What differs besides descriptions, one line each.
    pub fn warnings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(
            self.removed_tools
                .iter()
                .map(|tool| format!("tool removed: {tool}")),
        );
        lines.extend(
            self.added_tools
                .iter()
                .map(|tool| format!("tool added: {tool}")),
        );
        if self.reordered {
            lines.push("the tools stand in another order".to_owned());
        }
        lines.extend(
            self.structure
                .iter()
                .map(|path| format!("not a description: {path}")),
        );
        lines
    }

    /// One sentence about the whole.
    pub fn summary(&self) -> String {
        if self.is_empty() {
            return format!("no difference ({})", self.from);
        }
        let texts = match self.texts.len() {
            1 => "1 text differs".to_owned(),
            n => format!("{n} texts differ"),
        };
        let rest = if self.beyond_texts() {
            "; and MORE THAN DESCRIPTIONS"
        } else {
            ", nothing but descriptions"
        };
        format!(
            "{} → {}: {texts}, {} unchanged{rest}",
            self.from, self.to, self.unchanged_texts
        )
    }
}

/// The difference of two texts as runs of words.
pub fn words(before: &str, after: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    // Ordinary descriptions take microseconds; the bound is for files made to take for ever.
    let diff = TextDiff::configure()
        .timeout(Duration::from_secs(5))
        .diff_unicode_words(before, after);
    for change in diff.iter_all_changes() {
        let tag = match change.tag() {
            ChangeTag::Equal => Tag::Same,
            ChangeTag::Delete => Tag::Removed,
            ChangeTag::Insert => Tag::Added,
        };
        match segments.last_mut() {
            Some(last) if last.tag == tag => last.text.push_str(change.value()),
            _ => segments.push(Segment {
                tag,
                text: change.value().to_owned(),
            }),
        }
    }
    segments
}
