//! What every format is read into: traces made of steps.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::attributes::Attributes;
use super::decode::{self, Decoded};

/// An input or output as it was recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payload {
    raw: Option<String>,
    decoded: OnceCell<Decoded>,
}

impl Payload {
    /// A payload, absent when the source did not record it.
    pub(crate) fn new(raw: Option<String>) -> Self {
        Self {
            raw,
            decoded: OnceCell::new(),
        }
    }

    /// The text as it was recorded.
    pub(crate) fn raw(&self) -> Option<&str> {
        self.raw.as_deref()
    }

    /// The decoded text.
    pub(crate) fn decoded(&self) -> Option<&Decoded> {
        let raw = self.raw.as_deref()?;
        Some(self.decoded.get_or_init(|| decode::decode(raw)))
    }

    /// The decoded value.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.decoded().map(|decoded| &decoded.value)
    }

    /// Whether something other than an empty container was recorded: some frameworks write `{}` and keep
    /// the real value in an attribute.
    pub(crate) fn is_telling(&self) -> bool {
        self.value().is_some_and(|value| match value {
            Value::Null => false,
            Value::Object(map) => !map.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::String(text) => !text.is_empty() && text != "null",
            _ => true,
        })
    }
}

/// A score as the source wrote it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ScoreSeen {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) value: Option<f64>,
    pub(crate) text: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) comment: Option<String>,
    /// The step it is about; none for the whole trace.
    pub(crate) step: Option<String>,
}

/// One recorded step of a trace: a model call, a tool execution, or anything around them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Step {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    /// Upper case: `GENERATION`, `TOOL`, `SPAN`, …
    pub(crate) kind: String,
    pub(crate) name: String,
    /// Upper case: `DEBUG`, `DEFAULT`, `WARNING`, `ERROR`.
    pub(crate) level: String,
    pub(crate) status_message: Option<String>,
    pub(crate) started_us: Option<i64>,
    pub(crate) ended_us: Option<i64>,
    pub(crate) updated_us: Option<i64>,
    pub(crate) model: Option<String>,
    pub(crate) parameters: Option<Value>,
    pub(crate) input: Payload,
    pub(crate) output: Payload,
    pub(crate) attributes: Attributes,
    pub(crate) input_tokens: Option<i64>,
    pub(crate) output_tokens: Option<i64>,
    pub(crate) cost_usd: Option<f64>,
    /// Definitions, calls and names of calls that the source itself drew out of a generation.
    pub(crate) tool_definitions: Option<Value>,
    pub(crate) tool_calls: Option<Value>,
    pub(crate) tool_call_names: Option<Value>,
    pub(crate) scores: Vec<ScoreSeen>,
}

impl Step {
    /// Hidden internals of a framework.
    pub(crate) fn is_hidden(&self) -> bool {
        self.level == "DEBUG"
    }

    /// Whether this step is one call of a model.
    pub(crate) fn is_generation(&self) -> bool {
        if self.kind == "GENERATION" {
            return true;
        }
        if matches!(self.kind.as_str(), "TOOL" | "EVENT" | "EMBEDDING") {
            return false;
        }
        let says = |name: &str, values: &[&str]| {
            let text = self.attributes.text(name);
            text.is_some_and(|text| values.contains(&text.to_ascii_lowercase().as_str()))
        };
        says(
            "gen_ai.operation.name",
            &["chat", "text_completion", "generate_content"],
        ) || says("openinference.span.kind", &["llm"])
            || says("langsmith.span.kind", &["llm"])
    }
}

/// What is known about a trace as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceFacts {
    pub(crate) name: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) environment: Option<String>,
    pub(crate) release: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) timestamp_us: Option<i64>,
    pub(crate) input: Payload,
    pub(crate) output: Payload,
}

impl TraceFacts {
    /// Takes from `other` what is not known yet.
    pub(crate) fn complete(&mut self, other: Self) {
        let fill = |known: &mut Option<String>, new: Option<String>| {
            if known.is_none() {
                *known = new;
            }
        };
        fill(&mut self.name, other.name);
        fill(&mut self.project, other.project);
        fill(&mut self.session, other.session);
        fill(&mut self.environment, other.environment);
        fill(&mut self.release, other.release);
        fill(&mut self.version, other.version);
        if self.tags.is_empty() {
            self.tags = other.tags;
        }
        self.timestamp_us = self.timestamp_us.or(other.timestamp_us);
        if self.input.raw().is_none() {
            self.input = other.input;
        }
        if self.output.raw().is_none() {
            self.output = other.output;
        }
    }
}

/// A trace as gathered so far.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) facts: TraceFacts,
    /// Steps by id.
    pub(crate) steps: BTreeMap<String, Step>,
    pub(crate) scores: Vec<ScoreSeen>,
}

/// Everything gathered from the files of one import: a trace may be spread over several.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) traces: BTreeMap<String, Trace>,
    /// Steps read, each version counted.
    pub(crate) steps: usize,
    /// Versions of a step that another version replaced.
    pub(crate) duplicates: usize,
}

impl Gathered {
    /// The trace of this id.
    pub(crate) fn trace(&mut self, id: &str) -> &mut Trace {
        self.traces.entry(id.to_owned()).or_default()
    }

    /// Adds a step; of several versions the latest stays, and of equally late ones the last read.
    pub(crate) fn add_step(&mut self, trace_id: &str, step: Step) {
        self.steps += 1;
        let steps = &mut self.trace(trace_id).steps;
        let known = steps.get(&step.id).map(|known| known.updated_us);
        if known.is_none_or(|known| step.updated_us >= known) {
            steps.insert(step.id.clone(), step);
        }
        self.duplicates += usize::from(known.is_some());
    }
}
