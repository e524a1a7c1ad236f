//! The files of an import.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

/// A file to read, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    /// The name as people gave it.
    pub(crate) name: String,
    /// Nothing for standard input.
    path: Option<PathBuf>,
    /// Found in a folder, so that it may be something else.
    pub(crate) is_found: bool,
}

/// The files that arguments mean: themselves, those below folders, and `-` for standard input.
pub(crate) fn list(arguments: &[PathBuf]) -> io::Result<Vec<Source>> {
    let mut sources: Vec<Source> = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            sources.push(Source {
                name: "standard input".to_owned(),
                path: None,
                is_found: false,
            });
        } else if argument.is_dir() {
            walk(argument, 0, &mut sources)?;
        } else {
            sources.push(file(argument, false));
        }
    }
    // The same file named twice would only count as duplicates.
    let mut seen = std::collections::BTreeSet::new();
    sources.retain(|source| seen.insert(source.name.clone()));
    Ok(sources)
}

fn file(path: &Path, is_found: bool) -> Source {
    Source {
        name: path.display().to_string(),
        path: Some(path.to_owned()),
        is_found,
    }
}

/// Folders below folders end somewhere; circles of links do not.
const MAX_DEPTH: usize = 16;

/// What an export leaves beside its data.
const NOT_DATA: [&str; 2] = ["DEPRECATION_NOTICE.txt", "manifests"];

fn walk(folder: &Path, depth: usize, sources: &mut Vec<Source>) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort_unstable();
    for path in entries {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') || NOT_DATA.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, sources)?;
        } else {
            sources.push(file(&path, true));
        }
    }
    Ok(())
}

/// The beginnings of files that are not text, with what to do about them.
const FOREIGN: &[(&[u8], &str)] = &[
    (b"\x1f\x8b", "gzip-compressed: unpack it with gunzip first"),
    (
        b"PAR1",
        "a Parquet file, which is not imported yet: export JSONL from Langfuse",
    ),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8 first"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8 first"),
];

impl Source {
    /// Its length in bytes, where that is known before reading.
    pub(crate) fn size(&self) -> u64 {
        let metadata = self.path.as_ref().and_then(|path| fs::metadata(path).ok());
        metadata.map_or(0, |metadata| metadata.len())
    }

    /// Opens the file for reading; files that cannot be text are refused with advice.
    pub(crate) fn open(&self, progress: &ProgressBar) -> Result<BufReader<Box<dyn Read>>, String> {
        let reader: Box<dyn Read> = match &self.path {
            None => Box::new(io::stdin().lock()),
            Some(path) => {
                Box::new(File::open(path).map_err(|error| format!("cannot be read: {error}"))?)
            }
        };
        let mut reader = BufReader::with_capacity(
            1 << 16,
            Box::new(progress.wrap_read(reader)) as Box<dyn Read>,
        );
        let start = reader
            .fill_buf()
            .map_err(|error| format!("cannot be read: {error}"))?;
        match FOREIGN.iter().find(|(magic, _)| start.starts_with(magic)) {
            Some((_, advice)) => Err((*advice).to_owned()),
            None => Ok(reader),
        }
    }
}
