//! The analysis plan as a file of its own, so that it can be reviewed and committed before a run.

use std::path::Path;

use market::Condition;
use serde::Deserialize;

use super::{Analysis, GuardError, GuardRule, PrimaryContrast, Stopping};
use crate::compare::Metric;

/// The analysis cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The file cannot be read.
    #[error("reading the analysis plan `{path}`")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not a plan.
    #[error(
        "`{path}` is no analysis plan: {problem}; a plan is a JSON object with any of: metric, contrast (pooled, per_condition), conditions, alpha, margin, guards (such as \"violation=0.05\"), min_coverage, stopping (fixed, sequential)"
    )]
    Form {
        /// The file.
        path: String,
        /// What is wrong, with line and column.
        problem: String,
    },
    /// A number is out of range.
    #[error("{name} must be above {low} and below {high}, not {value}")]
    Range {
        /// Which.
        name: &'static str,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
        /// What was given.
        value: f64,
    },
    /// One stopping rule for several tests.
    #[error(
        "a sequential run has one test: use the pooled contrast, with --test-conditions for some of the conditions"
    )]
    SequentialPerCondition,
    /// A guard cannot be used.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// A condition of the test is not played.
    #[error(
        "the primary test is about condition `{0}`, which is not played: add it to --conditions, or leave it out of the test"
    )]
    NotPlayed(Condition),
}

/// What may stand in the file; what is left out keeps its default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    metric: Option<Metric>,
    contrast: Option<PrimaryContrast>,
    conditions: Option<Vec<Condition>>,
    alpha: Option<f64>,
    margin: Option<f64>,
    guards: Option<Vec<String>>,
    min_coverage: Option<f64>,
    stopping: Option<Stopping>,
}

/// Reads an analysis plan.
///
/// # Errors
/// The file cannot be read, is no plan, or has a value that is out of range.
pub fn read(path: &Path) -> Result<Analysis, AnalysisError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| AnalysisError::Read {
        path: name.clone(),
        source,
    })?;
    let file: File = serde_json::from_str(&text).map_err(|error| AnalysisError::Form {
        path: name,
        problem: error.to_string(),
    })?;
    let mut analysis = Analysis::of(file.metric.unwrap_or(Metric::CorrectStrict));
    if let Some(contrast) = file.contrast {
        analysis.contrast = contrast;
    }
    if let Some(conditions) = file.conditions {
        analysis.conditions = conditions;
    }
    if let Some(alpha) = file.alpha {
        analysis.alpha = alpha;
    }
    if let Some(margin) = file.margin {
        analysis.margin = margin;
    }
    if let Some(guards) = file.guards {
        analysis.guards = guards
            .iter()
            .map(|text| text.parse())
            .collect::<Result<Vec<GuardRule>, _>>()?;
    }
    if let Some(share) = file.min_coverage {
        analysis.min_coverage = share;
    }
    if let Some(stopping) = file.stopping {
        analysis.stop(stopping);
    }
    analysis.check()?;
    Ok(analysis)
}
