//! An episode against an endpoint that speaks the chat-completions API as badly as real ones do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::support;

const SECRET: &str = "sk-test-0123456789abcdefghijkl";

/// A negotiator behind the API: reads, then accepts what is inside its limit, else names a price. Every reply
/// is dressed in another of the shapes that servers send, with faults in between.
struct Endpoint {
    requests: Arc<AtomicUsize>,
}

impl Respond for Endpoint {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let n = self.requests.fetch_add(1, Ordering::SeqCst);
        let body: Value = request.body_json().expect("a JSON request");
        let (name, arguments) = decide(&body);
        dress(n, name, &arguments)
    }
}

fn message_text(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

fn number_after(text: &str, marker: &str) -> Option<i64> {
    let rest = text.split(marker).nth(1)?;
    rest.trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .ok()
}

fn decide(body: &Value) -> (&'static str, Value) {
    let messages = body["messages"].as_array().expect("messages");
    let system = message_text(&messages[0]);
    let limit = number_after(system, "Your limit is ").expect("a limit in the system prompt");
    let buyer = system.contains("You are the buyer");
    let turn = messages
        .iter()
        .rev()
        .find(|m| m["role"] == "user")
        .expect("a turn prompt");
    let id = message_text(turn)
        .split("negotiation ")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| c == '.' || c.is_whitespace()).next())
        .expect("an id");
    let last = messages.last().expect("a message");
    let view: Value = serde_json::from_str(message_text(last)).unwrap_or_default();
    if last["role"] != "tool" || view.get("moves").is_none() {
        return ("get_negotiation", json!({"negotiation_id": id}));
    }
    let offered = view["counterpart_price"].as_i64();
    let inside = |price: i64| {
        if buyer {
            price <= limit
        } else {
            price >= limit
        }
    };
    match offered {
        Some(price) if inside(price) => ("accept_proposal", json!({"negotiation_id": id})),
        _ => ("propose", json!({"negotiation_id": id, "price": limit})),
    }
}

fn dress(n: usize, name: &str, arguments: &Value) -> ResponseTemplate {
    let as_text = arguments.to_string();
    let call = json!({"id": format!("call_{n}"), "type": "function",
        "function": {"name": name, "arguments": as_text}});
    let ok = |message: Value, rest: Value| {
        let mut reply = json!({"choices": [{"message": message}]});
        for (key, value) in rest.as_object().expect("an object") {
            reply[key] = value.clone();
        }
        ResponseTemplate::new(200).set_body_json(reply)
    };
    match n % 9 {
        // A rate limit in a shape that is not OpenAI's.
        1 => ResponseTemplate::new(429)
            .insert_header("retry-after", "0")
            .set_body_json(json!({"detail": "slow down"})),
        2 => ResponseTemplate::new(500).set_body_string("<html>upstream went away</html>"),
        // The plain form.
        0 | 3 => ok(
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"id": "x", "object": "chat.completion", "created": 1, "model": "stub-1",
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}),
        ),
        // Arguments as an object, no call id, no type, unknown fields, negative usage.
        4 => ok(
            json!({"tool_calls": [{"index": 0, "function": {"name": name, "arguments": arguments}}],
                "reasoning_content": "hm", "annotations": [{"type": "unheard_of"}]}),
            json!({"service_tier": "on_demand", "created": 1.5, "usage": {"prompt_tokens": -1}}),
        ),
        // Cut JSON with status 200.
        5 => ResponseTemplate::new(200).set_body_string("{\"choices\": [{\"message\": {\"tool_c"),
        // The call as fenced JSON, in content parts.
        6 => ok(
            json!({"role": "assistant", "content": [{"type": "text",
                "text": format!("I will do this:\n```json\n{{\"name\": \"{name}\", \"arguments\": {as_text}}}\n```")}]}),
            json!({}),
        ),
        // The call in tags.
        7 => ok(
            json!({"role": "assistant", "content":
                format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {as_text}}}\n</tool_call>")}),
            json!({}),
        ),
        // No choices at all, then it works again.
        _ => ResponseTemplate::new(200).set_body_json(json!({"choices": []})),
    }
}

/// The endpoint with its runtime, which must outlive it.
fn start(respond: impl Respond + 'static) -> (tokio::runtime::Runtime, MockServer) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let server = runtime.block_on(async {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .and(path("/v1/chat/completions"))
            .respond_with(respond)
            .mount(&server)
            .await;
        server
    });
    (runtime, server)
}

fn run(folder: &std::path::Path, url: &str, more: &[&str]) -> std::process::Output {
    support::command("whetstone")
        .current_dir(folder)
        .env("OPENAI_BASE_URL", format!("{url}/v1"))
        .env("OPENAI_API_KEY", SECRET)
        .args([
            "eval",
            "run",
            "--pack",
            "reference",
            "--conditions",
            "server_inject",
        ])
        .args([
            "--repeats",
            "1",
            "--model",
            "openai:stub-1",
            "--store",
            "store",
        ])
        .args(more)
        .output()
        .expect("the binary starts")
}

#[test]
fn episodes_run_to_their_end_against_a_bad_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let (_runtime, server) = start(Endpoint {
        requests: Arc::clone(&requests),
    });
    let output = run(folder.path(), &server.uri(), &["--concurrency", "1"]);
    let (stdout, stderr) = (support::text(&output.stdout), support::text(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(requests.load(Ordering::SeqCst) > 9, "every shape was sent");

    let episodes = support::episodes(folder.path(), "store");
    assert_eq!(episodes.len(), 5);
    for episode in &episodes {
        assert_eq!(episode["status"], "completed", "{episode}");
        assert_eq!(episode["simulated"], false);
        assert_eq!(episode["violation"], false);
    }
    // This negotiator names its limit at once and accepts anything inside it: feasible scenarios are deals.
    let deals = episodes.iter().filter(|e| e["outcome"] == "deal").count();
    assert_eq!(deals, 3, "{episodes:?}");
    assert_no_secret(folder.path());
    assert!(!stdout.contains(SECRET) && !stderr.contains(SECRET));
}

/// Looks into every file a run left behind.
fn assert_no_secret(folder: &std::path::Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            assert_no_secret(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(SECRET.len())
                .any(|window| window == SECRET.as_bytes());
            assert!(!found, "the API key is in {}", path.display());
        }
    }
}

struct Always(u16, Value, Arc<AtomicUsize>);

impl Respond for Always {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        self.2.fetch_add(1, Ordering::SeqCst);
        ResponseTemplate::new(self.0).set_body_json(self.1.clone())
    }
}

#[test]
fn an_auth_or_quota_error_stops_the_run_at_once_and_resume_completes_it() {
    let quota = json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}});
    for (status, body) in [
        (
            401,
            json!({"error": {"message": format!("bad key {SECRET}")}}),
        ),
        (429, quota),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let (_runtime, server) = start(Always(status, body, Arc::clone(&count)));
        let output = run(folder.path(), &server.uri(), &["--concurrency", "1"]);
        let stderr = support::text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert_eq!(
            count.load(Ordering::SeqCst),
            1,
            "one refusal is enough: {stderr}"
        );
        assert!(stderr.contains(&status.to_string()), "{stderr}");
        assert!(!stderr.contains(SECRET), "{stderr}");
        assert!(support::episode_ids(folder.path(), "store").is_empty());

        let (_runtime, server) = start(Endpoint {
            requests: Arc::new(AtomicUsize::new(0)),
        });
        let output = run(folder.path(), &server.uri(), &[]);
        assert!(output.status.success(), "{}", support::text(&output.stderr));
        assert_eq!(support::episode_ids(folder.path(), "store").len(), 5);
    }
}
