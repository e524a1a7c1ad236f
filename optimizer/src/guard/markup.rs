//! Markup in a description, and the placeholders it may not lose.

use super::evidence::Evidence;
use super::words;
use super::{Fault, Reason};

/// Signs of markup, none of which has a place in a description.
const MARKS: [&str; 8] = [
    "```",
    "[[",
    "]]",
    "|||",
    "<!--",
    "<|",
    "data:",
    "-----BEGIN",
];
/// Line beginnings that imitate the turns of a conversation.
const SPEAKERS: [&str; 6] = [
    "system:",
    "assistant:",
    "user:",
    "human:",
    "developer:",
    "tool:",
];

pub(crate) fn check(text: &str, evidence: &Evidence) -> Result<(), Fault> {
    let fault = |what: &str| Err((Reason::Markup, format!("the text contains {what}")));
    let folded = words::folded(text);
    if let Some(mark) = MARKS
        .iter()
        .find(|mark| folded.contains(&mark.to_lowercase()) && !evidence.has_text(mark))
    {
        return fault(&format!("`{mark}`"));
    }
    let tag = folded
        .char_indices()
        .filter(|(_, c)| *c == '<')
        .find_map(|(at, _)| {
            let rest = folded.get(at..)?;
            let opens = rest
                .chars()
                .nth(1)
                .is_some_and(|c| c.is_alphabetic() || c == '/' || c == '!' || c == '?');
            let name: String = rest.chars().take_while(|c| *c != '>').take(30).collect();
            (opens && !evidence.has_text(&name)).then_some(name)
        });
    if let Some(tag) = tag {
        return fault(&format!("the tag `{tag}>`"));
    }
    for line in folded.lines() {
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || c == '*' || c == '>');
        if line.starts_with('#') {
            return fault("a heading");
        }
        if let Some(speaker) = SPEAKERS.iter().find(|speaker| line.starts_with(*speaker)) {
            return fault(&format!("a line that speaks as `{speaker}`"));
        }
    }
    for word in folded.split_whitespace() {
        let word = word
            .trim_matches(|c: char| matches!(c, '(' | ')' | ',' | '.' | ';' | '"' | '\'' | '`'));
        let link = word.contains("://") || word.starts_with("www.");
        let mail = word
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
        if (link || mail) && !evidence.has_text(word) {
            return fault(&format!("the address `{word}`"));
        }
        let run = word
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')))
            .max_by_key(|r| r.len());
        if let Some(run) = run.filter(|run| run.len() > 24 && !evidence.has_text(run)) {
            return fault(&format!("`{run}`, which looks like encoded data"));
        }
    }
    Ok(())
}

/// `{name}`, `{{name}}`, `${name}`, `<name>`, `%s`: parts of the text that something else fills in.
pub(crate) fn placeholders(text: &str, old: &str) -> Result<(), Fault> {
    for (open, close) in [('{', '}'), ('<', '>')] {
        for (at, _) in old.char_indices().filter(|(_, c)| *c == open) {
            let Some(rest) = old.get(at..) else { continue };
            let Some(end) = rest.find(close) else {
                continue;
            };
            let Some(placeholder) = rest.get(..=end) else {
                continue;
            };
            let inner = placeholder.trim_matches([open, close]);
            let is_name = !inner.is_empty()
                && inner
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '));
            if is_name && !text.contains(placeholder) {
                return Err((
                    Reason::PlaceholderDropped,
                    format!("`{placeholder}` of the original text is gone"),
                ));
            }
        }
    }
    match ["%s", "%d", "%f"]
        .into_iter()
        .find(|mark| old.contains(mark) && !text.contains(mark))
    {
        Some(mark) => Err((
            Reason::PlaceholderDropped,
            format!("`{mark}` of the original text is gone"),
        )),
        None => Ok(()),
    }
}
