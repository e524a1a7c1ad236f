//! Two moves at once by one party: exactly one finds that it is its turn.

use futures::future::join_all;
use serde_json::json;

use crate::support::{World, terms, terms_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_proposals_at_once_exactly_one_goes_through() {
    let world = World::new().await;
    for round in 0..60 {
        let game = world.open(terms()).await;
        let told = join_all((0..4).map(|i| game.buyer.propose(50 + i))).await;
        let through: Vec<_> = told.iter().filter(|told| !told.failed).collect();
        assert_eq!(through.len(), 1, "round {round}: {told:?}");
        for refused in told.iter().filter(|told| told.failed) {
            assert_eq!(
                refused.reason.as_deref(),
                Some("out_of_turn"),
                "{refused:?}"
            );
        }
        let report = world.report(&game).await;
        assert_eq!((report.counters.turns, report.moves_left), (1, 7));
        let view = game.seller.done("get_negotiation").await;
        assert_eq!(view["counterpart_price"], through[0].value["price"]);
        world.admin.close(&game.id).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accepting_and_walking_away_at_once_ends_in_one_of_them() {
    let world = World::new().await;
    for _ in 0..60 {
        let game = world.open(terms()).await;
        let (accepted, refused) = tokio::join!(
            game.buyer.call("accept_proposal"),
            game.buyer.call("refuse")
        );
        assert_ne!(accepted.failed, refused.failed);
        let report = world.report(&game).await;
        assert_eq!(
            report.status.as_str(),
            if accepted.failed { "no_deal" } else { "deal" }
        );
        assert_eq!(report.price.is_some(), !accepted.failed);
        assert_eq!(report.counters.turns, 1);
        world.admin.close(&game.id).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_negotiations_at_once_do_not_mix() {
    let world = World::new().await;
    let games = join_all((1..=24).map(|n| {
        world.open(terms_with(json!({"scenario": {"id": "s", "item": format!("item {n}"), "reserve": n, "budget": 1000 + n}})))
    }))
    .await;
    join_all(games.iter().zip(1..).map(|(game, n)| async move {
        game.buyer.proposed(100 + n).await;
        game.seller.proposed(500 + n).await;
        game.buyer.done("accept_proposal").await;
    }))
    .await;
    for (game, n) in games.iter().zip(1..) {
        let report = world.report(game).await;
        assert_eq!(
            (report.status.as_str(), report.price),
            ("deal", Some(500 + n))
        );
        let view = game.seller.done("get_negotiation").await;
        assert_eq!(view["item"], json!(format!("item {n}")));
    }
}
