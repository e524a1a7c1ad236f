//! A comparison for the terminal.

use std::fmt::Write as _;

use super::tables::{
    BEHAVIOUR, CONDITIONS, GUARDS, behaviour, further, guard_table, primary, tests_table,
};
use super::{Comparison, Side};
use crate::analysis::PrimaryContrast;
use crate::figures::{self, one_line};

/// The comparison as text.
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    head(comparison, &mut out);
    let _ = writeln!(out, "\n{}", comparison.metric.title);
    let _ = writeln!(out, "{}", primary(comparison).terminal());
    let _ = writeln!(out, "{CONDITIONS}");
    if comparison.metric.is_binary {
        let _ = writeln!(
            out,
            "b / c: pairs in which only the baseline / only the candidate has it"
        );
    }
    let _ = writeln!(out, "\nper episode or in total, baseline -> candidate");
    let _ = writeln!(out, "{}", behaviour(comparison).terminal());
    let _ = writeln!(out, "{BEHAVIOUR}");
    let guards = guard_table(comparison);
    if !guards.rows.is_empty() {
        let _ = writeln!(out, "\nmust not get worse");
        let _ = writeln!(out, "{}", guards.terminal());
        let _ = writeln!(out, "{GUARDS}");
    }
    let _ = writeln!(
        out,
        "\nall tests (sign-flip on scenario means; * rejected at {})",
        comparison.analysis.used.alpha
    );
    let _ = writeln!(out, "{}", tests_table(comparison).terminal());
    let _ = writeln!(out, "\nbesides");
    for (name, line) in further(comparison) {
        let _ = writeln!(out, "- {name}: {line}");
    }
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
        .map(|model| format!(", counterpart {model}"))
        .unwrap_or_default();
    let _ = writeln!(
        out,
        "experiment {}, pack {} ({} scenarios), repeats {}, model {}",
        comparison.experiment,
        one_line(&comparison.pack),
        comparison.scenarios,
        comparison.repeats,
        one_line(&format!("{}{counterpart}", comparison.model))
    );
    side("baseline ", &comparison.baseline, out);
    side("candidate", &comparison.candidate, out);
    let _ = writeln!(out, "analysis  {}", analysis(comparison));
}

/// How it is judged, and since when that is fixed.
pub(crate) fn analysis(comparison: &Comparison) -> String {
    let analysis = &comparison.analysis;
    let hash = analysis.stated_hash.get(..12).unwrap_or_default();
    format!(
        "{} ({}), {}, alpha {}; {}",
        comparison.metric.name,
        match analysis.used.contrast {
            PrimaryContrast::Pooled => "pooled",
            PrimaryContrast::PerCondition => "per condition, Holm",
        },
        analysis.used.test,
        analysis.used.alpha,
        if analysis.as_stated {
            format!("stated before the first call, sha256 {hash}…")
        } else {
            format!("CHANGED since it was stated (sha256 {hash}…)")
        }
    )
}

fn side(name: &str, side: &Side, out: &mut String) {
    let coverage = side.coverage;
    let _ = writeln!(
        out,
        "{name} {} {}: {} of {} episodes completed",
        side.toolset,
        one_line(&side.label),
        coverage.completed,
        coverage.planned
    );
}
