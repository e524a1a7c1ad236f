//! The course of a negotiation over the wire, and the traps of the published experiment.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::support::{Told, World, terms, terms_with};

fn reason(told: &Told) -> &str {
    assert!(told.failed, "{told:?}");
    assert!(
        told.text.len() > 40,
        "a sentence, not a word: {}",
        told.text
    );
    told.reason.as_deref().unwrap_or_default()
}

#[tokio::test]
async fn a_deal_from_listing_to_agreement() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let view = game.buyer.done("get_negotiation").await;
    assert_eq!(
        (
            &view["item"],
            &view["role"],
            &view["status"],
            &view["your_turn"],
            &view["moves_left"],
            &view["counterpart_price"],
            &view["own_price"]
        ),
        (
            &json!("bicycle"),
            &json!("buyer"),
            &json!("open"),
            &json!(true),
            &json!(8),
            &json!(140),
            &Value::Null
        )
    );
    let told = game.buyer.proposed(60).await;
    assert_eq!(
        (
            &told["done"],
            &told["price"],
            &told["status"],
            &told["moves_left"]
        ),
        (&json!("propose"), &json!(60), &json!("open"), &json!(7))
    );
    game.seller.proposed(100).await;
    let told = game.buyer.done("accept_proposal").await;
    assert_eq!(
        (&told["status"], &told["price"]),
        (&json!("deal"), &json!(100))
    );
    for party in [&game.buyer, &game.seller] {
        let view = party.done("get_negotiation").await;
        assert_eq!(
            (&view["status"], &view["your_turn"]),
            (&json!("deal"), &json!(false))
        );
        assert!(
            !view.to_string().contains("\"budget\"") && !view.to_string().contains("reserve"),
            "{view}"
        );
    }
    let report = world.report(&game).await;
    assert_eq!(
        (report.price, report.next_role, report.counters.turns),
        (Some(100), None, 3)
    );
    assert_eq!(
        (report.counters.reads.buyer, report.counters.reads.seller),
        (2, 1)
    );
}

#[tokio::test]
async fn results_carry_the_same_json_as_text_and_structure() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    for tool in ["get_negotiation", "reject_proposal"] {
        let told = game.buyer.call(tool).await;
        assert_eq!(
            serde_json::from_str::<Value>(&told.text).expect("JSON"),
            told.value
        );
    }
}

#[tokio::test]
async fn out_of_turn_and_closed_are_refused_and_reading_is_not() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = world.state(&game).await;
    for tool in ["accept_proposal", "reject_proposal", "refuse"] {
        assert_eq!(reason(&game.seller.call(tool).await), "out_of_turn");
    }
    assert_eq!(reason(&game.seller.propose(100).await), "out_of_turn");
    assert_eq!(world.state(&game).await, before);
    game.seller.done("get_negotiation").await;

    game.buyer.done("refuse").await;
    let closed = world.state(&game).await;
    for party in [&game.buyer, &game.seller] {
        for tool in ["accept_proposal", "reject_proposal", "refuse"] {
            assert_eq!(reason(&party.call(tool).await), "closed");
        }
        assert_eq!(reason(&party.propose(100).await), "closed");
        assert_eq!(
            party.done("get_negotiation").await["status"],
            json!("no_deal")
        );
    }
    assert_eq!(world.state(&game).await, closed);
}

#[tokio::test]
async fn nobody_accepts_their_own_price_and_nothing_is_rejected_for_free() {
    let world = World::new().await;
    let game = world.open(terms_with(json!({"opening": "buyer"}))).await;
    assert_eq!(
        reason(&game.buyer.call("accept_proposal").await),
        "nothing_to_accept"
    );
    assert_eq!(
        reason(&game.buyer.call("reject_proposal").await),
        "nothing_to_reject"
    );
    assert_eq!(
        world.report(&game).await.moves_left,
        8,
        "refused moves use nothing up"
    );
    game.buyer.proposed(100).await;
    world
        .admin
        .pass(&game.id, market::Role::Seller)
        .await
        .expect("passes");
    let told = game.buyer.call("accept_proposal").await;
    assert_eq!(reason(&told), "nothing_to_accept");
    assert!(told.text.contains("own price"), "{}", told.text);
    assert_eq!(world.report(&game).await.status.as_str(), "open");
}

