//! Whetstone's record of what agents did with tools: episodes, tool calls, messages, scores, and the
//! toolset versions they saw.
//!
//! Data goes one way: a finished episode becomes an [`record::EpisodeRecord`], is journalled to disk, and is later
//! sealed into Parquet tables that `DuckDB`, Polars and pyarrow read as they are. See [`store::Store`].

pub mod canonical;
pub mod clock;
pub mod exit;
pub mod record;
pub mod store;
pub mod toolset;

pub use exit::Exit;
pub use record::{Call, Capture, Episode, EpisodeRecord, Message, Score, Status, ToolRow};
pub use toolset::{ComponentId, Tool, Toolset, ToolsetError};
