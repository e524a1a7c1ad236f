//! What an experiment consists of: scenarios × conditions × repeats × arms, in a seeded random order.
//!
//! Everything about an episode is derived from the plan (its id, its seed, its place), never counted up, so
//! that a run can stop anywhere and the next one knows what is missing.

use market::injection::Injection;
use market::rules::Opening;
use market::scenario::{Pack, Scenario};
use market::{Condition, DEFAULT_MAX_MOVES};
use serde_json::{Value, json};
use trajectory::Toolset;
use trajectory::canonical::{canonical_json, sha256_hex};
use trajectory::store::valid_experiment_name;

use crate::analysis::{Analysis, AnalysisError};
use crate::compare::Metric;
use crate::prompts;

/// One toolset version under test, by its name in the plan.
#[derive(Debug, Clone)]
pub struct Arm {
    /// Name (`baseline`, `candidate`); part of the episode ids.
    pub name: String,
    /// The version to serve.
    pub toolset: Toolset,
}

/// An experiment.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Name; also the partition of the store.
    pub experiment: String,
    /// The scenarios.
    pub pack: Pack,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Repeats of every scenario in every condition and arm.
    pub repeats: u32,
    /// The versions.
    pub arms: Vec<Arm>,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Name of the buyer's model.
    pub model: String,
    /// Name of the seller's model when it is another one.
    pub counterpart_model: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// How tools are put to the model.
    pub tool_calling: String,
    /// How negotiations begin.
    pub opening: Opening,
    /// Moves and passes after which an episode ends as `open`.
    pub max_moves: u32,
    /// Model calls a turn may take.
    pub max_calls_per_turn: u32,
    /// Whether moves may carry a note.
    pub notes: bool,
    /// What the views carry in the `*_inject` conditions; `None` stands for the default one.
    pub injection: Option<Injection>,
    /// How the comparison will be judged, stated before the first call.
    pub analysis: Analysis,
    /// Draws other numbers in every arm, so that a version can be compared with itself.
    pub seeds_by_arm: bool,
}

/// A plan cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The name cannot be a folder.
    #[error(
        "`{0}` cannot be an experiment's name: use 1 to 100 letters, digits, `.`, `_` and `-`, starting with a letter or digit"
    )]
    Name(String),
    /// Nothing to do.
    #[error("the plan has no {0}: give at least one")]
    Nothing(&'static str),
    /// Two arms of one name.
    #[error("two arms are called `{0}`: every arm needs a name of its own")]
    RepeatedArm(String),
    /// The market does not serve this version.
    #[error("the toolset of arm `{arm}` cannot be served by the market")]
    Contract {
        /// The arm.
        arm: String,
        /// Why not.
        source: market::contract::ContractError,
    },
    /// Out of range.
    #[error("{what} must be from {from} to {to}, not {given}")]
    Range {
        /// What.
        what: &'static str,
        /// Smallest value.
        from: u64,
        /// Largest value.
        to: u64,
        /// What was asked for.
        given: String,
    },
    /// The analysis cannot be made.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The injections cannot be loaded.
    #[error(transparent)]
    Injection(#[from] market::injection::InjectionError),
}

/// One episode of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeSpec {
    /// Derived id.
    pub episode_id: String,
    /// Index into the pack.
    pub scenario: usize,
    /// Condition.
    pub condition: Condition,
    /// Repeat, from 0.
    pub repeat: u32,
    /// Index into the arms.
    pub arm: usize,
    /// Seed handed to the models: the same for all arms of a pair, unless the plan says `seeds_by_arm`.
    pub seed: u64,
}

/// Bits of a seed that every provider takes: some read it into 32 signed bits.
const SEED_MASK: u64 = 0x7fff_ffff;

