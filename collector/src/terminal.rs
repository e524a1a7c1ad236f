//! Text from traces on its way to a terminal.
//!
//! Whoever writes a tool's result decides what is in it. A terminal obeys escape sequences (colours, cursor
//! moves, titles, even clipboard writes), and some characters reorder or hide text; all of these are shown
//! as escapes instead of being passed on.

use std::fmt::Write as _;

/// Whether a character acts on the terminal, or on the order or visibility of what is read.
fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Text over several lines: line ends and tabs stay, everything that acts becomes `\u{…}`.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' | '\t' => out.push(character),
            '\r' if characters.peek() == Some(&'\n') => {}
            _ if is_active(character) => escape(character, &mut out),
            _ => out.push(character),
        }
    }
    out
}

/// Text on one line, cut to `width` characters.
pub fn one_line(text: &str, width: usize) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count >= width {
            out.pop();
            out.push('…');
            break;
        }
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push(' '),
            _ if is_active(character) => escape(character, &mut out),
            _ => out.push(character),
        }
    }
    out
}

/// JSON text whose strings hold nothing that acts: the same value, with more escapes.
pub fn plain_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        // Outside strings a serialiser writes no such character, inside an escape means the same.
        if is_active(character) && character != '\n' {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

fn escape(character: char, out: &mut String) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_comes_through() {
        let hostile = "a\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\r\nnext\tcell\rback\u{202e}x\u{200b}\u{e0041}é😀";
        let shown = plain(hostile);
        assert_eq!(
            shown,
            "a\\u{1b}[31mred\\u{1b}]0;title\\u{7}\\u{9b}2J\nnext\tcell\\u{d}back\\u{202e}x\\u{200b}\\u{e0041}é😀"
        );
        assert!(one_line(hostile, 1000).chars().all(|c| !is_active(c)));
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("a\nb", 10), "a\\nb");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({"k\u{9b}": "a\u{1b}\u{202e}\u{e0041}\n"});
        let text = plain_json(&format!("{value:#}"));
        assert!(text.chars().all(|c| c == '\n' || !is_active(c)), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
