//! A comparison as Markdown.

use std::fmt::Write as _;

use super::Comparison;
use super::tables::{
    BEHAVIOUR, CONDITIONS, GUARDS, behaviour, further, guard_table, primary, tests_table,
};
use super::text::analysis;
use crate::figures;
use crate::table::{Grid, markdown_text};

/// The comparison as a Markdown document.
pub fn markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    let mark = if comparison.simulated {
        format!(" ({})", figures::SIMULATED)
    } else {
        String::new()
    };
    let _ = writeln!(out, "# Comparison of two toolset versions{mark}\n");
    let _ = writeln!(out, "**{}**\n", markdown_text(&comparison.verdict.sentence));
    for note in &comparison.verdict.notes {
        let _ = writeln!(out, "- {}", markdown_text(note));
    }
    let sides = [
        ("baseline", &comparison.baseline),
        ("candidate", &comparison.candidate),
    ];
    let rows = sides.map(|(name, side)| {
        let completed = format!("{} of {}", side.coverage.completed, side.coverage.planned);
        vec![
            name.to_owned(),
            side.toolset.clone(),
            side.label.clone(),
            completed,
        ]
    });
    let _ = writeln!(
        out,
        "\n{}",
        Grid::new(&["", "toolset", "given as", "completed"], rows.to_vec()).markdown()
    );
    let _ = writeln!(
        out,
        "Experiment {}, pack {} ({} scenarios), repeats {}, model {}. Analysis: {}.\n",
        comparison.experiment,
        markdown_text(&comparison.pack),
        comparison.scenarios,
        comparison.repeats,
        markdown_text(&comparison.model),
        markdown_text(&analysis(comparison))
    );
    let _ = writeln!(
        out,
        "## {}\n\n{}",
        comparison.metric.title,
        primary(comparison).markdown()
    );
    let _ = writeln!(
        out,
        "## Baseline -> candidate, per episode or in total\n\n{}",
        behaviour(comparison).markdown()
    );
    let guards = guard_table(comparison);
    if !guards.rows.is_empty() {
        let _ = writeln!(out, "## Must not get worse\n\n{}", guards.markdown());
    }
    let _ = writeln!(
        out,
        "## All tests\n\n{}",
        tests_table(comparison).markdown()
    );
    let _ = writeln!(out, "## Besides\n");
    for (name, line) in further(comparison) {
        let _ = writeln!(out, "- {name}: {}", markdown_text(&line));
    }
    out.push('\n');
    if !comparison.changes.is_empty() {
        let rows = comparison
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
        let grid = Grid::new(&["text", "baseline", "candidate"], rows);
        let _ = writeln!(out, "## Texts that differ\n\n{}", grid.markdown());
    }
    let _ = writeln!(out, "## What the figures rest on\n");
    for line in comparison
        .methods
        .iter()
        .chain(&[CONDITIONS, BEHAVIOUR, GUARDS])
    {
        let _ = writeln!(out, "- {}", markdown_text(line));
    }
    out
}
