//! The verdict in words, for people who know no statistics.

use std::fmt::Write as _;

use super::{Grounds, Shown, VerdictKind};
use crate::analysis::{PrimaryContrast, Stopping};
use crate::compare::contrast::Contrast;
use crate::compare::guards::{Guard, GuardState};
use crate::compare::metric::Metric;
use crate::compare::{Comparison, Coverage};
use crate::figures;
use crate::stats::{fewest_clusters, smallest_p};

impl Grounds<'_> {
    /// The verdict in one sentence.
    pub(in crate::compare) fn sentence(self, kind: VerdictKind) -> String {
        let mut sentence = format!("{}: ", kind.title());
        match kind {
            VerdictKind::Indecisive => self.say_indecisive(&mut sentence),
            VerdictKind::Improved => {
                let _ = write!(sentence, "{}; {}", describe(self.primary), self.evidence());
            }
            VerdictKind::Regressed => self.say_regressed(&mut sentence),
            VerdictKind::WithinMargin => {
                let _ = write!(
                    sentence,
                    "{}; even at the ends of its 90 % interval the difference stays inside {}",
                    describe(self.primary),
                    self.margin()
                );
            }
            VerdictKind::Inconclusive => self.say_inconclusive(&mut sentence),
        }
        sentence
    }

    fn say_indecisive(self, sentence: &mut String) {
        if self.primary.pairs == 0 {
            let _ = write!(
                sentence,
                "no pair has a value of {}",
                self.primary.metric.title()
            );
            return;
        }
        let [baseline, candidate] = self.coverage;
        let _ = write!(
            sentence,
            "{} of {} baseline and {} of {} candidate episodes ran to their end, and below {} of either nothing is judged",
            baseline.completed,
            baseline.planned,
            candidate.completed,
            candidate.planned,
            figures::percent(self.analysis.min_coverage),
        );
    }

    fn say_regressed(self, sentence: &mut String) {
        let broken: Vec<String> = self.guards_in(GuardState::Broken).map(said).collect();
        if self.shown() == Shown::Worse {
            let _ = write!(sentence, "{}; {}", describe(self.primary), self.evidence());
            if !broken.is_empty() {
                let _ = write!(sentence, "; and {}", broken.join("; "));
            }
        } else {
            let _ = write!(
                sentence,
                "{}, besides {}",
                broken.join("; "),
                describe(self.primary)
            );
        }
    }

    fn say_inconclusive(self, sentence: &mut String) {
        let _ = write!(sentence, "{}; {}", describe(self.primary), self.evidence());
        if self.shown() == Shown::Better {
            let open: Vec<String> = self.guards_in(GuardState::NotShown).map(said).collect();
            let _ = write!(sentence, ". The metric is better, but {}", open.join("; "));
            return;
        }
        if self.analysis.stopping == Stopping::Sequential {
            let _ = write!(
                sentence,
                ". The e-value would have had to reach {:.0}; so far that is no evidence either way",
                self.sequence.threshold
            );
            return;
        }
        if !self.reach.can_reject {
            let _ = write!(
                sentence,
                ". {}",
                too_few(self.reach.scenarios, self.analysis.alpha)
            );
            return;
        }
        if let Some(size) = self.reach.detectable {
            let _ = write!(
                sentence,
                ". By the spread seen between scenarios it had an 80 % chance of showing a difference of about {}",
                self.size(size)
            );
            if let (Some(margin), Some(needed)) =
                (self.reach.margin, self.reach.scenarios_for_margin)
                && margin < size
            {
                let _ = write!(
                    sentence,
                    "; for one of {} it would need about {needed} scenarios with as many repeats",
                    self.size(margin)
                );
            }
        }
    }

    fn evidence(self) -> String {
        let scenarios = count(self.primary.scenarios, "scenario");
        if self.analysis.stopping == Stopping::Sequential {
            let sequence = self.sequence;
            return match sequence.reached_after {
                Some(pairs) => format!(
                    "the e-value reached {:.0} after {pairs} pairs ({} of {} differing pairs in favour of the candidate by now)",
                    sequence.threshold, sequence.candidate_better, sequence.discordant
                ),
                None => format!(
                    "e-value {} after {} pairs, {} of {} differing pairs in favour of the candidate",
                    figures::large(sequence.largest_e),
                    sequence.pairs,
                    sequence.candidate_better,
                    sequence.discordant
                ),
            };
        }
        match (self.analysis.contrast, self.confirmatory) {
            (PrimaryContrast::PerCondition, tests) => {
                let each: Vec<String> = tests
                    .iter()
                    .map(|test| format!("{} {}", test.place(), figures::p_is(test.adjusted_p)))
                    .collect();
                format!(
                    "sign-flip over {scenarios} in each condition, Holm: {}",
                    each.join(", ")
                )
            }
            _ => format!(
                "sign-flip {} over {scenarios}",
                figures::p_is(self.primary.sign_flip.p)
            ),
        }
    }

    fn margin(self) -> String {
        self.reach.margin.map_or_else(
            || "the margin".to_owned(),
            |margin| format!("±{}", self.size(margin)),
        )
    }

    fn size(self, value: f64) -> String {
        size(self.primary.metric, value)
    }
}

/// A size in the metric's unit.
fn size(metric: Metric, value: f64) -> String {
    if metric.is_binary() {
        let points = format!("{:.0}", value * 100.0);
        format!("{points} point{}", if points == "1" { "" } else { "s" })
    } else {
        figures::number(value)
    }
}

