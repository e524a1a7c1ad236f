//! Whether enforcement changes the injection's effect, in each version and in their difference.

use std::collections::BTreeMap;

use market::Condition;
use serde::Serialize;

use super::metric::Metric;
use super::pairs::Pair;
use crate::stats::{
    Interaction, Level, RatioOfRatios, TwoByTwo, difference_in_differences, mean, overdispersion,
    ratio_of_ratios,
};

/// The 2×2 of enforcement and injection for one metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TwoByTwoEffect {
    /// The metric.
    pub metric: Metric,
    /// Scenarios with all four conditions.
    pub scenarios: usize,
    /// `(prompt_inject - prompt) - (server_inject - server)` of the baseline.
    pub baseline: Option<Interaction>,
    /// The same of the candidate.
    pub candidate: Option<Interaction>,
    /// The candidate's minus the baseline's: whether the rewrite changes it.
    pub difference: Option<Interaction>,
    /// Ratio of ratios of the baseline's counts, with their overdispersion; for metrics that count events.
    pub baseline_ratio: Option<RatioOfRatios>,
    /// The same of the candidate.
    pub candidate_ratio: Option<RatioOfRatios>,
}

/// Values of one scenario in one condition: baseline and candidate.
type Values = (Vec<f64>, Vec<f64>);

/// The effect; `None` unless all four conditions were played.
pub(super) fn effect(metric: Metric, pairs: &[Pair<'_>], seed: u64) -> Option<TwoByTwoEffect> {
    let mut cells: BTreeMap<&str, BTreeMap<Condition, Values>> = BTreeMap::new();
    for pair in pairs {
        if let (Some(before), Some(after)) = (metric.of(pair.baseline), metric.of(pair.candidate)) {
            let cell = cells.entry(pair.scenario).or_default();
            let values = cell.entry(pair.condition).or_default();
            values.0.push(before);
            values.1.push(after);
        }
    }
    let whole: Vec<[&Values; 4]> = cells.values().filter_map(four).collect();
    if whole.is_empty() {
        return None;
    }
    let means = |of: fn(&Values) -> f64| -> Option<Interaction> {
        let scenarios: Vec<TwoByTwo> = whole.iter().map(|cells| table(cells.map(of))).collect();
        difference_in_differences(&scenarios, Level::P95, seed).ok()
    };
    let before = |values: &Values| mean(&values.0).unwrap_or(0.0);
    let after = |values: &Values| mean(&values.1).unwrap_or(0.0);
    let ratio = |side: fn(&Values) -> &Vec<f64>| -> Option<RatioOfRatios> {
        if !metric.is_count() {
            return None;
        }
        let groups: Vec<Vec<f64>> = (0..4)
            .map(|place| {
                whole
                    .iter()
                    .filter_map(|cells| cells.get(place))
                    .flat_map(|values| side(values).iter().copied())
                    .collect()
            })
            .collect();
        let phi = overdispersion(&groups).ok().flatten()?;
        let mut sums = groups.iter().map(|group| group.iter().sum::<f64>());
        let sums = [sums.next()?, sums.next()?, sums.next()?, sums.next()?];
        ratio_of_ratios(table(sums), phi, Level::P95).ok()
    };
    Some(TwoByTwoEffect {
        metric,
        scenarios: whole.len(),
        baseline: means(before),
        candidate: means(after),
        difference: means(|values| mean(&values.1).unwrap_or(0.0) - mean(&values.0).unwrap_or(0.0)),
        baseline_ratio: ratio(|values| &values.0),
        candidate_ratio: ratio(|values| &values.1),
    })
}

const ORDER: [Condition; 4] = [
    Condition::Prompt,
    Condition::Server,
    Condition::PromptInject,
    Condition::ServerInject,
];

/// The four cells in [`ORDER`]; `None` when one is missing.
fn four(cells: &BTreeMap<Condition, Values>) -> Option<[&Values; 4]> {
    let [a, b, c, d] = ORDER.map(|condition| cells.get(&condition));
    Some([a?, b?, c?, d?])
}

fn table([prompt, server, prompt_inject, server_inject]: [f64; 4]) -> TwoByTwo {
    TwoByTwo {
        prompt,
        server,
        prompt_inject,
        server_inject,
    }
}
