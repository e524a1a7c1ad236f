//! Counts as bars, in groups, the number at each bar's end.

use super::frame::{Anchor, Frame, WIDTH};

const LEFT: f64 = 128.0;
/// Width that one character of a number at the end of a bar may take.
const CHARACTER: f64 = 8.0;
const BAR: f64 = 14.0;
const GROUP: f64 = 26.0;

/// One bar.
#[derive(Debug, Clone)]
pub(in crate::report) struct Bar {
    /// What it counts.
    pub(in crate::report) name: String,
    /// `baseline` or `candidate`.
    pub(in crate::report) side: &'static str,
    /// How long it is.
    pub(in crate::report) value: f64,
    /// What stands at its end.
    pub(in crate::report) shown: String,
}

/// Bars under one heading.
#[derive(Debug, Clone)]
pub(in crate::report) struct Group {
    /// The heading.
    pub(in crate::report) name: String,
    /// The bars.
    pub(in crate::report) bars: Vec<Bar>,
}

/// All groups on one scale, which starts at zero and reaches the largest value.
pub(in crate::report) fn bars(id: &str, title: &str, groups: &[Group]) -> Option<String> {
    let most = groups
        .iter()
        .flat_map(|group| &group.bars)
        .map(|bar| bar.value)
        .fold(0.0, f64::max);
    if groups.is_empty() || !most.is_finite() {
        return None;
    }
    let longest = groups
        .iter()
        .flat_map(|group| &group.bars)
        .map(|bar| bar.shown.chars().count())
        .max()?;
    let right = (WIDTH - 6.0 - CHARACTER * longest as f64).max(LEFT);
    let scale = if most > 0.0 {
        (right - LEFT) / most
    } else {
        0.0
    };
    let mut frame = Frame::new();
    let mut y = 0.0;
    let mut told = Vec::new();
    for group in groups {
        frame.text("strong", (0.0, y + 15.0), Anchor::Start, &group.name);
        y += GROUP - 4.0;
        let top = y;
        for bar in &group.bars {
            frame.text("tick", (LEFT - 6.0, y + 11.0), Anchor::End, &bar.name);
            let length = bar.value.max(0.0) * scale;
            frame.bar(bar.side, (LEFT, y + 1.5), (length, BAR - 3.0));
            frame.text(
                "",
                (LEFT + length + 5.0, y + 11.0),
                Anchor::Start,
                &bar.shown,
            );
            told.push(format!("{}, {}: {}", group.name, bar.name, bar.shown));
            y += BAR + 2.0;
        }
        frame.segment("axis", (LEFT, top), (LEFT, y));
        y += 6.0;
    }
    Some(frame.finish(id, y, title, &told.join("; ")))
}
