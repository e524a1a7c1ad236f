//! The interval plot, as an SVG made of numbers and fixed words only.
//!
//! It is written by hand: its colours have to follow the page into the dark and onto paper, which a plotting
//! library's finished image does not do.

use std::fmt::Write as _;

use crate::compare::{self, Cell, Comparison, Contrast};
use crate::figures;

const WIDTH: f64 = 640.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 480.0;
const ROW: f64 = 30.0;
const TOP: f64 = 14.0;

struct Interval {
    name: &'static str,
    value: f64,
    low: f64,
    high: f64,
}

/// One line per condition and one for all of them; `None` when there is nothing to draw.
pub(super) fn intervals(comparison: &Comparison) -> Option<String> {
    let metric = comparison.metric.name;
    let rows: Vec<Interval> = comparison
        .conditions
        .iter()
        .chain([&comparison.pooled])
        .filter_map(|cell| interval(cell, cell.contrast(metric)?))
        .collect();
    let binary = comparison.pooled.contrast(metric)?.binary.is_some();
    let bound = rows
        .iter()
        .flat_map(|row| [row.low.abs(), row.high.abs(), row.value.abs()])
        .fold(0.0, f64::max);
    if rows.is_empty() || !bound.is_finite() {
        return None;
    }
    let (step, bound) = axis(if bound > 0.0 { bound } else { 1.0 });
    let x =
        |value: f64| LEFT + (value.clamp(-bound, bound) + bound) / (2.0 * bound) * (RIGHT - LEFT);
    let bottom = TOP + ROW * rows.len() as f64;
    let shown = |value: f64| {
        if binary {
            figures::points(value)
        } else {
            figures::signed(value, decimals(step))
        }
    };

    let mut svg = format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"difference with 95 % interval per condition\">",
        bottom + 34.0
    );
    let ticks = (2.0 * bound / step).round().clamp(1.0, 20.0);
    let mut at = 0.0;
    while at <= ticks {
        let value = -bound + at * step;
        let class = if value.abs() < step / 2.0 {
            "zero"
        } else {
            "grid"
        };
        let _ = write!(
            svg,
            "<line class=\"{class}\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>",
            x(value)
        );
        let _ = write!(
            svg,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(value),
            bottom + 14.0,
            shown(value)
        );
        at += 1.0;
    }
    let unit = if binary {
        "percentage points"
    } else {
        "per episode"
    };
    let _ = write!(
        svg,
        "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{unit}</text>",
        x(0.0),
        bottom + 29.0
    );
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        let class = if row.name == "pooled" {
            "pooled"
        } else {
            "condition"
        };
        let _ = write!(
            svg,
            "<g class=\"{class}\"><text x=\"0\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            row.name
        );
        let _ = write!(
            svg,
            "<line class=\"interval\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            x(row.low),
            x(row.high)
        );
        let _ = write!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"5\"/>",
            x(row.value)
        );
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\">{} [{}, {}]</text></g>",
            RIGHT + 14.0,
            y + 4.0,
            shown(row.value),
            shown(row.low),
            shown(row.high)
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

fn interval(cell: &Cell, contrast: &Contrast) -> Option<Interval> {
    let value = contrast.difference?;
    let (low, high) = compare::interval(cell, contrast).unwrap_or((value, value));
    Some(Interval {
        name: cell.name(),
        value,
        low,
        high,
    })
}

/// A round step, and a bound that is a whole number of steps, for an axis that is symmetric around zero.
fn axis(bound: f64) -> (f64, f64) {
    let raw = bound / 3.0;
    let magnitude = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * magnitude)
        .find(|step| *step >= raw)
        .unwrap_or(raw);
    (step, (bound / step - 1e-9).ceil().max(1.0) * step)
}

fn decimals(step: f64) -> usize {
    if step >= 1.0 {
        0
    } else if step >= 0.1 {
        1
    } else {
        2
    }
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
}
