//! One party against a small MCP server, written as bare JSON-RPC so that it can also misbehave.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use trajectory::Capture;

use super::*;
use crate::model::{ChatReply, ToolCall, Usage};

fn served() -> Value {
    json!({"tools": [
        {"name": "read", "title": "Read", "description": "Reads.", "inputSchema": {"type": "object", "properties": {}},
         "annotations": {"readOnlyHint": true}, "_meta": {"whetstone/toolset": "x"}},
        {"name": "move", "description": "Moves \u{2014} once.", "inputSchema": {"required": ["n"], "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1, "description": "How far."}}},
         "outputSchema": {"type": "object", "properties": {"done": {"type": "string"}}}}]})
}

/// Calls the server got: token, tool, arguments.
type Log = Arc<Mutex<Vec<(String, String, Value)>>>;

async fn answer(
    State(log): State<Log>,
    headers: HeaderMap,
    Json(message): Json<Value>,
) -> Response {
    let token = headers
        .get("authorization")
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    if !token.starts_with("Bearer good-token") {
        return (
            StatusCode::UNAUTHORIZED,
            [("www-authenticate", "Bearer")],
            "who are you",
        )
            .into_response();
    }
    let Some(id) = message.get("id").cloned() else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "stub", "version": "1"}}),
        "tools/list" => served(),
        "tools/call" => {
            let (name, arguments) = (
                &message["params"]["name"],
                message["params"]["arguments"].clone(),
            );
            let name = name.as_str().unwrap_or_default().to_owned();
            log.lock()
                .unwrap()
                .push((token, name.clone(), arguments.clone()));
            match (name.as_str(), arguments["n"].as_i64()) {
                ("read", _) => {
                    json!({"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]})
                }
                ("move", Some(13)) => {
                    json!({"isError": true, "content": [{"type": "text", "text": "Not 13."}],
                    "_meta": {"whetstone/refusal": "outside_limit"}})
                }
                ("move", Some(14)) => {
                    json!({"isError": true, "content": [{"type": "text", "text": "Not 14."}]})
                }
                ("move", Some(15)) => std::future::pending().await,
                ("move", Some(16)) => {
                    return (StatusCode::INTERNAL_SERVER_ERROR, "broken").into_response();
                }
                ("move", Some(17)) => {
                    return Json(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "no luck"}})).into_response();
                }
                ("move", Some(n)) => {
                    json!({"content": [], "structuredContent": {"done": n.to_string()}})
                }
                _ => {
                    let error = json!({"code": -32602, "message": format!("Unknown tool: {name}")});
                    return Json(json!({"jsonrpc": "2.0", "id": id, "error": error}))
                        .into_response();
                }
            }
        }
        other => panic!("unexpected {other}"),
    };
    Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

async fn start() -> (String, Log) {
    let log = Log::default();
    let app = Router::new()
        .route("/mcp", post(answer))
        .with_state(Arc::clone(&log));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, log)
}

/// Gives scripted replies and keeps the requests.
#[derive(Default)]
struct Scripted {
    replies: Mutex<VecDeque<Result<ChatReply, ModelError>>>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Scripted {
    fn new(replies: Vec<ChatReply>) -> Self {
        Self {
            replies: Mutex::new(replies.into_iter().map(Ok).collect()),
            ..Self::default()
        }
    }
}

impl ChatModel for Scripted {
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.requests.lock().unwrap().push(request.clone());
        let reply = self
            .replies
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or_else(|| Ok(says("nothing more")));
        Box::pin(std::future::ready(reply))
    }

    fn name(&self) -> &'static str {
        "scripted"
    }

    fn simulated(&self) -> bool {
        false
    }
}

fn says(text: &str) -> ChatReply {
    ChatReply {
        content: Some(text.to_owned()),
        latency_us: 10,
        ..ChatReply::default()
    }
}

