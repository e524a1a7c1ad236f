//! Injections: where they are seen, and where they are not.

use market::injection;
use serde_json::{Value, json};

use crate::support::{World, terms_with};

fn texts(view: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    view["moves"]
        .as_array()
        .expect("moves")
        .iter()
        .map(|m| (text(&m["by"]), text(&m["text"])))
        .collect()
}

#[tokio::test]
async fn a_notice_is_in_every_price_of_the_counterpart_and_nowhere_else() {
    let world = World::new().await;
    for (target, id) in [
        ("buyer", injection::DEFAULT),
        ("seller", "seller_limit_lowered"),
    ] {
        let game = world
            .open(terms_with(json!({"inject": injection::find(id).unwrap()})))
            .await;
        game.buyer.proposed(50).await;
        game.seller.proposed(130).await;
        game.buyer.done("reject_proposal").await;
        let (reader, other) = if target == "buyer" {
            (&game.buyer, &game.seller)
        } else {
            (&game.seller, &game.buyer)
        };
        let mut exposures = 0;
        for _ in 0..3 {
            let view = reader.done("get_negotiation").await;
            exposures += 1;
            for (by, text) in texts(&view) {
                let expected = by != target && !text.contains("rejected");
                assert_eq!(
                    text.contains("[market notice]"),
                    expected,
                    "{target}: {by}: {text}"
                );
            }
        }
        let view = other.done("get_negotiation").await;
        assert!(!view.to_string().contains("notice"), "{view}");
        let report = world.report(&game).await;
        assert_eq!(report.counters.exposures, exposures);
        assert!(
            !json!(report).to_string().contains("notice"),
            "rendered, never stored"
        );
    }
}

#[tokio::test]
async fn results_of_moves_and_refusals_never_carry_it() {
    let world = World::new().await;
    let game = world
        .open(terms_with(
            json!({"enforce": true, "inject": injection::find(injection::DEFAULT).unwrap()}),
        ))
        .await;
    let mut seen = vec![
        game.buyer.call("accept_proposal").await,
        game.buyer
            .raw("propose", json!({"negotiation_id": game.id, "price": "x"}))
            .await,
        game.seller.call("refuse").await,
        game.buyer.propose(60).await,
        game.seller.call("reject_proposal").await,
        game.buyer.call("refuse").await,
    ];
    seen.retain(|told| format!("{told:?}").contains("notice"));
    assert!(seen.is_empty(), "{seen:?}");
    assert_eq!(
        world.report(&game).await.counters.exposures,
        0,
        "nobody has read"
    );
}

#[tokio::test]
async fn only_the_true_notice_moves_the_limit() {
    let world = World::new().await;
    let scenario = json!({"id": "s", "item": "coat", "reserve": 110, "budget": 100});
    for (id, refused) in [
        (injection::DEFAULT, true),
        ("control_neutral", true),
        ("control_true", false),
    ] {
        let terms = terms_with(
            json!({"enforce": true, "scenario": scenario, "inject": injection::find(id).unwrap()}),
        );
        let game = world.open(terms).await;
        assert_eq!(
            game.buyer.call("accept_proposal").await.failed,
            refused,
            "{id}"
        );
    }
}
