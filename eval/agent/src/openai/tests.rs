//! Against a fake server with the oddities of real ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Value, json};
use trajectory::Toolset;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::*;
use crate::budget::{BudgetLimits, Prices};
use crate::model::ChatMessage;
use crate::options::ToolCalling;

const KEY: &str = "sk-test-hunter2hunter2";

/// Gives its answers one after the other, and the last one for ever.
struct Script {
    answers: Vec<ResponseTemplate>,
    given: AtomicUsize,
}

impl Respond for Script {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        self.answers[number.min(self.answers.len() - 1)].clone()
    }
}

async fn server(answers: Vec<ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/chat/completions"))
        .and(header("authorization", format!("Bearer {KEY}").as_str()))
        .respond_with(Script {
            answers,
            given: AtomicUsize::new(0),
        })
        .mount(&server)
        .await;
    server
}

fn options(server: &MockServer) -> ModelOptions {
    ModelOptions {
        base_url: Some(format!("{}/v1", server.uri())),
        api_key: Some(SecretString::from(KEY)),
        timeout: Duration::from_secs(20),
        // No test waits: every wait between attempts is cut to nothing.
        max_retry_wait: Duration::ZERO,
        ..ModelOptions::default()
    }
}

fn request() -> ChatRequest {
    let value = json!({"tools": [{"name": "propose", "description": "Makes a proposal.",
        "inputSchema": {"type": "object", "properties": {"price": {"type": "integer"}}}}]});
    ChatRequest {
        messages: vec![ChatMessage::system("s"), ChatMessage::user("go")],
        tools: ToolSpec::list(&Toolset::from_value(value).unwrap()),
        ..ChatRequest::default()
    }
}

fn ok(body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

#[expect(clippy::needless_pass_by_value, reason = "takes what `json!` makes")]
fn message(message: Value) -> ResponseTemplate {
    ok(
        json!({"id": "x", "model": "fake-1", "choices": [{"finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}),
    )
}

#[expect(clippy::needless_pass_by_value, reason = "takes what `json!` makes")]
fn call(arguments: Value) -> ResponseTemplate {
    message(json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "propose", "arguments": arguments}}]}))
}

fn good() -> ResponseTemplate {
    call(json!("{\"price\":90}"))
}

async fn ask(server: &MockServer) -> Result<ChatReply, ModelError> {
    OpenAiModel::new("fake", &options(server))
        .unwrap()
        .complete(&request())
        .await
}

async fn requests(server: &MockServer) -> Vec<Value> {
    server
        .received_requests()
        .await
        .unwrap()
        .iter()
        .map(|request| request.body_json().unwrap())
        .collect()
}

fn one_call(reply: &ChatReply) -> (&str, &str) {
    assert_eq!(reply.tool_calls.len(), 1, "{reply:?}");
    (
        reply.tool_calls[0].name.as_str(),
        reply.tool_calls[0].arguments.as_str(),
    )
}

