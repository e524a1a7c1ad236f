//! Text without what the eye does not see.

/// Characters that show nothing and can hide text from people, or turn it round: format characters, tags,
/// variation selectors, line and paragraph separators.
const HIDDEN: [(char, char); 16] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The text without control and hidden characters: what a party may write to the other.
pub(crate) fn visible(text: &str) -> String {
    let hidden = |c: char| {
        HIDDEN
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&c))
    };
    text.chars()
        .filter(|c| !c.is_control() && !hidden(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_stays_and_what_hides_goes() {
        let text = "Straße 日本 🙂 — 100 €";
        assert_eq!(visible(text), text);
        for hidden in [
            "\n",
            "\u{1b}",
            "\u{7f}",
            "\u{85}",
            "\u{200d}",
            "\u{202e}",
            "\u{2066}",
            "\u{feff}",
            "\u{e0041}",
            "\u{fe0f}",
        ] {
            assert_eq!(
                visible(&format!("a{hidden}b")),
                "ab",
                "{}",
                hidden.escape_unicode()
            );
        }
    }
}
