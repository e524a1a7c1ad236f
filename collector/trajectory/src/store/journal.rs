//! The journal: one file per recorded episode, one JSON object per line, written whole.
//!
//! The last line counts the others, so a file that was cut off by other means than ours is noticed too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{StoreError, durable};
use crate::canonical::sha256_hex;
use crate::record::{Call, Episode, EpisodeRecord, Message, SCHEMA_VERSION, Score, ToolRow};

/// A journal that cannot be read; it is left where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// A line as it is written; [`Line`] is its counterpart.
#[derive(Serialize)]
struct Tagged<'a, T> {
    kind: &'static str,
    #[serde(flatten)]
    row: &'a T,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Episode(Box<Episode>),
    Call(Box<Call>),
    Message(Box<Message>),
    Score(Box<Score>),
    Tool(Box<ToolRow>),
    End(End),
}

#[derive(Serialize, Deserialize, PartialEq)]
struct End {
    calls: usize,
    messages: usize,
    scores: usize,
    tools: usize,
}

impl End {
    fn of(record: &EpisodeRecord) -> Self {
        Self {
            calls: record.calls.len(),
            messages: record.messages.len(),
            scores: record.scores.len(),
            tools: record.tools.len(),
        }
    }
}

/// The file name of an episode: its id where that is a sane file name, else a hash of it.
pub(super) fn file_name(episode_id: &str) -> String {
    let sane = episode_id.len() <= 120
        && episode_id
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
        && episode_id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if sane {
        format!("{episode_id}.jsonl")
    } else {
        let hash = sha256_hex(episode_id.as_bytes());
        format!("~{}.jsonl", &hash[..32])
    }
}

pub(super) fn write(folder: &Path, record: &EpisodeRecord) -> Result<(), StoreError> {
    let path = folder.join(file_name(&record.episode.episode_id));
    let bytes = encode(record).map_err(|source| StoreError::Json {
        path: path.clone(),
        source,
    })?;
    durable::write_bytes(&path, &bytes)
}

fn encode(record: &EpisodeRecord) -> Result<Vec<u8>, serde_json::Error> {
    fn push<T: Serialize>(
        bytes: &mut Vec<u8>,
        kind: &'static str,
        row: &T,
    ) -> Result<(), serde_json::Error> {
        serde_json::to_writer(&mut *bytes, &Tagged { kind, row })?;
        bytes.push(b'\n');
        Ok(())
    }
    let mut bytes = Vec::new();
    push(&mut bytes, "episode", &record.episode)?;
    for row in &record.tools {
        push(&mut bytes, "tool", row)?;
    }
    for row in &record.messages {
        push(&mut bytes, "message", row)?;
    }
    for row in &record.calls {
        push(&mut bytes, "call", row)?;
    }
    for row in &record.scores {
        push(&mut bytes, "score", row)?;
    }
    push(&mut bytes, "end", &End::of(record))?;
    Ok(bytes)
}

/// What a journal folder holds.
#[derive(Default)]
pub(super) struct Journals {
    /// The records, by id.
    pub(super) records: Vec<EpisodeRecord>,
    /// The files they came from.
    pub(super) files: Vec<PathBuf>,
    /// Files that could not be read.
    pub(super) damaged: Vec<Damaged>,
}

/// Names of the journal files of a folder.
pub(super) fn names(folder: &Path) -> Result<BTreeSet<String>, StoreError> {
    Ok(files(folder)?
        .iter()
        .filter_map(|path| durable::name_of(path))
        .collect())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = durable::list(folder)?;
    files.retain(|path| {
        !durable::is_temporary(path)
            && path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
    });
    Ok(files)
}

/// Reads every journal of a folder. Damaged ones are reported, not fatal.
pub(super) fn read_folder(folder: &Path) -> Result<Journals, StoreError> {
    let mut found = Journals::default();
    for path in files(folder)? {
        // Gone between listing and reading: sealed by another process, and read from there.
        let Some(bytes) = durable::read_bytes(&path)? else {
            continue;
        };
        match decode(&bytes) {
            Ok(record) => {
                found.records.push(record);
                found.files.push(path);
            }
            Err(Fault::Newer(version)) => {
                return Err(StoreError::NewerSchema {
                    path,
                    found: version.to_string(),
                    known: SCHEMA_VERSION,
                });
            }
            Err(Fault::Damaged { line, reason }) => {
                tracing::warn!(
                    "journal `{}` is damaged and skipped: line {line}: {reason}",
                    path.display()
                );
                found.damaged.push(Damaged { path, line, reason });
            }
        }
    }
    Ok(found)
}

enum Fault {
    Newer(i64),
    Damaged { line: usize, reason: String },
}

fn decode(bytes: &[u8]) -> Result<EpisodeRecord, Fault> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: i64,
    }
    let mut record: Option<EpisodeRecord> = None;
    let mut ended = false;
    let mut last = 0;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        if line.is_empty() {
            continue;
        }
        last = number;
        let damaged = |reason: String| Fault::Damaged {
            line: number,
            reason,
        };
        if ended {
            return Err(damaged("text after the end line".to_owned()));
        }
        // Checked before the full parse, which a newer version may make fail for good reasons.
        if record.is_none()
            && let Ok(Version { schema_version }) = serde_json::from_slice(line)
            && schema_version > i64::from(SCHEMA_VERSION)
        {
            return Err(Fault::Newer(schema_version));
        }
        let line: Line =
            serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
        match (line, &mut record) {
            (Line::Episode(episode), None) => {
                record = Some(EpisodeRecord {
                    episode: *episode,
                    calls: Vec::new(),
                    messages: Vec::new(),
                    scores: Vec::new(),
                    tools: Vec::new(),
                });
            }
            (Line::Episode(_), Some(_)) => return Err(damaged("a second episode".to_owned())),
            (_, None) => return Err(damaged("the episode does not come first".to_owned())),
            (Line::Call(row), Some(record)) => record.calls.push(*row),
            (Line::Message(row), Some(record)) => record.messages.push(*row),
            (Line::Score(row), Some(record)) => record.scores.push(*row),
            (Line::Tool(row), Some(record)) => record.tools.push(*row),
            (Line::End(end), Some(record)) => {
                if end != End::of(record) {
                    return Err(damaged(
                        "the end line counts other rows than there are".to_owned(),
                    ));
                }
                ended = true;
            }
        }
    }
    match record {
        Some(record) if ended => Ok(record),
        _ => Err(Fault::Damaged {
            line: last + 1,
            reason: "the end line is missing".to_owned(),
        }),
    }
}
