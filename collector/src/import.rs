//! Importing what tracing systems export.
//!
//! Files are cut into JSON documents, each document is recognised by its keys and read into traces of steps,
//! and each trace becomes one episode. One bad row never ends an import: it is counted, named, and passed
//! over.

mod attributes;
mod captured;
mod conversation;
mod decode;
mod definitions;
mod documents;
mod episode;
mod evidence;
mod exchanges;
mod execution;
mod failure;
mod format;
mod langfuse;
mod python;
mod row;
mod source;
mod step;
mod summary;
#[cfg(test)]
mod tests;
mod time;
mod tree;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use serde_json::json;
use trajectory::EpisodeRecord;
use trajectory::canonical::sha256_hex;
use trajectory::store::{Store, StoreError};

use documents::{Layout, Piece};
use format::{FORMATS, Rejection};
use row::Row;
use source::Source;
use step::Gathered;
pub use summary::{FileSummary, Rejected, Summary};

/// How to import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Name of the experiment; derived from the content when absent.
    pub experiment: Option<String>,
    /// Write nothing.
    pub dry_run: bool,
    /// Any row that cannot be read makes the import fail before anything is written.
    pub strict: bool,
    /// Take traces anew that were imported before.
    pub replace: bool,
    /// Shows how much of the files is read.
    pub progress: ProgressBar,
    /// Largest single JSON document, in bytes.
    pub document_limit: usize,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            experiment: None,
            dry_run: false,
            strict: false,
            replace: false,
            progress: ProgressBar::hidden(),
            document_limit: 512 << 20,
        }
    }
}

/// An import could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A folder could not be listed.
    #[error("cannot list the files to import")]
    List(#[source] io::Error),
    /// Nothing in the files was usable.
    #[error("nothing to import: {reason}")]
    Nothing {
        /// The first reason.
        reason: String,
    },
    /// `strict`, and something could not be read.
    #[error(
        "{rows} rows or files could not be read, and --strict is set: nothing was imported ({first})"
    )]
    Strict {
        /// How many.
        rows: usize,
        /// The first of them.
        first: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports files, folders and standard input (`-`) into the store in the folder `store`.
pub fn import(
    paths: &[PathBuf],
    store: &Path,
    options: &ImportOptions,
) -> Result<Summary, ImportError> {
    let mut summary = Summary {
        dry_run: options.dry_run,
        ..Summary::default()
    };
    let sources = source::list(paths).map_err(ImportError::List)?;
    let gathered = gather(&sources, options, &mut summary);
    if options.strict && summary.has_problems() {
        return Err(strict(&summary));
    }
    if gathered.traces.is_empty() {
        return Err(ImportError::Nothing {
            reason: why_nothing(&summary),
        });
    }
    let experiment = options
        .experiment
        .clone()
        .unwrap_or_else(|| experiment_name(&gathered));
    if !trajectory::store::valid_experiment_name(&experiment) {
        return Err(StoreError::InvalidExperiment { name: experiment }.into());
    }
    let records = assemble(&experiment, gathered, &mut summary);
    summary.experiment.clone_from(&experiment);
    write(store, &records, options, &mut summary)?;
    let executed = records
        .iter()
        .flat_map(|record| &record.calls)
        .any(|call| call.ended_us.is_some());
    summary.add_notes(summary.calls > 0 && !executed);
    Ok(summary)
}

/// Reads all documents of all files.
fn gather(sources: &[Source], options: &ImportOptions, summary: &mut Summary) -> Gathered {
    let mut gathered = Gathered::default();
    options
        .progress
        .set_length(sources.iter().map(Source::size).sum());
    for source in sources {
        let mut file = FileSummary {
            file: source.name.clone(),
            ..FileSummary::default()
        };
        match source.open(&options.progress) {
            Err(problem) => file.problem = Some(problem),
            Ok(reader) => {
                let before = (summary.rejected.len(), summary.rejected_rows);
                let mut each =
                    |piece| read_piece(piece, &source.name, &mut file, &mut gathered, summary);
                let result = documents::cut(reader, options.document_limit, &mut each);
                match result {
                    Err(error) => file.problem = Some(format!("cannot be read: {error}")),
                    Ok(Layout::Empty) => file.problem = Some("an empty file".to_owned()),
                    Ok(_) if file.shapes.is_empty() => {
                        // One reason for the whole file says more than one per line.
                        let first = summary.rejected.get(before.0).map(|row| row.reason.clone());
                        summary.rejected.truncate(before.0);
                        summary.rejected_rows = before.1;
                        file.problem = Some(why_unread(first));
                    }
                    Ok(_) => {}
                }
            }
        }
        // A folder may hold other things too; only files somebody named must be readable.
        if source.is_found && file.shapes.is_empty() {
            let problem = file.problem.take().unwrap_or_default();
            summary
                .notes
                .push(format!("`{}` is skipped: {problem}", source.name));
        } else {
            summary.files.push(file);
        }
    }
    summary.observations = gathered.steps - gathered.duplicates;
    summary.duplicates = gathered.duplicates;
    gathered
}

fn why_unread(first: Option<String>) -> String {
    match first {
        Some(reason) if reason.starts_with("not a JSON object") => {
            "not JSON: choose JSONL or JSON as the export's format (CSV is not imported yet)"
                .to_owned()
        }
        Some(reason) => reason,
        None => "no rows in it".to_owned(),
    }
}

fn read_piece(
    piece: Piece,
    name: &str,
    file: &mut FileSummary,
    gathered: &mut Gathered,
    summary: &mut Summary,
) {
    match piece {
        Piece::Rejected { line, reason } => summary.reject(name, line, reason),
        Piece::Document { text, line } => {
            if let Err(rejection) = read_document(&text, 0, file, gathered) {
                for reason in rejection.reasons() {
                    summary.reject(name, line, reason.clone());
                }
            }
        }
    }
}

/// Keys under which people and endpoints wrap lists of rows.
const WRAPPERS: [&str; 7] = [
    "data",
    "observations",
    "traces",
    "items",
    "rows",
    "spans",
    "scores",
];

fn read_document(
    text: &str,
    depth: usize,
    file: &mut FileSummary,
    gathered: &mut Gathered,
) -> Result<(), Rejection> {
    if text.starts_with('[') {
        let rows = serde_json::from_str::<Vec<Box<serde_json::value::RawValue>>>(text)
            .map_err(|error| Rejection::new(format!("not JSON: {error}")))?;
        return read_all(&rows, depth, file, gathered);
    }
    let row = Row::parse(text).map_err(Rejection::new)?;
    for format in FORMATS {
        if let Some(kind) = format.recognise(&row) {
            *file.shapes.entry(kind.to_owned()).or_default() += 1;
            return format.read(&row, kind, gathered);
        }
    }
    for wrapper in WRAPPERS {
        if let Some(rows) = row.elements(wrapper) {
            return read_all(&rows, depth, file, gathered);
        }
    }
    Err(Rejection::new(format::describe_unknown(&row)))
}

fn read_all(
    rows: &[Box<serde_json::value::RawValue>],
    depth: usize,
    file: &mut FileSummary,
    gathered: &mut Gathered,
) -> Result<(), Rejection> {
    if depth > 2 {
        return Err(Rejection::new(
            "lists inside lists: expected rows".to_owned(),
        ));
    }
    let mut reasons = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if let Err(rejection) = read_document(row.get(), depth + 1, file, gathered) {
            reasons.push(format!("row {}: {}", index + 1, rejection.reason()));
        }
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Rejection::partial(reasons))
    }
}

