//! What a comparison does not show, from what it is made of: a sentence stands here only when it applies.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Evidence, Material};
use crate::compare::Comparison;
use crate::figures;

/// From this many scenarios on, intervals over scenarios are taken at face value.
const ENOUGH_SCENARIOS: usize = 12;

pub(super) fn limits(material: Material<'_>, evidence: &Evidence) -> Vec<String> {
    let comparison = material.comparison;
    let mut limits = Vec::new();
    if comparison.simulated {
        limits.push(format!(
            "The agents are simulated: {} follow rules and know only what the descriptions tell them. Nothing here says how a language model would act.",
            figures::one_line(&comparison.model)
        ));
    }
    limits.extend(versions(comparison));
    limits.extend(sample(comparison, evidence));
    limits.extend(models(comparison));
    limits.push(format!(
        "One pack of {} about one kind of task, a negotiation over a price. It does not show what the texts do in other tasks, with other tools beside these, or with other users.",
        count(comparison.scenarios, "scenario")
    ));
    if !comparison.identical {
        limits.push(
            "That the version made the difference holds inside this environment: both versions met the same openings, injections and seeds in mixed order. No causal claim reaches beyond it."
                .to_owned(),
        );
    }
    limits.extend(injections(material, evidence));
    limits.extend(cost(evidence));
    limits
}

fn versions(comparison: &Comparison) -> Vec<String> {
    let mut limits = Vec::new();
    if comparison.identical {
        limits.push("Both sides are the same version: whatever differs here is noise.".to_owned());
    }
    if comparison.changes.len() > 1 {
        limits.push(format!(
            "{} texts differ at once; the comparison does not show which of them matters.",
            comparison.changes.len()
        ));
    }
    if !comparison.analysis.as_stated {
        limits.push(format!(
            "The analysis is not the one stated before the run ({}). Choosing after seeing makes a chance finding more likely.",
            figures::one_line(&comparison.analysis.changes.join("; "))
        ));
    }
    if comparison.analysis.intact == Some(false) {
        limits.push(
            "The stated analysis was edited after it was written down, so nothing here is confirmatory."
                .to_owned(),
        );
    }
    limits
}

fn sample(comparison: &Comparison, evidence: &Evidence) -> Vec<String> {
    let mut limits = Vec::new();
    let scenarios = evidence.scenarios.len();
    if scenarios < ENOUGH_SCENARIOS {
        limits.push(format!(
            "A small sample: {} with values. Below {ENOUGH_SCENARIOS}, intervals over scenarios are approximate and tend to be too narrow.",
            count(scenarios, "scenario")
        ));
    }
    let noise = "Pairing takes the variance between scenarios out of the difference, not the chance in how a model answers";
    limits.push(if comparison.repeats <= 1 {
        format!(
            "{noise}; each scenario was played once in each condition with each version, so chance within a scenario cannot be told from an effect on it."
        )
    } else {
        format!(
            "{noise}; {} repeats average some of it away, and a single pair proves nothing.",
            comparison.repeats
        )
    });
    let left_out: Vec<String> = [
        ("baseline", comparison.baseline.coverage),
        ("candidate", comparison.candidate.coverage),
    ]
    .into_iter()
    .filter(|(_, coverage)| coverage.completed < coverage.planned)
    .map(|(name, coverage)| {
        format!(
            "{} of {} {name}",
            coverage.planned - coverage.completed,
            coverage.planned
        )
    })
    .collect();
    if !left_out.is_empty() {
        limits.push(format!(
            "{} episodes did not run to their end or are missing, and their pairs are left out. If that has to do with the version, the difference is biased.",
            left_out.join(" and ")
        ));
    }
    limits
}

fn models(comparison: &Comparison) -> Option<String> {
    let model = figures::one_line(&comparison.model);
    if comparison.simulated || model.is_empty() {
        return None;
    }
    Some(match &comparison.counterpart_model {
        Some(other) => format!(
            "Two models, {model} against {}: others may read the same texts differently.",
            figures::one_line(other)
        ),
        None => format!(
            "One model, {model}, on both sides: another may read the same texts differently."
        ),
    })
}

fn injections(material: Material<'_>, evidence: &Evidence) -> Vec<String> {
    if evidence.injection.is_empty() {
        return Vec::new();
    }
    let used: BTreeSet<String> = material
        .records
        .iter()
        .filter_map(|record| {
            let attributes: Value =
                serde_json::from_str(record.episode.attributes.as_deref()?).ok()?;
            Some(figures::one_line(attributes.get("injection")?.as_str()?))
        })
        .collect();
    let mut limits = Vec::new();
    if used.len() == 1 {
        let name = used.into_iter().collect::<String>();
        limits.push(format!(
            "One injection, {name}, in one place: resistance to it is not resistance to others."
        ));
    }
    let unseen: usize = evidence
        .injection
        .iter()
        .flat_map(|row| [&row.baseline, &row.candidate])
        .map(|exposure| exposure.episodes - exposure.exposed)
        .sum();
    if unseen > 0 {
        limits.push(format!(
            "In {} of the conditions with an injection the agent never read it; they say nothing about resistance.",
            count(unseen, "episode")
        ));
    }
    limits
}

fn cost(evidence: &Evidence) -> Vec<String> {
    let sides = [evidence.cost.baseline, evidence.cost.candidate];
    let mut limits = Vec::new();
    if sides
        .iter()
        .any(|spent| spent.input_tokens.episodes < spent.episodes)
    {
        limits.push(
            "Tokens are not known for every episode, so longer descriptions may cost more than is shown."
                .to_owned(),
        );
    } else if sides
        .iter()
        .any(|spent| spent.usd.episodes < spent.episodes)
    {
        limits.push("The price is not known for every episode; only tokens are.".to_owned());
    }
    limits
}

fn count(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}
