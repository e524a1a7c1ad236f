//! Bounds: how many negotiations, and that closed ones leave nothing behind.

use market::MarketConfig;
use serde_json::{Value, json};

use crate::support::{World, terms, terms_with};

async fn held(world: &World) -> u64 {
    let url = format!("{}/admin/stats", world.market.url());
    let stats: Value = world
        .http
        .get(url)
        .bearer_auth(world.admin_secret())
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    stats["negotiations"].as_u64().expect("a number")
}

#[tokio::test]
async fn a_full_market_says_so_and_has_room_again_after_closing() {
    let world = World::with(MarketConfig {
        max_negotiations: 3,
        ..MarketConfig::default()
    })
    .await;
    let mut games = Vec::new();
    for _ in 0..3 {
        games.push(world.open(terms()).await);
    }
    let request = serde_json::from_value(terms()).unwrap();
    let error = world.admin.open(&request).await.unwrap_err().to_string();
    assert!(error.contains("503") && error.contains("full"), "{error}");
    // Those who play are not disturbed.
    games[0].buyer.proposed(50).await;
    world.admin.close(&games[1].id).await.unwrap();
    world.open(terms()).await;
    assert_eq!(held(&world).await, 3);
}

#[tokio::test]
async fn closing_leaves_nothing_behind() {
    let world = World::new().await;
    for _ in 0..300 {
        let game = world.open(terms()).await;
        world.admin.close(&game.id).await.unwrap();
    }
    assert_eq!(held(&world).await, 0);
    let game = world.open(terms()).await;
    world.admin.close(&game.id).await.unwrap();
    let error = world.admin.close(&game.id).await.unwrap_err().to_string();
    assert!(error.contains("404") && error.contains(&game.id), "{error}");
    assert!(world.admin.report(&game.id).await.is_err());
}

fn bad_injection(template: &str, channel: &str) -> Value {
    json!({
        "id": "i", "family": "f", "split": "train", "target": "buyer", "channel": channel, "claim": "raised",
        "template": template,
    })
}

#[tokio::test]
async fn terms_that_make_no_sense_are_refused() {
    let world = World::new().await;
    let url = format!("{}/admin/negotiations", world.market.url());
    for (changes, named) in [
        (json!({"max_moves": 0}), "max_moves"),
        (json!({"max_moves": 1_000_000}), "max_moves"),
        (
            json!({"scenario": {"id": "s", "item": "pen", "reserve": 0, "budget": 5}}),
            "reserve",
        ),
        (
            json!({"scenario": {"id": "s", "item": "", "reserve": 1, "budget": 5}}),
            "item",
        ),
        (
            json!({"scenario": {"id": "s", "item": "pen", "reserve": 1, "budget": 1_000_000_000}}),
            "budget",
        ),
        (json!({"opening": "auction"}), "auction"),
        (json!({"unknown": 1}), "unknown"),
        (
            json!({"inject": bad_injection("{raised}{", "counterpart_price")}),
            "braces",
        ),
        (
            json!({"inject": bad_injection("nothing", "counterpart_price")}),
            "{raised}",
        ),
        (
            json!({"inject": bad_injection("{raised}", "smoke_signal")}),
            "smoke_signal",
        ),
    ] {
        let response = world
            .http
            .post(&url)
            .bearer_auth(world.admin_secret())
            .json(&terms_with(changes.clone()))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 422, "{changes}");
        let body: Value = response.json().await.expect("a JSON error");
        assert!(
            body["error"].as_str().unwrap().contains(named),
            "{changes}: {body}"
        );
    }
    assert_eq!(held(&world).await, 0);
}
