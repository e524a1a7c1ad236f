//! Who may talk to the market at all: decided above the protocol, by HTTP status.

use std::time::Duration;

use market::MarketConfig;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{World, terms};

const ACCEPT: &str = "application/json, text/event-stream";

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

/// Status and challenge of a request with these `Authorization` headers.
async fn knock(world: &World, url: &str, authorization: &[String]) -> (StatusCode, Option<String>) {
    let mut request = world.http.post(url).header("accept", ACCEPT).json(&list());
    for value in authorization {
        request = request.header("authorization", value);
    }
    let response = request.send().await.expect("an answer");
    let challenge = response
        .headers()
        .get("www-authenticate")
        .map(|v| v.to_str().expect("text").to_owned());
    (response.status(), challenge)
}

#[tokio::test]
async fn without_a_good_token_there_is_401_and_a_challenge_that_leads_somewhere() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let good = &game.buyer.token;
    let mut nearly = good.clone();
    let last = nearly.pop().expect("not empty");
    nearly.push(if last == '0' { '1' } else { '0' });
    let bearer = |token: &str| format!("Bearer {token}");

    let closed = world.open(terms()).await;
    world.admin.close(&closed.id).await.expect("closes");

    let cases = [
        vec![],
        vec!["Bearer".to_owned()],
        vec![bearer("")],
        vec![format!("Basic {good}")],
        vec![good.clone()],
        vec![bearer(&nearly)],
        vec![bearer(&good[..good.len() - 1])],
        vec![bearer(&good.to_uppercase())],
        vec![bearer(&"x".repeat(5_000))],
        vec![bearer(good), bearer(good)],
        vec![bearer(&game.id)],
        vec![bearer(&world.admin_secret())],
        vec![bearer(&closed.buyer.token)],
    ];
    let mcp = world.market.mcp_url();
    for case in cases {
        let (status, challenge) = knock(&world, &mcp, &case).await;
        assert_eq!(status, 401, "{case:?}");
        let challenge = challenge.expect("a challenge");
        assert!(
            challenge.starts_with("Bearer ") && challenge.contains("resource_metadata=\"http"),
            "{challenge}"
        );
        assert_eq!(
            challenge.contains("invalid_token"),
            !case.is_empty(),
            "{challenge}"
        );
    }
    assert_eq!(knock(&world, &mcp, &[bearer(good)]).await.0, 200);

    let challenge = knock(&world, &mcp, &[]).await.1.expect("a challenge");
    let url = challenge.split('"').nth(1).expect("quoted");
    let document: Value = world
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .expect("JSON");
    assert_eq!(document["resource"], json!(mcp));
    assert_eq!(document["bearer_methods_supported"], json!(["header"]));
    let root = format!(
        "{}/.well-known/oauth-protected-resource",
        world.market.url()
    );
    assert_eq!(
        world
            .http
            .get(root)
            .send()
            .await
            .unwrap()
            .json::<Value>()
            .await
            .unwrap(),
        document
    );
}

#[tokio::test]
async fn every_http_method_needs_the_token() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS] {
        let request = || {
            world
                .http
                .request(method.clone(), world.market.mcp_url())
                .header("accept", ACCEPT)
        };
        assert_eq!(request().send().await.unwrap().status(), 401, "{method}");
        let status = request()
            .bearer_auth(&game.buyer.token)
            .send()
            .await
            .unwrap()
            .status();
        assert_eq!(
            status, 405,
            "{method} has no meaning on a stateless endpoint"
        );
    }
}

#[tokio::test]
async fn a_party_cannot_reach_the_admin_api() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let base = world.market.url();
    let before = world.state(&game).await;
    for (method, path) in [
        (Method::POST, "/admin/negotiations".to_owned()),
        (Method::POST, "/admin/toolsets".to_owned()),
        (Method::GET, format!("/admin/negotiations/{}", game.id)),
        (Method::DELETE, format!("/admin/negotiations/{}", game.id)),
        (
            Method::POST,
            format!("/admin/negotiations/{}/pass", game.id),
        ),
        (Method::GET, "/admin/stats".to_owned()),
    ] {
        for token in [None, Some(&game.buyer.token), Some(&game.seller.token)] {
            let mut request = world
                .http
                .request(method.clone(), format!("{base}{path}"))
                .json(&json!({"role": "buyer"}));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 401, "{method} {path}");
            assert!(response.headers().contains_key("www-authenticate"));
        }
    }
    assert_eq!(world.state(&game).await, before);
    // Nor is there a tool for it.
    for tool in ["open", "admin", "register", "pass", "close"] {
        let answer = game
            .buyer
            .rpc("tools/call", json!({"name": tool, "arguments": {}}))
            .await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    }
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_403_before_anything_else() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let base = world.market.url();
    let urls = [
        world.market.mcp_url(),
        format!("{base}/admin/stats"),
        format!("{base}/.well-known/oauth-protected-resource"),
    ];
    for url in &urls {
        for (header, value) in [
            ("host", "evil.example"),
            ("host", "127.0.0.1.evil.example"),
            ("host", "evil.example:80"),
            ("origin", "http://evil.example"),
            ("origin", "http://localhost.evil.example"),
            ("origin", "null"),
        ] {
            for token in [None, Some(&game.buyer.token)] {
                let mut request = world
                    .http
                    .post(url)
                    .header("accept", ACCEPT)
                    .header(header, value)
                    .json(&list());
                if let Some(token) = token {
                    request = request.bearer_auth(token);
                }
                assert_eq!(
                    request.send().await.unwrap().status(),
                    403,
                    "{url} {header}: {value}"
                );
            }
        }
    }
    for origin in ["http://localhost:5173", "http://127.0.0.1:1"] {
        let response = game
            .buyer
            .post(&list())
            .header("origin", origin)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200, "{origin}");
    }
}

#[tokio::test]
async fn tokens_end_with_idleness_with_age_and_with_the_negotiation() {
    let long = Duration::from_secs(3600);
    for (idle_timeout, token_lifetime, closed_retention, first) in [
        (Duration::ZERO, long, long, 401),
        (long, Duration::ZERO, long, 401),
        (long, long, Duration::ZERO, 200),
    ] {
        let config = MarketConfig {
            idle_timeout,
            token_lifetime,
            closed_retention,
            ..MarketConfig::default()
        };
        let world = World::with(config).await;
        let game = world.open(terms()).await;
        let bearer = format!("Bearer {}", game.buyer.token);
        let (status, challenge) = knock(
            &world,
            &world.market.mcp_url(),
            std::slice::from_ref(&bearer),
        )
        .await;
        assert_eq!(status.as_u16(), first);
        if first == 200 {
            game.buyer.done("refuse").await;
            assert_eq!(
                knock(&world, &world.market.mcp_url(), &[bearer]).await.0,
                401
            );
        } else {
            assert!(challenge.unwrap().contains("invalid_token"));
        }
        // What has expired is not brought back by looking at it.
        assert!(world.admin.report(&game.id).await.is_err());
    }
}

#[tokio::test]
async fn behind_a_proxy_the_challenge_names_the_public_address() {
    let public_url = Some("https://market.example".to_owned());
    let world = World::with(MarketConfig {
        public_url,
        ..MarketConfig::default()
    })
    .await;
    let challenge = knock(&world, &world.market.mcp_url(), &[])
        .await
        .1
        .expect("a challenge");
    assert!(
        challenge.contains("\"https://market.example/.well-known/oauth-protected-resource/mcp\""),
        "{challenge}"
    );
}
