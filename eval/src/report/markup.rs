//! Recorded texts made safe for a page: escaped, with nothing hidden in them, and cut at a stated length.

use trajectory::canonical::sha256_hex;

use crate::figures::one_line;

/// Longest recorded text shown on a page, in characters.
pub(super) const CUT: usize = 4000;

/// HTML that has been escaped already, such as a word difference. Whoever makes one vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlFragment(String);

impl HtmlFragment {
    /// Takes HTML in which every text of a model, a server or a file is escaped, and that loads nothing.
    pub fn from_escaped(html: String) -> Self {
        Self(html)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text on one line, escaped for the inside of an element. It must not go into an attribute.
pub(super) fn line(text: &str) -> String {
    escape(&one_line(text))
}

/// A text of several lines in which nothing is hidden; not escaped yet.
pub(super) fn block(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

/// As [`block`], cut after [`CUT`] characters and escaped for the inside of an element; and how many
/// characters were left out.
pub(super) fn cut(text: &str) -> (String, usize) {
    let mut characters = text.chars();
    let kept: String = characters.by_ref().take(CUT).collect();
    (escape(&block(&kept)), characters.count())
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// The id under which an episode stands on the page: its own where that is harmless in an attribute, else a
/// hash of it. No section of the page has an id that starts like either.
pub(super) fn anchor(episode: &str) -> String {
    let harmless = episode
        .strip_prefix("ep_")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric()));
    if harmless {
        return episode.to_owned();
    }
    let hash = sha256_hex(episode.as_bytes());
    format!("episode-{}", hash.get(..20).unwrap_or(&hash))
}

/// An episode's id as an argument that a shell takes as one word.
pub(super) fn argument(episode: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if !episode.is_empty() && !episode.starts_with('-') && episode.bytes().all(plain) {
        episode.to_owned()
    } else {
        format!("'{}'", one_line(episode).replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_become_markup() {
        assert_eq!(
            line("<script>\"&\u{202e}\n]]>"),
            "&lt;script&gt;\"&amp;\\u{202e}\\n]]&gt;"
        );
        assert_eq!(block("a\u{200f}\nb"), "a\\u{200f}\nb");
    }

    #[test]
    fn long_texts_are_cut_and_say_by_how_much() {
        let (text, left_out) = cut(&"é".repeat(CUT + 7));
        assert_eq!((text.chars().count(), left_out), (CUT, 7));
        assert_eq!(cut("short"), ("short".to_owned(), 0));
    }

    #[test]
    fn ids_are_harmless_in_attributes_and_stay_apart() {
        assert_eq!(anchor("ep_00aF"), "ep_00aF");
        let hostile = [
            "ep_\" onclick=\"x",
            "ep_",
            "limits",
            "",
            "ep_a b",
            "{{ x }}",
        ];
        let anchors: std::collections::BTreeSet<String> =
            hostile.iter().map(|id| anchor(id)).collect();
        assert_eq!(anchors.len(), hostile.len());
        assert!(anchors.iter().all(|id| id.starts_with("episode-")));
    }

    #[test]
    fn commands_take_an_id_as_one_word() {
        assert_eq!(argument("ep_00"), "ep_00");
        assert_eq!(argument("a b; rm 'x'"), "'a b; rm '\\''x'\\'''");
        assert_eq!(argument("-x"), "'-x'");
    }
}
