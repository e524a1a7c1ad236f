//! Recordings of a model's answers: one JSON object per line, written as the answers come.
//!
//! A line holds the answer, and of the request what is needed to find it again and to say how another
//! request differs. No key and no HTTP header ever gets here: a request does not contain them.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trajectory::canonical::{canonical_json, sha256_hex};

use crate::model::{ChatModel, ChatReply, ChatRequest, ModelError, toolset_id};
use crate::options::ModelSetupError;

/// Version of the lines.
pub(crate) const FORMAT: u32 = 1;

/// How every line begins.
const LINE_START: &[u8] = b"{\"v\":";

/// One recorded answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) v: u32,
    /// Hash of the whole request.
    pub(crate) key: String,
    pub(crate) model: String,
    pub(crate) simulated: bool,
    pub(crate) request: Sketch,
    pub(crate) reply: ChatReply,
}

/// What is kept of a request: enough to say how another one differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sketch {
    pub(crate) tools: Option<String>,
    pub(crate) temperature: Option<f64>,
    pub(crate) seed: Option<u64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) schema: Option<String>,
    /// Role and hash of each message.
    pub(crate) messages: Vec<String>,
}

impl Sketch {
    pub(crate) fn of(request: &ChatRequest) -> Self {
        let short = |text: &str| {
            sha256_hex(text.as_bytes())
                .chars()
                .take(12)
                .collect::<String>()
        };
        let handles = Handles::of(request);
        let message = |message: &crate::model::ChatMessage| {
            let value = serde_json::to_value(message).unwrap_or_default();
            format!(
                "{}:{}",
                message.role.as_str(),
                short(&handles.hide(&canonical_json(&value)))
            )
        };
        Self {
            tools: toolset_id(&request.tools),
            temperature: request.temperature,
            seed: request.seed,
            max_tokens: request.max_tokens,
            schema: request
                .response_schema
                .as_ref()
                .map(|schema| short(&canonical_json(schema))),
            messages: request.messages.iter().map(message).collect(),
        }
    }

    /// The key of the request: the hash of everything in it.
    pub(crate) fn key(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        format!(
            "rq_{}",
            sha256_hex(canonical_json(&value).as_bytes())
                .chars()
                .take(24)
                .collect::<String>()
        )
    }
}

/// Texts that differ between runs, and their placeholders.
pub(crate) struct Handles<'a> {
    handles: Vec<&'a str>,
}

impl<'a> Handles<'a> {
    /// Short texts are left alone, since they may stand for something else elsewhere, and so are those that
    /// JSON would write differently.
    pub(crate) fn of(request: &'a ChatRequest) -> Self {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
        let usable = |handle: &&str| handle.len() >= 6 && handle.chars().all(plain);
        Self {
            handles: request
                .handles
                .iter()
                .map(String::as_str)
                .filter(usable)
                .collect(),
        }
    }

    fn placeholder(index: usize) -> String {
        format!("{{{{handle:{index}}}}}")
    }

    pub(crate) fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (index, handle) in self.handles.iter().enumerate() {
            text = text.replace(handle, &Self::placeholder(index));
        }
        text
    }

    pub(crate) fn show(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (index, handle) in self.handles.iter().enumerate() {
            text = text.replace(&Self::placeholder(index), handle);
        }
        text
    }

    /// The reply with every text passed through `change`.
    pub(crate) fn map_reply(reply: &ChatReply, change: impl Fn(&str) -> String) -> ChatReply {
        let mut reply = reply.clone();
        reply.content = reply.content.as_deref().map(&change);
        for call in &mut reply.tool_calls {
            call.id = change(&call.id);
            call.arguments = change(&call.arguments);
        }
        reply.extra = reply.extra.as_ref().map(|extra| {
            // The placeholders need no escaping in JSON, and neither do the handles.
            serde_json::from_str(&change(&extra.to_string())).unwrap_or(Value::Null)
        });
        reply
    }
}

/// Where to go on in a file that may hold lines already.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    Here,
    NewLine,
    /// A run that was killed left half a line, which is cut off.
    At(u64),
    /// What is there is somebody's, and no recording.
    Nowhere,
}

fn after_what_is_there(text: &[u8]) -> Start {
    if text.is_empty() {
        return Start::Here;
    }
    if !text.starts_with(LINE_START) {
        return Start::Nowhere;
    }
    let last = text
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    match text.get(last..) {
        None | Some([]) => Start::Here,
        Some(rest) if serde_json::from_slice::<Line>(rest).is_ok() => Start::NewLine,
        Some(_) => Start::At(last as u64),
    }
}

/// A model whose answers are appended to a file.
pub(crate) struct RecordingModel {
    inner: Arc<dyn ChatModel>,
    file: Mutex<File>,
    path: String,
}

impl RecordingModel {
    pub(crate) fn create(inner: Arc<dyn ChatModel>, path: &Path) -> Result<Self, ModelSetupError> {
        let shown = path.display().to_string();
        let failed = |error: std::io::Error| ModelSetupError::Record {
            file: shown.clone(),
            message: error.to_string(),
        };
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        match after_what_is_there(&text) {
            Start::Here => {}
            Start::NewLine => file.write_all(b"\n").map_err(failed)?,
            Start::At(length) => file.set_len(length).map_err(failed)?,
            Start::Nowhere => {
                let message = "it exists and is no recording: choose another file".to_owned();
                return Err(ModelSetupError::Record {
                    file: shown,
                    message,
                });
            }
        }
        Ok(Self {
            inner,
            file: Mutex::new(file),
            path: shown,
        })
    }

    fn write(&self, request: &ChatRequest, reply: &ChatReply) -> Result<(), ModelError> {
        let failed = |message: String| ModelError::Record {
            file: self.path.clone(),
            message,
        };
        let handles = Handles::of(request);
        let sketch = Sketch::of(request);
        let line = Line {
            v: FORMAT,
            key: sketch.key(),
            model: self.inner.name().to_owned(),
            simulated: self.inner.simulated(),
            request: sketch,
            reply: Handles::map_reply(reply, |text| handles.hide(text)),
        };
        let mut text = serde_json::to_string(&line).map_err(|error| failed(error.to_string()))?;
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // One write for the whole line, straight to the file: nothing is held back in a buffer.
        file.write_all(text.as_bytes())
            .map_err(|error| failed(error.to_string()))
    }
}

impl ChatModel for RecordingModel {
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let reply = self.inner.complete(request).await?;
            self.write(request, &reply)?;
            Ok(reply)
        })
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn simulated(&self) -> bool {
        self.inner.simulated()
    }
}

/// Recorded answers to one request, in the order they were given.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) left: VecDeque<ChatReply>,
    pub(crate) recorded: usize,
}
