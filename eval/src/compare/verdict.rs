//! What a comparison shows, decided by rules that were fixed before it.

mod sentence;

use serde::Serialize;
use trajectory::Exit;

use super::contrast::Contrast;
use super::families::Test;
use super::guards::{Guard, GuardState};
use super::pairs::Coverage;
use super::reach::Reach;
use super::sequence::Sequence;
use crate::analysis::{Analysis, Stopping};
use crate::stats::Level;

pub(super) use sentence::notes;

/// What the comparison shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The candidate is better on the primary metric, and every guard with data holds.
    Improved,
    /// The candidate is worse on the primary metric, or breaks a guard.
    Regressed,
    /// The difference is inside the margin, also at the ends of what the data allow.
    WithinMargin,
    /// None of these is shown.
    Inconclusive,
    /// Too much is missing to judge.
    Indecisive,
}

impl VerdictKind {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::WithinMargin => "within_margin",
            Self::Inconclusive => "inconclusive",
            Self::Indecisive => "indecisive",
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Self::WithinMargin => "no difference within the margin",
            other => other.as_str(),
        }
    }

    /// The exit code under `--gate`.
    pub fn exit(self) -> Exit {
        match self {
            Self::Improved => Exit::Done,
            Self::WithinMargin | Self::Inconclusive => Exit::NoImprovement,
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

/// What the verdict rests on.
#[derive(Clone, Copy)]
pub(super) struct Grounds<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) coverage: [Coverage; 2],
    pub(super) primary: &'a Contrast,
    pub(super) confirmatory: &'a [Test],
    pub(super) guards: &'a [Guard],
    pub(super) sequence: &'a Sequence,
    pub(super) reach: &'a Reach,
}

/// Which way the primary metric went, as far as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Better,
    Worse,
    Neither,
}

impl Grounds<'_> {
    /// Fewer scenarios than this let no test on scenarios reject at .05, and make no claim of equality believable.
    const FEWEST: usize = 6;

    pub(super) fn kind(self) -> VerdictKind {
        if self.lowest_coverage() < self.analysis.min_coverage || self.primary.pairs == 0 {
            return VerdictKind::Indecisive;
        }
        let broken = self.guards_in(GuardState::Broken).next().is_some();
        match self.shown() {
            shown if broken || shown == Shown::Worse => VerdictKind::Regressed,
            Shown::Better if self.guards_in(GuardState::NotShown).next().is_none() => {
                VerdictKind::Improved
            }
            Shown::Neither if self.is_within_margin() => VerdictKind::WithinMargin,
            _ => VerdictKind::Inconclusive,
        }
    }

    pub(super) fn lowest_coverage(self) -> f64 {
        let [baseline, candidate] = self.coverage;
        baseline.share().min(candidate.share())
    }

    pub(super) fn guards_in(self, state: GuardState) -> impl Iterator<Item = Guard> {
        self.guards
            .iter()
            .copied()
            .filter(move |guard| guard.state == state)
    }

    /// Worse counts first: a version that is worse in one condition is not saved by another.
    pub(super) fn shown(self) -> Shown {
        if self.analysis.stopping == Stopping::Sequential {
            return match self.sequence.candidate_ahead {
                Some(true) => Shown::Better,
                Some(false) => Shown::Worse,
                None => Shown::Neither,
            };
        }
        let sign = if self.primary.metric.higher_is_better() {
            1.0
        } else {
            -1.0
        };
        let rejected = |side: f64| {
            self.confirmatory
                .iter()
                .any(|test| test.rejected && test.difference.is_some_and(|d| d * sign * side > 0.0))
        };
        if rejected(-1.0) {
            Shown::Worse
        } else if rejected(1.0) {
            Shown::Better
        } else {
            Shown::Neither
        }
    }

    /// Two one-sided tests: the 90 % interval lies inside the margin. For yes/no metrics the interval for pairs must do so as
    /// well, since scenarios that happen to agree have no spread and prove nothing.
    fn is_within_margin(self) -> bool {
        let (Some(margin), Some(clustered)) = (self.reach.margin, self.primary.clustered) else {
            return false;
        };
        if self.primary.scenarios < Self::FEWEST {
            return false;
        }
        let inside = |(low, high): (f64, f64)| -margin < low && high < margin;
        inside(clustered.interval_at(Level::P90))
            && self
                .primary
                .binary
                .is_none_or(|binary| inside(binary.tango_90))
    }
}
