//! Reading of the wanted columns, and what may be wrong with them.

use std::io::Read;

use super::MOST_TRIALS;
use crate::calculator::shown_name;

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Not CSV.
    #[error("the table is no CSV, which is UTF-8 text with as many cells in every line")]
    Csv(#[from] csv::Error),
    /// Not even a header.
    #[error("the table is empty; its first line must name the columns, such as {0}")]
    NoHeader(String),
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
    /// Two columns of one name.
    #[error("the table has more than one column `{0}`; rename or remove the others")]
    Twice(String),
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
    #[error("the table has {} arms ({}); two are needed", .0.len(), listed(.0.iter().map(String::as_str)))]
    Arms(Vec<String>),
    /// A scenario lacks a condition.
    #[error(
        "no scenario has all four conditions prompt, server, prompt_inject, server_inject; {0} scenarios have some"
    )]
    Conditions(usize),
    /// More episodes than an exact test can count.
    #[error("the table has more than {MOST_TRIALS} episodes, too many for an exact test")]
    TooMany,
}

/// Names for one line of a terminal, the first ten of them.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut shown: Vec<String> = names.take(11).map(shown_name).collect();
    if let Some(last) = shown.get_mut(10) {
        "…".clone_into(last);
    }
    shown.join(", ")
}

/// The wanted columns of a table.
pub(super) struct Table {
    /// Which of the sets of columns the table has.
    pub(super) set: usize,
    /// Names of the columns as they stand in the header.
    names: Vec<String>,
    rows: Vec<Row>,
}

/// One row: its line, and the cells of the wanted columns.
pub(super) struct Row {
    line: u64,
    cells: Vec<String>,
}

impl Table {
    /// Reads the columns of the first set that the table has; of a column any of its names will do.
    pub(super) fn read(input: impl Read, sets: &[&[Vec<&str>]]) -> Result<Self, DataError> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(input);
        let header: Vec<String> = reader
            .headers()?
            .iter()
            // A byte-order mark belongs to the file, not to the name of its first column.
            .map(|name| name.trim_start_matches('\u{feff}').to_owned())
            .collect();
        let place = |names: &Vec<&str>| {
            names
                .iter()
                .find_map(|name| header.iter().position(|found| found == name))
        };
        let whole = |set: &&[Vec<&str>]| set.iter().all(|names| place(names).is_some());
        let set = sets.iter().position(whole).unwrap_or(0);
        let columns = sets.get(set).copied().unwrap_or_default();
        let first_name = |names: &Vec<&str>| (*names.first().unwrap_or(&"")).to_owned();
        if header.iter().all(String::is_empty) {
            let wanted: Vec<String> = columns.iter().map(first_name).collect();
            return Err(DataError::NoHeader(wanted.join(",")));
        }
        let mut places = Vec::new();
        for names in columns {
            places.push(place(names).ok_or_else(|| DataError::Column {
                column: first_name(names),
                found: listed(header.iter().map(String::as_str)),
            })?);
        }
        let names: Vec<String> = places
            .iter()
            .filter_map(|place| header.get(*place).cloned())
            .collect();
        if let Some(twice) = names
            .iter()
            .find(|name| header.iter().filter(|other| other == name).count() > 1)
        {
            return Err(DataError::Twice(shown_name(twice)));
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record?;
            rows.push(Row {
                line: record.position().map_or(0, csv::Position::line),
                cells: places
                    .iter()
                    .map(|place| record.get(*place).unwrap_or_default().to_owned())
                    .collect(),
            });
        }
        if rows.is_empty() {
            return Err(DataError::Empty);
        }
        Ok(Self { set, names, rows })
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn error(&self, row: &Row, place: usize, problem: &'static str) -> DataError {
        DataError::Cell {
            line: row.line,
            column: shown_name(self.names.get(place).map_or("", String::as_str)),
            value: shown_name(row.text(place)),
            problem,
        }
    }

    pub(super) fn number(&self, row: &Row, place: usize) -> Result<f64, DataError> {
        let value = match row.text(place) {
            "true" | "TRUE" | "True" => 1.0,
            "false" | "FALSE" | "False" => 0.0,
            "" => return Err(self.error(row, place, "empty, where a number should stand")),
            text => text
                .parse()
                .map_err(|_| self.error(row, place, "no number"))?,
        };
        if !f64::is_finite(value) {
            let problem = "no finite number; leave the row out, and say so";
            return Err(self.error(row, place, problem));
        }
        Ok(value)
    }

    pub(super) fn count(&self, row: &Row, place: usize) -> Result<u64, DataError> {
        row.text(place)
            .parse()
            .map_err(|_| self.error(row, place, "no whole number, 0 or more"))
    }

    pub(super) fn name(&self, row: &Row, place: usize) -> Result<String, DataError> {
        match row.text(place) {
            "" => Err(self.error(row, place, "empty, where a name should stand")),
            text => Ok(text.to_owned()),
        }
    }
}

impl Row {
    pub(super) fn text(&self, place: usize) -> &str {
        self.cells.get(place).map_or("", String::as_str)
    }
}
