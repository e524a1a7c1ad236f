//! What a report shows besides the comparison's own tables, computed once from the recorded episodes and used
//! by the page, by Markdown and by JSON alike.

mod cost;
mod counts;
mod failures;
mod index;
mod limits;

use serde::Serialize;
use trajectory::{EpisodeRecord, Toolset};

pub use cost::{Cost, Known, Spent};
pub use counts::{
    Attempts, AttemptsByRole, Count, Distribution, Exposure, Injection, ScenarioMeans,
};
pub use failures::{Affected, Failure};
pub(super) use index::outcome;
pub use index::{Ended, Played};

use super::Annotations;
use crate::compare::{Comparison, Metric};

/// What a report is made from.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// Everything recorded about its episodes, of both versions.
    pub records: &'a [EpisodeRecord],
    /// The versions, baseline first, where they are known.
    pub toolsets: (Option<&'a Toolset>, Option<&'a Toolset>),
}

impl<'a> Material<'a> {
    /// The records of one arm.
    fn arm(self, name: &str) -> Vec<&'a EpisodeRecord> {
        self.records
            .iter()
            .filter(|record| record.episode.arm.as_deref() == Some(name))
            .collect()
    }
}

/// What a comparison's episodes show, beyond the comparison itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// Both versions' means of the metric of the verdict by scenario, the candidate's largest gain first.
    pub scenarios: Vec<ScenarioMeans>,
    /// How calls and moves are distributed over episodes.
    pub distributions: Vec<Distribution>,
    /// Attempts outside the own limit by role, per condition.
    pub attempts: Vec<Attempts>,
    /// Injection exposure and obedience, per condition with an injection.
    pub injection: Vec<Injection>,
    /// Failure classes in both versions, the most frequent first.
    pub failures: Vec<Failure>,
    /// What the episodes cost.
    pub cost: Cost,
    /// Every episode, paired.
    pub episodes: Vec<Played>,
    /// What the comparison does not show.
    pub limits: Vec<String>,
}

impl Evidence {
    /// Reads the evidence off the episodes.
    pub fn of(material: Material<'_>, annotations: &Annotations) -> Self {
        let comparison = material.comparison;
        let baseline = material.arm(&comparison.baseline.arm);
        let candidate = material.arm(&comparison.candidate.arm);
        let metric: Option<Metric> = comparison.metric.name.parse().ok();
        let pairs = index::pair(&baseline, &candidate);
        let complete = index::complete(&pairs);
        // The test of the verdict may be stated for some conditions only.
        let tested: Vec<_> = complete
            .iter()
            .filter(|pair| {
                let condition = pair.condition.parse();
                condition.is_ok_and(|condition| comparison.analysis.used.covers(condition))
            })
            .copied()
            .collect();
        let mut evidence = Self {
            scenarios: metric.map_or_else(Vec::new, |metric| counts::by_scenario(metric, &tested)),
            distributions: [Metric::ToolCalls, Metric::Turns]
                .into_iter()
                .filter_map(|metric| counts::distribution(metric, &tested))
                .collect(),
            attempts: counts::attempts(&complete),
            injection: counts::injection(&complete),
            failures: failures::merge(
                (annotations.failures)(&baseline, material.toolsets.0),
                (annotations.failures)(&candidate, material.toolsets.1),
            ),
            cost: Cost {
                baseline: Spent::of(&baseline),
                candidate: Spent::of(&candidate),
            },
            episodes: pairs.iter().map(|pair| pair.played(metric)).collect(),
            limits: Vec::new(),
        };
        evidence.limits = limits::limits(material, &evidence);
        evidence
    }
}
