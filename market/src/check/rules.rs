//! Moves that the rules forbid, attempts that must be counted, the injection, and two moves at once.

use super::probe::{Probe, terms};
use super::{Check, Seen, attempt};
use crate::client::OpenRequest;
use crate::contract::{ACCEPT_PROPOSAL, GET_NEGOTIATION, REFUSE, REJECT_PROPOSAL};
use crate::injection;
use crate::role::Role;
use crate::rules::{Opening, Refusal};

/// Rounds of two moves at once.
const ROUNDS: u32 = 20;

pub(super) async fn run(probe: &Probe) -> Vec<Check> {
    vec![
        attempt("accepting one's own price", "a tool error", async {
            let game = probe
                .open(&OpenRequest {
                    opening: Opening::Buyer,
                    ..terms()
                })
                .await?;
            let id = &game.negotiation_id;
            probe.propose(&game.buyer_token, id, 50).await?;
            probe.admin.pass(id, Role::Seller).await?;
            let told = probe.act(&game.buyer_token, ACCEPT_PROPOSAL, id).await?;
            Ok(told.expect(Refusal::NothingToAccept))
        })
        .await,
        attempt(
            "rejecting when nothing was proposed",
            "a tool error, no move used",
            nothing_proposed(probe, REJECT_PROPOSAL, Refusal::NothingToReject),
        )
        .await,
        attempt(
            "accepting when nothing was proposed",
            "a tool error, no move used",
            nothing_proposed(probe, ACCEPT_PROPOSAL, Refusal::NothingToAccept),
        )
        .await,
        attempt("a move in a closed negotiation", "a tool error", async {
            let game = probe.open(&terms()).await?;
            let id = &game.negotiation_id;
            probe.act(&game.buyer_token, REFUSE, id).await?;
            let told = probe.propose(&game.seller_token, id, 90).await?;
            Ok(told.expect(Refusal::Closed))
        })
        .await,
        attempt(
            "accepting outside the limit, not enforced",
            "goes through and is counted as an attempt",
            accepted_outside(probe, false),
        )
        .await,
        attempt(
            "accepting outside the limit, enforced",
            "a tool error that is counted as an attempt",
            accepted_outside(probe, true),
        )
        .await,
        attempt(
            "the injection",
            "in the buyer's view only, exposure counted",
            injected(probe),
        )
        .await,
        attempt(
            "two moves at once by one party",
            "exactly one goes through in every round",
            at_once(probe),
        )
        .await,
    ]
}

async fn nothing_proposed(probe: &Probe, tool: &str, reason: Refusal) -> anyhow::Result<Seen> {
    let game = probe
        .open(&OpenRequest {
            opening: Opening::Buyer,
            ..terms()
        })
        .await?;
    let before = probe.state(&game.negotiation_id).await?;
    let told = probe
        .act(&game.buyer_token, tool, &game.negotiation_id)
        .await?;
    let unharmed = before == probe.state(&game.negotiation_id).await?;
    Ok((told.describe(), told.refused(reason) && unharmed))
}

async fn accepted_outside(probe: &Probe, enforce: bool) -> anyhow::Result<Seen> {
    let game = probe.open(&OpenRequest { enforce, ..terms() }).await?;
    let id = &game.negotiation_id;
    let told = probe.act(&game.buyer_token, ACCEPT_PROPOSAL, id).await?;
    let report = probe.report(id).await?;
    let attempts = report.counters.attempted_violations.of(Role::Buyer);
    let answered = if enforce {
        told.refused(Refusal::OutsideLimit) && report.price.is_none()
    } else {
        !told.failed && report.price == Some(terms().scenario.listing_price())
    };
    Ok((
        format!("{attempts} counted; {}", told.describe()),
        answered && attempts == 1,
    ))
}

async fn injected(probe: &Probe) -> anyhow::Result<Seen> {
    let injection = injection::find(injection::DEFAULT)?;
    let sentence = injection.render(&terms().scenario);
    let game = probe
        .open(&OpenRequest {
            inject: Some(injection),
            ..terms()
        })
        .await?;
    let id = &game.negotiation_id;
    let mut carried = Vec::new();
    for token in [&game.buyer_token, &game.seller_token] {
        let told = probe.act(token, GET_NEGOTIATION, id).await?;
        anyhow::ensure!(!told.failed, "reading failed: {}", told.text);
        carried.push(told.text.contains(&sentence));
    }
    let exposures = probe.report(id).await?.counters.exposures;
    Ok((
        format!(
            "buyer's view {}, seller's view {}, {exposures} counted",
            with_it(carried.first()),
            with_it(carried.get(1))
        ),
        carried == [true, false] && exposures == 1,
    ))
}

fn with_it(carried: Option<&bool>) -> &'static str {
    if carried == Some(&true) {
        "with it"
    } else {
        "without it"
    }
}

async fn at_once(probe: &Probe) -> anyhow::Result<Seen> {
    let mut held = 0;
    for _ in 0..ROUNDS {
        let game = probe.open(&terms()).await?;
        let id = &game.negotiation_id;
        let (one, other) = tokio::join!(
            probe.propose(&game.buyer_token, id, 50),
            probe.propose(&game.buyer_token, id, 51)
        );
        let (one, other) = (one?, other?);
        let refused = if one.failed { &one } else { &other };
        let turns = probe.report(id).await?.counters.turns;
        if one.failed != other.failed && refused.refused(Refusal::OutOfTurn) && turns == 1 {
            held += 1;
        }
        probe.admin.close(id).await?;
    }
    Ok((
        format!("exactly one in {held} of {ROUNDS} rounds"),
        held == ROUNDS,
    ))
}
