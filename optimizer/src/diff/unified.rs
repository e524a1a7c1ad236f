//! As a unified diff with one sentence per line, for review tools that know no other form.

use std::fmt::Write as _;

use similar::TextDiff;

use super::Difference;
use crate::visible;

/// The difference as a unified diff. Lines about anything other than descriptions begin with `#`.
pub fn render(difference: &Difference) -> String {
    let mut out = format!("# {}\n", difference.summary());
    for warning in difference.warnings() {
        let _ = writeln!(out, "# {}", visible::line(&warning, 200));
    }
    for change in &difference.texts {
        let component = visible::line(&change.component, 120);
        let (before, after) = (sentences(&change.before), sentences(&change.after));
        let diff = TextDiff::from_lines(&before, &after);
        let mut unified = diff.unified_diff();
        unified
            .context_radius(3)
            .missing_newline_hint(false)
            .header(
                &format!("{}/{component}", difference.from),
                &format!("{}/{component}", difference.to),
            );
        let _ = write!(out, "{unified}");
    }
    out
}

/// One sentence per line, hidden characters written out.
fn sentences(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut after_stop = false;
    for c in visible::block(text).chars() {
        if after_stop && c == ' ' {
            out.push('\n');
        } else {
            out.push(c);
        }
        after_stop = matches!(c, '.' | '!' | '?');
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}
