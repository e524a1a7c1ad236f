//! Diagnoses trajectories and rewrites the tool descriptions that mislead agents.
//!
//! The way of the data: recorded episodes ([`trajectory::EpisodeRecord`]) are searched for failures by fixed rules
//! ([`classes`]); each failure votes for the text that could have prevented it ([`blame`]); together they are a
//! [`diagnosis`]. A [`reflect::Reflector`], with a language model or without one, turns it into a [`patch`]: a list of
//! new texts, never a toolset. The [`guard`] judges every edit and keeps what it rejects. What is left becomes a
//! [`version`] and a [`proposal`] for people, and [`diff`] shows any two versions side by side.
//!
//! A proposal claims no effect. Whether it helps is for `eval compare` to say.
//!
//! ```
//! use optimizer::diff::Difference;
//! use trajectory::Toolset;
//!
//! let old = Toolset::parse(r#"[{"name": "search", "description": "Searches."}]"#)?;
//! let new = Toolset::parse(r#"[{"name": "search", "description": "Searches titles, not contents."}]"#)?;
//! let difference = Difference::between(&old, &new);
//! assert_eq!(difference.texts.len(), 1);
//! assert!(!difference.beyond_texts());
//! # Ok::<(), trajectory::ToolsetError>(())
//! ```

pub mod blame;
pub mod classes;
pub mod cli;
pub mod diagnosis;
pub mod diff;
pub mod guard;
pub mod patch;
pub mod proposal;
pub mod propose;
pub mod reflect;
pub mod version;
mod visible;
