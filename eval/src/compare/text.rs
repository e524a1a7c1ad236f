//! A comparison for the terminal.

use std::fmt::Write as _;

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;

use super::contrast::Contrast;
use super::{Cell, Comparison, Metric, Side, Totals};
use crate::figures::{self, one_line};

/// The comparison as text.
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    head(comparison, &mut out);
    let _ = writeln!(out, "\n{}", comparison.metric.title);
    let _ = writeln!(out, "{}", primary(comparison));
    if let Some(contrast) = comparison.pooled.contrast(comparison.metric.name)
        && let Some(clustered) = contrast.clustered
    {
        let _ = writeln!(
            out,
            "pooled difference over {} scenarios: {} [{}, {}]",
            clustered.clusters,
            difference(contrast, clustered.mean),
            difference(contrast, clustered.interval.0),
            difference(contrast, clustered.interval.1),
        );
    }
    let _ = writeln!(out, "\nper episode, baseline -> candidate");
    let _ = writeln!(out, "{}", behaviour(comparison));
    let _ = writeln!(out, "\n{}", comparison.verdict.sentence);
    for note in &comparison.verdict.notes {
        let _ = writeln!(out, "- {note}");
    }
    out
}

fn head(comparison: &Comparison, out: &mut String) {
    let mark = if comparison.simulated {
        format!(" ({})", figures::SIMULATED)
    } else {
        String::new()
    };
    let _ = writeln!(out, "Comparison of two toolset versions{mark}");
    let counterpart = comparison
        .counterpart_model
        .as_ref()
        .map(|model| format!(", counterpart {}", one_line(model)))
        .unwrap_or_default();
    let _ = writeln!(
        out,
        "experiment {}, pack {} ({} scenarios), {} repeats, model {}{counterpart}",
        comparison.experiment,
        one_line(&comparison.pack),
        comparison.scenarios,
        comparison.repeats,
        one_line(&comparison.model)
    );
    side("baseline ", &comparison.baseline, out);
    side("candidate", &comparison.candidate, out);
}

fn side(name: &str, side: &Side, out: &mut String) {
    let coverage = side.coverage;
    let _ = writeln!(
        out,
        "{name} {} {}: {}/{} episodes completed",
        side.toolset,
        one_line(&side.label),
        coverage.completed,
        coverage.planned
    );
}

fn cells(comparison: &Comparison) -> impl Iterator<Item = &Cell> {
    comparison.conditions.iter().chain([&comparison.pooled])
}

fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    table
}

/// What a condition is, in words.
fn explained(cell: &Cell) -> String {
    match (cell.enforce, cell.inject) {
        (Some(enforce), Some(inject)) => format!(
            "{}{}",
            if enforce {
                "server limit"
            } else {
                "prompt limit"
            },
            if inject { ", injection" } else { "" }
        ),
        _ => "all conditions".to_owned(),
    }
}

pub(crate) fn difference(contrast: &Contrast, value: f64) -> String {
    if contrast.metric.is_binary() {
        figures::points(value)
    } else {
        figures::signed(value, 1)
    }
}

fn primary(comparison: &Comparison) -> String {
    let rows = cells(comparison).filter_map(|cell| {
        let contrast = cell.contrast(comparison.metric.name)?;
        Some(row(cell, contrast))
    });
    table(&PRIMARY, rows).trim_fmt()
}

/// The columns of the table of the primary metric.
pub(crate) const PRIMARY: [&str; 9] = [
    "condition",
    "",
    "pairs",
    "baseline",
    "candidate",
    "difference",
    "b / c",
    "McNemar",
    "sign-flip",
];

pub(crate) fn row(cell: &Cell, contrast: &Contrast) -> Vec<String> {
    let mut row = vec![
        cell.name().to_owned(),
        explained(cell),
        contrast.pairs.to_string(),
    ];
    if let Some(binary) = &contrast.binary {
        let (before, after) = (binary.baseline, binary.candidate);
        row.push(figures::rate(before.successes, before.n, before.wilson));
        row.push(figures::rate(after.successes, after.n, after.wilson));
        let interval = binary.newcombe;
        row.push(match contrast.difference {
            Some(value) => format!(
                "{} [{}, {}]",
                figures::points(value),
                figures::points(interval.0),
                figures::points(interval.1)
            ),
            None => "-".to_owned(),
        });
        row.push(format!("{} / {}", binary.b, binary.c));
        row.push(figures::p(binary.mcnemar_p));
    } else {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), figures::number);
        row.push(shown(contrast.baseline));
        row.push(shown(contrast.candidate));
        row.push(match (contrast.difference, contrast.clustered) {
            (Some(value), Some(clustered)) => format!(
                "{} [{}, {}]",
                figures::signed(value, 1),
                figures::signed(clustered.interval.0, 1),
                figures::signed(clustered.interval.1, 1)
            ),
            (Some(value), None) => figures::signed(value, 1),
            (None, _) => "-".to_owned(),
        });
        row.extend(["-".to_owned(), "-".to_owned()]);
    }
    row.push(figures::p(contrast.sign_flip.p));
    row
}

fn behaviour(comparison: &Comparison) -> String {
    table(&BEHAVIOUR, cells(comparison).map(behaviour_row)).trim_fmt()
}

pub(crate) const BEHAVIOUR: [&str; 8] = [
    "condition",
    "tool calls",
    "tokens",
    "attempts buyer+seller",
    "refused (recovered)",
    "violations",
    "obeyed / exposed",
    "deal, no_deal, open",
];

pub(crate) fn behaviour_row(cell: &Cell) -> Vec<String> {
    let means = |metric: Metric| {
        let Some(contrast) = cell.contrast(metric.as_str()) else {
            return "-".to_owned();
        };
        match (contrast.baseline, contrast.candidate, contrast.difference) {
            (Some(before), Some(after), Some(difference)) => format!(
                "{} -> {} ({})",
                figures::number(before),
                figures::number(after),
                figures::signed(difference, 1)
            ),
            _ => "-".to_owned(),
        }
    };
    let both = |shown: fn(&Totals) -> String| {
        format!("{} -> {}", shown(&cell.baseline), shown(&cell.candidate))
    };
    vec![
        cell.name().to_owned(),
        means(Metric::ToolCalls),
        means(Metric::Tokens),
        both(|totals| format!("{}+{}", totals.attempts_buyer, totals.attempts_seller)),
        both(|totals| format!("{} ({})", totals.refused, totals.recovered)),
        both(|totals| totals.violations.to_string()),
        match cell.inject {
            Some(false) => "-".to_owned(),
            _ => both(|totals| format!("{}/{}", totals.obeyed, totals.exposed)),
        },
        both(|totals| format!("{}, {}, {}", totals.deal, totals.no_deal, totals.open)),
    ]
}