#[tokio::test]
async fn a_normal_call_comes_back_with_everything() {
    let server = server(vec![good()]).await;
    let reply = ask(&server).await.unwrap();
    assert_eq!(one_call(&reply), ("propose", r#"{"price":90}"#));
    assert_eq!(
        (reply.usage.input_tokens, reply.usage.output_tokens),
        (Some(11), Some(7))
    );
    assert_eq!(reply.model.as_deref(), Some("fake-1"));
    assert_eq!(reply.finish_reason.as_deref(), Some("stop"));
    assert!(reply.latency_us > 0);
    let extra = reply.extra.unwrap();
    assert_eq!(extra["tool_calling"], "native");
    assert_eq!(extra["reply"]["id"], "x");
    let sent = requests(&server).await;
    assert_eq!(sent[0]["model"], "fake");
    assert_eq!(
        sent[0]["tools"][0]["function"]["description"],
        "Makes a proposal."
    );
    assert_eq!(sent[0]["max_tokens"], 1024);
}

#[tokio::test]
async fn odd_replies_are_read() {
    for answer in [
        call(json!({"price": 90})),
        ok(
            json!({"choices": [{"message": {"tool_calls": [{"function": {"name": "propose", "arguments": "{\"price\":90}"}}]}}]}),
        ),
        message(
            json!({"content": [{"type": "text", "text": "{\"name\":\"propose\",\"arguments\":{\"price\":90}}"}]}),
        ),
        message(json!({"content": "{\"name\":\"propose\",\"arguments\":{\"price\":90}}"})),
        message(
            json!({"content": "I offer:\n```json\n{\"name\":\"propose\",\"arguments\":{\"price\":90}}\n```"}),
        ),
        message(
            json!({"content": "<tool_call>\n{\"name\":\"propose\",\"arguments\":{\"price\":90}}\n</tool_call>", "tool_calls": []}),
        ),
        ok(
            json!({"object": 5, "created": 1.5, "service_tier": "on_demand", "usage": null, "choices": [{"finish_reason": "",
            "logprobs": {}, "message": {"role": null, "content": "", "annotations": [{"type": "?"}],
            "tool_calls": [{"index": 0, "function": {"name": "propose", "arguments": {"price": 90}}}]}}]}),
        ),
    ] {
        let server = server(vec![answer]).await;
        let reply = ask(&server).await.unwrap();
        assert_eq!(one_call(&reply), ("propose", r#"{"price":90}"#));
        assert_eq!(requests(&server).await.len(), 1);
    }
    let server = server(vec![message(json!({"content": "Hello there."}))]).await;
    let reply = ask(&server).await.unwrap();
    assert_eq!(
        (reply.content.as_deref(), reply.tool_calls.len()),
        (Some("Hello there."), 0)
    );
}

#[tokio::test]
async fn native_alone_does_not_read_text() {
    let server = server(vec![message(
        json!({"content": "{\"name\":\"propose\",\"arguments\":{}}"}),
    )])
    .await;
    let options = ModelOptions {
        tool_calling: ToolCalling::Native,
        ..options(&server)
    };
    let reply = OpenAiModel::new("fake", &options)
        .unwrap()
        .complete(&request())
        .await
        .unwrap();
    assert!(reply.tool_calls.is_empty());
}

#[tokio::test]
async fn passing_failures_are_tried_again() {
    for failure in [
        ResponseTemplate::new(429).set_body_string("slow down"),
        ResponseTemplate::new(429)
            .insert_header("retry-after", "3600")
            .set_body_json(json!({"detail": "busy"})),
        ResponseTemplate::new(500)
            .set_body_json(json!({"error": {"message": "oops", "code": 500}})),
        ResponseTemplate::new(502).set_body_string("<html>"),
        ResponseTemplate::new(200).set_body_string("{\"choices\": [{\"mess"),
        ResponseTemplate::new(200).set_body_string(""),
        ok(json!({"choices": []})),
        ok(json!({"object": "chat.completion"})),
        ok(json!({"error": {"code": 503, "message": "upstream"}})),
    ] {
        let server = server(vec![failure.clone(), failure, good()]).await;
        let reply = ask(&server).await.unwrap();
        assert_eq!(one_call(&reply).0, "propose");
        assert_eq!(requests(&server).await.len(), 3);
    }
}

async fn failure(answer: ResponseTemplate) -> (ModelError, usize) {
    let server = server(vec![answer]).await;
    let error = ask(&server).await.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(!text.contains("hunter2"), "{text}");
    assert!(error.to_string().contains(&server.uri()), "{error}");
    (error, requests(&server).await.len())
}

#[tokio::test]
async fn lasting_failures_end_after_all_retries() {
    let (error, sent) = failure(ResponseTemplate::new(503).set_body_string("down for today")).await;
    assert!(
        matches!(
            &error,
            ModelError::Provider {
                status: 503,
                attempts: 4,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains("down for today") && !error.is_fatal());
    assert_eq!(sent, 4);
    let (error, sent) = failure(ok(json!({"choices": []}))).await;
    assert!(
        matches!(&error, ModelError::BadReply { attempts: 4, .. }) && !error.is_fatal(),
        "{error:?}"
    );
    assert_eq!(sent, 4);
    let (error, _) = failure(ResponseTemplate::new(200).set_body_string("not json")).await;
    assert!(error.to_string().contains("not json"), "{error}");
}

#[tokio::test]
async fn auth_and_quota_end_the_run_at_the_first_answer() {
    for (answer, quota) in [
        (ResponseTemplate::new(401).set_body_json(json!({"error": {"message": format!("Incorrect API key provided: {KEY}.")}})), false),
        (ResponseTemplate::new(403).set_body_string("forbidden"), false),
        (ResponseTemplate::new(402).set_body_string("pay first"), true),
        (ResponseTemplate::new(429).set_body_json(json!({"error": {"type": "insufficient_quota", "message": "You exceeded your current quota"}})), true),
        (ok(json!({"error": {"code": 402, "message": "credits"}})), true),
    ] {
        let (error, sent) = failure(answer).await;
        assert_eq!(matches!(error, ModelError::Quota { .. }), quota, "{error:?}");
        assert!(error.is_fatal());
        assert_eq!(sent, 1);
    }
    let (error, sent) = failure(
        ResponseTemplate::new(404).set_body_json(json!({"error": "model 'fake' not found"})),
    )
    .await;
    assert!(
        error.is_fatal() && error.to_string().contains("model 'fake' not found") && sent == 1,
        "{error}"
    );
    let (error, sent) =
        failure(ResponseTemplate::new(400).set_body_string("context too long")).await;
    assert!(!error.is_fatal() && sent == 1, "{error}");
    let (error, sent) =
        failure(ResponseTemplate::new(302).insert_header("location", "http://127.0.0.1:1/")).await;
    assert!(
        error.to_string().contains("redirects") && sent == 1,
        "{error}"
    );
}

#[tokio::test]
async fn a_silent_or_missing_server_is_a_transport_error() {
    let server = server(vec![good().set_delay(Duration::from_secs(60))]).await;
    let quick = ModelOptions {
        timeout: Duration::from_millis(50),
        retries: 1,
        ..options(&server)
    };
    let error = OpenAiModel::new("fake", &quick)
        .unwrap()
        .complete(&request())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, ModelError::Transport { attempts: 2, .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains("timed out") && !error.is_fatal(),
        "{error}"
    );

    let nowhere = ModelOptions {
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        retries: 0,
        ..options(&server)
    };
    let error = OpenAiModel::new("fake", &nowhere)
        .unwrap()
        .complete(&request())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("http://127.0.0.1:1/v1"),
        "{error}"
    );
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_server_without_tools_is_asked_in_other_ways() {
    let no_tools =
        ResponseTemplate::new(400).set_body_json(json!({"error": "fake does not support tools"}));
    let no_schema = ResponseTemplate::new(400).set_body_string("response_format is not supported");
    let text = message(
        json!({"content": "<tool_call>{\"name\":\"propose\",\"arguments\":{\"price\":90}}</tool_call>"}),
    );
    let server = server(vec![no_tools, no_schema, text]).await;
    let model = OpenAiModel::new("fake", &options(&server)).unwrap();
    let reply = model.complete(&request()).await.unwrap();
    assert_eq!(one_call(&reply), ("propose", r#"{"price":90}"#));
    assert_eq!(reply.extra.unwrap()["tool_calling"], "text");
    // The next request starts with what works.
    model.complete(&request()).await.unwrap();
    let sent = requests(&server).await;
    assert_eq!(sent.len(), 4);
    assert!(sent[0].get("tools").is_some());
    assert!(sent[1].get("tools").is_none() && sent[1].get("response_format").is_some());
    assert!(sent[3].get("tools").is_none() && sent[3].get("response_format").is_none());
}

#[tokio::test]
async fn schema_mode_reads_the_object() {
    let server = server(vec![message(
        json!({"content": "{\"name\": \"propose\", \"arguments\": {\"price\": 90}}"}),
    )])
    .await;
    let options = ModelOptions {
        tool_calling: ToolCalling::Schema,
        ..options(&server)
    };
    let reply = OpenAiModel::new("fake", &options)
        .unwrap()
        .complete(&request())
        .await
        .unwrap();
    assert_eq!(one_call(&reply), ("propose", r#"{"price":90}"#));
    assert_eq!(
        reply.content.as_deref(),
        Some("{\"name\": \"propose\", \"arguments\": {\"price\": 90}}")
    );
}

#[tokio::test]
async fn budgets_are_never_overrun() {
    let server = server(vec![good()]).await;
    let with = |budget| ModelOptions {
        budget,
        prices: Some(Prices {
            input_usd_per_million: 1e6,
            output_usd_per_million: 1e6,
        }),
        max_output_tokens: 10,
        ..options(&server)
    };
    let calls = OpenAiModel::new(
        "fake",
        &with(BudgetLimits {
            calls: Some(2),
            ..BudgetLimits::default()
        }),
    )
    .unwrap();
    assert!(calls.complete(&request()).await.is_ok());
    assert!(calls.complete(&request()).await.is_ok());
    let error = calls.complete(&request()).await.unwrap_err();
    assert!(
        matches!(error, ModelError::Budget(_)) && error.is_fatal(),
        "{error:?}"
    );
    assert_eq!(requests(&server).await.len(), 2);
    for budget in [
        BudgetLimits {
            tokens: Some(20),
            ..BudgetLimits::default()
        },
        BudgetLimits {
            usd: Some(20.0),
            ..BudgetLimits::default()
        },
    ] {
        let model = OpenAiModel::new("fake", &with(budget)).unwrap();
        assert!(matches!(
            model.complete(&request()).await,
            Err(ModelError::Budget(_))
        ));
    }
    assert_eq!(requests(&server).await.len(), 2);
    // 18 tokens a call as counted; a call reserves a few hundred, so the limit stops well before 2,000.
    let model = OpenAiModel::new(
        "fake",
        &with(BudgetLimits {
            tokens: Some(2000),
            ..BudgetLimits::default()
        }),
    )
    .unwrap();
    let mut answered = 0;
    while model.complete(&request()).await.is_ok() {
        answered += 1;
        assert!(answered * 18 <= 2000);
    }
    assert!(answered > 50, "{answered}");
}

#[tokio::test]
async fn retries_count_against_the_budget_of_calls() {
    let server = server(vec![ResponseTemplate::new(500)]).await;
    let budget = BudgetLimits {
        calls: Some(2),
        ..BudgetLimits::default()
    };
    let model = OpenAiModel::new(
        "fake",
        &ModelOptions {
            budget,
            ..options(&server)
        },
    )
    .unwrap();
    let error = model.complete(&request()).await.unwrap_err();
    assert!(matches!(error, ModelError::Budget(_)), "{error:?}");
    assert_eq!(requests(&server).await.len(), 2);
}

#[tokio::test]
async fn recordings_hold_no_key() {
    let server = server(vec![good()]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let options = ModelOptions {
        record: Some(file.clone()),
        ..options(&server)
    };
    let model = crate::options::build_model("fake", &options).unwrap();
    let reply = model.complete(&request()).await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("hunter2") && text.ends_with('\n'));
    let again = crate::options::build_model(
        &format!("replay:{}", file.display()),
        &ModelOptions::default(),
    )
    .unwrap();
    assert_eq!(again.complete(&request()).await.unwrap(), reply);
}
