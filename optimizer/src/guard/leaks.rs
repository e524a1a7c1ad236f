//! Nothing of a single episode in a text for all: no phrases, no numbers, no names, no secrets.

use super::evidence::{Evidence, NGRAM};
use super::words;
use super::{Fault, Reason};

/// Numbers written out. Small ones are ordinary words ("one move").
const NUMBER_WORDS: [&str; 20] = [
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "hundred",
    "thousand",
    "million",
];

/// How secrets begin.
const SECRETS: [&str; 8] = [
    "sk-",
    "bearer ",
    "eyj",
    "akia",
    "ghp_",
    "xoxb-",
    "glpat-",
    "-----begin",
];

pub(crate) fn check(text: &str, evidence: &Evidence) -> Result<(), Fault> {
    let all = words::words(text);
    if let Some(phrase) = all.windows(NGRAM).find(|gram| evidence.heard(gram)) {
        return Err((
            Reason::CopiesTrace,
            format!(
                "`{}` was said in an episode by a counterpart or a tool",
                phrase.join(" ")
            ),
        ));
    }
    let leak = |detail: String| Err((Reason::LeaksValue, detail));
    let number = all.iter().find(|word| {
        let has_digit = word.chars().any(char::is_numeric);
        (has_digit
            || NUMBER_WORDS
                .iter()
                .any(|number| word.split(['-', '_']).any(|part| part == *number)))
            && !evidence.has_token(word)
    });
    if let Some(number) = number {
        return leak(format!(
            "`{number}` is a number that neither the original texts nor the schemas have"
        ));
    }
    if let Some(value) = evidence.value_in(text, &all) {
        return leak(format!("`{value}` is a value from the episodes"));
    }
    let folded = words::folded(text);
    match SECRETS.iter().find(|mark| {
        folded
            .split_whitespace()
            .any(|word| word.starts_with(mark.trim()) && word.len() > mark.len() + 3)
            && !evidence.has_text(mark)
    }) {
        Some(mark) => leak(format!("`{}…` looks like a secret", mark.trim())),
        None => Ok(()),
    }
}
