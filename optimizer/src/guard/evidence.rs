//! What the guards compare a text with: the original toolset, and what was said in the episodes.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use trajectory::{Call, EpisodeRecord, Toolset};

use super::characters::{Script, script};
use super::words;
use crate::classes::{generic, market};

/// Words in a row that count as copied.
pub(crate) const NGRAM: usize = 5;

/// Recorded values longer than this are prose; the overlap check is for those.
const VALUE_CHARACTERS: usize = 60;
/// Shorter values are too likely to be ordinary words.
const VALUE_LEAST: usize = 4;

/// The original texts and the voices of the episodes.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The whole toolset as JSON text, folded: texts, names, schemas.
    original: String,
    tokens: HashSet<String>,
    characters: BTreeSet<char>,
    scripts: BTreeSet<Script>,
    /// Hashes of word sequences said by counterparts and tools. Hashes, since a store of traces can be large.
    said: HashSet<u64>,
    /// Names and other values of single episodes: folded words.
    folded_values: HashSet<Vec<String>>,
    longest_value: usize,
    /// Capitalised single words, matched with their capitals.
    proper_values: HashSet<String>,
}

impl Evidence {
    pub(crate) fn collect(records: &[&EpisodeRecord], original: &Toolset) -> Self {
        let json = Value::Array(
            original
                .tools()
                .iter()
                .map(|tool| Value::Object(tool.raw().clone()))
                .collect(),
        );
        // JSON escapes would hide words ("\nprice"), so the strings are taken one by one.
        let mut text = String::new();
        strings(&json, true, &mut |part| {
            text.push_str(part);
            text.push('\n');
        });
        let mut evidence = Self {
            tokens: words::words(&text).into_iter().collect(),
            characters: text.chars().collect(),
            scripts: text.chars().filter_map(script).collect(),
            original: words::folded(&text),
            said: HashSet::new(),
            folded_values: HashSet::new(),
            longest_value: 0,
            proper_values: HashSet::new(),
        };
        for record in records {
            evidence.listen(record);
        }
        // What the server itself says, in its descriptions and its error messages, may be said in a description.
        let mut exempt = HashSet::new();
        grams(&text, &mut exempt);
        for error in server_sentences(records) {
            grams(error, &mut exempt);
        }
        evidence.said.retain(|gram| !exempt.contains(gram));
        evidence
    }

    fn listen(&mut self, record: &EpisodeRecord) {
        let is_market = record.episode.source == market::SOURCE;
        for call in &record.calls {
            if let Some(arguments) = generic::parsed_arguments(call) {
                strings(&arguments, false, &mut |text| self.hear(text));
            }
            // An error of the server is heard as an error, in `server_sentences`.
            if let (Some(result), false) = (call.result.as_deref(), generic::failed(call)) {
                match serde_json::from_str::<Value>(result) {
                    Ok(value) => strings(&value, false, &mut |text| self.hear(text)),
                    Err(_) => self.hear(result),
                }
            }
        }
        for message in &record.messages {
            // The market's own prompts are the experimenter's. Anybody may stand behind those of an imported trace.
            let foreign = match message.role.as_str() {
                "assistant" => true,
                "user" => !is_market,
                "tool" => record.calls.is_empty(),
                _ => false,
            };
            if let (true, Some(content)) = (foreign, message.content.as_deref()) {
                grams(content, &mut self.said);
            }
        }
        let attributes = record
            .episode
            .attributes
            .as_deref()
            .and_then(|t| serde_json::from_str::<Value>(t).ok());
        if let Some(item) = attributes
            .as_ref()
            .and_then(|a| a.get("item"))
            .and_then(Value::as_str)
        {
            self.forbid(words::words(item));
        }
    }

