//! A comparison, with everything it rests on: what is shown, written and drawn.

use serde::Serialize;

use super::{
    Cell, Correlation, Discordant, Families, Guard, NoiseFloor, PassK, Reach, Robustness, Sequence,
    Side, TextChange, TwoByTwoEffect, Verdict,
};
use crate::analysis::Analysis;

/// Version of the layout of [`Comparison`].
pub(super) const FORMAT: u32 = 2;

/// The metric of the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricChoice {
    /// Its name.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Whether more is better.
    pub higher_is_better: bool,
    /// Whether an episode has it or not, rather than how much of it.
    pub is_binary: bool,
    /// The one stated before the run.
    pub stated: &'static str,
    /// Whether the two are the same.
    pub as_stated: bool,
}

/// The analysis, and whether it is the one that was stated before the first call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnalysisUsed {
    /// What was used.
    pub used: Analysis,
    /// Its hash.
    pub used_hash: String,
    /// Hash of what was stated.
    pub stated_hash: String,
    /// Whether both are the same.
    pub as_stated: bool,
    /// Every field that was changed.
    pub changes: Vec<String>,
    /// Whether what the manifest states is what was hashed when it was written; absent in older experiments.
    pub intact: Option<bool>,
}

/// A comparison, with everything it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this layout.
    pub format: u32,
    /// The experiment.
    pub experiment: String,
    /// Whether the agents are simulated.
    pub simulated: bool,
    /// The buyer's model.
    pub model: String,
    /// The seller's model, when it is another one.
    pub counterpart_model: Option<String>,
    /// Pack.
    pub pack: String,
    /// Hash of its scenarios.
    pub pack_hash: String,
    /// Scenarios of the plan.
    pub scenarios: usize,
    /// Repeats of the plan.
    pub repeats: u32,
    /// The metric of the verdict.
    pub metric: MetricChoice,
    /// How it was judged.
    pub analysis: AnalysisUsed,
    /// The baseline.
    pub baseline: Side,
    /// The candidate.
    pub candidate: Side,
    /// Whether both are the same version.
    pub identical: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Over all conditions of the primary test.
    pub pooled: Cell,
    /// Each condition.
    pub conditions: Vec<Cell>,
    /// The tests, corrected for their number.
    pub families: Families,
    /// What must not get worse.
    pub guards: Vec<Guard>,
    /// What could have been seen.
    pub reach: Reach,
    /// Whether the answer depends on what was left out.
    pub robustness: Robustness,
    /// Evidence over time; it decides sequential runs and describes others.
    pub sequence: Sequence,
    /// Whether enforcement changes the injection's effect, when all four conditions were played.
    pub interactions: Vec<TwoByTwoEffect>,
    /// Reliability over repeats.
    pub pass_k: Vec<PassK>,
    /// How alike the episodes of a scenario are.
    pub correlation: Correlation,
    /// What chance alone does here, when asked for.
    pub noise: Option<NoiseFloor>,
    /// Pairs that differ.
    pub discordant: Vec<Discordant>,
    /// Texts that differ, when the versions were given.
    pub changes: Vec<TextChange>,
    /// What the figures mean.
    pub methods: Vec<&'static str>,
}
