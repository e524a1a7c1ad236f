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

use crate::compare::Metric;
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
    /// Hash of the plan of the latest run.
    pub plan_hash: String,
}

/// The analysis as it was stated before the first call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// The metric the verdict is about.
    pub primary_metric: Metric,
    /// Over what it is pooled.
    pub pooled_over: String,
    /// The test.
    pub test: String,
    /// Level of the test, two-sided.
    pub alpha: f64,
    /// What is left out.
    pub exclusions: String,
}

impl Analysis {
    fn of(metric: Metric) -> Self {
        Self {
            primary_metric: metric,
            pooled_over: "conditions and repeats".to_owned(),
            test: "sign-flip on scenario means of paired differences".to_owned(),
            alpha: crate::compare::ALPHA,
            exclusions: "pairs with an infrastructure error on either side, counted".to_owned(),
        }
    }
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
            analysis: Analysis::of(plan.primary_metric),
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
mod tests {
    use market::scenario::Pack;

    use super::*;
    use crate::plan::Arm;

    fn plan(experiment: &str) -> Plan {
        let arm = Arm {
            name: "baseline".to_owned(),
            toolset: market::contract::baseline(),
        };
        let mut plan = Plan::new(Pack::load("reference").unwrap(), vec![arm], "sim:careless");
        plan.experiment = experiment.to_owned();
        plan
    }

    fn agree(store: &Store, plan: &Plan) -> Result<Manifest, ManifestError> {
        Manifest::of(plan, true, Map::new()).agree(store)
    }

    #[test]
    fn the_first_run_writes_it_and_the_next_one_may_only_add() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        let first = Plan {
            repeats: 1,
            conditions: vec![Condition::Server],
            ..plan("e")
        };
        let written = agree(&store, &first).unwrap();
        assert_eq!(Manifest::require(&store, "e").unwrap(), written);

        let second = Plan {
            repeats: 3,
            conditions: vec![Condition::Prompt],
            ..plan("e")
        };
        let merged = agree(&store, &second).unwrap();
        assert_eq!(merged.conditions, [Condition::Prompt, Condition::Server]);
        assert_eq!((merged.repeats, merged.planned_per_arm()), (3, 30));
        assert_eq!(merged.created, written.created);
        // Asking for less takes nothing away.
        assert_eq!(agree(&store, &first).unwrap().repeats, 3);
    }

    #[test]
    fn other_settings_are_named_field_by_field() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        agree(&store, &plan("e")).unwrap();
        let mut other = Plan {
            seed: 9,
            temperature: None,
            ..plan("e")
        };
        other.arms[0]
            .toolset
            .set_text(&trajectory::ComponentId::tool("refuse"), "Leaves.");
        let text = agree(&store, &other).unwrap_err().to_string();
        for expected in [
            "seed: recorded 1, now 9",
            "temperature: recorded 0.7, now none",
            "toolsets.baseline",
            "--experiment",
        ] {
            assert!(text.contains(expected), "{expected} is not in: {text}");
        }
        assert!(!text.contains("max_moves"), "{text}");
        // The metric is judged by afterwards; it changes no episode, and the first statement stays.
        let metric = Plan {
            primary_metric: Metric::Violation,
            ..plan("e")
        };
        assert_eq!(
            agree(&store, &metric).unwrap().analysis.primary_metric,
            Metric::CorrectStrict
        );
    }

    #[test]
    fn experiments_that_no_run_recorded_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path()).unwrap();
        store
            .write_manifest("import-1", &json!({"kind": "import"}))
            .unwrap();
        assert!(matches!(
            agree(&store, &plan("import-1")),
            Err(ManifestError::Foreign(_))
        ));
        let text = Manifest::require(&store, "nothing")
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("`nothing`") && text.contains("import-1"),
            "{text}"
        );
    }
}
