//! The drawing surface of every plot: an SVG as wide as a phone, with a text alternative.
//!
//! Plots are written by hand: their colours have to follow the page into the dark and onto paper, which a
//! plotting library's finished image does not do. Recorded texts pass through `line`, as everywhere.

use std::fmt::Write as _;

use crate::report::markup::line;

/// Width of every plot; text keeps its size on a screen of about this width.
pub(super) const WIDTH: f64 = 360.0;

/// Where a text stands relative to its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG in the making. Classes are fixed words, positions are numbers, everything else is escaped.
pub(super) struct Frame {
    body: String,
}

impl Frame {
    pub(super) fn new() -> Self {
        Self {
            body: String::new(),
        }
    }

    pub(super) fn segment(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.body,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn dot(&mut self, class: &str, at: (f64, f64), radius: f64) {
        let _ = write!(
            self.body,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"/>",
            at.0, at.1
        );
    }

    pub(super) fn bar(&mut self, class: &str, corner: (f64, f64), size: (f64, f64)) {
        let _ = write!(
            self.body,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            corner.0,
            corner.1,
            size.0.max(0.0),
            size.1.max(0.0)
        );
    }

    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            line(text)
        );
    }

    /// The finished plot; `id` tells its text alternatives apart from those of other plots.
    pub(super) fn finish(self, id: &str, height: f64, title: &str, description: &str) -> String {
        format!(
            "<svg class=\"plot\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-title {id}-description\"><title id=\"{id}-title\">{}</title><desc id=\"{id}-description\">{}</desc>{}</svg>",
            line(title),
            line(description),
            self.body
        )
    }
}

/// A round step, and a bound that is a whole number of steps, for an axis that reaches `bound`.
pub(super) fn axis(bound: f64) -> (f64, f64) {
    let raw = bound / 3.0;
    let magnitude = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|step| *step >= raw)
        .unwrap_or(raw);
    (step, (bound / step - 1e-9).ceil().max(1.0) * step)
}

/// Decimals that tell the ticks of a step apart.
pub(super) fn decimals(step: f64) -> usize {
    if step >= 1.0 {
        0
    } else if step >= 0.1 {
        1
    } else {
        2
    }
}

/// A recorded name cut to what fits beside a plot; the whole of it stands in the table below.
pub(super) fn short(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let kept: String = name.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round_and_wide_enough() {
        for (bound, step, end) in [
            (1.0, 0.5, 1.0),
            (0.42, 0.2, 0.6),
            (7.0, 5.0, 10.0),
            (0.06, 0.02, 0.06),
            (30.0, 10.0, 30.0),
        ] {
            let (found_step, found_end) = axis(bound);
            assert!(
                (found_step - step).abs() < 1e-9 && (found_end - end).abs() < 1e-9,
                "{bound}: {found_step} {found_end}"
            );
        }
    }

    #[test]
    fn names_are_escaped_and_cut() {
        let mut frame = Frame::new();
        frame.text("tick", (0.0, 0.0), Anchor::End, "<b>");
        let svg = frame.finish("x", 10.0, "a<b", "c&d");
        assert!(svg.contains(">&lt;b&gt;</text>") && svg.contains(">a&lt;b</title>"));
        assert!(svg.contains(">c&amp;d</desc>"));
        assert_eq!(short("abcdef", 4), "abc…");
        assert_eq!(short("abcd", 4), "abcd");
    }
}
