//! Characters: only what a reader sees and what looks like what it is.

use unicode_normalization::UnicodeNormalization;

use super::evidence::Evidence;
use super::{Fault, Reason};
use crate::visible;

/// Punctuation beyond ASCII that ordinary descriptions use.
const PUNCTUATION: &str = "–—‘’“”„«»…•·×÷±≤≥≠≈→←⇒°€£¥§©®™µ½¼¾²³";

pub(crate) fn check(text: &str, evidence: &Evidence) -> Result<(), Fault> {
    let fault = |detail: String| Err((Reason::InvisibleUnicode, detail));
    if let Some(hidden) = text.chars().find(|c| visible::is_hidden(*c)) {
        return fault(format!(
            "contains {}, which readers do not see",
            hidden.escape_unicode()
        ));
    }
    if !text.nfc().eq(text.chars()) {
        return fault("is not in Unicode normal form C".to_owned());
    }
    let strange = text
        .chars()
        .find(|c| !is_ordinary(*c) && !evidence.uses_character(*c));
    if let Some(strange) = strange {
        let known_script = script(strange).is_some_and(|script| evidence.uses_script(script));
        if !known_script {
            return fault(format!(
                "contains `{strange}` ({}), whose script the original texts do not use",
                strange.escape_unicode()
            ));
        }
    }
    match text
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| is_mixed(word))
    {
        Some(word) => fault(format!("`{word}` mixes letters of several scripts")),
        None => Ok(()),
    }
}

/// Printable ASCII, line breaks, Latin letters and common punctuation.
fn is_ordinary(c: char) -> bool {
    matches!(c, ' '..='~' | '\n' | '\u{c0}'..='\u{24f}') || PUNCTUATION.contains(c)
}

/// Scripts, as coarsely as look-alikes need them told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Script {
    Latin,
    Greek,
    Cyrillic,
    EastAsian,
    /// Any other block of 256 code points.
    Block(u32),
}

/// The script of a letter.
pub(crate) fn script(c: char) -> Option<Script> {
    if !c.is_alphabetic() {
        return None;
    }
    Some(match c {
        'a'..='z' | 'A'..='Z' | '\u{aa}'..='\u{24f}' => Script::Latin,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3134f}' => {
            Script::EastAsian
        }
        other => Script::Block(u32::from(other) >> 8),
    })
}

/// Latin beside letters that look Latin.
fn is_mixed(word: &str) -> bool {
    let mut scripts = word
        .chars()
        .filter_map(script)
        .filter(|script| *script != Script::EastAsian);
    scripts
        .next()
        .is_some_and(|first| scripts.any(|script| script != first))
}