/// Why no test on so few scenarios can show anything.
pub(in crate::compare) fn too_few(scenarios: usize, alpha: f64) -> String {
    if scenarios < 2 {
        return format!(
            "One scenario says nothing about others, however often it is repeated: {} scenarios are the least for a test at {alpha}, 20 to 40 carry a conclusion (--pack bargain-40)",
            fewest_clusters(alpha)
        );
    }
    let floor = smallest_p(scenarios);
    format!(
        "With {} no test on scenarios can show a difference at {alpha}, however large it is: if the versions did not differ, \
         all {scenarios} scenarios would still come out on the same side one time in {:.0} (2/2^{scenarios} = {floor:.4}), by chance alone. \
         More repeats do not help, more scenarios do: {} are the least, 20 to 40 carry a conclusion (--pack bargain-40)",
        count(scenarios, "scenario"),
        floor.recip(),
        fewest_clusters(alpha),
    )
}

/// A guard that does not hold, in words.
fn said(guard: Guard) -> String {
    let metric = guard.rule.metric;
    let tolerated = if guard.rule.relative {
        format!("{:.0} %", guard.rule.margin * 100.0)
    } else {
        size(metric, guard.rule.margin)
    };
    let values = match (guard.baseline, guard.candidate) {
        (Some(before), Some(after)) if metric.is_binary() => format!(
            "{} {} to {}",
            metric.title(),
            figures::percent(before),
            figures::percent(after)
        ),
        (Some(before), Some(after)) => format!(
            "{} {} to {}",
            metric.title(),
            figures::number(before),
            figures::number(after)
        ),
        _ => metric.title().to_owned(),
    };
    let bound = |value: Option<f64>| {
        value.map_or_else(String::new, |value| {
            if metric.is_binary() {
                format!("{} points", figures::points(value))
            } else {
                figures::signed(value, 1)
            }
        })
    };
    if guard.state == GuardState::Broken {
        return format!(
            "guard broken: {values}, at least {}, more than the {tolerated} tolerated",
            bound(guard.lower)
        );
    }
    let mut text = format!(
        "it is not shown that {} rose by no more than the {tolerated} tolerated ({values}; it could be {})",
        metric.title(),
        bound(guard.upper)
    );
    if let Some(needed) = guard.rule.fewest_pairs()
        && needed > guard.pairs as u64
    {
        let _ = write!(
            text,
            ", which {} pairs can never show: even without a single event it takes {needed}",
            guard.pairs
        );
    }
    text
}

/// `correct (strict) 40 % to 55 %, +15 points [2, 28]`.
pub(in crate::compare) fn describe(contrast: &Contrast) -> String {
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

fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// What a reader has to know besides the verdict.
pub(in crate::compare) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.identical {
        notes.push(aa(comparison));
    }
    let analysis = &comparison.analysis;
    if analysis.intact == Some(false) {
        notes.push(
            "the analysis in the manifest does not match the hash written with it: it was edited after it was stated, so nothing here is confirmatory"
                .to_owned(),
        );
    }
    if !analysis.as_stated {
        notes.push(format!(
            "the analysis was changed after the first call ({}), so its p values are not confirmatory",
            analysis.changes.join("; ")
        ));
    }
    if analysis.used.stopping == Stopping::Sequential {
        notes.push(
            "the run may have stopped early: the e-value allows for that, while sign-flip p values, intervals and guards describe what was played"
                .to_owned(),
        );
    }
    for side in [&comparison.baseline, &comparison.candidate] {
        if let Some(text) = incomplete(&side.arm, side.coverage) {
            notes.push(text);
        }
    }
    let robustness = comparison.robustness;
    if let Some((low, high)) = robustness.bounds
        && robustness.missing_pairs > 0
    {
        notes.push(format!(
            "{} no value on both sides: had all missing values gone against or for the candidate, the difference would be {} or {} points",
            match robustness.missing_pairs {
                1 => "one planned pair has".to_owned(),
                n => format!("{n} planned pairs have"),
            },
            figures::points(low),
            figures::points(high)
        ));
    }
    let scenarios = comparison.reach.scenarios;
    if (2..12).contains(&scenarios) {
        notes.push(format!(
            "intervals over {scenarios} scenarios are approximate; 12 or more, better 20 to 40, carry a conclusion"
        ));
    }
    if comparison.verdict.kind != VerdictKind::Indecisive {
        for guard in &comparison.guards {
            if guard.state == GuardState::NotShown
                && comparison.verdict.kind != VerdictKind::Inconclusive
            {
                notes.push(said(*guard));
            }
        }
    }
    notes
}

fn aa(comparison: &Comparison) -> String {
    let mut note = "A/A: both arms serve the same version, so any difference is chance".to_owned();
    if comparison.simulated && comparison.noise.is_none() {
        note.push_str(
            "; simulated agents draw the same numbers in both arms, so there should be none (--aa draws others in each arm)",
        );
    }
    if let Some(noise) = comparison.noise {
        let floor = if comparison.metric.is_binary {
            format!(
                "{} points",
                figures::points(noise.floor).trim_start_matches('+')
            )
        } else {
            figures::number(noise.floor)
        };
        let _ = write!(
            note,
            "; noise floor: in {} relabellings of these episodes 95 % of the differences were within ±{floor}, and {} were called improved or regressed",
            noise.relabellings, noise.false_verdicts
        );
    }
    note
}

fn incomplete(arm: &str, coverage: Coverage) -> Option<String> {
    (coverage.infra_errors + coverage.other + coverage.missing > 0).then(|| {
        format!(
            "{arm}: {} of {} planned episodes ran to their end ({}, {}, {} not recorded); the others are left out with their partners",
            coverage.completed,
            coverage.planned,
            count(coverage.infra_errors, "infrastructure error"),
            count(coverage.other, "other failure"),
            coverage.missing
        )
    })
}
