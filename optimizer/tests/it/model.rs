//! The reflector with a model, played by a script.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use agent::{ChatModel, ChatReply, ChatRequest, ModelError, ModelOptions, Usage, build_model};
use optimizer::guard::Reason;
use optimizer::propose::{Options, Outcome, propose};
use optimizer::reflect::ReflectError;
use optimizer::reflect::model::{ModelReflector, ModelSettings};
use serde_json::{Value, json};
use trajectory::{EpisodeRecord, Toolset};

use crate::fixture::{careless, careless_episodes, imported, market};

/// A model that gives prepared replies and remembers what it was asked.
pub(crate) struct Script {
    replies: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl Script {
    pub(crate) fn new(replies: &[&str]) -> Arc<Self> {
        Arc::new(Self {
            replies: Mutex::new(replies.iter().map(|reply| (*reply).to_owned()).collect()),
            asked: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn asked(&self) -> Vec<ChatRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl ChatModel for Script {
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Pin<Box<dyn Future<Output = Result<ChatReply, ModelError>> + Send + 'a>> {
        self.asked.lock().unwrap().push(request.clone());
        let content = self
            .replies
            .lock()
            .unwrap()
            .pop_front()
            .expect("the script has another reply");
        let finish_reason = if content.ends_with("<cut>") {
            "length"
        } else {
            "stop"
        };
        Box::pin(std::future::ready(Ok(ChatReply {
            content: Some(content),
            finish_reason: Some(finish_reason.to_owned()),
            usage: Usage {
                input_tokens: Some(100),
                output_tokens: Some(10),
            },
            ..ChatReply::default()
        })))
    }

    fn name(&self) -> &'static str {
        "scripted"
    }

    fn simulated(&self) -> bool {
        false
    }
}

pub(crate) async fn play(
    script: &Arc<Script>,
    records: &[EpisodeRecord],
    rounds: usize,
) -> Outcome {
    let settings = ModelSettings {
        rounds,
        ..ModelSettings::default()
    };
    let reflector = ModelReflector::new(Arc::<Script>::clone(script), settings).unwrap();
    propose(records, &careless(), &reflector, &Options::default())
        .await
        .unwrap()
}

/// One episode, so that there is one batch; and the id of its first finding.
fn one_episode() -> (Vec<EpisodeRecord>, String) {
    let records = vec![market("ep_a").turn("buyer").read().reject().ends("open")];
    let diagnosis = optimizer::diagnosis::diagnose(&[&records[0]], Some(&careless()), 0);
    let id = diagnosis.findings().next().unwrap().id.clone();
    (records, id)
}

pub(crate) fn patch(edits: &[(&str, Option<&str>, &str, &str)]) -> String {
    let edits: Vec<Value> = edits
        .iter()
        .map(|(tool, parameter, text, id)| {
            json!({"tool": tool, "parameter": parameter, "text": text, "answers": [id], "reason": "says what was missing"})
        })
        .collect();
    json!({ "edits": edits }).to_string()
}

const NOTHING: &str = r#"{"failure_modes":[]}"#;

#[tokio::test]
async fn analysis_and_patch_become_a_candidate() {
    let (records, id) = one_episode();
    let analysis = json!({"failure_modes": [
        {"title": "Rejects", "tool": "propose", "parameter": null, "description": "They do not counter.", "failures": [id, "f_invented"]},
        {"title": "Invented", "tool": "propose", "parameter": null, "description": "x", "failures": ["f_invented"]},
        {"title": "No such tool", "tool": "offer", "parameter": null, "description": "x", "failures": [id]}]});
    let script = Script::new(&[
        &analysis.to_string(),
        &patch(&[(
            "propose",
            None,
            "Names a price the other side can accept.",
            &id,
        )]),
    ]);
    let outcome = play(&script, &records, 2).await;
    assert_eq!(outcome.rejected, []);
    assert_eq!(outcome.edits.len(), 1);
    assert_eq!(outcome.reflector, "model:scripted");
    assert_eq!(
        outcome.observed.len(),
        1,
        "modes without evidence are left out"
    );
    assert_eq!(outcome.observed[0].failures, [id]);
    assert!(
        outcome.notes[0].contains("2 failure modes cited nothing that exists"),
        "{:?}",
        outcome.notes
    );
    assert_eq!(
        (
            outcome.spent.model_calls,
            outcome.spent.input_tokens,
            outcome.spent.output_tokens
        ),
        (2, 200, 20)
    );
    let asked = script.asked();
    assert_eq!(asked.len(), 2, "a clean patch needs no second round");
    assert!(
        asked
            .iter()
            .all(|request| request.response_schema.is_some() && request.tools.is_empty())
    );
}

#[tokio::test]
async fn the_prompts_read_like_this() {
    let (records, id) = one_episode();
    let script = Script::new(&[
        NOTHING,
        &patch(&[(
            "refuse",
            None,
            "Walks away from talks that lead nowhere.",
            &id,
        )]),
    ]);
    play(&script, &records, 1).await;
    let asked = script.asked();
    let shown: Vec<String> = asked
        .iter()
        .map(|request| {
            request
                .messages
                .iter()
                .map(|m| format!("--- {:?}\n{}", m.role, m.content))
                .collect::<Vec<_>>()
                .join("\n")
        })
        .collect();
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"DATA-[0-9a-f]{24}", "DATA-…");
    settings.bind(|| {
        insta::assert_snapshot!("prompt_analyse", shown[0]);
        insta::assert_snapshot!("prompt_rewrite", shown[1]);
    });
}

#[tokio::test]
async fn a_bad_reply_gets_one_repair() {
    let (records, id) = one_episode();
    let good = patch(&[(
        "refuse",
        None,
        "Walks away from talks that lead nowhere.",
        &id,
    )]);
    let script = Script::new(&[NOTHING, "Here is the patch you wanted:", &good]);
    let outcome = play(&script, &records, 1).await;
    assert_eq!(outcome.edits.len(), 1);
    let repair = script.asked().pop().unwrap();
    assert_eq!(repair.messages.len(), 4);
    assert!(
        repair.messages[3].content.contains("not_json"),
        "{}",
        repair.messages[3].content
    );

    for (reply, reason) in [
        ("no", Reason::NotJson),
        ("I'm sorry, I can't do that.", Reason::Refusal),
        ("", Reason::Empty),
        (r#"{"edits":[]}"#, Reason::Empty),
        (r#"{"edits":[{"tool":"#, Reason::Truncated),
        ("{} <cut>", Reason::Truncated),
    ] {
        let script = Script::new(&[NOTHING, reply, reply]);
        let outcome = play(&script, &records, 1).await;
        assert!(outcome.candidate.is_none());
        assert_eq!(
            outcome
                .rejected
                .iter()
                .map(|r| r.reason)
                .collect::<Vec<_>>(),
            [reason],
            "{reply}"
        );
        assert!(outcome.why_nothing().contains(reason.as_str()));
    }
}

#[tokio::test]
async fn rejected_edits_are_shown_in_the_next_round_and_good_ones_stay() {
    let (records, id) = one_episode();
    let first = patch(&[
        (
            "refuse",
            None,
            "Walks away from talks that lead nowhere.",
            &id,
        ),
        ("propose", None, "The best tool of all.", &id),
    ]);
    let second = patch(&[
        ("propose", None, "The best tool of all.", &id),
        ("propose", Some("price"), "The price you offer.", &id),
    ]);
    let script = Script::new(&[NOTHING, &first, &second]);
    let outcome = play(&script, &records, 2).await;
    let reasons: Vec<Reason> = outcome.rejected.iter().map(|r| r.reason).collect();
    assert_eq!(reasons, [Reason::Coercive, Reason::AlreadyRejected]);
    let changed: Vec<String> = outcome
        .edits
        .iter()
        .map(|edit| edit.component().to_string())
        .collect();
    assert_eq!(changed, ["refuse", "propose(price)"]);
    let asked = script.asked();
    assert_eq!(asked.len(), 3, "the analysis is made once");
    let prompt = &asked[2].messages[1].content;
    assert!(prompt.contains("propose: coercive"), "{prompt}");
    assert!(
        prompt.contains("Already rewritten, leave alone: refuse"),
        "{prompt}"
    );
}

#[tokio::test]
async fn an_unusable_analysis_is_a_note_and_not_the_end() {
    let (records, id) = one_episode();
    let script = Script::new(&[
        "?",
        "??",
        &patch(&[(
            "refuse",
            None,
            "Walks away from talks that lead nowhere.",
            &id,
        )]),
    ]);
    let outcome = play(&script, &records, 1).await;
    assert_eq!(outcome.edits.len(), 1);
    assert!(
        outcome.notes[0].contains("batch 1 gave no usable analysis: not_json"),
        "{:?}",
        outcome.notes
    );
}

#[tokio::test]
async fn episodes_are_read_in_batches_of_about_the_square_root() {
    let records = careless_episodes();
    let ids =
        optimizer::diagnosis::diagnose(&records.iter().collect::<Vec<_>>(), Some(&careless()), 0);
    let id = ids.findings().next().unwrap().id.clone();
    // Eight failing episodes: three batches, then the rewriting.
    let script = Script::new(&[
        NOTHING,
        NOTHING,
        NOTHING,
        &patch(&[(
            "refuse",
            None,
            "Walks away from talks that lead nowhere.",
            &id,
        )]),
    ]);
    let outcome = play(&script, &records, 1).await;
    assert_eq!(outcome.spent.model_calls, 4);
    let first = &script.asked()[0].messages[1].content;
    for episode in ["ep_infeasible_0", "ep_limit_0", "ep_polls_0"] {
        assert!(
            first.contains(episode),
            "{episode} shows something new\n{first}"
        );
    }
}

#[tokio::test]
async fn prompts_stay_within_their_cap() {
    let records = careless_episodes();
    let script = Script::new(&[
        NOTHING,
        NOTHING,
        NOTHING,
        &patch(&[("refuse", None, "x y.", "f_none")]),
    ]);
    let settings = ModelSettings {
        characters: 600,
        rounds: 1,
        ..ModelSettings::default()
    };
    let reflector = ModelReflector::new(Arc::<Script>::clone(&script), settings).unwrap();
    propose(&records, &careless(), &reflector, &Options::default())
        .await
        .unwrap();
    let fixed = script
        .asked()
        .iter()
        .map(|request| request.messages[1].content.chars().count())
        .max()
        .unwrap();
    assert!(fixed < 600 + 4500, "{fixed}");
}

#[tokio::test]
async fn of_a_large_toolset_the_blamed_tools_are_given_whole() {
    let long = "Looks at things in a way that takes many words to tell. ".repeat(10);
    let tools: Vec<Value> = (0..200)
        .map(|n| json!({"name": format!("t{n}"), "description": long}))
        .collect();
    let toolset = Toolset::from_value(Value::Array(tools)).unwrap();
    let records = [imported("a", &toolset)
        .call("t150", "{}", "broken", Some("tool_error"))
        .ends("done")];
    let script = Script::new(&[NOTHING, &patch(&[("t150", None, "Looks.", "f_none")])]);
    let settings = ModelSettings {
        rounds: 1,
        ..ModelSettings::default()
    };
    let reflector = ModelReflector::new(Arc::<Script>::clone(&script), settings).unwrap();
    propose(&records, &toolset, &reflector, &Options::default())
        .await
        .unwrap();
    for request in script.asked() {
        let prompt = &request.messages[1].content;
        assert!(
            prompt.contains(&format!("\"t150\" parameter null: \"{long}")),
            "the blamed one whole"
        );
        assert!(
            prompt.contains("\"t7\" parameter null: \"Looks at")
                && prompt.matches(&long).count() == 1
        );
        assert!(prompt.chars().count() < 2 * settings.characters + 4500);
    }
}

#[test]
fn simulated_agents_cannot_write() {
    let model = build_model("sim", &ModelOptions::default()).unwrap();
    let error = ModelReflector::new(model, ModelSettings::default()).unwrap_err();
    assert!(matches!(error, ReflectError::Simulated { .. }));
    assert!(error.to_string().contains("--reflector mined"), "{error}");
}
