//! The tables: their columns, and how each record struct maps to them.
//!
//! Columns are spelled out instead of derived, because they are a contract with other programs: no unsigned
//! integers (Spark has none), times as UTC microseconds, JSON as text (Polars refuses a file with a VARIANT
//! column).

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{Call, Episode, Message, Score, ToolRow};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Episodes,
    Calls,
    Messages,
    Scores,
    Tools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Long texts that hardly repeat: stored without a dictionary, lengths apart from the bytes.
    Long,
    Int32,
    Int64,
    Float,
    Bool,
    Time,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
}

const fn required(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        required: true,
    }
}

const fn optional(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        required: false,
    }
}

impl Column {
    pub(super) fn data_type(self) -> DataType {
        match self.kind {
            Kind::Text | Kind::Long => DataType::Utf8,
            Kind::Int32 => DataType::Int32,
            Kind::Int64 => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }
}

impl Table {
    pub(super) const ALL: [Self; 5] = [
        Self::Episodes,
        Self::Calls,
        Self::Messages,
        Self::Scores,
        Self::Tools,
    ];

    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Episodes => "episodes",
            Self::Calls => "calls",
            Self::Messages => "messages",
            Self::Scores => "scores",
            Self::Tools => "tools",
        }
    }

    pub(super) fn columns(self) -> &'static [Column] {
        match self {
            Self::Episodes => EPISODES,
            Self::Calls => CALLS,
            Self::Messages => MESSAGES,
            Self::Scores => SCORES,
            Self::Tools => TOOLS,
        }
    }

    pub(super) fn fields(self) -> Vec<FieldRef> {
        self.columns()
            .iter()
            .map(|column| {
                Arc::new(Field::new(
                    column.name,
                    column.data_type(),
                    !column.required,
                ))
            })
            .collect()
    }
}

/// A record struct that is stored as a row.
pub(super) trait Row: Serialize + DeserializeOwned {
    const TABLE: Table;

    /// Roughly the bytes of its long texts, by which batches are cut.
    fn weight(&self) -> usize;

    /// The episode it belongs to; none for rows of a whole experiment.
    fn episode_id(&self) -> Option<&str>;
}

