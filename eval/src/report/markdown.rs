//! The evidence as Markdown, below the comparison's own document.

use std::fmt::Write as _;

use super::evidence::Evidence;
use super::tables;
use crate::compare::{self, Comparison};
use crate::table::{Grid, markdown_text};

/// The comparison with its evidence, without episodes: their transcripts are on the page only.
pub fn markdown(comparison: &Comparison, evidence: &Evidence) -> String {
    let mut out = compare::markdown(comparison);
    let mut section = |title: &str, grid: &Grid| {
        if !grid.rows.is_empty() {
            let _ = writeln!(out, "\n## {title}\n\n{}", grid.markdown());
        }
    };
    section(
        "Each scenario",
        &tables::scenarios(&comparison.metric, evidence),
    );
    section(
        "Distribution over episodes",
        &tables::distributions(evidence),
    );
    section(
        "Attempts outside the own limit, baseline -> candidate",
        &tables::attempts(evidence),
    );
    section("Injection: read and obeyed", &tables::injection(evidence));
    section("Failure classes, in episodes", &tables::failures(evidence));
    section("Cost", &tables::cost(evidence));
    let _ = writeln!(out, "\n## What this does not show\n");
    for limit in &evidence.limits {
        let _ = writeln!(out, "- {}", markdown_text(limit));
    }
    out
}
