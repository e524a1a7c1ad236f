//! Each scenario's two means, joined by a line.

use super::frame::{Anchor, Frame, WIDTH, axis, decimals, short};
use crate::compare::{Comparison, MetricChoice};
use crate::figures;
use crate::report::evidence::ScenarioMeans;

const ROW: f64 = 20.0;
const TOP: f64 = 22.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 312.0;

/// `None` when no scenario has a value.
pub(in crate::report) fn scenarios(
    comparison: &Comparison,
    rows: &[ScenarioMeans],
) -> Option<String> {
    let metric = &comparison.metric;
    let most = rows
        .iter()
        .flat_map(|row| [row.baseline, row.candidate])
        .fold(0.0, f64::max);
    if rows.is_empty() || !most.is_finite() {
        return None;
    }
    let (step, bound) = if metric.is_binary {
        (0.25, 1.0)
    } else {
        axis(if most > 0.0 { most } else { 1.0 })
    };
    let x = |value: f64| LEFT + value.clamp(0.0, bound) / bound * (RIGHT - LEFT);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut frame = Frame::new();
    let ticks = (bound / step).round().clamp(1.0, 10.0);
    let mut at = 0.0;
    while at <= ticks {
        let value = at * step;
        frame.segment("grid", (x(value), TOP - 4.0), (x(value), bottom));
        let tick = if metric.is_binary {
            figures::percent(value)
        } else {
            format!("{value:.0$}", decimals(step))
        };
        // A long table is read from its top, a printed one from its bottom as well.
        for y in [TOP - 9.0, bottom + 14.0] {
            frame.text("tick", (x(value), y), Anchor::Middle, &tick);
        }
        at += 1.0;
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        let (before, after) = (x(row.baseline), x(row.candidate));
        frame.text(
            "tick",
            (0.0, y + 4.0),
            Anchor::Start,
            &short(&row.scenario, 14),
        );
        frame.segment("join", (before, y), (after, y));
        frame.dot("candidate", (after, y), 4.0);
        // The ring is drawn last and is larger, so that both are seen where they coincide.
        frame.dot("baseline", (before, y), 5.5);
        frame.text(
            "",
            (WIDTH, y + 4.0),
            Anchor::End,
            &difference(metric, row.difference),
        );
    }
    let description = rows
        .iter()
        .map(|row| {
            format!(
                "{}: {} to {}, {}",
                row.scenario,
                value(metric, row.baseline),
                value(metric, row.candidate),
                difference(metric, row.difference)
            )
        })
        .collect::<Vec<_>>()
        .join("; ");
    Some(frame.finish(
        "paired",
        bottom + 20.0,
        &format!("{} by scenario, baseline to candidate", metric.title),
        &description,
    ))
}

/// A mean in the unit of the metric.
pub(in crate::report) fn value(metric: &MetricChoice, value: f64) -> String {
    if metric.is_binary {
        figures::percent(value)
    } else {
        figures::number(value)
    }
}

/// A difference in the unit of the metric.
pub(in crate::report) fn difference(metric: &MetricChoice, value: f64) -> String {
    if metric.is_binary {
        figures::points(value)
    } else {
        figures::signed(value, 1)
    }
}
