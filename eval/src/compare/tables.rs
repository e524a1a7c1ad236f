//! The tables of a comparison.

mod further;

use super::contrast::Contrast;
use super::families::Test;
use super::guards::{Guard, GuardState};
use super::{Cell, Comparison, Metric, Totals};
use crate::figures;
use crate::table::{Grid, NOTHING};

pub(crate) use further::further;

/// What the names of the conditions mean.
pub(crate) const CONDITIONS: &str = "prompt: the limit stands in the prompt only; server: the server enforces it too; *_inject: what the buyer reads carries an injection";

fn cells(comparison: &Comparison) -> impl Iterator<Item = &Cell> {
    comparison.conditions.iter().chain([&comparison.pooled])
}

/// A difference in the unit of its metric.
pub(crate) fn difference(contrast: &Contrast, value: f64) -> String {
    if contrast.metric.is_binary() {
        figures::points(value)
    } else {
        figures::signed(value, 1)
    }
}

/// The metric of the verdict: both versions in every condition.
pub(crate) fn primary(comparison: &Comparison) -> Grid {
    let header = [
        "condition",
        "pairs",
        "baseline",
        "candidate",
        "difference",
        "b / c",
        "McNemar p",
        "sign-flip p",
    ];
    let rows = cells(comparison)
        .filter_map(|cell| cell.contrast(comparison.metric.name).map(|c| row(cell, c)));
    Grid::new(&header, rows.collect()).without_empty_columns()
}

fn row(cell: &Cell, contrast: &Contrast) -> Vec<String> {
    let mut row = vec![cell.name().to_owned(), contrast.pairs.to_string()];
    if let Some(binary) = &contrast.binary {
        for rate in [binary.baseline, binary.candidate] {
            row.push(figures::rate(rate.successes, rate.n, rate.wilson));
        }
    } else {
        for value in [contrast.baseline, contrast.candidate] {
            row.push(value.map_or_else(|| NOTHING.to_owned(), figures::number));
        }
    }
    row.push(match (contrast.difference, interval(cell, contrast)) {
        (Some(value), Some((low, high))) => format!(
            "{} [{}, {}]",
            difference(contrast, value),
            difference(contrast, low),
            difference(contrast, high)
        ),
        (Some(value), None) => difference(contrast, value),
        (None, _) => NOTHING.to_owned(),
    });
    match &contrast.binary {
        Some(binary) if binary.baseline.n > 0 => {
            row.push(format!("{} / {}", binary.b, binary.c));
            row.push(figures::p(binary.mcnemar_p));
        }
        _ => row.extend([NOTHING.to_owned(), NOTHING.to_owned()]),
    }
    row.push(if contrast.pairs == 0 {
        NOTHING.to_owned()
    } else {
        figures::p(contrast.sign_flip.p)
    });
    row
}

/// The interval of a difference: within a condition Newcombe's for yes or no, otherwise the one over scenarios.
pub(crate) fn interval(cell: &Cell, contrast: &Contrast) -> Option<(f64, f64)> {
    let clustered = contrast.clustered.map(|clustered| clustered.interval);
    match (&contrast.binary, cell.condition) {
        (Some(binary), Some(_)) => (binary.baseline.n > 0).then_some(binary.newcombe),
        (Some(_), None) => clustered.map(|(low, high)| (low.max(-1.0), high.min(1.0))),
        (None, _) => clustered,
    }
}

/// What agents did besides.
pub(crate) fn behaviour(comparison: &Comparison) -> Grid {
    let header = [
        "condition",
        "tool calls",
        "tokens",
        "attempts b+s",
        "refused (mended)",
        "violations",
        "obeyed/exposed",
        "deal, no_deal, open",
    ];
    Grid::new(&header, cells(comparison).map(behaviour_row).collect()).without_empty_columns()
}

/// What the columns of [`behaviour`] mean.
pub(crate) const BEHAVIOUR: &str = "attempts b+s: outside the own limit, buyer + seller; refused (mended): refusals, and those followed by a valid move in the same turn";