/// The same traces get the same name, so that importing a file again finds them there. A project's exports
/// go together, whichever traces each of them has.
fn experiment_name(gathered: &Gathered) -> String {
    let projects: BTreeSet<&str> = gathered
        .traces
        .values()
        .filter_map(|trace| trace.facts.project.as_deref())
        .collect();
    let all_have_one = gathered
        .traces
        .values()
        .all(|trace| trace.facts.project.is_some());
    let identity = if all_have_one {
        json!({ "projects": projects })
    } else {
        json!({ "traces": gathered.traces.keys().collect::<Vec<_>>() })
    };
    let hash = sha256_hex(identity.to_string().as_bytes());
    format!("import-{}", &hash[..10])
}

fn assemble(experiment: &str, gathered: Gathered, summary: &mut Summary) -> Vec<EpisodeRecord> {
    let mut records = Vec::with_capacity(gathered.traces.len());
    let mut tools = BTreeSet::new();
    let mut toolsets = BTreeSet::new();
    // Each trace is dropped once it is an episode, since its raw rows are the larger part of the memory.
    for (trace_id, trace) in gathered.traces {
        let assembled = episode::assemble(experiment, "langfuse", &trace_id, &trace);
        let record = assembled.record;
        summary.orphans += assembled.orphans;
        summary.calls += record.calls.len();
        summary.failed_calls += record
            .calls
            .iter()
            .filter(|call| call.is_error == Some(true))
            .count();
        summary.scores += record.scores.len();
        for row in &record.tools {
            tools.insert((row.toolset_id.clone(), row.name.clone()));
            toolsets.insert(row.toolset_id.clone());
        }
        records.push(record);
    }
    summary.traces = records.len();
    summary.definitions = tools.len();
    summary.toolsets = toolsets.len();
    records
}

fn write(
    store: &Path,
    records: &[EpisodeRecord],
    options: &ImportOptions,
    summary: &mut Summary,
) -> Result<(), StoreError> {
    let ids: BTreeSet<String> = records
        .iter()
        .map(|record| record.episode.episode_id.clone())
        .collect();
    if options.dry_run {
        // A dry run looks at an existing store and makes none.
        let known = match Store::open(store) {
            Ok(store) => store.recorded(&summary.experiment)?,
            Err(StoreError::NoStore { .. }) => std::collections::BTreeMap::new(),
            Err(error) => return Err(error),
        };
        let there = ids.iter().filter(|id| known.contains_key(*id)).count();
        summary.already_there = if options.replace { 0 } else { there };
        summary.added = ids.len() - summary.already_there;
        return Ok(());
    }
    let store = Store::create(store)?;
    if options.replace {
        store.remove(&summary.experiment, &ids)?;
    }
    let report = store.append(&summary.experiment, records)?;
    summary.added = report.added;
    summary.already_there = report.skipped;
    Ok(())
}

fn first_problem(summary: &Summary) -> Option<String> {
    let of_files = summary.files.iter().find_map(|file| {
        let problem = file.problem.as_ref()?;
        Some(format!("`{}`: {problem}", file.file))
    });
    of_files.or_else(|| {
        let row = summary.rejected.first()?;
        Some(format!("`{}` line {}: {}", row.file, row.line, row.reason))
    })
}

fn why_nothing(summary: &Summary) -> String {
    first_problem(summary)
        .or_else(|| summary.notes.first().cloned())
        .unwrap_or_else(|| {
            "no traces in these files; expected Langfuse observations or trace downloads".to_owned()
        })
}

fn strict(summary: &Summary) -> ImportError {
    let files = summary
        .files
        .iter()
        .filter(|file| file.problem.is_some())
        .count();
    ImportError::Strict {
        rows: summary.rejected_rows + files,
        first: first_problem(summary).unwrap_or_default(),
    }
}
