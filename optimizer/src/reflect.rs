//! Reflectors: what turns a diagnosis into a patch.

mod compaction;
mod errors;
mod facts;
mod fence;
pub mod mined;
pub mod model;
mod parameters;

use std::future::Future;
use std::pin::Pin;

use serde::Serialize;
use trajectory::{EpisodeRecord, Toolset};

use crate::diagnosis::Diagnosis;
use crate::guard::{Limits, Rejection};
use crate::patch::{Edit, Patch};

/// What a reflector is given for one round.
#[derive(Debug, Clone, Copy)]
pub struct Brief<'a> {
    /// What goes wrong.
    pub diagnosis: &'a Diagnosis,
    /// The texts to be rewritten.
    pub toolset: &'a Toolset,
    /// The episodes.
    pub records: &'a [&'a EpisodeRecord],
    /// How large things may become.
    pub limits: &'a Limits,
    /// Seed of everything that is left to chance.
    pub seed: u64,
    /// Edits accepted in earlier rounds.
    pub accepted: &'a [Edit],
    /// What was rejected in earlier rounds.
    pub rejected: &'a [Rejection],
}

/// What a reflector gives back.
#[derive(Debug)]
pub struct Draft {
    /// The patch, or why there is none.
    pub patch: Result<Patch, Rejection>,
    /// What it cost.
    pub spent: Spent,
    /// Failure modes a model saw in the episodes, with verified ids.
    pub observed: Vec<Observation>,
    /// Things worth telling a reader.
    pub notes: Vec<String>,
}

/// A failure mode as a model describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// Short name.
    pub title: String,
    /// The component blamed, as [`trajectory::ComponentId`] writes it.
    pub component: String,
    /// What the agents misunderstood.
    pub description: String,
    /// Ids of findings that show it; all of them exist.
    pub failures: Vec<String>,
}

/// What asking models cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// Model calls.
    pub model_calls: u64,
    /// Prompt tokens, as far as the provider counted them.
    pub input_tokens: i64,
    /// Completion tokens, as far as the provider counted them.
    pub output_tokens: i64,
    /// Calls whose tokens the provider did not count.
    pub uncounted_calls: u64,
}

impl Spent {
    /// Adds the cost of another part of the work.
    pub fn add(&mut self, other: Self) {
        self.model_calls += other.model_calls;
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.uncounted_calls += other.uncounted_calls;
    }
}

/// A reflector could not work at all; a bad patch is not an error but a [`Rejection`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReflectError {
    /// The model did not answer.
    #[error("asking `{model}` failed")]
    Model {
        /// The model.
        model: String,
        /// Why.
        #[source]
        source: agent::ModelError,
    },
    /// The simulated agents have no words of their own.
    #[error(
        "`{model}` plays negotiations and cannot write descriptions: use `--reflector mined`, which needs no model, or give a language model with --model"
    )]
    Simulated {
        /// The model.
        model: String,
    },
    /// A prompt template is broken.
    #[error("cannot fill in the prompt `{name}`")]
    Prompt {
        /// The template.
        name: &'static str,
        /// Why.
        #[source]
        source: minijinja::Error,
    },
}

/// The future of a draft.
pub type DraftFuture<'a> = Pin<Box<dyn Future<Output = Result<Draft, ReflectError>> + Send + 'a>>;

/// Turns a diagnosis into a patch.
pub trait Reflector: Send + Sync {
    /// Name, as recorded in the version (`mined`, `model:gpt-4o-mini`).
    fn name(&self) -> String;

    /// Rounds after which asking again gives nothing new.
    fn rounds(&self) -> usize;

    /// Drafts a patch. What it returns is not trusted.
    fn draft<'a>(&'a self, brief: &'a Brief<'a>) -> DraftFuture<'a>;
}