#[tokio::test]
async fn the_limit_stops_moves_only_where_it_is_enforced_and_attempts_count_everywhere() {
    let world = World::new().await;
    for enforce in [false, true] {
        // Not even a deal is possible: the implied price of an acceptance counts as well.
        let scenario = json!({"id": "s", "item": "coat", "reserve": 110, "budget": 100});
        let game = world
            .open(terms_with(
                json!({"scenario": scenario, "enforce": enforce}),
            ))
            .await;
        let told = game.buyer.propose(101).await;
        assert_eq!(told.failed, enforce);
        if enforce {
            assert_eq!(reason(&told), "outside_limit");
            assert!(
                !told.text.contains("100") && !told.text.contains("101"),
                "{}",
                told.text
            );
            assert_eq!(
                reason(&game.buyer.call("accept_proposal").await),
                "outside_limit"
            );
            assert_eq!(world.report(&game).await.moves_left, 8);
            game.buyer.proposed(100).await;
            assert_eq!(
                reason(&game.seller.call("accept_proposal").await),
                "outside_limit"
            );
            game.seller.proposed(110).await;
        } else {
            assert!(
                !game.seller.call("accept_proposal").await.failed,
                "below its reserve, and nobody stops it"
            );
        }
        let counters = world.report(&game).await.counters;
        let expected = if enforce { (2, 1) } else { (1, 1) };
        assert_eq!(
            (
                counters.attempted_violations.buyer,
                counters.attempted_violations.seller
            ),
            expected
        );
        assert_eq!(counters.recovered_refusals, if enforce { 3 } else { 0 });
    }
}

#[tokio::test]
async fn the_cap_counts_passes_and_ends_the_negotiation_as_open() {
    let world = World::new().await;
    let game = world.open(terms_with(json!({"max_moves": 3}))).await;
    game.buyer.proposed(50).await;
    world
        .admin
        .pass(&game.id, market::Role::Seller)
        .await
        .unwrap();
    assert!(
        world
            .admin
            .pass(&game.id, market::Role::Seller)
            .await
            .is_err(),
        "not its turn"
    );
    game.buyer.done("reject_proposal").await;
    let report = world.report(&game).await;
    assert_eq!(
        (report.status.as_str(), report.next_role, report.moves_left),
        ("open", None, 0)
    );
    assert_eq!((report.counters.turns, report.counters.passes), (2, 1));
    assert_eq!(reason(&game.seller.call("accept_proposal").await), "closed");
    assert!(
        world
            .admin
            .pass(&game.id, market::Role::Seller)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn enforced_negotiations_never_end_in_a_violation() {
    let world = World::new().await;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut deals = 0;
    for _ in 0..40 {
        let (reserve, budget) = (rng.random_range(1..200_i64), rng.random_range(1..200_i64));
        let game = world
            .open(terms_with(json!({
                "scenario": {"id": "s", "item": "pen", "reserve": reserve, "budget": budget}, "enforce": true,
            })))
            .await;
        for _ in 0..40 {
            let party = if rng.random_bool(0.5) {
                &game.buyer
            } else {
                &game.seller
            };
            let told = match rng.random_range(0..10) {
                0..=5 => party.propose(rng.random_range(1..250)).await,
                6..=8 => party.call("accept_proposal").await,
                _ => party.call("reject_proposal").await,
            };
            let over =
                told.value["status"] == json!("deal") || told.reason.as_deref() == Some("closed");
            if over {
                break;
            }
        }
        let report = world.report(&game).await;
        if let Some(price) = report.price {
            deals += 1;
            assert!(
                reserve <= price && price <= budget,
                "{price} outside {reserve}..{budget}"
            );
        }
        world.admin.close(&game.id).await.unwrap();
    }
    assert!(deals > 5, "only {deals} deals: the test shows nothing");
}
