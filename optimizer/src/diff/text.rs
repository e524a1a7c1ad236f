//! For a terminal: removed words in red and struck out, added ones in green; without colours, in brackets.

use std::fmt::Write as _;

use super::{Difference, Segment, Tag};
use crate::visible;

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences of a terminal.
    Ansi,
    /// `[-removed-]{+added+}`, which survives any pipe.
    None,
}

/// The difference for a terminal.
pub fn render(difference: &Difference, colour: Colour) -> String {
    let mut out = format!("{}\n", difference.summary());
    for warning in difference.warnings() {
        let _ = writeln!(
            out,
            "{}",
            paint(
                &format!("! {}", visible::line(&warning, 200)),
                "1;33",
                colour
            )
        );
    }
    for change in &difference.texts {
        let _ = writeln!(
            out,
            "\n{}",
            paint(&visible::line(&change.component, 120), "1", colour)
        );
        out.push_str("  ");
        out.push_str(&words(&change.words, colour).replace('\n', "\n  "));
        out.push('\n');
    }
    out
}

fn words(segments: &[Segment], colour: Colour) -> String {
    let mut out = String::new();
    for segment in segments {
        let text = visible::block(&segment.text);
        match (segment.tag, colour) {
            (Tag::Same, _) => out.push_str(&text),
            (Tag::Removed, Colour::Ansi) => out.push_str(&paint(&text, "9;31", colour)),
            (Tag::Added, Colour::Ansi) => out.push_str(&paint(&text, "32", colour)),
            (Tag::Removed, Colour::None) => {
                let _ = write!(out, "[-{text}-]");
            }
            (Tag::Added, Colour::None) => {
                let _ = write!(out, "{{+{text}+}}");
            }
        }
    }
    out
}

fn paint(text: &str, code: &str, colour: Colour) -> String {
    match colour {
        Colour::Ansi => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        Colour::None => text.to_owned(),
    }
}
