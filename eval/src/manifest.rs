//! What was fixed before the first call: the settings of an experiment, written to the store.
//!
//! A second run of the same experiment must have the same settings. More repeats or conditions are allowed:
//! they complete it.

use market::Condition;
use market::scenario::Scenario;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use trajectory::clock;
use trajectory::store::{Store, StoreError};

use crate::analysis::{Analysis, PlannedSize};
use crate::plan::Plan;

/// Version of the manifest's layout.
const FORMAT: u32 = 1;

/// The manifest of an experiment of the market.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Layout version.
    pub format: u32,
    /// `market`; imported experiments have other kinds of manifests.
    pub kind: String,
    /// The experiment.
    pub experiment: String,
    /// When it was first run.
    pub created: String,
    /// Version of the program that wrote it.
    pub whetstone: String,
    /// Whether the agents are simulated.
    pub simulated: bool,
    /// What defines the experiment, see [`Plan::settings`].
    pub settings: Value,
    /// Name of the pack, for people; its hash is among the settings.
    pub pack: String,
    /// The scenarios themselves, so that a report needs nothing else.
    pub scenarios: Vec<Scenario>,
    /// Names of the arms, in the order of the plan.
    pub arms: Vec<String>,
    /// What the arms were called on the command line (`baseline`, a file).
    #[serde(default)]
    pub labels: Map<String, Value>,
    /// Conditions of all runs so far.
    pub conditions: Vec<Condition>,
    /// Most repeats of all runs so far.
    pub repeats: u32,
    /// How the comparison will be judged, stated before the first call.
    pub analysis: Analysis,
    /// Its hash, written at the same time; absent in experiments recorded by older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis_hash: Option<String>,
    /// Hash of the plan of the latest run.
    pub plan_hash: String,
}