impl Plan {
    /// A plan with the settings of the published experiment: all conditions, 3 repeats, temperature 0.7, the
    /// listing as opening, 8 moves, 6 model calls a turn, the default injection. The experiment is named by
    /// the hash of the settings.
    pub fn new(pack: Pack, arms: Vec<Arm>, model: impl Into<String>) -> Self {
        let mut plan = Self {
            experiment: String::new(),
            pack,
            conditions: Condition::ALL.to_vec(),
            repeats: 3,
            arms,
            seed: 1,
            model: model.into(),
            counterpart_model: None,
            temperature: Some(0.7),
            tool_calling: "auto".to_owned(),
            opening: Opening::Listing,
            max_moves: DEFAULT_MAX_MOVES,
            max_calls_per_turn: 6,
            notes: false,
            injection: None,
            analysis: Analysis::of(Metric::CorrectStrict),
            seeds_by_arm: false,
        };
        plan.experiment = plan.derived_name("run");
        plan
    }

    /// A name for the experiment that changes with its settings, but not with repeats or conditions: those
    /// may be added later.
    pub fn derived_name(&self, prefix: &str) -> String {
        let hash = sha256_hex(canonical_json(&self.settings()).as_bytes());
        format!("{prefix}-{}", hash.get(..12).unwrap_or(&hash))
    }

    /// The injection of the `*_inject` conditions.
    ///
    /// # Errors
    /// The built-in injections cannot be read.
    pub fn injection(&self) -> Result<Injection, PlanError> {
        match &self.injection {
            Some(injection) => Ok(injection.clone()),
            None => Ok(market::injection::find(market::injection::DEFAULT)?),
        }
    }

    /// What defines the experiment: with any other value it would be another one. Repeats and conditions are
    /// left out, because more of them only complete it.
    pub fn settings(&self) -> Value {
        let arms: serde_json::Map<String, Value> = self
            .arms
            .iter()
            .map(|arm| (arm.name.clone(), Value::from(arm.toolset.id())))
            .collect();
        let injection = self.injection().ok();
        let mut settings = json!({
            "pack_hash": self.pack.hash(),
            "toolsets": arms,
            "prompt_hash": prompts::hash(),
            "model": self.model,
            "counterpart_model": self.counterpart_model,
            "temperature": self.temperature,
            "tool_calling": self.tool_calling,
            "seed": self.seed,
            "opening": self.opening.as_str(),
            "max_moves": self.max_moves,
            "max_calls_per_turn": self.max_calls_per_turn,
            "notes": self.notes,
            "injection": injection.as_ref().map(|injection| &injection.id),
            "injection_template": injection.as_ref().map(|injection| &injection.template),
        });
        // Named only when it is so: experiments recorded before this setting existed can be continued.
        if self.seeds_by_arm
            && let Some(fields) = settings.as_object_mut()
        {
            fields.insert("seeds_by_arm".to_owned(), Value::Bool(true));
        }
        settings
    }

    /// Hash of the whole plan, repeats and conditions included.
    pub fn hash(&self) -> String {
        let conditions: Vec<&str> = self
            .conditions
            .iter()
            .map(|condition| condition.as_str())
            .collect();
        let plan = json!({
            "experiment": self.experiment,
            "settings": self.settings(),
            "conditions": conditions,
            "repeats": self.repeats,
            "analysis": self.analysis,
        });
        sha256_hex(canonical_json(&plan).as_bytes())
    }

