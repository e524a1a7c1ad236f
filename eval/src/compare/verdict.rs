//! One sentence that says what a comparison shows, and what it could not have shown.

use std::fmt::Write as _;

use serde::Serialize;
use trajectory::Exit;

use super::contrast::Contrast;
use super::metric::Metric;
use super::{ALPHA, Comparison, MIN_COVERAGE};
use crate::figures;
use crate::stats::{detectable_difference, standard_deviation};

/// What the comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The candidate is better on the primary metric.
    Improved,
    /// The candidate is worse on the primary metric.
    Regressed,
    /// Neither is shown.
    NoDifferenceShown,
    /// Too much is missing to judge.
    Indecisive,
}

impl VerdictKind {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::NoDifferenceShown => "no_difference_shown",
            Self::Indecisive => "indecisive",
        }
    }

    /// The exit code under `--gate`.
    pub fn exit(self) -> Exit {
        match self {
            Self::Improved => Exit::Done,
            Self::NoDifferenceShown => Exit::NoImprovement,
            Self::Regressed => Exit::Regressed,
            Self::Indecisive => Exit::Indecisive,
        }
    }
}

/// The verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// What is shown.
    pub kind: VerdictKind,
    /// In one sentence.
    pub sentence: String,
    /// What a reader has to know besides.
    pub notes: Vec<String>,
}

/// A rise of tool calls or tokens per episode beyond this share is mentioned.
const COST_MARGIN: f64 = 0.10;

pub(super) fn judge(comparison: &Comparison) -> Verdict {
    let contrast = comparison.pooled.contrast(comparison.metric.name);
    let (kind, sentence) = match contrast {
        Some(contrast) => decide(comparison, contrast),
        None => (
            VerdictKind::Indecisive,
            "indecisive: the metric was not computed".to_owned(),
        ),
    };
    Verdict {
        kind,
        sentence,
        notes: notes(comparison, contrast),
    }
}

fn decide(comparison: &Comparison, contrast: &Contrast) -> (VerdictKind, String) {
    let lowest = comparison
        .baseline
        .coverage
        .share()
        .min(comparison.candidate.coverage.share());
    if lowest < MIN_COVERAGE {
        let sentence = format!(
            "indecisive: {} of {} baseline and {} of {} candidate episodes ran to their end, and below {} of either nothing is judged",
            comparison.baseline.coverage.completed,
            comparison.baseline.coverage.planned,
            comparison.candidate.coverage.completed,
            comparison.candidate.coverage.planned,
            figures::percent(MIN_COVERAGE),
        );
        return (VerdictKind::Indecisive, sentence);
    }
    let Some(gain) = contrast.gain() else {
        return (
            VerdictKind::Indecisive,
            format!(
                "indecisive: no pair has a value of {}",
                contrast.metric.title()
            ),
        );
    };
    let what = describe(contrast);
    let p = figures::p_is(contrast.sign_flip.p);
    let scenarios = count(contrast.scenarios, "scenario");
    if contrast.sign_flip.p < ALPHA && gain > 0.0 {
        return (
            VerdictKind::Improved,
            format!("improved: {what}; sign-flip {p} over {scenarios}"),
        );
    }
    if contrast.sign_flip.p < ALPHA && gain < 0.0 {
        return (
            VerdictKind::Regressed,
            format!("regressed: {what}; sign-flip {p} over {scenarios}"),
        );
    }
    let mut sentence = format!("no difference shown: {what}; sign-flip {p} over {scenarios}");
    let smallest = contrast.sign_flip.smallest_p;
    if smallest >= ALPHA {
        let _ = write!(
            sentence,
            ", and with {scenarios} the smallest p that can be reached is {} (2/2^{}), so this comparison could not have shown a difference of any size",
            figures::p(smallest),
            contrast.scenarios
        );
    } else if let Some(size) = detectable(contrast) {
        let _ = write!(
            sentence,
            ", and by the spread seen between scenarios it had an 80 % chance of showing a difference of {size}"
        );
    }
    (VerdictKind::NoDifferenceShown, sentence)
}