/// The experiment cannot be continued, or read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Other settings.
    #[error("experiment `{experiment}` was recorded with other settings ({}); choose another name with --experiment, or use the recorded settings to continue it", .differences.join("; "))]
    Settings {
        /// The experiment.
        experiment: String,
        /// Field by field.
        differences: Vec<String>,
    },
    /// Episodes are there, a manifest is not.
    #[error(
        "experiment `{0}` holds episodes that no `eval run` recorded (an import, or its manifest was deleted); choose another name with --experiment"
    )]
    Foreign(String),
    /// No such experiment.
    #[error(
        "the store has no experiment `{experiment}` recorded by `eval run` or `eval compare`; it has: {known}"
    )]
    Unknown {
        /// The experiment.
        experiment: String,
        /// What there is.
        known: String,
    },
    /// Not a manifest.
    #[error("the manifest of experiment `{experiment}` cannot be read: {problem}")]
    Unreadable {
        /// The experiment.
        experiment: String,
        /// Why.
        problem: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Manifest {
    /// The manifest of a plan.
    pub fn of(plan: &Plan, simulated: bool, labels: Map<String, Value>) -> Self {
        let analysis = Analysis {
            size: Some(PlannedSize::new(
                plan.pack.scenarios.len(),
                plan.repeats,
                &plan.conditions,
            )),
            ..plan.analysis.clone()
        };
        Self {
            format: FORMAT,
            kind: "market".to_owned(),
            experiment: plan.experiment.clone(),
            created: clock::rfc3339(clock::now_us()),
            whetstone: env!("CARGO_PKG_VERSION").to_owned(),
            simulated,
            settings: plan.settings(),
            pack: plan.pack.name.clone(),
            scenarios: plan.pack.scenarios.clone(),
            arms: plan.arms.iter().map(|arm| arm.name.clone()).collect(),
            labels,
            conditions: plan.conditions.clone(),
            repeats: plan.repeats,
            analysis_hash: Some(analysis.hash()),
            analysis,
            plan_hash: plan.hash(),
        }
    }

    /// Reads the manifest of an experiment; `None` when there is none.
    ///
    /// # Errors
    /// It cannot be read or is of another kind.
    pub fn read(store: &Store, experiment: &str) -> Result<Option<Self>, ManifestError> {
        let Some(value) = store.manifest(experiment)? else {
            return Ok(None);
        };
        let unreadable = |problem: String| ManifestError::Unreadable {
            experiment: experiment.to_owned(),
            problem,
        };
        if value.get("kind").and_then(Value::as_str) != Some("market") {
            return Err(ManifestError::Foreign(experiment.to_owned()));
        }
        match value.get("format").and_then(Value::as_u64) {
            Some(format) if format > u64::from(FORMAT) => {
                return Err(unreadable(format!(
                    "it has format {format}, this program knows up to {FORMAT}; update whetstone"
                )));
            }
            _ => {}
        }
        serde_json::from_value(value)
            .map(Some)
            .map_err(|error| unreadable(error.to_string()))
    }

    /// Reads the manifest of an experiment that has to be there.
    ///
    /// # Errors
    /// As [`Manifest::read`], and when there is none.
    pub fn require(store: &Store, experiment: &str) -> Result<Self, ManifestError> {
        match Self::read(store, experiment) {
            Ok(Some(manifest)) => Ok(manifest),
            Ok(None) => Err(ManifestError::Unknown {
                experiment: experiment.to_owned(),
                known: match store.experiments()? {
                    names if names.is_empty() => "nothing yet".to_owned(),
                    names => names.join(", "),
                },
            }),
            Err(error) => Err(error),
        }
    }

    /// Writes the manifest of a run before its first call, or checks that the run continues what is there.
    ///
    /// # Errors
    /// The experiment was recorded with other settings, or not by a run.
    pub fn agree(self, store: &Store) -> Result<Self, ManifestError> {
        let Some(recorded) = self.check(store)? else {
            self.write(store)?;
            return Ok(self);
        };
        let mut merged = recorded.clone();
        for condition in self.conditions {
            if !merged.conditions.contains(&condition) {
                merged.conditions.push(condition);
            }
        }
        merged.conditions.sort_unstable();
        merged.repeats = merged.repeats.max(self.repeats);
        merged.plan_hash = self.plan_hash;
        if merged != recorded {
            merged.write(store)?;
        }
        Ok(merged)
    }

    /// As [`Manifest::agree`] without writing anything; gives what is recorded.
    ///
    /// # Errors
    /// As [`Manifest::agree`].
    pub fn check(&self, store: &Store) -> Result<Option<Self>, ManifestError> {
        let Some(recorded) = Self::read(store, &self.experiment)? else {
            if store.recorded(&self.experiment)?.is_empty() {
                return Ok(None);
            }
            return Err(ManifestError::Foreign(self.experiment.clone()));
        };
        let differences = differences(&recorded.settings, &self.settings);
        if differences.is_empty() {
            return Ok(Some(recorded));
        }
        Err(ManifestError::Settings {
            experiment: self.experiment.clone(),
            differences,
        })
    }

    fn write(&self, store: &Store) -> Result<(), ManifestError> {
        Ok(store.write_manifest(&self.experiment, &json!(self))?)
    }

    /// A setting as text; empty when absent.
    pub fn setting(&self, name: &str) -> String {
        match self.settings.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }

    /// The toolset id of an arm.
    pub fn toolset(&self, arm: &str) -> Option<&str> {
        self.settings.get("toolsets")?.get(arm)?.as_str()
    }

    /// What an arm was called on the command line.
    pub fn label(&self, arm: &str) -> String {
        self.labels
            .get(arm)
            .and_then(Value::as_str)
            .unwrap_or(arm)
            .to_owned()
    }

    /// The size of the experiment as it is now.
    pub fn size(&self) -> PlannedSize {
        PlannedSize::new(self.scenarios.len(), self.repeats, &self.conditions)
    }

    /// Whether the analysis is the one that was hashed; `None` when no hash was written.
    pub fn analysis_is_intact(&self) -> Option<bool> {
        let hash = self.analysis_hash.as_ref()?;
        Some(*hash == self.analysis.hash())
    }

    /// Episodes that every arm should have.
    pub fn planned_per_arm(&self) -> usize {
        let repeats = usize::try_from(self.repeats).unwrap_or(usize::MAX);
        self.scenarios
            .len()
            .saturating_mul(self.conditions.len())
            .saturating_mul(repeats)
    }
}

/// Names every field in which two settings differ, with both values.
fn differences(recorded: &Value, now: &Value) -> Vec<String> {
    let (mut old, mut new) = (Map::new(), Map::new());
    flatten("", recorded, &mut old);
    flatten("", now, &mut new);
    let mut found = Vec::new();
    let keys: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        let (before, after) = (
            old.get(key).unwrap_or(&Value::Null),
            new.get(key).unwrap_or(&Value::Null),
        );
        if before != after {
            found.push(format!(
                "{key}: recorded {}, now {}",
                shown(before),
                shown(after)
            ));
        }
    }
    found
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}

fn flatten(prefix: &str, value: &Value, out: &mut Map<String, Value>) {
    match value {
        Value::Object(object) => {
            for (key, below) in object {
                let path = if prefix.is_empty() {
                    key.clone()
                } else {
                    format!("{prefix}.{key}")
                };
                flatten(&path, below, out);
            }
        }
        scalar => {
            out.insert(prefix.to_owned(), scalar.clone());
        }
    }
}

#[cfg(test)]
mod tests;
