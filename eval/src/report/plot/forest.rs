//! Effects with their intervals: one line each, all on one axis with zero in the middle.

use super::frame::{Anchor, Frame, WIDTH, axis, decimals};
use crate::compare::{self, Cell, Comparison, Contrast, Metric};
use crate::figures;

const ROW: f64 = 54.0;
const TOP: f64 = 6.0;
/// Room left and right of the axis, so that the outermost ticks stay on the plot.
const MARGIN: f64 = 18.0;

/// One effect.
struct Effect {
    name: String,
    value: f64,
    interval: Option<(f64, f64)>,
    shown: String,
    /// The means of both versions.
    means: String,
    /// Whether it stands for all others of its panel.
    pooled: bool,
}

/// A plot of effects with its heading.
pub(in crate::report) struct Panel {
    pub(in crate::report) title: String,
    pub(in crate::report) note: String,
    pub(in crate::report) svg: String,
}

/// What the arrows behind names mean.
const ARROWS: &str = "↑ more is better, ↓ less is better";

/// The metric of the verdict per condition and pooled, then every other metric pooled: shares in points, counts
/// relative to the baseline's mean, so that each panel has one axis.
pub(in crate::report) fn panels(comparison: &Comparison) -> Vec<Panel> {
    let metric = comparison.metric.name;
    let primary: Vec<Effect> = comparison
        .conditions
        .iter()
        .chain([&comparison.pooled])
        .filter_map(|cell| {
            let found = effect(cell.name().to_owned(), cell, cell.contrast(metric)?)?;
            Some(Effect {
                pooled: cell.condition.is_none(),
                ..found
            })
        })
        .collect();
    let unit = if comparison.metric.is_binary {
        "percentage points"
    } else {
        "per episode"
    };
    let mut panels = Vec::new();
    panels.extend(panel(
        "forest-verdict",
        format!("{}, by condition", comparison.metric.title),
        format!("{unit}; {}", wish(comparison.metric.higher_is_better)),
        &primary,
        comparison.metric.is_binary,
    ));
    let others = |binary: bool| -> Vec<(Metric, &Contrast)> {
        Metric::ALL
            .into_iter()
            .filter(|other| other.as_str() != metric && other.is_binary() == binary)
            .filter_map(|other| Some((other, comparison.pooled.contrast(other.as_str())?)))
            .filter(|(_, contrast)| contrast.pairs > 0)
            .collect()
    };
    let shares: Vec<Effect> = others(true)
        .into_iter()
        .filter_map(|(other, contrast)| effect(name(other), &comparison.pooled, contrast))
        .collect();
    panels.extend(panel(
        "forest-shares",
        "Other shares, all conditions".to_owned(),
        format!("percentage points; {ARROWS}"),
        &shares,
        true,
    ));
    let counts: Vec<Effect> = others(false)
        .into_iter()
        .filter_map(|(other, contrast)| relative(name(other), &comparison.pooled, contrast))
        .collect();
    panels.extend(panel(
        "forest-counts",
        "Counts, all conditions".to_owned(),
        format!("per cent of the baseline's mean; {ARROWS}"),
        &counts,
        true,
    ));
    panels
}

fn wish(higher_is_better: bool) -> &'static str {
    if higher_is_better {
        "more is better"
    } else {
        "less is better"
    }
}

fn name(metric: Metric) -> String {
    let arrow = if metric.higher_is_better() {
        "↑"
    } else {
        "↓"
    };
    format!("{} {arrow}", metric.title())
}

fn effect(name: String, cell: &Cell, contrast: &Contrast) -> Option<Effect> {
    let value = contrast.difference?;
    let interval = compare::interval(cell, contrast);
    let shown = |value: f64| compare::difference(contrast, value);
    Some(Effect {
        name,
        value,
        interval,
        shown: with_interval(value, interval, shown),
        means: means(contrast)?,
        pooled: false,
    })
}

/// A difference as a share of the baseline's mean; `None` when there is nothing to be relative to.
fn relative(name: String, cell: &Cell, contrast: &Contrast) -> Option<Effect> {
    let before = contrast.baseline?;
    if before.abs() < f64::EPSILON {
        return None;
    }
    let share = |value: f64| value / before;
    let interval = compare::interval(cell, contrast).map(|(low, high)| (share(low), share(high)));
    let value = share(contrast.difference?);
    Some(Effect {
        name,
        value,
        interval,
        shown: with_interval(value, interval, figures::points),
        means: means(contrast)?,
        pooled: false,
    })
}

/// `18 % → 94 %`.
fn means(contrast: &Contrast) -> Option<String> {
    let shown = if contrast.metric.is_binary() {
        figures::percent
    } else {
        figures::number
    };
    Some(format!(
        "{} → {}",
        shown(contrast.baseline?),
        shown(contrast.candidate?)
    ))
}

fn with_interval(
    value: f64,
    interval: Option<(f64, f64)>,
    shown: impl Fn(f64) -> String,
) -> String {
    interval.map_or_else(
        || shown(value),
        |(low, high)| format!("{} [{}, {}]", shown(value), shown(low), shown(high)),
    )
}

fn panel(id: &str, title: String, note: String, rows: &[Effect], points: bool) -> Option<Panel> {
    let bound = rows
        .iter()
        .flat_map(|row| {
            let (low, high) = row.interval.unwrap_or((row.value, row.value));
            [low.abs(), high.abs(), row.value.abs()]
        })
        .fold(0.0, f64::max);
    if rows.is_empty() || !bound.is_finite() {
        return None;
    }
    let (step, bound) = axis(if bound > 0.0 { bound } else { 1.0 });
    let x = |value: f64| {
        MARGIN + (value.clamp(-bound, bound) + bound) / (2.0 * bound) * (WIDTH - 2.0 * MARGIN)
    };
    let bottom = TOP + ROW * rows.len() as f64;
    let mut frame = Frame::new();
    let steps = (bound / step).round().clamp(1.0, 10.0);
    let mut at = -steps;
    while at <= steps {
        let value = at * step;
        let class = if at.abs() < 0.5 { "zero" } else { "grid" };
        frame.segment(class, (x(value), TOP), (x(value), bottom));
        let tick = if points {
            figures::points(value)
        } else {
            figures::signed(value, decimals(step))
        };
        frame.text("tick", (x(value), bottom + 14.0), Anchor::Middle, &tick);
        at += 1.0;
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + ROW * index as f64;
        let class = if row.pooled { "strong" } else { "" };
        frame.text(class, (0.0, y + 13.0), Anchor::Start, &row.name);
        frame.text(class, (WIDTH, y + 13.0), Anchor::End, &row.shown);
        frame.text("tick", (0.0, y + 27.0), Anchor::Start, &row.means);
        let line = y + 40.0;
        if let Some((low, high)) = row.interval {
            let class = if row.pooled {
                "interval thick"
            } else {
                "interval"
            };
            frame.segment(class, (x(low), line), (x(high), line));
        }
        frame.dot("candidate", (x(row.value), line), 5.0);
    }
    let description = rows
        .iter()
        .map(|row| format!("{}: {}, {}", row.name, row.means, row.shown))
        .collect::<Vec<_>>()
        .join("; ");
    let alternative =
        format!("Candidate minus baseline with 95 % intervals, {note}. {description}");
    Some(Panel {
        svg: frame.finish(id, bottom + 20.0, &title, &alternative),
        title,
        note,
    })
}
