//! Options that say how a comparison is judged.

use std::path::PathBuf;

use market::Condition;

use crate::analysis::{self, Analysis, GuardRule, PrimaryContrast, Stopping};
use crate::compare::Metric;

/// How it is judged; fixed before the first call.
#[derive(Debug, Clone, clap::Args)]
#[command(
    next_help_heading = "Analysis (stated before the first call; a later change shows in the report)"
)]
pub(super) struct AnalysisArgs {
    /// Analysis plan, a JSON file; the flags below override it
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Metric of the verdict [default: `correct_strict`]
    #[arg(long, value_name = "METRIC")]
    pub(super) metric: Option<Metric>,
    /// One test over all conditions (pooled), or one for each, corrected with Holm's method (per-condition) [default: pooled]
    #[arg(long, value_name = "CONTRAST", value_parser = contrast, hide_possible_values = true)]
    contrast: Option<PrimaryContrast>,
    /// Conditions of the primary test, comma-separated [default: all that are played]
    #[arg(long, value_name = "LIST")]
    test_conditions: Option<String>,
    /// Level of the primary test, two-sided [default: 0.05]
    #[arg(long, value_name = "P")]
    alpha: Option<f64>,
    /// Within this the versions count as equal: share of a rate (0.1 is ten points), or of a mean [default: 0.1]
    #[arg(long, value_name = "SHARE")]
    margin: Option<f64>,
    /// What must not get worse, METRIC=MARGIN or METRIC=N%; may be repeated; `none` for no guard
    /// [default: `violation=0.05 obeyed=0.1 tool_calls=10% tokens=10%`]
    #[arg(long, value_name = "GUARD")]
    guard: Vec<String>,
    /// Below this share of completed episodes in either arm nothing is judged [default: 0.9]
    #[arg(long, value_name = "SHARE")]
    min_coverage: Option<f64>,
    /// Stop as soon as the e-process of differing pairs reaches 1/alpha (valid however often one looks)
    #[arg(long)]
    sequential: bool,
}

fn contrast(text: &str) -> Result<PrimaryContrast, String> {
    match text {
        "pooled" => Ok(PrimaryContrast::Pooled),
        "per-condition" | "per_condition" => Ok(PrimaryContrast::PerCondition),
        _ => Err("use pooled or per-condition".to_owned()),
    }
}

impl AnalysisArgs {
    /// Whether anything is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.plan.is_some()
            || self.metric.is_some()
            || self.contrast.is_some()
            || self.test_conditions.is_some()
            || self.alpha.is_some()
            || self.margin.is_some()
            || !self.guard.is_empty()
            || self.min_coverage.is_some()
            || self.sequential
    }

    /// The analysis: the file or `base`, changed by the flags.
    pub(super) fn apply(&self, base: Analysis) -> anyhow::Result<Analysis> {
        let mut found = match &self.plan {
            Some(path) => analysis::read(path)?,
            None => base,
        };
        if let Some(metric) = self.metric {
            found.primary_metric = metric;
        }
        if let Some(contrast) = self.contrast {
            found.contrast = contrast;
        }
        if let Some(list) = &self.test_conditions {
            found.conditions = Condition::parse_list(list)?;
        }
        if let Some(alpha) = self.alpha {
            found.alpha = alpha;
        }
        if let Some(margin) = self.margin {
            found.margin = margin;
        }
        if !self.guard.is_empty() {
            found.guards = self
                .guard
                .iter()
                .filter(|text| *text != "none")
                .map(|text| text.parse())
                .collect::<Result<Vec<GuardRule>, _>>()?;
        }
        if let Some(share) = self.min_coverage {
            found.min_coverage = share;
        }
        if self.sequential {
            found.stop(Stopping::Sequential);
        }
        found.check()?;
        Ok(found)
    }
}
