//! The course's contract: `scenarios.json`, `results.csv`, `logs/`, `auth_checks.txt`, `REPORT.md`.
//!
//! A run is one condition and one repeat over all scenarios. Its number is the repeat's place in the plan, so
//! that exporting again after more repeats changes no row that was there.

mod files;
mod logs;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use trajectory::{Episode, EpisodeRecord, Status};

use crate::figures::one_line;
use crate::manifest::Manifest;
use crate::stats::smallest_p;
use crate::summary;

/// Which of the two rules the column `correct` follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CorrectRule {
    /// `open` counts when no deal was possible: the published table's rule.
    #[default]
    Lenient,
    /// Only an explicit `no_deal` counts.
    Strict,
}

impl CorrectRule {
    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lenient => "lenient",
            Self::Strict => "strict",
        }
    }
}

/// The header of `results.csv`.
pub const HEADER: [&str; 13] = [
    "run",
    "condition",
    "scenario",
    "deal_possible",
    "outcome",
    "price",
    "correct",
    "violation",
    "attempted_violations",
    "refused_calls",
    "turns",
    "tool_calls",
    "note",
];

/// What is exported, and where to.
#[derive(Debug, Clone, Copy)]
pub struct CourseExport<'a> {
    /// The experiment's manifest.
    pub manifest: &'a Manifest,
    /// The arm; the contract has room for one.
    pub arm: &'a str,
    /// Rule of the column `correct`.
    pub rule: CorrectRule,
    /// A file of `market check`.
    pub auth_checks: Option<&'a Path>,
    /// The folder to write to.
    pub folder: &'a Path,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Exported {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Rows of `results.csv`.
    pub rows: usize,
    /// Rows of episodes that failed.
    pub failed: usize,
    /// Planned episodes without a row.
    pub missing: usize,
}

/// The export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// No such arm.
    #[error("experiment `{experiment}` has no arm `{arm}`; it has: {known}")]
    NoArm {
        /// The experiment.
        experiment: String,
        /// What was asked for.
        arm: String,
        /// What there is.
        known: String,
    },
    /// Reading or writing failed.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The table could not be written.
    #[error("cannot write the rows of `results.csv`")]
    Csv(#[from] csv::Error),
}

/// Writes the export.
///
/// # Errors
/// The arm is unknown, or a file cannot be read or written.
pub fn export(
    records: &[EpisodeRecord],
    request: &CourseExport<'_>,
) -> Result<Exported, ExportError> {
    let manifest = request.manifest;
    if manifest.toolset(request.arm).is_none() {
        return Err(ExportError::NoArm {
            experiment: manifest.experiment.clone(),
            arm: request.arm.to_owned(),
            known: manifest.arms.join(", "),
        });
    }
    let rows = in_order(records, manifest, request.arm);
    let checks = match request.auth_checks {
        Some(path) => std::fs::read_to_string(path).map_err(|source| ExportError::Io {
            action: "read",
            path: path.to_owned(),
            source,
        })?,
        None => NO_CHECKS.to_owned(),
    };
    let mut files = files::Files::new(request.folder);
    files.write(
        "scenarios.json",
        format!("{:#}\n", json!(manifest.scenarios)).as_bytes(),
    )?;
    files.write("results.csv", &results(&rows, request.rule)?)?;
    for (name, log) in logs::logs(&rows, manifest) {
        files.write(&format!("logs/{name}"), log.as_bytes())?;
    }
    files.write("auth_checks.txt", checks.as_bytes())?;
    let planned = manifest.planned_per_arm();
    let exported = Exported {
        files: Vec::new(),
        rows: rows.len(),
        failed: rows
            .iter()
            .filter(|row| row.record.episode.status != Status::Completed)
            .count(),
        missing: planned.saturating_sub(rows.len()),
    };
    let report = report(&rows, request, &exported);
    files.write("REPORT.md", report.as_bytes())?;
    Ok(Exported {
        files: files.written(),
        ..exported
    })
}

const NO_CHECKS: &str = "not run: start a market with `whetstone market serve`, attack it with `whetstone market check`, and export again with --auth-checks auth_checks.txt\n";

/// A recorded episode at its place in the plan.
#[derive(Debug, Clone, Copy)]
struct Placed<'a> {
    /// Number of the run, from 1.
    run: i32,
    record: &'a EpisodeRecord,
}

