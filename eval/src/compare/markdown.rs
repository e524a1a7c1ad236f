//! A comparison as Markdown.

use std::fmt::Write as _;

use super::text::{BEHAVIOUR, PRIMARY, behaviour_row, row};
use super::{Comparison, Side};
use crate::figures;
use crate::summary::{markdown_cell, markdown_table};

/// The comparison as a Markdown document.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    let mark = if comparison.simulated {
        format!(" ({})", figures::SIMULATED)
    } else {
        String::new()
    };
    let _ = writeln!(out, "# Comparison of two toolset versions{mark}\n");
    let _ = writeln!(out, "**{}**\n", comparison.verdict.sentence);
    for note in &comparison.verdict.notes {
        let _ = writeln!(out, "- {note}");
    }
    let _ = writeln!(out, "\n| | toolset | | completed |\n|---|---|---|---|");
    for (name, side) in [
        ("baseline", &comparison.baseline),
        ("candidate", &comparison.candidate),
    ] {
        let Side {
            label,
            toolset,
            coverage,
            ..
        } = side;
        let _ = writeln!(
            out,
            "| {name} | {toolset} | {} | {}/{} |",
            markdown_cell(label),
            coverage.completed,
            coverage.planned
        );
    }
    let _ = writeln!(
        out,
        "\nExperiment `{}`, pack {} ({} scenarios), {} repeats, model {}.\n",
        comparison.experiment,
        markdown_cell(&comparison.pack),
        comparison.scenarios,
        comparison.repeats,
        markdown_cell(&comparison.model)
    );
    let _ = writeln!(out, "## {}\n", comparison.metric.title);
    let cells = || comparison.conditions.iter().chain([&comparison.pooled]);
    let rows: Vec<Vec<String>> = cells()
        .filter_map(|cell| {
            cell.contrast(comparison.metric.name)
                .map(|contrast| row(cell, contrast))
        })
        .collect();
    out.push_str(&markdown_table(&PRIMARY, &rows));
    let _ = writeln!(out, "\n## Per episode, baseline -> candidate\n");
    let rows: Vec<Vec<String>> = cells().map(behaviour_row).collect();
    out.push_str(&markdown_table(&BEHAVIOUR, &rows));
    if !comparison.changes.is_empty() {
        let _ = writeln!(out, "\n## Texts that differ\n");
        let rows: Vec<Vec<String>> = comparison
            .changes
            .iter()
            .map(|change| {
                vec![
                    change.component.clone(),
                    change.baseline.clone(),
                    change.candidate.clone(),
                ]
            })
            .collect();
        out.push_str(&markdown_table(&["text", "baseline", "candidate"], &rows));
    }
    let _ = writeln!(out, "\n## What the figures rest on\n");
    for method in &comparison.methods {
        let _ = writeln!(out, "- {method}");
    }
    out
}
