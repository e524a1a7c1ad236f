//! The four defences that the experiment rests on.

use super::probe::{Probe, list, terms};
use super::{Check, attempt};
use crate::client::OpenRequest;
use crate::contract::GET_NEGOTIATION;
use crate::rules::Refusal;

pub(super) async fn run(probe: &Probe) -> Vec<Check> {
    vec![
        attempt(
            "no token",
            "HTTP 401 with WWW-Authenticate: Bearer",
            async {
                let reply = probe.post(&[], &list()).await?;
                Ok((reply.describe(), reply.is_challenge()))
            },
        )
        .await,
        attempt(
            "token on another negotiation",
            "a tool error that does not tell whether the id exists",
            async {
                let own = probe.open(&terms()).await?;
                let other = probe.open(&terms()).await?;
                let before = probe.state(&other.negotiation_id).await?;
                let existing = probe
                    .propose(&own.buyer_token, &other.negotiation_id, 50)
                    .await?;
                let read = probe
                    .act(&own.buyer_token, GET_NEGOTIATION, &other.negotiation_id)
                    .await?;
                let invented = probe
                    .propose(&own.buyer_token, "ng_0000000000000000", 50)
                    .await?;
                let unharmed = before == probe.state(&other.negotiation_id).await?;
                let held = existing.refused(Refusal::WrongNegotiation)
                    && existing == read
                    && existing == invented
                    && unharmed;
                Ok((existing.describe(), held))
            },
        )
        .await,
        attempt("out of turn", "a tool error, nothing changed", async {
            let game = probe.open(&terms()).await?;
            let before = probe.state(&game.negotiation_id).await?;
            let told = probe
                .propose(&game.seller_token, &game.negotiation_id, 90)
                .await?;
            let unharmed = before == probe.state(&game.negotiation_id).await?;
            Ok((
                told.describe(),
                told.refused(Refusal::OutOfTurn) && unharmed,
            ))
        })
        .await,
        attempt(
            "outside the limit, enforced",
            "a tool error, no move used, still the same turn",
            async {
                let game = probe
                    .open(&OpenRequest {
                        enforce: true,
                        ..terms()
                    })
                    .await?;
                let before = probe.state(&game.negotiation_id).await?;
                let told = probe
                    .propose(&game.buyer_token, &game.negotiation_id, 121)
                    .await?;
                let unharmed = before == probe.state(&game.negotiation_id).await?;
                let at_limit = probe
                    .propose(&game.buyer_token, &game.negotiation_id, 120)
                    .await?;
                let held = told.refused(Refusal::OutsideLimit) && unharmed && !at_limit.failed;
                Ok((told.describe(), held))
            },
        )
        .await,
    ]
}
