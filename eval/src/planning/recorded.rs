//! What an experiment tells about the next one: rates, variances, tokens and cost.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::{ScenarioDesign, components, mean};
use trajectory::{Episode, Status};

use super::PlanningError;
use super::versions::CORRELATION;
use crate::compare::Metric;
use crate::manifest::Manifest;
use crate::run::mean_tokens;

/// What recorded episodes tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recorded {
    /// The experiment.
    pub experiment: String,
    /// The arm that rate, mean and variance are of.
    pub arm: String,
    /// Completed episodes of that arm that have the metric.
    pub episodes: usize,
    /// Their scenarios.
    pub scenarios: usize,
    /// Their mean: the rate of a yes/no metric.
    pub mean: f64,
    /// Variance and how it is shared; conditions are taken out by their means.
    pub design: ScenarioDesign,
    /// The second arm, when the correlation was taken from both.
    pub correlated_with: Option<String>,
    /// Mean prompt and completion tokens of all completed episodes.
    pub tokens: Option<(f64, f64)>,
    /// Mean cost of all completed episodes.
    pub usd: Option<f64>,
    /// Whether the agents were simulated.
    pub simulated: bool,
}

/// Values by scenario, each less the mean of its condition.
type Clusters<'a> = BTreeMap<&'a str, Vec<f64>>;

/// Learns from the first arm of an experiment, and the correlation from its first two.
///
/// The variance is the sum of the components between and within scenarios; the ICC is the first one's share. The
/// correlation is the covariance of both arms' scenario means over the root of the product of their variances between
/// scenarios: repeats are independent between arms, so what they add drops out. It is assumed where a variance is 0.
///
/// # Errors
/// There are too few completed episodes, or nothing varies.
pub fn recorded(
    manifest: &Manifest,
    episodes: &[Episode],
    metric: Metric,
) -> Result<Recorded, PlanningError> {
    let fails = |why: String| PlanningError::Recorded {
        experiment: manifest.experiment.clone(),
        why,
    };
    let completed: Vec<&Episode> = episodes
        .iter()
        .filter(|episode| episode.status == Status::Completed)
        .collect();
    let arm = manifest
        .arms
        .first()
        .ok_or_else(|| fails("it has no arm".to_owned()))?;
    let values: Vec<f64> = of_arm(&completed, arm)
        .filter_map(|episode| metric.of(episode))
        .collect();
    let none = || {
        fails(format!(
            "no completed episode of arm `{arm}` has `{metric}`"
        ))
    };
    let mean = mean(&values).ok_or_else(none)?;
    let first = clusters(&completed, arm, metric);
    let filled: Vec<Vec<f64>> = first.values().cloned().collect();
    let parts = components(&filled).map_err(|error| fails(error.to_string()))?;
    let variance = parts.scenario_variance + parts.repeat_variance;
    let second = manifest.arms.get(1);
    let correlation =
        second.and_then(|second| correlation(&first, &clusters(&completed, second, metric)));
    let costs: Vec<f64> = completed
        .iter()
        .filter_map(|episode| episode.cost_usd)
        .collect();
    let owned: Vec<Episode> = completed.iter().map(|episode| (*episode).clone()).collect();
    Ok(Recorded {
        experiment: manifest.experiment.clone(),
        arm: arm.clone(),
        episodes: values.len(),
        scenarios: filled.len(),
        mean,
        design: ScenarioDesign {
            variance,
            icc: parts.scenario_variance / variance,
            correlation: correlation.unwrap_or(CORRELATION),
        },
        correlated_with: second.filter(|_| correlation.is_some()).cloned(),
        tokens: mean_tokens(&owned),
        usd: stats::mean(&costs),
        simulated: manifest.simulated,
    })
}

fn of_arm<'a>(episodes: &[&'a Episode], arm: &str) -> impl Iterator<Item = &'a Episode> {
    episodes
        .iter()
        .filter(move |episode| episode.arm.as_deref() == Some(arm))
        .copied()
}

/// A condition changes rates for all scenarios alike; pairing takes that out, so it must not count as variance.
fn clusters<'a>(episodes: &[&'a Episode], arm: &str, metric: Metric) -> Clusters<'a> {
    let mut by_condition: BTreeMap<Option<&str>, Vec<(&str, f64)>> = BTreeMap::new();
    for episode in of_arm(episodes, arm) {
        if let (Some(scenario), Some(value)) = (episode.scenario.as_deref(), metric.of(episode)) {
            let condition = episode.condition.as_deref();
            by_condition
                .entry(condition)
                .or_default()
                .push((scenario, value));
        }
    }
    let mut clusters = Clusters::new();
    for values in by_condition.into_values() {
        let all: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let center = mean(&all).unwrap_or(0.0);
        for (scenario, value) in values {
            clusters.entry(scenario).or_default().push(value - center);
        }
    }
    clusters
}

fn correlation(first: &Clusters<'_>, second: &Clusters<'_>) -> Option<f64> {
    let means: Vec<(f64, f64)> = first
        .iter()
        .filter_map(|(scenario, values)| Some((mean(values)?, mean(second.get(scenario)?)?)))
        .collect();
    let n = means.len() as f64;
    let center = |side: fn(&(f64, f64)) -> f64| means.iter().map(side).sum::<f64>() / n;
    let (a, b) = (center(|pair| pair.0), center(|pair| pair.1));
    let products: f64 = means.iter().map(|pair| (pair.0 - a) * (pair.1 - b)).sum();
    let between = |clusters: &Clusters<'_>| {
        let filled: Vec<Vec<f64>> = clusters.values().cloned().collect();
        components(&filled)
            .ok()
            .map(|found| found.scenario_variance)
    };
    let scale = (between(first)? * between(second)?).sqrt();
    let found = products / (n - 1.0) / scale;
    // Estimates from few scenarios leave the range.
    found.is_finite().then(|| found.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests;
