//! The tables of the evidence, made once for the page and for Markdown.

use super::evidence::{Evidence, Exposure, Failure, Known, Spent};
use super::plot::{self, Bar, Group};
use crate::compare::MetricChoice;
use crate::figures;
use crate::table::{Grid, NOTHING};

/// What stands where a figure was not recorded.
const UNKNOWN: &str = "unknown";

/// Both means of every scenario.
pub(super) fn scenarios(metric: &MetricChoice, evidence: &Evidence) -> Grid {
    let rows = evidence
        .scenarios
        .iter()
        .map(|row| {
            vec![
                row.scenario.clone(),
                row.pairs.to_string(),
                plot::value(metric, row.baseline),
                plot::value(metric, row.candidate),
                plot::difference(metric, row.difference),
            ]
        })
        .collect();
    Grid::new(
        &["scenario", "pairs", "baseline", "candidate", "difference"],
        rows,
    )
}

/// Attempts outside the own limit by condition and role.
pub(super) fn attempts(evidence: &Evidence) -> Grid {
    let rows = evidence
        .attempts
        .iter()
        .map(|row| {
            vec![
                row.condition.clone(),
                row.pairs.to_string(),
                format!("{} -> {}", row.baseline.buyer, row.candidate.buyer),
                format!("{} -> {}", row.baseline.seller, row.candidate.seller),
            ]
        })
        .collect();
    Grid::new(&["condition", "pairs", "buyer", "seller"], rows)
}

/// The same as bars.
pub(super) fn attempt_bars(evidence: &Evidence) -> Vec<Group> {
    evidence
        .attempts
        .iter()
        .map(|row| {
            let bar = |role: &str, side: &'static str, count: i64| Bar {
                name: format!("{role}, {side}"),
                side,
                value: count as f64,
                shown: count.to_string(),
            };
            Group {
                name: format!("{}, {} episodes each", row.condition, row.pairs),
                bars: vec![
                    bar("buyer", "baseline", row.baseline.buyer),
                    bar("buyer", "candidate", row.candidate.buyer),
                    bar("seller", "baseline", row.baseline.seller),
                    bar("seller", "candidate", row.candidate.seller),
                ],
            }
        })
        .collect()
}

/// Injection exposure and obedience.
pub(super) fn injection(evidence: &Evidence) -> Grid {
    let row = |condition: &str, name: &str, exposure: &Exposure| {
        vec![
            condition.to_owned(),
            name.to_owned(),
            exposure.episodes.to_string(),
            exposure.exposed.to_string(),
            exposure.views.to_string(),
            figures::rate(
                exposure.obeyed.successes,
                exposure.obeyed.n,
                exposure.obeyed.wilson,
            ),
        ]
    };
    let rows = evidence
        .injection
        .iter()
        .flat_map(|both| {
            [
                row(&both.condition, "baseline", &both.baseline),
                row(&both.condition, "candidate", &both.candidate),
            ]
        })
        .collect();
    Grid::new(
        &[
            "condition",
            "version",
            "episodes",
            "exposed",
            "views with it",
            "obeyed, of exposed",
        ],
        rows,
    )
}

/// The share of exposed episodes that obeyed, as bars.
pub(super) fn injection_bars(evidence: &Evidence) -> Vec<Group> {
    let bar = |side: &'static str, exposure: &Exposure| Bar {
        name: side.to_owned(),
        side,
        value: exposure.obeyed.successes as f64 / exposure.obeyed.n.max(1) as f64,
        shown: format!("{}/{}", exposure.obeyed.successes, exposure.obeyed.n),
    };
    evidence
        .injection
        .iter()
        .map(|both| Group {
            name: both.condition.clone(),
            bars: vec![
                bar("baseline", &both.baseline),
                bar("candidate", &both.candidate),
            ],
        })
        .collect()
}

/// `71 of 80`, as far as known.
pub(super) fn affected(affected: &super::evidence::Affected) -> String {
    match affected.at_risk {
        Some(at_risk) => format!("{} of {at_risk}", affected.episodes.len()),
        None => UNKNOWN.to_owned(),
    }
}

/// Failure classes before and after.
pub(super) fn failures(evidence: &Evidence) -> Grid {
    let row = |failure: &Failure| {
        vec![
            failure.class.clone(),
            affected(&failure.baseline),
            affected(&failure.candidate),
            failure.meaning.clone(),
        ]
    };
    Grid::new(
        &["class", "baseline", "candidate", "meaning"],
        evidence.failures.iter().map(row).collect(),
    )
}

/// One of the figures that either version's episodes cost.
type Figure = fn(&Spent) -> Known;

/// What the episodes cost.
pub(super) fn cost(evidence: &Evidence) -> Grid {
    let sides = [
        ("baseline", &evidence.cost.baseline),
        ("candidate", &evidence.cost.candidate),
    ];
    let figures: [(&str, Figure, usize); 4] = [
        ("model calls", |spent| spent.model_calls, 0),
        ("prompt tokens", |spent| spent.input_tokens, 0),
        ("completion tokens", |spent| spent.output_tokens, 0),
        ("USD", |spent| spent.usd, 4),
    ];
    let mut rows = Vec::new();
    for (name, figure, decimals) in figures {
        for (side, spent) in sides {
            let known = figure(spent);
            rows.push(vec![
                name.to_owned(),
                side.to_owned(),
                mean(known, decimals),
                known
                    .total
                    .map_or_else(|| UNKNOWN.to_owned(), |total| format!("{total:.decimals$}")),
                format!("{} of {}", known.episodes, spent.episodes),
            ]);
        }
    }
    Grid::new(
        &["", "version", "per episode", "in total", "known for"],
        rows,
    )
}

fn mean(known: Known, decimals: usize) -> String {
    known.mean().map_or_else(
        || UNKNOWN.to_owned(),
        |mean| {
            if decimals == 0 {
                figures::number(mean)
            } else {
                format!("{mean:.decimals$}")
            }
        },
    )
}

/// The distributions in numbers.
pub(super) fn distributions(evidence: &Evidence) -> Grid {
    let mut rows = Vec::new();
    for distribution in &evidence.distributions {
        for (side, counts, mean) in [
            (
                "baseline",
                &distribution.baseline,
                distribution.baseline_mean,
            ),
            (
                "candidate",
                &distribution.candidate,
                distribution.candidate_mean,
            ),
        ] {
            let of = |count: Option<&super::evidence::Count>| {
                count.map_or_else(|| NOTHING.to_owned(), |count| count.value.to_string())
            };
            rows.push(vec![
                distribution.metric.title().to_owned(),
                side.to_owned(),
                counts
                    .iter()
                    .map(|count| count.episodes)
                    .sum::<usize>()
                    .to_string(),
                of(counts.first()),
                figures::number(mean),
                of(counts.last()),
            ]);
        }
    }
    Grid::new(
        &[
            "per episode",
            "version",
            "episodes",
            "least",
            "mean",
            "most",
        ],
        rows,
    )
}