fn behaviour_row(cell: &Cell) -> Vec<String> {
    let means = |metric: Metric| {
        let contrast = cell.contrast(metric.as_str())?;
        let (before, after) = (contrast.baseline?, contrast.candidate?);
        Some(format!(
            "{} -> {}",
            figures::number(before),
            figures::number(after)
        ))
    };
    let both = |shown: fn(&Totals) -> String| {
        format!("{} -> {}", shown(&cell.baseline), shown(&cell.candidate))
    };
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    vec![
        cell.name().to_owned(),
        or_nothing(means(Metric::ToolCalls)),
        or_nothing(means(Metric::Tokens)),
        both(|totals| format!("{}+{}", totals.attempts_buyer, totals.attempts_seller)),
        both(|totals| format!("{} ({})", totals.refused, totals.recovered)),
        both(|totals| totals.violations.to_string()),
        if cell.inject == Some(false) || cell.baseline.exposed + cell.candidate.exposed == 0 {
            NOTHING.to_owned()
        } else {
            both(|totals| format!("{}/{}", totals.obeyed, totals.exposed))
        },
        both(|totals| format!("{}, {}, {}", totals.deal, totals.no_deal, totals.open)),
    ]
}

/// What must not get worse.
pub(crate) fn guard_table(comparison: &Comparison) -> Grid {
    let header = [
        "guard",
        "baseline",
        "candidate",
        "difference",
        "at most",
        "tolerated",
        "state",
    ];
    let rows = comparison
        .guards
        .iter()
        .filter(|guard| guard.state != GuardState::NoData)
        .map(guard_row);
    Grid::new(&header, rows.collect())
}

/// What the columns of [`guard_table`] mean.
pub(crate) const GUARDS: &str = "at most: one-sided 95 % upper bound of the difference; held when it is inside what was tolerated before the run (for a share of the baseline, the bound is taken on candidate - tolerated share)";

fn guard_row(guard: &Guard) -> Vec<String> {
    let metric = guard.rule.metric;
    let level = |value: Option<f64>| match value {
        Some(value) if metric.is_binary() => figures::percent(value),
        Some(value) => figures::number(value),
        None => NOTHING.to_owned(),
    };
    let change = |value: Option<f64>| match value {
        Some(value) if metric.is_binary() => figures::points(value),
        Some(value) => figures::signed(value, 1),
        None => NOTHING.to_owned(),
    };
    vec![
        metric.title().to_owned(),
        level(guard.baseline),
        level(guard.candidate),
        change(guard.difference),
        change(guard.upper),
        if guard.rule.relative {
            format!("{:+.0} %", guard.rule.margin * 100.0)
        } else {
            change(Some(guard.rule.margin))
        },
        guard.state.as_str().to_owned(),
    ]
}

/// Every test, with its p corrected for the number of tests of its family.
pub(crate) fn tests_table(comparison: &Comparison) -> Grid {
    let header = [
        "family",
        "metric",
        "where",
        "difference",
        "p",
        "corrected p",
    ];
    let families = &comparison.families;
    let confirmatory = families
        .confirmatory
        .iter()
        .map(|test| ("confirmatory", "Holm", test));
    let exploratory = families
        .exploratory
        .iter()
        .map(|test| ("exploratory", "BH", test));
    let rows = confirmatory
        .chain(exploratory)
        .map(|(family, method, test)| test_row(family, method, test));
    Grid::new(&header, rows.collect())
}

fn test_row(family: &str, method: &str, test: &Test) -> Vec<String> {
    vec![
        family.to_owned(),
        test.metric.title().to_owned(),
        test.place().to_owned(),
        match test.difference {
            Some(value) if test.metric.is_binary() => figures::points(value),
            Some(value) => figures::signed(value, 1),
            None => NOTHING.to_owned(),
        },
        figures::p(test.p),
        format!(
            "{} ({method}){}",
            figures::p(test.adjusted_p),
            if test.rejected { " *" } else { "" }
        ),
    ]
}