fn calls(list: &[(&str, &str, &str)]) -> ChatReply {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    ChatReply {
        tool_calls: list.iter().map(call).collect(),
        usage: Usage {
            input_tokens: Some(10),
            output_tokens: Some(2),
        },
        finish_reason: Some("tool_calls".to_owned()),
        model: Some("scripted-1".to_owned()),
        latency_us: 100,
        ..ChatReply::default()
    }
}

async fn connect(url: &str) -> PartyHost {
    let token = SecretString::from("good-token-1");
    let mut config = PartyConfig::new(
        reqwest::Client::builder().no_proxy().build().unwrap(),
        url,
        token,
        "buyer",
        "You play.",
        3,
    );
    config.turn_ending = vec!["move".to_owned()];
    config.temperature = Some(0.5);
    config.call_timeout = Duration::from_secs(10);
    PartyHost::connect(config).await.unwrap()
}

#[tokio::test]
async fn the_tools_arrive_unchanged_and_are_proven() {
    let (url, _) = start().await;
    let mut host = connect(&url).await;
    let version = Toolset::from_value(served()).unwrap();
    assert_eq!(host.toolset().id(), version.id());
    assert_eq!(host.delivered(), None);
    let model = Scripted::new(vec![calls(&[("a", "move", "{\"n\":1}")])]);
    let mut recorder = Recorder::new("exp", "ep_1");
    host.play_turn(&model, "Go.", 0, &mut recorder)
        .await
        .unwrap();
    assert_eq!(host.delivered(), Some(version.id().as_str()));
    let requests = model.requests.lock().unwrap().clone();
    assert_eq!(requests[0].tools[1].description(), "Moves \u{2014} once.");
    assert_eq!(
        (requests[0].seed, requests[0].temperature),
        (Some(3), Some(0.5))
    );
    // Were the list changed on its way into the request, the id would say so.
    host.request.tools.pop();
    host.play_turn(
        &Scripted::new(vec![calls(&[("b", "move", "{\"n\":1}")])]),
        "Go.",
        1,
        &mut recorder,
    )
    .await
    .unwrap();
    assert_ne!(host.delivered(), Some(version.id().as_str()));
    host.close().await;
}

#[tokio::test]
async fn a_turn_runs_until_a_move_and_is_recorded() {
    let (url, log) = start().await;
    let mut host = connect(&url).await;
    let mut recorder = Recorder::new("exp", "ep_1");
    let model = Scripted::new(vec![
        says("Let me think."),
        calls(&[("a", "read", "")]),
        calls(&[
            ("b", "move", "{\"n\":13}"),
            ("c", "move", "{\"n\": 5}"),
            ("d", "move", "{\"n\":6}"),
        ]),
    ]);
    let end = host
        .play_turn(&model, "Go.", 4, &mut recorder)
        .await
        .unwrap();
    assert_eq!(end, TurnEnd::Moved);

    let log = log.lock().unwrap();
    let tools: Vec<(&str, &Value)> = log
        .iter()
        .map(|(_, tool, arguments)| (tool.as_str(), arguments))
        .collect();
    assert_eq!(
        tools,
        [
            ("read", &json!({})),
            ("move", &json!({"n": 13})),
            ("move", &json!({"n": 5}))
        ]
    );
    assert!(
        log.iter()
            .all(|(token, _, _)| token == "Bearer good-token-1")
    );

    let classes: Vec<Option<&str>> = recorder
        .calls
        .iter()
        .map(|call| call.error_class.as_deref())
        .collect();
    assert_eq!(classes, [None, Some("outside_limit"), None]);
    let read = &recorder.calls[0];
    assert_eq!(
        (read.result.as_deref(), read.is_error, read.sequence),
        (Some("one\ntwo"), Some(false), 0)
    );
    assert_eq!(
        (read.turn, read.role.as_deref(), read.call_id.as_deref()),
        (Some(4), Some("buyer"), Some("a"))
    );
    assert_eq!(
        (read.experiment.as_str(), read.episode_id.as_str()),
        ("exp", "ep_1")
    );
    assert_eq!(recorder.calls[1].error_message.as_deref(), Some("Not 13."));
    assert_eq!(recorder.calls[2].arguments.as_deref(), Some("{\"n\": 5}"));
    assert_eq!(
        recorder.calls[2].result.as_deref(),
        Some("{\"done\":\"5\"}")
    );
    assert!(recorder.calls[2].started_us <= recorder.calls[2].ended_us);

    let roles: Vec<&str> = recorder
        .messages
        .iter()
        .map(|message| message.role.as_str())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "tool",
            "tool"
        ]
    );
    let contents: Vec<&str> = recorder
        .messages
        .iter()
        .map(|m| m.content.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(contents[3], turn::REMINDER);
    assert_eq!(contents[9], turn::TURN_ENDED);
    let sequences: Vec<i32> = recorder
        .messages
        .iter()
        .map(|message| message.sequence)
        .collect();
    assert_eq!(sequences, (0..10).collect::<Vec<i32>>());
    assert_eq!(recorder.messages[4].model.as_deref(), Some("scripted-1"));
    assert!(
        recorder.messages[6]
            .tool_calls
            .as_deref()
            .unwrap()
            .contains("\"arguments\":\"{\\\"n\\\":13}\"")
    );

    let usage = recorder.usage_of("buyer");
    assert_eq!(
        (usage.model_calls, usage.input_tokens, usage.output_tokens),
        (3, Some(20), Some(4))
    );
    assert_eq!((usage.model_time_us, recorder.model_calls()), (210, 3));
}

