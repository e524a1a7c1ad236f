//! A model that gives recorded answers again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;

use crate::model::{ChatModel, ChatReply, ChatRequest, ModelError};
use crate::options::ModelSetupError;
use crate::record::{Answers, FORMAT, Handles, Line, Sketch};

/// Answers from a recording, found by the request; requests made several times get their answers in the
/// order in which they were recorded.
pub(crate) struct ReplayModel {
    name: String,
    file: String,
    simulated: bool,
    sketches: Vec<Sketch>,
    answers: Mutex<HashMap<String, Answers>>,
}

impl ReplayModel {
    pub(crate) fn open(path: &Path) -> Result<Self, ModelSetupError> {
        let file = path.display().to_string();
        let failed = |line, message: String| ModelSetupError::Replay {
            file: file.clone(),
            line,
            message,
        };
        let text =
            std::fs::read_to_string(path).map_err(|error| failed(None, error.to_string()))?;
        let mut answers: HashMap<String, Answers> = HashMap::new();
        let mut sketches = Vec::new();
        let mut simulated = false;
        let last = text.lines().count();
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            if line.trim().is_empty() {
                continue;
            }
            let line: Line = match serde_json::from_str(line) {
                Ok(line) => line,
                // The run that wrote it was killed in the middle of its last line.
                Err(_) if number == last && !text.ends_with('\n') => {
                    tracing::warn!("`{file}`: the last line is cut off and left out");
                    break;
                }
                Err(error) => return Err(failed(Some(number), error.to_string())),
            };
            if line.v != FORMAT {
                let message = format!(
                    "format {} is not known to this version, which reads {FORMAT}",
                    line.v
                );
                return Err(failed(Some(number), message));
            }
            simulated |= line.simulated;
            let entry = answers.entry(line.key).or_default();
            entry.left.push_back(line.reply);
            entry.recorded += 1;
            sketches.push(line.request);
        }
        if sketches.is_empty() {
            return Err(failed(None, "it holds no recorded answers".to_owned()));
        }
        let base = path
            .file_name()
            .map_or_else(|| file.clone(), |name| name.to_string_lossy().into_owned());
        Ok(Self {
            name: format!("replay:{base}"),
            file,
            simulated,
            sketches,
            answers: Mutex::new(answers),
        })
    }

    fn answer(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let sketch = Sketch::of(request);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = match answers.get_mut(&sketch.key()) {
            Some(entry) => match entry.left.pop_front() {
                Some(reply) => {
                    let handles = Handles::of(request);
                    return Ok(Handles::map_reply(&reply, |text| handles.show(text)));
                }
                None => format!(
                    "it was asked more often than the {} time(s) it was recorded",
                    entry.recorded
                ),
            },
            None => self.nearest(&sketch),
        };
        Err(ModelError::ReplayMiss {
            file: self.file.clone(),
            reason,
        })
    }

    /// How the recorded request that has most in common with this one differs from it.
    fn nearest(&self, wanted: &Sketch) -> String {
        let common = |sketch: &Sketch| {
            sketch
                .messages
                .iter()
                .zip(&wanted.messages)
                .take_while(|(a, b)| a == b)
                .count()
        };
        // With equally many messages in common, the one that differs in fewer other things is nearer.
        let best = self
            .sketches
            .iter()
            .enumerate()
            .max_by_key(|(index, sketch)| {
                let settings = usize::from(sketch.tools == wanted.tools)
                    + usize::from(sketch.seed == wanted.seed)
                    + usize::from(sketch.temperature == wanted.temperature)
                    + usize::from(sketch.max_tokens == wanted.max_tokens)
                    + usize::from(sketch.schema == wanted.schema);
                (common(sketch), settings, std::cmp::Reverse(*index))
            });
        let Some((index, nearest)) = best else {
            return "the recording is empty".to_owned();
        };
        let mut differs = Vec::new();
        if nearest.tools != wanted.tools {
            let name = |tools: &Option<String>| tools.clone().unwrap_or_else(|| "none".to_owned());
            differs.push(format!(
                "tools {} instead of {}",
                name(&wanted.tools),
                name(&nearest.tools)
            ));
        }
        if nearest.temperature != wanted.temperature {
            differs.push("the temperature".to_owned());
        }
        if nearest.seed != wanted.seed {
            differs.push("the seed".to_owned());
        }
        if nearest.max_tokens != wanted.max_tokens {
            differs.push("the bound of the reply".to_owned());
        }
        if nearest.schema != wanted.schema {
            differs.push("the reply's schema".to_owned());
        }
        let same = common(nearest);
        if nearest.messages != wanted.messages {
            let role = wanted.messages.get(same).or(nearest.messages.get(same));
            let role = role
                .and_then(|message| message.split(':').next())
                .unwrap_or("no");
            differs.push(format!("message {} ({role})", same + 1));
        }
        format!(
            "the nearest one (line {}) differs in {}",
            index + 1,
            differs.join(", ")
        )
    }
}

