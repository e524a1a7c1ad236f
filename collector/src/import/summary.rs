//! What an import tells about itself.

use serde::Serialize;

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The experiment the traces went into.
    pub experiment: String,
    /// Nothing was written.
    pub dry_run: bool,
    /// Files, in the order they were read.
    pub files: Vec<FileSummary>,
    /// Traces found, each an episode.
    pub traces: usize,
    /// Episodes added to the store (with a dry run: that would be).
    pub added: usize,
    /// Episodes that were in the store already.
    pub already_there: usize,
    /// Observations, each once.
    pub observations: usize,
    /// Tool calls.
    pub calls: usize,
    /// Tool calls known to have failed.
    pub failed_calls: usize,
    /// Tool definitions, each once per toolset.
    pub definitions: usize,
    /// Toolset versions.
    pub toolsets: usize,
    /// Scores.
    pub scores: usize,
    /// Older or equal versions of an observation that another replaced.
    pub duplicates: usize,
    /// Observations whose parent is not in the files.
    pub orphans: usize,
    /// Rows that could not be read, the first hundred.
    pub rejected: Vec<Rejected>,
    /// How many rows could not be read.
    pub rejected_rows: usize,
    /// What is missing or worth knowing.
    pub notes: Vec<String>,
}

/// One file of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// Its name.
    pub file: String,
    /// What its rows were recognised as, with how many of each.
    pub shapes: std::collections::BTreeMap<String, usize>,
    /// Why it was not read at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A row that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// Its file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// Rejections listed one by one; of more, only the number is told.
const LISTED: usize = 100;

impl Summary {
    pub(crate) fn reject(&mut self, file: &str, line: usize, reason: String) {
        self.rejected_rows += 1;
        if self.rejected.len() < LISTED {
            self.rejected.push(Rejected {
                file: file.to_owned(),
                line,
                reason,
            });
        }
    }

    /// Whether any file or row could not be read.
    pub fn has_problems(&self) -> bool {
        self.rejected_rows > 0 || self.files.iter().any(|file| file.problem.is_some())
    }

    /// Notes on what is missing, once all is counted.
    pub(crate) fn add_notes(&mut self, unexecuted_only: bool) {
        if self.traces > 0 && self.calls == 0 {
            let note = if self.observations == 0 {
                "these files have no observations, so no tool calls: export the Observations (or Events) table as well"
            } else {
                "no observation is a tool call or holds one: check that tools are traced, and that the export was not filtered"
            };
            self.notes.push(note.to_owned());
        }
        if self.calls > 0 && self.definitions == 0 {
            self.notes.push(
                "no tool definitions were recorded: give the server's `tools/list` to the optimizer as a file".to_owned(),
            );
        }
        if unexecuted_only {
            self.notes.push(
                "calls were found in model answers only, so their times and errors are those of the conversation".to_owned(),
            );
        }
        if self.already_there > 0 {
            self.notes.push(format!(
                "{} traces were imported before and are left as they are; --replace takes them anew",
                self.already_there
            ));
        }
    }
}