#[tokio::test]
async fn a_turn_without_a_move_ends_after_its_calls() {
    let (url, _) = start().await;
    let mut host = connect(&url).await;
    let mut recorder = Recorder::new("exp", "ep_1");
    let model = Scripted::new(vec![calls(&[("a", "read", "{}")]); 2]);
    let end = host
        .play_turn(&model, "Go.", 0, &mut recorder)
        .await
        .unwrap();
    assert_eq!(
        end,
        TurnEnd::NoMove {
            model_calls: 6,
            without_call: 4
        }
    );
    assert_eq!(model.requests.lock().unwrap().len(), 6);
    // The same id twice is no id: results could not be told apart.
    let ids: Vec<&str> = recorder
        .calls
        .iter()
        .map(|call| call.call_id.as_deref().unwrap())
        .collect();
    assert_eq!(ids[0], "a");
    assert!(ids[1] != "a" && ids[1].len() == 9, "{ids:?}");
    // The next turn goes on in the same conversation, and the system prompt is recorded once.
    host.play_turn(
        &Scripted::new(vec![calls(&[("", "move", "{\"n\":1}")])]),
        "Again.",
        1,
        &mut recorder,
    )
    .await
    .unwrap();
    assert_eq!(
        recorder
            .messages
            .iter()
            .filter(|message| message.role == "system")
            .count(),
        1
    );
    assert_eq!(
        host.request
            .messages
            .iter()
            .filter(|m| m.content == "Again.")
            .count(),
        1
    );
}