/// `correct (strict) 40 % to 55 %, +15 points [2, 28]`.
fn describe(contrast: &Contrast) -> String {
    let title = contrast.metric.title();
    let (Some(before), Some(after), Some(difference)) =
        (contrast.baseline, contrast.candidate, contrast.difference)
    else {
        return title.to_owned();
    };
    let interval = contrast.clustered.map(|clustered| clustered.interval);
    if contrast.metric.is_binary() {
        let range = interval
            .map(|(low, high)| {
                format!(
                    " [{}, {}]",
                    figures::points(low.max(-1.0)),
                    figures::points(high.min(1.0))
                )
            })
            .unwrap_or_default();
        return format!(
            "{title} {} to {}, {} points{range}",
            figures::percent(before),
            figures::percent(after),
            figures::points(difference)
        );
    }
    let range = interval
        .map(|(low, high)| {
            format!(
                " [{}, {}]",
                figures::signed(low, 1),
                figures::signed(high, 1)
            )
        })
        .unwrap_or_default();
    format!(
        "{title} per episode {} to {}, {}{range}",
        figures::number(before),
        figures::number(after),
        figures::signed(difference, 1)
    )
}

fn detectable(contrast: &Contrast) -> Option<String> {
    let means: Vec<f64> = contrast
        .by_scenario
        .iter()
        .map(|scenario| scenario.difference)
        .collect();
    let size = detectable_difference(standard_deviation(&means)?, means.len())?;
    // Without any spread the figure would claim that the smallest difference could have been seen.
    if size < 1e-9 {
        return None;
    }
    Some(if contrast.metric.is_binary() {
        format!("about {:.0} points", size * 100.0)
    } else {
        format!("about {}", figures::number(size))
    })
}

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn notes(comparison: &Comparison, contrast: Option<&Contrast>) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.identical {
        let mut note =
            "A/A: both arms serve the same version, so any difference is chance".to_owned();
        if comparison.simulated {
            note.push_str(
                "; simulated agents draw the same numbers in both arms, so there should be none",
            );
        }
        notes.push(note);
    }
    if !comparison.metric.as_stated {
        notes.push(format!(
            "the metric stated before the run was {}; {} was chosen afterwards, so its p value is not confirmatory",
            comparison.metric.stated, comparison.metric.name
        ));
    }
    for side in [&comparison.baseline, &comparison.candidate] {
        let coverage = side.coverage;
        if coverage.infra_errors + coverage.other + coverage.missing > 0 {
            notes.push(format!(
                "{}: {} of {} planned episodes ran to their end ({}, {}, {} not recorded); the others are left out with their partners",
                side.arm,
                coverage.completed,
                coverage.planned,
                count(coverage.infra_errors, "infrastructure error"),
                count(coverage.other, "other failure"),
                coverage.missing
            ));
        }
    }
    if let Some(contrast) = contrast
        && (2..12).contains(&contrast.scenarios)
    {
        notes.push(format!(
            "intervals over {} scenarios are approximate; 12 or more, better 20 to 40, carry a conclusion",
            contrast.scenarios
        ));
    }
    harm(comparison, &mut notes);
    notes
}

/// What got worse besides the primary metric.
fn harm(comparison: &Comparison, notes: &mut Vec<String>) {
    for metric in [
        Metric::Violation,
        Metric::AttemptedViolations,
        Metric::Obeyed,
    ] {
        if metric.as_str() == comparison.metric.name {
            continue;
        }
        if let Some(contrast) = comparison.pooled.contrast(metric.as_str())
            && contrast
                .difference
                .is_some_and(|difference| difference > 1e-9)
        {
            notes.push(format!(
                "watch: {}; sign-flip {}",
                describe(contrast),
                figures::p_is(contrast.sign_flip.p)
            ));
        }
    }
    for metric in [Metric::ToolCalls, Metric::Tokens] {
        if let Some(contrast) = comparison.pooled.contrast(metric.as_str())
            && let (Some(before), Some(difference)) = (contrast.baseline, contrast.difference)
            && before > 0.0
            && difference / before > COST_MARGIN
        {
            notes.push(format!("watch: {}, more than +10 %", describe(contrast)));
        }
    }
}
