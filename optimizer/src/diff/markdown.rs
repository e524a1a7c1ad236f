//! As Markdown: removed words struck out, added ones bold, everything of the texts themselves escaped.

use std::fmt::Write as _;

use super::{Difference, Tag, TextChange};
use crate::visible::{markdown_code, markdown_text};

/// The difference as a Markdown document.
pub fn render(difference: &Difference) -> String {
    let mut out = format!("{}\n", markdown_text(&difference.summary()));
    let warnings = difference.warnings();
    if !warnings.is_empty() {
        out.push('\n');
        for warning in warnings {
            let _ = writeln!(out, "- ⚠ {}", markdown_code(&warning));
        }
    }
    for change in &difference.texts {
        let _ = writeln!(
            out,
            "\n### {}\n\n{}",
            markdown_code(&change.component),
            words(change)
        );
    }
    out
}

/// One text with its removed and added words.
pub(crate) fn words(change: &TextChange) -> String {
    let mut out = String::new();
    for segment in &change.words {
        // Marks that touch a space do not count as marks in Markdown, so spaces stay outside.
        let core = segment.text.trim();
        let start = segment.text.len() - segment.text.trim_start().len();
        let lead = segment.text.get(..start).unwrap_or_default();
        let tail = segment.text.get(start + core.len()..).unwrap_or_default();
        let core = markdown_text(core);
        let marked = match segment.tag {
            _ if core.is_empty() => core,
            Tag::Same => core,
            Tag::Removed => format!("~~{core}~~"),
            Tag::Added => format!("**{core}**"),
        };
        let _ = write!(
            out,
            "{}{marked}{}",
            lead.replace('\n', " "),
            tail.replace('\n', " ")
        );
    }
    out.trim().to_owned()
}