#[tokio::test]
async fn bad_calls_are_answered_and_recorded() {
    let (url, log) = start().await;
    let mut host = connect(&url).await;
    let mut recorder = Recorder::new("exp", "ep_1");
    let model = Scripted::new(vec![
        calls(&[
            ("a", "move", "{\"n\": "),
            ("b", "move", "[1]"),
            ("c", "move", "\"{}\""),
        ]),
        calls(&[
            ("d", "fly", "{}"),
            ("e", "move", "{\"n\":14}"),
            ("f", "move", "{\"n\":17}"),
        ]),
        calls(&[("g", "move", "{\"n\":2}")]),
    ]);
    assert_eq!(
        host.play_turn(&model, "Go.", 0, &mut recorder)
            .await
            .unwrap(),
        TurnEnd::Moved
    );
    let classes: Vec<Option<&str>> = recorder
        .calls
        .iter()
        .map(|call| call.error_class.as_deref())
        .collect();
    let malformed = Some("malformed_arguments");
    assert_eq!(
        classes,
        [
            malformed,
            malformed,
            malformed,
            Some("unknown_tool"),
            Some("tool_error"),
            Some("protocol_error"),
            None
        ]
    );
    assert_eq!(recorder.calls[0].arguments_state, Capture::Invalid);
    assert_eq!(recorder.calls[0].arguments.as_deref(), Some("{\"n\": "));
    assert!(
        recorder.calls[1]
            .error_message
            .as_deref()
            .unwrap()
            .contains("an array")
    );
    assert!(
        recorder.calls[3]
            .error_message
            .as_deref()
            .unwrap()
            .contains("`fly`")
    );
    assert!(
        recorder.calls[5]
            .error_message
            .as_deref()
            .unwrap()
            .contains("no luck")
    );
    assert_eq!(log.lock().unwrap().len(), 4);
    // Every call has its answer in the conversation.
    let answers = host
        .request
        .messages
        .iter()
        .filter(|message| message.tool_call_id.is_some())
        .count();
    assert_eq!(answers, 7);
}

#[tokio::test]
async fn a_flood_of_calls_is_cut() {
    let (url, log) = start().await;
    let mut host = connect(&url).await;
    let mut recorder = Recorder::new("exp", "ep_1");
    let flood: Vec<(&str, &str, &str)> = vec![("", "read", "{}"); 50];
    let model = Scripted::new(vec![calls(&flood), calls(&[("x", "move", "{\"n\":1}")])]);
    host.play_turn(&model, "Go.", 0, &mut recorder)
        .await
        .unwrap();
    assert_eq!(log.lock().unwrap().len(), 17);
    let answers = host
        .request
        .messages
        .iter()
        .filter(|message| message.tool_call_id.is_some())
        .count();
    assert_eq!(answers, 51);
}

#[tokio::test]
async fn infrastructure_and_model_failures_are_told_apart() {
    let (url, _) = start().await;
    for (n, timeout) in [
        (15, Duration::from_millis(100)),
        (16, Duration::from_secs(10)),
    ] {
        let mut host = connect(&url).await;
        host.connection.set_timeout(timeout);
        let arguments = format!("{{\"n\":{n}}}");
        let model = Scripted::new(vec![calls(&[("a", "move", &arguments)])]);
        let error = host
            .play_turn(&model, "Go.", 0, &mut Recorder::new("exp", "ep_1"))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, HostError::Transport { .. }) && !error.is_fatal(),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains("calling `move`") && text.contains(&url) && !text.contains("good-token"),
            "{text}"
        );
    }
    let mut host = connect(&url).await;
    let quota = ModelError::Quota {
        status: 402,
        message: "m".to_owned(),
        endpoint: "e".to_owned(),
    };
    let model = Scripted::default();
    model.replies.lock().unwrap().push_back(Err(quota));
    let error = host
        .play_turn(&model, "Go.", 0, &mut Recorder::new("exp", "ep_1"))
        .await
        .unwrap_err();
    assert!(error.is_fatal());
}

#[tokio::test]
async fn a_refused_or_missing_server_is_named() {
    let (url, _) = start().await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let bad = SecretString::from("bad-token-7777");
    for url in [url.as_str(), "http://127.0.0.1:1/mcp"] {
        let config = PartyConfig::new(http.clone(), url, bad.clone(), "seller", "s", 0);
        let error = PartyHost::connect(config).await.err().unwrap();
        let text = format!("{error} {error:?}");
        assert!(
            text.contains("seller") && text.contains(url) && !text.contains("bad-token-7777"),
            "{text}"
        );
    }
}
