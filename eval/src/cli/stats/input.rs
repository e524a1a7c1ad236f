//! Files and standard input.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::calculator::data::{Columns, DataError};
use crate::figures::one_line;

/// Values in scenarios.
#[derive(Debug, clap::Args)]
pub(super) struct Scenarios {
    /// Table with the columns scenario, value
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    names: Names,
}

/// What the columns are called.
#[derive(Debug, clap::Args)]
pub(super) struct Names {
    /// Name of the column with the scenario
    #[arg(long, value_name = "NAME")]
    scenario_column: Option<String>,
    /// Name of the column with the value
    #[arg(long, value_name = "NAME")]
    value_column: Option<String>,
}

impl Names {
    /// These, with the usual names for the rest.
    pub(super) fn columns(&self) -> Columns {
        Columns {
            scenario: self.scenario_column.clone(),
            value: self.value_column.clone(),
            ..Columns::default()
        }
    }
}

impl Scenarios {
    pub(super) fn read<T>(
        &self,
        parse: impl Fn(Box<dyn Read>, &Columns) -> Result<T, DataError>,
    ) -> anyhow::Result<T> {
        read(&self.file, &self.names.columns(), parse)
    }
}

/// Reads a table; `-` is standard input.
pub(super) fn read<T>(
    path: &Path,
    columns: &Columns,
    parse: impl Fn(Box<dyn Read>, &Columns) -> Result<T, DataError>,
) -> anyhow::Result<T> {
    parse(open(path)?, columns).with_context(|| reading(path))
}

/// Reads numbers that are separated by white space, commas or semicolons.
pub(super) fn numbers(path: &Path) -> anyhow::Result<Vec<f64>> {
    let mut text = String::new();
    open(path)?
        .read_to_string(&mut text)
        .with_context(|| reading(path))?;
    let mut found = Vec::new();
    for (line, row) in text.lines().enumerate() {
        let words = row.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
        for word in words.filter(|word| !word.is_empty()) {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => found.push(value),
                _ => {
                    let start: String = word.chars().take(60).collect();
                    bail!(
                        "line {} of `{}`: `{}` is no finite number",
                        line + 1,
                        path.display(),
                        one_line(&start)
                    );
                }
            }
        }
    }
    if found.is_empty() {
        bail!("`{}` holds no number", path.display());
    }
    Ok(found)
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    Ok(Box::new(File::open(path).with_context(|| reading(path))?))
}

fn reading(path: &Path) -> String {
    format!("reading `{}`", path.display())
}
