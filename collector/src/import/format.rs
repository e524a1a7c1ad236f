//! What an importer of one format is.

use super::langfuse::Langfuse;
use super::row::Row;
use super::step::Gathered;

/// Why a document was not read, or not wholly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    reasons: Vec<String>,
}

impl Rejection {
    /// The document as a whole.
    pub(crate) fn new(reason: String) -> Self {
        Self {
            reasons: vec![reason],
        }
    }

    /// Parts of the document; the others were read.
    pub(crate) fn partial(reasons: Vec<String>) -> Self {
        Self { reasons }
    }

    /// All reasons in one line.
    pub(crate) fn reason(&self) -> String {
        self.reasons.join("; ")
    }

    /// One by one.
    pub(crate) fn reasons(&self) -> &[String] {
        &self.reasons
    }
}

/// One family of export formats.
pub(crate) trait Format: Sync {
    /// The kind of document this is, by its keys, when it is one of ours.
    fn recognise(&self, row: &Row) -> Option<&'static str>;

    /// Reads a document of a kind this format recognised.
    fn read(&self, row: &Row, kind: &'static str, into: &mut Gathered) -> Result<(), Rejection>;
}

/// All formats, in the order they are asked.
pub(crate) const FORMATS: &[&dyn Format] = &[&Langfuse];

/// Kinds of documents we know of and cannot read, with what to do about them.
const OTHERS: &[(&str, &str)] = &[
    (
        "resourceSpans",
        "OTLP traces are not read yet: import them into Langfuse, or export observations from there",
    ),
    (
        "batch",
        "ingestion batches are not read yet: export observations from Langfuse",
    ),
    (
        "jsonrpc",
        "JSON-RPC logs are not read yet: export observations from Langfuse",
    ),
];

/// What to tell the owner of a document that no format recognises.
pub(crate) fn describe_unknown(row: &Row) -> String {
    for (key, advice) in OTHERS {
        if row.has(key) {
            return (*advice).to_owned();
        }
    }
    let keys: Vec<&str> = row.names().take(5).collect();
    if keys.is_empty() {
        return "an empty object".to_owned();
    }
    format!(
        "no known shape (keys {}): expected Langfuse observations or a trace download",
        keys.join(", ")
    )
}