impl ChatModel for ReplayModel {
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(std::future::ready(self.answer(request)))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn simulated(&self) -> bool {
        self.simulated
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::model::{ChatMessage, ToolCall, Usage};
    use crate::record::RecordingModel;

    /// Numbers its answers and names the handle it was asked about.
    struct Counter(AtomicU32);

    impl ChatModel for Counter {
        fn complete<'a>(
            &'a self,
            request: &'a ChatRequest,
        ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            let id = request.handles.first().cloned().unwrap_or_default();
            Box::pin(async move {
                Ok(ChatReply {
                    content: Some(format!("answer {number} about {id}")),
                    tool_calls: vec![ToolCall {
                        id: format!("c{number}"),
                        name: "read".to_owned(),
                        arguments: format!("{{\"id\":\"{id}\"}}"),
                    }],
                    usage: Usage {
                        input_tokens: Some(1),
                        output_tokens: None,
                    },
                    latency_us: 5,
                    extra: Some(serde_json::json!({"seen": id})),
                    ..ChatReply::default()
                })
            })
        }

        fn name(&self) -> &'static str {
            "counter"
        }

        fn simulated(&self) -> bool {
            false
        }
    }

    fn request(text: &str, handle: &str) -> ChatRequest {
        ChatRequest {
            messages: vec![
                ChatMessage::system("s"),
                ChatMessage::user(format!("{text} {handle}")),
            ],
            seed: Some(7),
            handles: vec![handle.to_owned()],
            ..ChatRequest::default()
        }
    }

    async fn record(path: &Path, requests: &[ChatRequest]) {
        let model = RecordingModel::create(Arc::new(Counter(AtomicU32::new(0))), path).unwrap();
        for request in requests {
            model.complete(request).await.unwrap();
        }
    }

    #[tokio::test]
    async fn gives_the_answers_again_in_order_and_with_the_new_handle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        record(
            &path,
            &[
                request("x", "neg-111111"),
                request("x", "neg-111111"),
                request("y", "neg-111111"),
            ],
        )
        .await;
        let model = ReplayModel::open(&path).unwrap();
        assert_eq!(model.name(), "replay:a.jsonl");
        assert!(!model.simulated());
        let reply = model.complete(&request("x", "neg-222222")).await.unwrap();
        assert_eq!(reply.content.unwrap(), "answer 0 about neg-222222");
        assert_eq!(reply.tool_calls[0].arguments, "{\"id\":\"neg-222222\"}");
        assert_eq!(reply.extra.unwrap()["seen"], "neg-222222");
        assert_eq!(reply.latency_us, 5);
        let reply = model.complete(&request("y", "neg-222222")).await.unwrap();
        assert_eq!(reply.content.unwrap(), "answer 2 about neg-222222");
        let reply = model.complete(&request("x", "neg-222222")).await.unwrap();
        assert_eq!(reply.content.unwrap(), "answer 1 about neg-222222");
        let error = model
            .complete(&request("x", "neg-222222"))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("more often than the 2 time(s)"), "{error}");
    }

    #[tokio::test]
    async fn a_miss_names_the_nearest_difference() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        record(&path, &[request("x", "neg-111111")]).await;
        let model = ReplayModel::open(&path).unwrap();
        let miss =
            async |request: ChatRequest| model.complete(&request).await.unwrap_err().to_string();
        let text = miss(ChatRequest {
            seed: Some(8),
            ..request("x", "neg-111111")
        })
        .await;
        assert!(text.contains("(line 1) differs in the seed;"), "{text}");
        let text = miss(request("z", "neg-111111")).await;
        assert!(text.contains("differs in message 2 (user)"), "{text}");
        let mut longer = request("x", "neg-111111");
        longer
            .messages
            .push(ChatMessage::assistant("a", Vec::new()));
        longer.temperature = Some(0.1);
        let text = miss(longer).await;
        assert!(
            text.contains("the temperature, message 3 (assistant)"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_killed_run_can_be_read_and_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        record(
            &path,
            &[request("x", "neg-111111"), request("y", "neg-111111")],
        )
        .await;
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        let model = ReplayModel::open(&path).unwrap();
        assert!(model.complete(&request("x", "neg-111111")).await.is_ok());
        assert!(model.complete(&request("y", "neg-111111")).await.is_err());
        // Going on cuts the broken line off.
        record(&path, &[request("y", "neg-111111")]).await;
        let model = ReplayModel::open(&path).unwrap();
        assert!(model.complete(&request("x", "neg-111111")).await.is_ok());
        assert!(model.complete(&request("y", "neg-111111")).await.is_ok());
    }

    #[test]
    fn nobody_elses_file_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "my notes").unwrap();
        let inner = Arc::new(Counter(AtomicU32::new(0)));
        let error = RecordingModel::create(inner, &path)
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("no recording"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes");
    }

    #[test]
    fn unusable_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.jsonl");
        assert!(
            ReplayModel::open(&path)
                .err()
                .unwrap()
                .to_string()
                .contains("none.jsonl")
        );
        std::fs::write(&path, "").unwrap();
        assert!(
            ReplayModel::open(&path)
                .err()
                .unwrap()
                .to_string()
                .contains("no recorded answers")
        );
    }
}
