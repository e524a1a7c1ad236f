//! Tables with a header, as CSV.

mod table;

use std::collections::BTreeMap;
use std::io::Read;

use market::Condition;

pub use self::table::DataError;
use self::table::Table;
use crate::stats::{Proportion, Stratum, TwoByTwo, mean};

/// The most episodes of a sample or table that exact tests count; that many take seconds.
pub const MOST_TRIALS: u64 = 10_000_000;

/// What the columns of a table are called, where it is not the usual name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// For `scenario` or `stratum`.
    pub scenario: Option<String>,
    /// For `value` or `outcome`.
    pub value: Option<String>,
    /// For `condition`.
    pub condition: Option<String>,
    /// For `arm`.
    pub arm: Option<String>,
}

impl Columns {
    fn scenario(&self) -> Vec<&str> {
        named(self.scenario.as_ref(), &["scenario", "stratum"])
    }

    fn value(&self) -> Vec<&str> {
        named(self.value.as_ref(), &["value", "outcome"])
    }

    fn condition(&self) -> Vec<&str> {
        named(self.condition.as_ref(), &["condition"])
    }

    fn arm(&self) -> Vec<&str> {
        named(self.arm.as_ref(), &["arm"])
    }
}

/// The name that was given, or else the usual ones.
fn named<'a>(given: Option<&'a String>, usual: &[&'a str]) -> Vec<&'a str> {
    given.map_or_else(|| usual.to_vec(), |name| vec![name.as_str()])
}

/// Values by scenario, from the columns `scenario` and `value`.
///
/// # Errors
/// The table cannot be read, or a cell cannot be used.
pub fn clusters(
    input: impl Read,
    columns: &Columns,
) -> Result<BTreeMap<String, Vec<f64>>, DataError> {
    let table = Table::read(input, &[&[columns.scenario(), columns.value()]])?;
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in table.rows() {
        let value = table.number(row, 1)?;
        found.entry(table.name(row, 0)?).or_default().push(value);
    }
    Ok(found)
}

/// Means of the four conditions by scenario, from the columns `scenario`, `condition` and `value`, and how many scenarios
/// were left out because a condition is missing.
///
/// # Errors
/// As [`clusters`], and when no scenario has all four.
pub fn two_by_two(
    input: impl Read,
    columns: &Columns,
) -> Result<(Vec<TwoByTwo>, usize), DataError> {
    let wanted = [columns.scenario(), columns.condition(), columns.value()];
    let table = Table::read(input, &[&wanted])?;
    let mut found: BTreeMap<String, BTreeMap<Condition, Vec<f64>>> = BTreeMap::new();
    for row in table.rows() {
        let condition: Condition = row.text(1).parse().map_err(|_| {
            let problem = "none of prompt, server, prompt_inject, server_inject";
            table.error(row, 1, problem)
        })?;
        let value = table.number(row, 2)?;
        let scenario = found.entry(table.name(row, 0)?).or_default();
        scenario.entry(condition).or_default().push(value);
    }
    let all = found.len();
    let whole: Vec<TwoByTwo> = found
        .values()
        .filter_map(|cells| {
            let of = |condition| mean(cells.get(&condition)?);
            Some(TwoByTwo {
                prompt: of(Condition::Prompt)?,
                server: of(Condition::Server)?,
                prompt_inject: of(Condition::PromptInject)?,
                server_inject: of(Condition::ServerInject)?,
            })
        })
        .collect();
    if whole.is_empty() {
        return Err(DataError::Conditions(all));
    }
    let left_out = all - whole.len();
    Ok((whole, left_out))
}

/// The two arms of a stratified table.
#[derive(Debug, Clone, PartialEq)]
pub struct Strata {
    /// Names of the arms, the first one first in the order of their first rows.
    pub arms: [String; 2],
    /// Both arms by stratum.
    pub strata: Vec<Stratum>,
}

/// Successes and trials of two arms by stratum, from the columns `scenario`, `arm` and `value` (0 or 1, a row an episode), or
/// `scenario`, `arm`, `successes` and `n`.
///
/// # Errors
/// As [`clusters`], and when there are not exactly two arms, or more than [`MOST_TRIALS`] episodes.
pub fn strata(input: impl Read, columns: &Columns) -> Result<Strata, DataError> {
    let (scenario, arm) = (columns.scenario(), columns.arm());
    let episodes = [scenario.clone(), arm.clone(), columns.value()];
    let counts = [scenario, arm, vec!["successes", "success"], vec!["n"]];
    let table = Table::read(input, &[&episodes, &counts])?;
    let mut arms: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, [(u64, u64); 2]> = BTreeMap::new();
    let mut all: u64 = 0;
    for row in table.rows() {
        let (more, trials) = if table.set == 1 {
            (table.count(row, 2)?, table.count(row, 3)?)
        } else {
            match table.number(row, 2)? {
                0.0 => (0, 1),
                1.0 => (1, 1),
                _ => {
                    let problem = "neither 0 nor 1: this test is about yes or no";
                    return Err(table.error(row, 2, problem));
                }
            }
        };
        if more > trials {
            return Err(table.error(row, 2, "more than n"));
        }
        all = all.saturating_add(trials);
        if all > MOST_TRIALS {
            return Err(DataError::TooMany);
        }
        let arm = table.name(row, 1)?;
        let place = arms
            .iter()
            .position(|known| *known == arm)
            .unwrap_or_else(|| {
                arms.push(arm);
                arms.len() - 1
            });
        let scenario = found.entry(table.name(row, 0)?).or_default();
        if let Some((successes, n)) = scenario.get_mut(place) {
            *successes += more;
            *n += trials;
        } else if place > 10 {
            // An id taken for an arm would make this a search through all rows.
            return Err(DataError::Arms(arms));
        }
    }
    let [first, second] = arms.as_slice() else {
        return Err(DataError::Arms(arms));
    };
    let of = |(successes, n): (u64, u64)| Proportion::at_most(successes, n);
    Ok(Strata {
        arms: [first.clone(), second.clone()],
        strata: found
            .values()
            .map(|[first, second]| Stratum {
                first: of(*first),
                second: of(*second),
            })
            .collect(),
    })
}
