//! Bad input: each a clear error, the state unharmed.

use serde_json::{Value, json};

use crate::support::{Game, World, terms, terms_with};

const TOOLS: [&str; 5] = [
    "get_negotiation",
    "propose",
    "accept_proposal",
    "reject_proposal",
    "refuse",
];

#[tokio::test]
async fn prices_that_are_none_are_refused_with_a_sentence() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = (
        world.state(&game).await,
        game.buyer.done("get_negotiation").await,
    );
    let long = "9".repeat(100_000);
    let bad = [
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e30),
        json!(-1e30),
        json!(1_000_000_001),
        json!(u64::MAX),
        json!("ten"),
        json!("120"),
        json!("$120"),
        json!(null),
        json!(true),
        json!([120]),
        json!({"price": 120}),
        json!(long),
        json!(0.99999),
    ];
    for price in &bad {
        let told = game
            .buyer
            .raw(
                "propose",
                json!({"negotiation_id": game.id, "price": price}),
            )
            .await;
        assert!(told.failed, "{price}");
        assert_eq!(told.reason.as_deref(), Some("invalid_arguments"), "{price}");
        assert!(
            told.text.contains("`price`") && told.text.contains("whole number"),
            "{}",
            told.text
        );
        assert!(told.text.len() < 400, "the input is not sent back");
        assert_eq!(
            told.value,
            Value::Null,
            "a refusal carries no structured content"
        );
    }
    let told = game
        .buyer
        .raw("propose", json!({"negotiation_id": game.id}))
        .await;
    assert!(
        told.failed && told.text.contains("`price`"),
        "{}",
        told.text
    );
    assert_eq!(
        (
            world.state(&game).await,
            game.buyer.done("get_negotiation").await
        ),
        before
    );
    let counters = world.report(&game).await.counters;
    assert_eq!(
        counters.refused.values().sum::<u32>(),
        u32::try_from(bad.len()).unwrap() + 1
    );
    assert_eq!(counters.turns, 0);
    // 120.0 is the same number as 120.
    let told = game
        .buyer
        .raw("propose", json!({"negotiation_id": game.id, "price": 60.0}))
        .await;
    assert_eq!(
        (told.failed, &told.value["price"]),
        (false, &json!(60)),
        "{}",
        told.text
    );
}

#[tokio::test]
async fn missing_unknown_and_misplaced_arguments_are_refused() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = world.state(&game).await;
    for tool in TOOLS {
        let cases = [
            (json!({}), "`negotiation_id`"),
            (
                json!({"negotiation_id": null, "price": 50}),
                "`negotiation_id`",
            ),
            (
                json!({"negotiation_id": 5, "price": 50}),
                "`negotiation_id`",
            ),
            (
                json!({"negotiation_id": game.id, "price": 50, "limit": 10_000}),
                "`limit`",
            ),
            (
                json!({"negotiation_id": game.id, "price": 50, "role": "seller"}),
                "`role`",
            ),
            (
                json!({"negotiation_id": game.id, "price": 50, "note": "hello"}),
                "`note`",
            ),
        ];
        for (arguments, named) in cases {
            let told = game.buyer.raw(tool, arguments.clone()).await;
            assert!(
                told.failed && told.text.contains(named) || told.text.contains("`price`"),
                "{tool} {arguments}: {}",
                told.text
            );
            assert_eq!(
                told.reason.as_deref(),
                Some("invalid_arguments"),
                "{tool} {arguments}"
            );
        }
    }
    assert_eq!(world.state(&game).await, before);
}

#[tokio::test]
async fn arguments_that_are_no_object_are_answered_as_a_tool_error() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = world.state(&game).await;
    for arguments in [
        json!("{\"negotiation_id\":\"x\"}"),
        json!([1]),
        json!(7),
        json!(true),
    ] {
        let told = game.buyer.raw("propose", arguments.clone()).await;
        assert!(
            told.failed && told.text.contains("JSON object"),
            "{arguments}: {}",
            told.text
        );
        assert_eq!(told.reason.as_deref(), Some("invalid_arguments"));
    }
    assert_eq!(world.state(&game).await, before);
    let refused = world.report(&game).await.counters.refused;
    assert_eq!(refused.values().sum::<u32>(), 4, "{refused:?}");
}

#[tokio::test]
async fn an_unknown_tool_or_method_is_a_protocol_error() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = world.state(&game).await;
    let answer = game
        .buyer
        .rpc(
            "tools/call",
            json!({"name": "buy_now", "arguments": {"price": 1}}),
        )
        .await;
    assert_eq!(answer["error"]["code"], json!(-32602));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("buy_now")
    );
    for tool in ["", "PROPOSE", "propose ", "../admin"] {
        let answer = game
            .buyer
            .rpc("tools/call", json!({"name": tool, "arguments": {}}))
            .await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{tool}");
    }
    let answer = game.buyer.rpc("market/steal", json!({})).await;
    assert_eq!(answer["error"]["code"], json!(-32601));
    assert_eq!(world.state(&game).await, before);
    assert!(
        world.report(&game).await.counters.refused.is_empty(),
        "only refused moves of the four tools count"
    );
}

/// What every tool says about a negotiation of that id.
async fn answers(game: &Game, id: &str) -> Vec<String> {
    let mut answers = Vec::new();
    for tool in TOOLS {
        for price in [json!(50), json!("fifty")] {
            let mut arguments = json!({"negotiation_id": id});
            if tool == "propose" {
                arguments["price"] = price;
            }
            let told = game.buyer.raw(tool, arguments).await;
            assert_eq!(
                told.reason.as_deref(),
                Some("wrong_negotiation"),
                "{tool}: {}",
                told.text
            );
            assert!(told.failed && !told.text.contains(id), "{}", told.text);
            answers.push(told.text);
        }
    }
    answers
}

#[tokio::test]
async fn a_token_tells_nothing_about_other_negotiations() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let other = world.open(terms_with(json!({"opening": "buyer"}))).await;
    let closed = world.open(terms()).await;
    closed.buyer.done("refuse").await;
    let gone = world.open(terms()).await;
    world.admin.close(&gone.id).await.unwrap();
    let before = world.state(&other).await;

    let unknown = answers(&game, "ng_0000000000000000").await;
    for id in [&other.id, &closed.id, &gone.id] {
        assert_eq!(answers(&game, id).await, unknown);
    }
    let huge = "x".repeat(200_000);
    for odd in ["\u{202e}", "ng_%00", huge.as_str(), "../admin"] {
        assert_eq!(answers(&game, odd).await, unknown);
    }
    assert_eq!(world.state(&other).await, before);
    // Its own counters are the caller's, and the other side's are untouched.
    assert!(world.report(&other).await.counters.refused.is_empty());
}