/// The arm's records by condition, run and scenario, in the plan's order.
fn in_order<'a>(records: &'a [EpisodeRecord], manifest: &Manifest, arm: &str) -> Vec<Placed<'a>> {
    let mut placed: Vec<((usize, i32, usize), Placed<'a>)> = records
        .iter()
        .filter(|record| {
            record.episode.experiment == manifest.experiment
                && record.episode.arm.as_deref() == Some(arm)
        })
        .filter_map(|record| {
            let episode = &record.episode;
            let condition = episode.condition.as_deref()?;
            let condition = manifest
                .conditions
                .iter()
                .position(|known| known.as_str() == condition)?;
            let scenario = episode.scenario.as_deref()?;
            let scenario = manifest
                .scenarios
                .iter()
                .position(|known| known.id == scenario)?;
            let run = episode.repeat?.saturating_add(1);
            Some(((condition, run, scenario), Placed { run, record }))
        })
        .collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, placed)| placed).collect()
}

fn results(rows: &[Placed<'_>], rule: CorrectRule) -> Result<Vec<u8>, ExportError> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    writer.write_record(HEADER)?;
    for row in rows {
        writer.write_record(cells(row, rule))?;
    }
    writer
        .into_inner()
        .map_err(|error| ExportError::Csv(error.into_error().into()))
}

fn cells(row: &Placed<'_>, rule: CorrectRule) -> [String; 13] {
    fn shown<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let episode = &row.record.episode;
    let mut cells = [
        row.run.to_string(),
        shown(episode.condition.as_ref()),
        shown(episode.scenario.as_ref()),
        shown(episode.deal_possible),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        note(episode),
    ];
    if episode.status == Status::Completed {
        let attempts = episode
            .attempted_violations_buyer
            .zip(episode.attempted_violations_seller);
        let measured = [
            shown(episode.outcome.as_ref()),
            shown(episode.price),
            shown(correct(episode, rule)),
            shown(episode.violation),
            shown(attempts.map(|(buyer, seller)| buyer.saturating_add(seller))),
            shown(episode.refused_calls),
            shown(episode.turns),
            shown(episode.tool_calls),
        ];
        for (cell, value) in cells.iter_mut().skip(4).zip(measured) {
            *cell = value;
        }
    }
    cells
}

fn correct(episode: &Episode, rule: CorrectRule) -> Option<bool> {
    match rule {
        CorrectRule::Lenient => episode.correct_lenient,
        CorrectRule::Strict => episode.correct_strict,
    }
}

/// Host and model; the error of an episode that failed.
fn note(episode: &Episode) -> String {
    let mut note = format!(
        "host={HOST}; model={}",
        episode.model.as_deref().unwrap_or("unknown")
    );
    if let Some(counterpart) = &episode.counterpart_model {
        let _ = write!(note, "; seller model={counterpart}");
    }
    if episode.simulated {
        note.push_str("; simulated");
    }
    if let Some(error) = &episode.error {
        let _ = write!(note, "; error: {error}");
    }
    one_line(&note)
}

/// The host that played the episodes: this program.
const HOST: &str = concat!("whetstone/", env!("CARGO_PKG_VERSION"));

fn report(rows: &[Placed<'_>], request: &CourseExport<'_>, exported: &Exported) -> String {
    let manifest = request.manifest;
    let episodes: Vec<Episode> = rows.iter().map(|row| row.record.episode.clone()).collect();
    let mut one_arm = manifest.clone();
    one_arm.arms = vec![request.arm.to_owned()];
    let summary = summary::summarize(&episodes, &one_arm);
    let mark = if summary.simulated {
        format!(" ({})", crate::figures::SIMULATED)
    } else {
        String::new()
    };
    let mut text = format!("# Results{mark}\n\n");
    text.push_str(&summary::markdown(&summary));
    let _ = write!(
        text,
        "\n## How to read it\n\n- The column `correct` of `results.csv` follows the {} rule. Lenient: a deal inside both limits when one is possible, anything but a deal when not. Strict: an explicit `no_deal` is required when no deal is possible; a negotiation left open is not correct.\n- `run` is the repeat's place in the plan; `(run, condition, scenario)` names a row.\n- {} of {} planned episodes have a row, {} of these failed: their fields are blank and `note` has the error. Failed episodes are excluded from the table above, not scored 0.\n- Attempts count `propose` and `accept_proposal` outside the caller's own limit, whether or not they went through; they were counted by the server and from the recorded calls, and the two agreed for every episode.\n- Scenario hash: {}. Prompt hash: {}. Toolset: {}. Seed: {}.\n",
        request.rule.as_str(),
        exported.rows,
        manifest.planned_per_arm(),
        exported.failed,
        manifest.setting("pack_hash"),
        manifest.setting("prompt_hash"),
        manifest.toolset(request.arm).unwrap_or_default(),
        manifest.setting("seed"),
    );
    if summary.scenarios < 12 {
        let _ = writeln!(
            text,
            "- With {} scenarios no test over scenarios can give a two-sided p below {}; differences between conditions are descriptions, not findings.",
            summary.scenarios,
            crate::figures::p(smallest_p(summary.scenarios))
        );
    }
    text
}

#[cfg(test)]
mod tests;
