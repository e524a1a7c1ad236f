//! Recorded text made safe to look at.
//!
//! Descriptions, results and notes come from strangers. Terminals obey control characters, readers do not see
//! zero-width ones, and Markdown renders HTML; so nothing recorded is printed without going through here.

/// Whether a character is invisible or steers the terminal or the direction of the text.
pub(crate) fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..='\u{10ffff}')
}

/// The text with hidden characters written as `\u{200b}`; line breaks stay.
pub(crate) fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) && c != '\t' {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// As [`block`], on one line and cut after `limit` characters.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&block(&flat), limit)
}

/// At most `limit` characters, the last one an ellipsis when something was left out.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    if limit == 0 {
        return String::new();
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A Markdown code span, which renders nothing of what it holds.
pub(crate) fn markdown_code(text: &str) -> String {
    let flat = block(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut longest = 0;
    let mut run = 0;
    for c in flat.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let pad = if flat.is_empty() || flat.starts_with('`') || flat.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{flat}{pad}{fence}")
}

/// Markdown text that is not code: every character with a meaning is escaped.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in block(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '!' | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_written_out() {
        assert_eq!(
            block("a\u{1b}[31mb\u{200b}c\nd"),
            "a\\u{1b}[31mb\\u{200b}c\nd"
        );
        assert_eq!(line("a\n b\u{202e}", 40), "a b\\u{202e}");
        assert_eq!(line("abcdef", 4), "abc…");
    }

    #[test]
    fn markdown_renders_nothing_that_was_recorded() {
        assert_eq!(markdown_code("a `b` <script>"), "``a `b` <script>``");
        assert_eq!(markdown_code("`x"), "`` `x ``");
        assert_eq!(
            markdown_text("<b>[x](y)|*"),
            "&lt;b&gt;\\[x\\]\\(y\\)\\|\\*"
        );
    }
}