    /// Takes a recorded string as prose and, when it is short, as a value.
    fn hear(&mut self, text: &str) {
        grams(text, &mut self.said);
        let trimmed = text.trim();
        if trimmed.chars().count() > VALUE_CHARACTERS || trimmed.chars().count() < VALUE_LEAST {
            return;
        }
        let value = words::words(trimmed);
        let capital = trimmed.chars().next().is_some_and(char::is_uppercase);
        match value.as_slice() {
            [_, _, ..] if value.len() < NGRAM && capital => self.forbid(value),
            [word] if capital && !self.tokens.contains(word) => {
                self.proper_values.insert(
                    trimmed
                        .trim_matches(|c: char| !c.is_alphanumeric())
                        .to_owned(),
                );
            }
            _ => {}
        }
    }

    fn forbid(&mut self, value: Vec<String>) {
        let in_original = value.iter().all(|word| self.tokens.contains(word));
        if !value.is_empty() && !in_original {
            self.longest_value = self.longest_value.max(value.len());
            self.folded_values.insert(value);
        }
    }

    /// Whether a word occurs anywhere in the original toolset.
    pub(crate) fn has_token(&self, folded_word: &str) -> bool {
        self.tokens.contains(folded_word)
    }

    /// Whether a piece of text occurs anywhere in the original toolset.
    pub(crate) fn has_text(&self, text: &str) -> bool {
        self.original.contains(&words::folded(text))
    }

    /// Whether the original toolset uses a character.
    pub(crate) fn uses_character(&self, c: char) -> bool {
        self.characters.contains(&c)
    }

    /// Whether the original toolset has letters of a script.
    pub(crate) fn uses_script(&self, script: Script) -> bool {
        self.scripts.contains(&script)
    }

    /// Whether [`NGRAM`] words in a row were said by a counterpart or a tool.
    pub(crate) fn heard(&self, gram: &[String]) -> bool {
        self.said.contains(&hash(gram))
    }

    /// A recorded value in the text.
    pub(crate) fn value_in(&self, text: &str, folded_words: &[String]) -> Option<String> {
        let phrase = (1..=self.longest_value)
            .flat_map(|length| folded_words.windows(length))
            .find(|window| self.folded_values.contains(*window))
            .map(|window| window.join(" "));
        phrase.or_else(|| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-' || c == '\''))
                .find(|word| self.proper_values.contains(*word))
                .map(str::to_owned)
        })
    }
}

/// Error sentences that may be taken for the server's own words: those of the market, and elsewhere those seen in
/// more than one episode (or in the only one there is). A text planted by one counterpart is seen in one.
pub(crate) fn server_sentences<'a>(records: &[&'a EpisodeRecord]) -> BTreeSet<&'a str> {
    let mut seen: std::collections::BTreeMap<&str, BTreeSet<&str>> =
        std::collections::BTreeMap::new();
    let mut trusted = BTreeSet::new();
    for record in records {
        let failures = record
            .calls
            .iter()
            .filter(|call: &&Call| generic::failed(call));
        for sentence in failures.filter_map(generic::error_text) {
            if record.episode.source == market::SOURCE || records.len() == 1 {
                trusted.insert(sentence);
            }
            seen.entry(sentence)
                .or_default()
                .insert(&record.episode.episode_id);
        }
    }
    trusted.extend(
        seen.into_iter()
            .filter(|(_, episodes)| episodes.len() > 1)
            .map(|(sentence, _)| sentence),
    );
    trusted
}

/// Every string and number of a JSON value, and its keys where asked for.
fn strings(value: &Value, keys: bool, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Number(number) => take(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, keys, take)),
        Value::Object(map) => {
            for (key, item) in map {
                if keys {
                    take(key);
                }
                strings(item, keys, take);
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

fn grams(text: &str, into: &mut HashSet<u64>) {
    into.extend(words::words(text).windows(NGRAM).map(hash));
}

fn hash(gram: &[String]) -> u64 {
    // The keys of this hasher are fixed, so equal words give equal hashes everywhere.
    let mut hasher = DefaultHasher::new();
    gram.hash(&mut hasher);
    hasher.finish()
}
