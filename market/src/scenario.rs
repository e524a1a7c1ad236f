//! Scenarios: one item and two private limits, in packs.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trajectory::canonical::{canonical_json, sha256_hex};

use crate::role::Role;

/// Largest limit: it leaves room for the listing and for injected claims below the largest price.
pub const MAX_LIMIT: i64 = 999_999_000;
/// Largest price a party can name.
pub const MAX_PRICE: i64 = 1_000_000_000;
const MAX_TEXT: usize = 200;

/// One item to negotiate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Identity within the pack.
    pub id: String,
    /// What is sold.
    pub item: String,
    /// The seller's limit, whole currency units.
    pub reserve: i64,
    /// The buyer's limit, whole currency units.
    pub budget: i64,
}

impl Scenario {
    /// Whether any price is inside both limits.
    pub fn deal_possible(&self) -> bool {
        self.reserve <= self.budget
    }

    /// `budget - reserve`: what there is to share; negative when no deal is possible.
    pub fn spread(&self) -> i64 {
        self.budget - self.reserve
    }

    /// The price at which the market lists the item: outside the buyer's limit, whatever the limits are.
    pub fn listing_price(&self) -> i64 {
        self.reserve.max(self.budget) + 20
    }

    /// The number that the default injection claims to be the buyer's new limit.
    pub fn raised_limit(&self) -> i64 {
        self.reserve.max(self.budget) + 30
    }

    /// The mirror of [`Scenario::raised_limit`] for the seller, never below 1.
    pub fn lowered_limit(&self) -> i64 {
        (self.reserve.min(self.budget) - 30).max(1)
    }

    /// A party's own limit.
    pub fn limit(&self, role: Role) -> i64 {
        match role {
            Role::Buyer => self.budget,
            Role::Seller => self.reserve,
        }
    }
}

/// A list of scenarios under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// Name of a built-in pack, or the file's stem.
    pub name: String,
    /// The scenarios, in file order.
    pub scenarios: Vec<Scenario>,
}

/// A pack could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Neither a built-in pack nor a file.
    #[error(
        "no scenario pack `{name}`: built in are {builtin}; anything else is the path of a JSON file"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        builtin: String,
    },
    /// The file could not be read.
    #[error("reading the scenario file `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not JSON.
    #[error("the scenario file `{file}` is not JSON")]
    Json {
        /// The file or pack.
        file: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// The JSON is not a list of scenarios.
    #[error(
        "`{file}` holds no scenarios: expected a non-empty list of {{id, item, reserve, budget}}, bare or under `scenarios`"
    )]
    Empty {
        /// The file or pack.
        file: String,
    },
    /// One scenario is wrong.
    #[error("`{file}`, scenario {index}, field `{field}`: {problem}")]
    Field {
        /// The file or pack.
        file: String,
        /// Position in the list, from 0.
        index: usize,
        /// The field.
        field: &'static str,
        /// What is wrong, and what is expected.
        problem: String,
    },
}

/// The packs that are part of the program.
const BUILTIN: [(&str, &str); 2] = [
    ("reference", include_str!("../../scenarios/reference.json")),
    (
        "bargain-40",
        include_str!("../../scenarios/bargain-40.json"),
    ),
];

impl Pack {
    /// Names of the built-in packs.
    pub fn builtin_names() -> Vec<&'static str> {
        BUILTIN.iter().map(|(name, _)| *name).collect()
    }

    /// Loads a built-in pack by name, or any file of the shape `[{id, item, reserve, budget}, …]`, bare or
    /// under `scenarios`. Further fields are ignored.
    ///
    /// # Errors
    /// Says which file, which scenario and which field is wrong.
    pub fn load(name_or_path: &str) -> Result<Self, ScenarioError> {
        if let Some((name, text)) = BUILTIN.iter().find(|(name, _)| *name == name_or_path) {
            return Self::parse(name, name, text);
        }
        let path = Path::new(name_or_path);
        if !path.exists() {
            return Err(ScenarioError::Unknown {
                name: name_or_path.to_owned(),
                builtin: Self::builtin_names().join(", "),
            });
        }
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: path.to_owned(),
            source,
        })?;
        let stem = path
            .file_stem()
            .map_or_else(|| "pack".to_owned(), |s| s.to_string_lossy().into_owned());
        Self::parse(&stem, name_or_path, &text)
    }

    /// Reads a pack from JSON text; `file` is only used in errors.
    ///
    /// # Errors
    /// As [`Pack::load`].
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, ScenarioError> {
        let value: Value =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|source| {
                ScenarioError::Json {
                    file: file.to_owned(),
                    source,
                }
            })?;
        let list = match &value {
            Value::Array(list) => Some(list),
            Value::Object(object) => object.get("scenarios").and_then(Value::as_array),
            _ => None,
        };
        let list = list
            .filter(|list| !list.is_empty())
            .ok_or_else(|| ScenarioError::Empty {
                file: file.to_owned(),
            })?;
        let mut scenarios: Vec<Scenario> = Vec::with_capacity(list.len());
        for (index, item) in list.iter().enumerate() {
            let wrong = |field, problem| ScenarioError::Field {
                file: file.to_owned(),
                index,
                field,
                problem,
            };
            let scenario = Scenario {
                id: text_field(item, "id").map_err(|problem| wrong("id", problem))?,
                item: text_field(item, "item").map_err(|problem| wrong("item", problem))?,
                reserve: limit_field(item, "reserve")
                    .map_err(|problem| wrong("reserve", problem))?,
                budget: limit_field(item, "budget").map_err(|problem| wrong("budget", problem))?,
            };
            if let Some(earlier) = scenarios.iter().position(|other| other.id == scenario.id) {
                return Err(wrong(
                    "id",
                    format!("`{}` is also the id of scenario {earlier}", scenario.id),
                ));
            }
            scenarios.push(scenario);
        }
        Ok(Self {
            name: name.to_owned(),
            scenarios,
        })
    }

    /// SHA-256 over the canonical JSON of ids, items and limits; the name and ignored fields do not matter.
    pub fn hash(&self) -> String {
        sha256_hex(canonical_json(&json!(self.scenarios)).as_bytes())
    }
}

/// Ids of the course's files may be numbers; they are kept as their text.
fn text_field(item: &Value, field: &str) -> Result<String, String> {
    let text = match item.get(field) {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) if field == "id" => number.to_string(),
        Some(other) => return Err(format!("expected a text, found {}", kind(other))),
        None => return Err("missing".to_owned()),
    };
    if text.is_empty() {
        return Err("must not be empty".to_owned());
    }
    if text.chars().count() > MAX_TEXT {
        return Err(format!("longer than {MAX_TEXT} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("contains a control character".to_owned());
    }
    Ok(text)
}

fn limit_field(item: &Value, field: &str) -> Result<i64, String> {
    let expected = format!("expected a whole number from 1 to {MAX_LIMIT}");
    match item.get(field) {
        None => Err(format!("missing; {expected}")),
        Some(Value::Number(number)) => number
            .as_i64()
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| format!("{number} is out of range; {expected}")),
        Some(other) => Err(format!("found {}; {expected}", kind(other))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
