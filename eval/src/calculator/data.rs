//! Tables with a header, as CSV.

use std::collections::BTreeMap;
use std::io::Read;

use market::Condition;

use crate::stats::{Proportion, Stratum, TwoByTwo, mean};

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Not CSV.
    #[error("the table cannot be read as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A column is missing.
    #[error(
        "the table has no column `{column}`; it has: {found}; the first line must name the columns"
    )]
    Column {
        /// What is needed.
        column: String,
        /// What there is.
        found: String,
    },
    /// A cell cannot be used.
    #[error("line {line}, column `{column}`: `{value}` is {problem}")]
    Cell {
        /// From 1, with the header.
        line: u64,
        /// Its name.
        column: String,
        /// What stands there.
        value: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// No rows.
    #[error("the table has a header and no rows")]
    Empty,
    /// Neither or both of two arms.
    #[error("the table has {} arms ({}); two are needed", .0.len(), .0.join(", "))]
    Arms(Vec<String>),
    /// A scenario lacks a condition.
    #[error(
        "no scenario has all four conditions prompt, server, prompt_inject, server_inject; {0} scenarios have some"
    )]
    Conditions(usize),
}

/// One row: its line, and the cells of the wanted columns.
struct Row {
    line: u64,
    cells: Vec<String>,
}

/// The wanted columns of every row.
fn rows(input: impl Read, columns: &[&str]) -> Result<Vec<Row>, DataError> {
    rows_of(input, &[columns]).map(|(_, rows)| rows)
}

/// The columns of the first set that the table has, and which set that is.
fn rows_of(input: impl Read, sets: &[&[&str]]) -> Result<(usize, Vec<Row>), DataError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(input);
    let header = reader.headers()?.clone();
    // A byte-order mark belongs to the file, not to the name of its first column.
    let place = |column: &str| {
        header
            .iter()
            .position(|name| name.trim_start_matches('\u{feff}') == column)
    };
    let whole = |set: &&[&str]| set.iter().all(|column| place(column).is_some());
    let chosen = sets.iter().position(whole).unwrap_or(0);
    let columns = sets.get(chosen).copied().unwrap_or_default();
    let mut places = Vec::new();
    for column in columns {
        places.push(place(column).ok_or_else(|| DataError::Column {
            column: (*column).to_owned(),
            found: header.iter().collect::<Vec<_>>().join(", "),
        })?);
    }
    let mut found = Vec::new();
    for record in reader.records() {
        let record = record?;
        found.push(Row {
            line: record.position().map_or(0, csv::Position::line),
            cells: places
                .iter()
                .map(|place| record.get(*place).unwrap_or_default().to_owned())
                .collect(),
        });
    }
    if found.is_empty() {
        return Err(DataError::Empty);
    }
    Ok((chosen, found))
}

impl Row {
    fn text(&self, place: usize) -> &str {
        self.cells.get(place).map_or("", String::as_str)
    }

    fn error(&self, place: usize, column: &str, problem: &'static str) -> DataError {
        DataError::Cell {
            line: self.line,
            column: column.to_owned(),
            value: self.text(place).chars().take(60).collect(),
            problem,
        }
    }

    fn number(&self, place: usize, column: &str) -> Result<f64, DataError> {
        let value = match self.text(place) {
            "true" | "TRUE" | "True" => 1.0,
            "false" | "FALSE" | "False" => 0.0,
            text => text
                .parse()
                .map_err(|_| self.error(place, column, "no number"))?,
        };
        if !f64::is_finite(value) {
            let problem = "no finite number; leave the row out, and say so";
            return Err(self.error(place, column, problem));
        }
        Ok(value)
    }

    fn count(&self, place: usize, column: &str) -> Result<u64, DataError> {
        self.text(place)
            .parse()
            .map_err(|_| self.error(place, column, "no whole number, 0 or more"))
    }

    fn name(&self, place: usize, column: &str) -> Result<String, DataError> {
        match self.text(place) {
            "" => Err(self.error(place, column, "empty")),
            text => Ok(text.to_owned()),
        }
    }
}

/// Values by scenario, from the columns `scenario` and `value`.
///
/// # Errors
/// The table cannot be read, or a cell cannot be used.
pub fn clusters(input: impl Read) -> Result<BTreeMap<String, Vec<f64>>, DataError> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows(input, &["scenario", "value"])? {
        let value = row.number(1, "value")?;
        found
            .entry(row.name(0, "scenario")?)
            .or_default()
            .push(value);
    }
    Ok(found)
}

/// Means of the four conditions by scenario, from the columns `scenario`, `condition` and `value`, and how many scenarios
/// were left out because a condition is missing.
///
/// # Errors
/// As [`clusters`], and when no scenario has all four.
pub fn two_by_two(input: impl Read) -> Result<(Vec<TwoByTwo>, usize), DataError> {
    let mut found: BTreeMap<String, BTreeMap<Condition, Vec<f64>>> = BTreeMap::new();
    for row in rows(input, &["scenario", "condition", "value"])? {
        let condition: Condition = row.text(1).parse().map_err(|_| {
            row.error(
                1,
                "condition",
                "none of prompt, server, prompt_inject, server_inject",
            )
        })?;
        let value = row.number(2, "value")?;
        let scenario = found.entry(row.name(0, "scenario")?).or_default();
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
/// As [`clusters`], and when there are not exactly two arms.
pub fn strata(input: impl Read) -> Result<Strata, DataError> {
    let mut arms: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, [(u64, u64); 2]> = BTreeMap::new();
    let sets: [&[&str]; 2] = [
        &["scenario", "arm", "value"],
        &["scenario", "arm", "successes", "n"],
    ];
    let (set, rows) = rows_of(input, &sets)?;
    for row in rows {
        let arm = row.name(1, "arm")?;
        let (more, trials) = if set == 1 {
            (row.count(2, "successes")?, row.count(3, "n")?)
        } else {
            match row.number(2, "value")? {
                0.0 => (0, 1),
                1.0 => (1, 1),
                _ => {
                    let problem = "neither 0 nor 1: this test is about yes or no";
                    return Err(row.error(2, "value", problem));
                }
            }
        };
        if more > trials {
            return Err(row.error(2, "successes", "more than n"));
        }
        let place = arms
            .iter()
            .position(|known| *known == arm)
            .unwrap_or_else(|| {
                arms.push(arm);
                arms.len() - 1
            });
        let scenario = found.entry(row.name(0, "scenario")?).or_default();
        if let Some((successes, n)) = scenario.get_mut(place) {
            *successes = successes.saturating_add(more);
            *n = n.saturating_add(trials);
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
