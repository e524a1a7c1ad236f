//! Error messages reduced to the precondition they state.
//!
//! A server's own words about what went wrong are the best description of what it expects. What belongs to a single
//! call (names, numbers, stack traces) is taken off; a message that is nothing without it is left out.

use std::collections::HashSet;

use serde_json::Value;
use trajectory::Toolset;

use crate::guard::words;

/// A sentence longer than this is a report, not a precondition.
const LONGEST: usize = 200;
/// Shorter ones ("Error", "Bad request") say nothing.
const FEWEST_WORDS: usize = 3;

/// Words that state what is expected. A sentence with one of them is preferred.
const CUES: [&str; 16] = [
    "must",
    "has to",
    "have to",
    "needs",
    "need to",
    "required",
    "requires",
    "expected",
    "expects",
    "only",
    "cannot",
    "can't",
    "should",
    "not allowed",
    "outside",
    "supported",
];

/// A sentence with one of these is left out: words that scanners of descriptions flag, and `yet`, which tells of one
/// moment and not of the tool.
const FLAGGED: [&str; 9] = [
    "yet",
    "always",
    "must",
    "first",
    "before any",
    "ignore",
    "override",
    "urgent",
    "important",
];

/// The words of a toolset: its texts, names and schemas. A message may use them; other values are of one call.
#[derive(Debug)]
pub(super) struct Vocabulary(HashSet<String>);

impl Vocabulary {
    pub(super) fn of(toolset: &Toolset) -> Self {
        let tools = toolset
            .tools()
            .iter()
            .map(|tool| Value::Object(tool.raw().clone()))
            .collect();
        Self(
            words::words(&Value::Array(tools).to_string())
                .into_iter()
                .collect(),
        )
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}

/// The precondition an error message states, as a sentence for a description.
pub(super) fn precondition(message: &str, known: &Vocabulary) -> Option<String> {
    let inner = unwrapped(message);
    let candidates: Vec<Option<String>> = split(&inner)
        .into_iter()
        .take(6)
        .map(|sentence| clean(&sentence, known))
        .collect();
    if let Some(stated) = candidates
        .iter()
        .flatten()
        .find(|sentence| says_any(sentence, &CUES))
    {
        return Some(capitalised(stated));
    }
    // The first sentence names the failure; the later ones only say what came of it.
    let failure = candidates.into_iter().next().flatten()?;
    Some(format!("Known failure: {failure}"))
}

/// Whether a text has one of the words or phrases. `read-only` is one word here, and not `only`.
fn says_any(text: &str, phrases: &[&str]) -> bool {
    let words: Vec<String> = text
        .to_lowercase()
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
        .collect();
    let spaced = format!(" {} ", words.join(" "));
    phrases
        .iter()
        .any(|phrase| spaced.contains(&format!(" {phrase} ")))
}

/// The message inside a JSON error object.
fn unwrapped(message: &str) -> String {
    match serde_json::from_str::<Value>(message) {
        Ok(value) => sentence_in(&value, 0).map_or_else(String::new, str::to_owned),
        Err(_) => message.to_owned(),
    }
}

fn sentence_in(value: &Value, depth: usize) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(map) if depth < 4 => ["message", "error", "detail", "msg", "reason", "text"]
            .iter()
            .filter_map(|key| map.get(*key))
            .find_map(|inner| sentence_in(inner, depth + 1)),
        Value::Array(items) if depth < 4 => {
            items.iter().find_map(|inner| sentence_in(inner, depth + 1))
        }
        _ => None,
    }
}

fn split(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends = matches!(c, '\n' | '\r')
            || (matches!(c, '.' | '!' | '?' | ';')
                && chars.peek().is_none_or(|next| next.is_whitespace()));
        if ends {
            sentences.push(String::new());
        } else if let Some(last) = sentences.last_mut() {
            last.push(c);
        }
    }
    sentences
        .into_iter()
        .map(|sentence| sentence.trim().to_owned())
        .filter(|s| !s.is_empty())
        .collect()
}

fn clean(sentence: &str, known: &Vocabulary) -> Option<String> {
    let mut rest = sentence.trim();
    // `ValidationError: `, `Error executing tool x: `: labels, not statements.
    while let Some((label, after)) = rest.split_once(": ") {
        let lower = label.to_lowercase();
        let is_label = ["error", "exception", "failed", "failure", "invalid"]
            .iter()
            .any(|word| lower.contains(word))
            && !says_any(label, &CUES);
        if !is_label || after.trim().is_empty() {
            break;
        }
        rest = after.trim();
    }
    let mut text = rest.to_owned();
    for tail in [
        ", got ",
        " but got ",
        ", but got ",
        ", received ",
        " but was ",
        " (got ",
        ", found ",
        " in stack ",
    ] {
        if let Some(at) = text.find(tail) {
            text.truncate(at);
        }
    }
    text = softened(&text);
    if says_any(&text, &FLAGGED) {
        return None;
    }
    let all = words::words(&text);
    let of_one_call = all
        .iter()
        .any(|word| word.chars().any(char::is_numeric) && !known.has(word))
        || quoted(&text)
            .iter()
            .any(|value| words::words(value).iter().any(|word| !known.has(word)));
    let fits =
        all.len() >= FEWEST_WORDS && text.chars().count() <= LONGEST && !text.contains("Traceback");
    (fits && !of_one_call).then(|| format!("{}.", text.trim_end_matches(['.', ',', ':', ' '])))
}

/// `must be` without the word that scanners flag.
fn softened(text: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for word in text.split(' ') {
        match word {
            "must" => out.extend(["has", "to"]),
            "Must" => out.extend(["Has", "to"]),
            "always" => {}
            other => out.push(other),
        }
    }
    out.join(" ")
}

/// What stands between quotation marks or backticks.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for mark in ['"', '`', '\''] {
        let mut parts = text.split(mark);
        // An apostrophe inside a word is no quotation mark: quotes open after a space or at the beginning.
        let mut before = parts.next().unwrap_or_default();
        for part in parts {
            let opens = before.is_empty() || before.ends_with([' ', '(', '[', '=', ':']);
            if opens {
                found.push(part);
            }
            before = part;
        }
    }
    found
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_become_preconditions() {
        let toolset = Toolset::parse(
            r#"[{"name":"search","inputSchema":{"properties":{"limit":{"type":"integer","maximum":50}}}}]"#,
        )
        .unwrap();
        let known = Vocabulary::of(&toolset);
        let check = |message: &str, expected: Option<&str>| {
            assert_eq!(
                precondition(message, &known).as_deref(),
                expected,
                "{message}"
            );
        };
        check(
            "ValidationError: `limit` must be at most 50, got 900",
            Some("`limit` has to be at most 50."),
        );
        check(
            "Something broke. Dates have to be given as year, month and day.",
            Some("Dates have to be given as year, month and day."),
        );
        check(
            r#"{"error":{"message":"The end date needs to be later than the start date"}}"#,
            Some("The end date needs to be later than the start date."),
        );
        check("User 'alice' was not found", None);
        check("No account 4711", None);
        check("The value 900 is too large. Nothing was done.", None);
        check("Error", None);
        check("You must always call this first", None);
        check(
            "The calendar is read-only",
            Some("Known failure: The calendar is read-only."),
        );
        check(
            "It's the other side's turn",
            Some("Known failure: It's the other side's turn."),
        );
    }
}
