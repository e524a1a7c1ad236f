//! Tokens and the admin secret are told once, when they are given out, and never again: not in an error, not in
//! a view, not in the log.

use std::io::Write;
use std::sync::{Arc, Mutex};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{Game, World, terms, terms_with};

/// Every header and the body of an answer.
async fn everything(request: RequestBuilder) -> String {
    let response = request.send().await.expect("an answer");
    let head = format!("{} {:?}", response.status(), response.headers());
    format!("{head}\n{}", response.text().await.expect("a text"))
}

/// Does all the wrong things there are, and the right ones; gives what was said to them.
async fn provoke(world: &World, game: &Game) -> Vec<String> {
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let secret = world.admin_secret();
    let base = world.market.url();
    let one = format!("{base}/admin/negotiations/{}", game.id);
    let admin = |method: Method, url: &str| world.http.request(method, url).bearer_auth(&secret);
    let short = &game.buyer.token[..60];
    let mut requests = vec![
        game.buyer.post(&list),
        game.buyer.post(&list).header("host", "evil.example"),
        game.buyer
            .post(&list)
            .header("origin", "http://evil.example"),
        game.buyer.post(&list).body("{"),
        game.buyer.post(&json!([])),
        game.buyer
            .post(&json!({"jsonrpc": "2.0", "id": 1, "method": "no/such"})),
        world
            .http
            .post(world.market.mcp_url())
            .bearer_auth(&secret)
            .json(&list),
        world
            .http
            .post(world.market.mcp_url())
            .bearer_auth(short)
            .json(&list),
        world
            .http
            .post(world.market.mcp_url())
            .header("authorization", &game.buyer.token),
        world.http.get(&one).bearer_auth(&game.buyer.token),
        admin(Method::GET, &one),
        admin(Method::GET, &format!("{base}/admin/stats")),
        admin(Method::GET, &format!("{base}/admin/negotiations/nothing")),
        admin(Method::POST, &format!("{base}/admin/negotiations")).json(&json!({"scenario": 1})),
        admin(Method::POST, &format!("{base}/admin/toolsets")).json(&json!({})),
        admin(Method::POST, &format!("{one}/pass")).json(&json!({"role": "seller"})),
        world
            .http
            .get(format!("{base}/.well-known/oauth-protected-resource")),
        world.http.get(format!("{base}/nothing")),
    ];
    let id = &game.id;
    for (tool, arguments) in [
        ("get_negotiation", json!({"negotiation_id": id})),
        ("propose", json!({"negotiation_id": id, "price": 500})),
        ("propose", json!({"negotiation_id": id, "price": "x"})),
        ("propose", json!("{}")),
        ("steal", json!({})),
        ("propose", json!({"negotiation_id": id, "price": 50})),
        ("propose", json!({"negotiation_id": id, "price": 50})),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        requests.push(
            game.buyer.post(
                &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
            ),
        );
    }
    requests.push(admin(Method::DELETE, &one));
    requests.push(game.seller.post(&list));
    let mut said = Vec::with_capacity(requests.len());
    for request in requests {
        said.push(everything(request).await);
    }
    said
}

/// The log of this process; what other tests log meanwhile does no harm. `None` when it is no longer read.
#[derive(Clone)]
struct Log(Arc<Mutex<Option<Vec<u8>>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(log) = self.0.lock().expect("no panic").as_mut() {
            log.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_answer_and_no_log_line_holds_a_token_or_the_admin_secret() {
    let log = Log(Arc::new(Mutex::new(Some(Vec::new()))));
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // For all threads: which events a thread's own subscriber sees depends on what other threads did before.
    tracing::subscriber::set_global_default(subscriber).expect("no other test sets one");

    let world = World::new().await;
    let game = world.open(terms_with(json!({"enforce": true}))).await;
    let other = world.open(terms()).await;
    let said = provoke(&world, &game).await;
    let log = log.0.lock().unwrap().take().expect("taken once");
    let log = String::from_utf8_lossy(&log).into_owned();

    let errors = said.iter().filter(|text| !text.starts_with("200")).count();
    assert!(errors > 12, "only {errors} of {} were refused", said.len());
    assert!(log.lines().count() > 20, "what is not logged shows nothing");
    // The digits alone as well: no prefix makes a secret harmless.
    let secrets = [&game.buyer, &game.seller, &other.buyer, &other.seller]
        .map(|party| party.token[3..40].to_owned())
        .into_iter()
        .chain([world.admin_secret()[3..40].to_owned()]);
    for secret in secrets {
        for text in said.iter().chain([&log]) {
            assert!(!text.contains(&secret), "{text}");
        }
    }
}

#[tokio::test]
async fn a_view_holds_neither_limit() {
    let world = World::new().await;
    let scenario = json!({"id": "s", "item": "coat", "reserve": 7331, "budget": 9173});
    let game = world
        .open(terms_with(json!({"scenario": scenario, "enforce": true})))
        .await;
    let mut said = Vec::<Value>::new();
    for party in [&game.buyer, &game.seller] {
        said.push(party.rpc("tools/list", json!({})).await);
        said.push(party.done("get_negotiation").await);
        said.push(json!(party.propose(1).await.text));
        said.push(json!(party.propose(20_000).await.text));
        said.push(json!(party.call("accept_proposal").await.text));
    }
    for text in said.iter().map(Value::to_string) {
        assert!(!text.contains("7331") && !text.contains("9173"), "{text}");
    }
}