fn length(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

impl Row for Episode {
    const TABLE: Table = Table::Episodes;

    fn weight(&self) -> usize {
        length(self.attributes.as_ref())
            + length(self.metrics.as_ref())
            + length(self.error.as_ref())
    }

    fn episode_id(&self) -> Option<&str> {
        Some(&self.episode_id)
    }
}

impl Row for Call {
    const TABLE: Table = Table::Calls;

    fn weight(&self) -> usize {
        length(self.arguments.as_ref())
            + length(self.result.as_ref())
            + length(self.error_message.as_ref())
    }

    fn episode_id(&self) -> Option<&str> {
        Some(&self.episode_id)
    }
}

impl Row for Message {
    const TABLE: Table = Table::Messages;

    fn weight(&self) -> usize {
        length(self.content.as_ref())
            + length(self.tool_calls.as_ref())
            + length(self.extra.as_ref())
    }

    fn episode_id(&self) -> Option<&str> {
        Some(&self.episode_id)
    }
}

impl Row for Score {
    const TABLE: Table = Table::Scores;

    fn weight(&self) -> usize {
        length(self.comment.as_ref()) + length(self.text.as_ref())
    }

    fn episode_id(&self) -> Option<&str> {
        Some(&self.episode_id)
    }
}

impl Row for ToolRow {
    const TABLE: Table = Table::Tools;

    fn weight(&self) -> usize {
        2 * self.definition.len()
    }

    fn episode_id(&self) -> Option<&str> {
        None
    }
}

const EPISODES: &[Column] = &[
    required("schema_version", Kind::Int32),
    required("episode_id", Kind::Text),
    required("experiment", Kind::Text),
    required("source", Kind::Text),
    optional("scenario", Kind::Text),
    optional("condition", Kind::Text),
    optional("arm", Kind::Text),
    optional("repeat", Kind::Int32),
    optional("seed", Kind::Int64),
    optional("model", Kind::Text),
    optional("counterpart_model", Kind::Text),
    required("simulated", Kind::Bool),
    optional("toolset_meant", Kind::Text),
    optional("toolset_seen", Kind::Text),
    optional("prompt_hash", Kind::Text),
    required("status", Kind::Text),
    optional("termination", Kind::Text),
    optional("error", Kind::Text),
    optional("outcome", Kind::Text),
    optional("price", Kind::Int64),
    optional("reserve", Kind::Int64),
    optional("budget", Kind::Int64),
    optional("deal_possible", Kind::Bool),
    optional("correct_strict", Kind::Bool),
    optional("correct_lenient", Kind::Bool),
    optional("violation", Kind::Bool),
    optional("violation_side", Kind::Text),
    optional("attempted_violations_buyer", Kind::Int32),
    optional("attempted_violations_seller", Kind::Int32),
    optional("refused_calls", Kind::Int32),
    optional("refused_by_reason", Kind::Text),
    optional("recovered_refusals", Kind::Int32),
    optional("turns", Kind::Int32),
    optional("tool_calls", Kind::Int32),
    optional("polls", Kind::Int32),
    optional("missed_acceptances", Kind::Int32),
    optional("exposures", Kind::Int32),
    optional("obeyed", Kind::Bool),
    optional("surplus_buyer", Kind::Float),
    optional("surplus_seller", Kind::Float),
    optional("quality", Kind::Float),
    optional("passes", Kind::Int32),
    optional("model_calls", Kind::Int32),
    optional("input_tokens_buyer", Kind::Int64),
    optional("output_tokens_buyer", Kind::Int64),
    optional("input_tokens_seller", Kind::Int64),
    optional("output_tokens_seller", Kind::Int64),
    optional("cost_usd", Kind::Float),
    optional("model_time_us_buyer", Kind::Int64),
    optional("model_time_us_seller", Kind::Int64),
    optional("started_us", Kind::Time),
    optional("ended_us", Kind::Time),
    optional("metrics", Kind::Long),
    optional("attributes", Kind::Long),
];

const CALLS: &[Column] = &[
    required("experiment", Kind::Text),
    required("episode_id", Kind::Text),
    required("sequence", Kind::Int32),
    optional("turn", Kind::Int32),
    optional("role", Kind::Text),
    required("tool", Kind::Text),
    optional("server", Kind::Text),
    optional("call_id", Kind::Text),
    optional("arguments", Kind::Long),
    required("arguments_state", Kind::Text),
    optional("result", Kind::Long),
    required("result_state", Kind::Text),
    optional("is_error", Kind::Bool),
    optional("error_class", Kind::Text),
    optional("error_message", Kind::Text),
    optional("started_us", Kind::Time),
    optional("ended_us", Kind::Time),
];

const MESSAGES: &[Column] = &[
    required("experiment", Kind::Text),
    required("episode_id", Kind::Text),
    required("sequence", Kind::Int32),
    optional("turn", Kind::Int32),
    optional("party", Kind::Text),
    required("role", Kind::Text),
    optional("content", Kind::Long),
    optional("tool_calls", Kind::Long),
    optional("model", Kind::Text),
    optional("input_tokens", Kind::Int64),
    optional("output_tokens", Kind::Int64),
    optional("latency_us", Kind::Int64),
    optional("finish_reason", Kind::Text),
    optional("extra", Kind::Long),
];

const SCORES: &[Column] = &[
    required("experiment", Kind::Text),
    required("episode_id", Kind::Text),
    optional("call_id", Kind::Text),
    required("name", Kind::Text),
    optional("value", Kind::Float),
    optional("text", Kind::Text),
    optional("source", Kind::Text),
    optional("comment", Kind::Long),
];

const TOOLS: &[Column] = &[
    required("experiment", Kind::Text),
    required("toolset_id", Kind::Text),
    required("position", Kind::Int32),
    required("name", Kind::Text),
    optional("description", Kind::Text),
    optional("input_schema", Kind::Long),
    optional("output_schema", Kind::Long),
    optional("annotations", Kind::Long),
    required("definition", Kind::Long),
    optional("first_seen_us", Kind::Time),
    optional("last_seen_us", Kind::Time),
];