    /// Checks everything that can be checked before a market runs.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), PlanError> {
        if !valid_experiment_name(&self.experiment) {
            return Err(PlanError::Name(self.experiment.clone()));
        }
        for (what, empty) in [
            ("arm", self.arms.is_empty()),
            ("condition", self.conditions.is_empty()),
            ("scenario", self.pack.scenarios.is_empty()),
        ] {
            if empty {
                return Err(PlanError::Nothing(what));
            }
        }
        for (index, arm) in self.arms.iter().enumerate() {
            if self
                .arms
                .iter()
                .take(index)
                .any(|other| other.name == arm.name)
            {
                return Err(PlanError::RepeatedArm(arm.name.clone()));
            }
            market::contract::check(&arm.toolset).map_err(|source| PlanError::Contract {
                arm: arm.name.clone(),
                source,
            })?;
        }
        for (what, given, to) in [
            ("--repeats", self.repeats, 10_000),
            ("--max-moves", self.max_moves, 1_000),
            ("--max-calls-per-turn", self.max_calls_per_turn, 1_000),
        ] {
            if !(1..=to).contains(&given) {
                return Err(PlanError::Range {
                    what,
                    from: 1,
                    to: u64::from(to),
                    given: given.to_string(),
                });
            }
        }
        if self.temperature.is_some_and(|t| !(0.0..=2.0).contains(&t)) {
            let given = self.temperature.map(|t| t.to_string()).unwrap_or_default();
            return Err(PlanError::Range {
                what: "--temperature",
                from: 0,
                to: 2,
                given,
            });
        }
        self.analysis.check()?;
        if let Some(condition) = self
            .analysis
            .conditions
            .iter()
            .find(|condition| !self.conditions.contains(condition))
        {
            return Err(AnalysisError::NotPlayed(*condition).into());
        }
        self.injection().map(drop)
    }

    /// All episodes, in the order they are played: pairs (the same scenario, condition and repeat) in an order
    /// drawn with the seed, the arms of a pair side by side, in an order drawn for each pair. A drift of the
    /// provider over time then falls on all conditions and arms alike.
    pub fn episodes(&self) -> Vec<EpisodeSpec> {
        let mut drawn = Vec::new();
        for (scenario, item) in self.pack.scenarios.iter().enumerate() {
            for condition in &self.conditions {
                for repeat in 0..self.repeats {
                    let pair = self.draw(&json!(["pair", item.id, condition.as_str(), repeat]));
                    let common =
                        self.draw(&json!(["episode", item.id, condition.as_str(), repeat]));
                    for (arm, version) in self.arms.iter().enumerate() {
                        let seed = if self.seeds_by_arm {
                            self.draw(&json!([
                                "episode",
                                item.id,
                                condition.as_str(),
                                repeat,
                                version.name
                            ]))
                        } else {
                            common
                        };
                        let place = self.draw(&json!([
                            "arm",
                            item.id,
                            condition.as_str(),
                            repeat,
                            version.name
                        ]));
                        let spec = EpisodeSpec {
                            episode_id: self.episode_id(item, *condition, &version.name, repeat),
                            scenario,
                            condition: *condition,
                            repeat,
                            arm,
                            seed: seed & SEED_MASK,
                        };
                        drawn.push((pair, scenario, *condition, repeat, place, arm, spec));
                    }
                }
            }
        }
        // Scenario, condition and repeat stand behind the draw, so that two equal draws do not mix two pairs.
        drawn.sort_by_key(|row| (row.0, row.1, row.2, row.3, row.4, row.5));
        drawn.into_iter().map(|row| row.6).collect()
    }

    /// The id of an episode: a hash of what it is.
    fn episode_id(
        &self,
        scenario: &Scenario,
        condition: Condition,
        arm: &str,
        repeat: u32,
    ) -> String {
        let identity = json!([
            self.experiment,
            scenario.id,
            condition.as_str(),
            arm,
            repeat
        ]);
        let hash = sha256_hex(canonical_json(&identity).as_bytes());
        format!("ep_{}", hash.get(..20).unwrap_or(&hash))
    }

    /// A number that depends on the plan's seed and on what it is for, and on nothing else.
    fn draw(&self, purpose: &Value) -> u64 {
        let hash = sha256_hex(canonical_json(&json!([self.seed, purpose])).as_bytes());
        hash.get(..16)
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .unwrap_or(0)
    }

    /// The toolset ids of the arms, in order.
    pub fn toolset_ids(&self) -> Vec<String> {
        self.arms.iter().map(|arm| arm.toolset.id()).collect()
    }
}

#[cfg(test)]
mod tests;
