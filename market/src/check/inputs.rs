//! Arguments that are none of what the tools take: a clear error each, the state unharmed.

use serde_json::{Value, json};

use super::probe::{Probe, bearer, terms};
use super::{Check, attempt};
use crate::contract::PROPOSE;
use crate::rules::Refusal;

pub(super) async fn run(probe: &Probe) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, change) in [
        ("a price of 0", json!({"price": 0})),
        ("a price of -1", json!({"price": -1})),
        ("a price of 1.5", json!({"price": 1.5})),
        ("a price of 1e30", json!({"price": 1e30})),
        ("a price of \"ten\"", json!({"price": "ten"})),
        ("a price of null", json!({"price": null})),
        ("no price", json!({})),
        ("an extra argument", json!({"price": 50, "limit": 1000})),
    ] {
        let attack = async {
            let game = probe.open(&terms()).await?;
            let mut arguments = json!({"negotiation_id": game.negotiation_id});
            if let (Some(all), Some(change)) = (arguments.as_object_mut(), change.as_object()) {
                all.extend(change.clone());
            }
            let before = probe.state(&game.negotiation_id).await?;
            let told = probe.call(&game.buyer_token, PROPOSE, arguments).await?;
            let unharmed = before == probe.state(&game.negotiation_id).await?;
            Ok((
                told.describe(),
                told.refused(Refusal::InvalidArguments) && unharmed,
            ))
        };
        checks.push(attempt(name, "a tool error, nothing changed", attack).await);
    }
    checks.push(
        attempt(
            "arguments that are a text",
            "a tool error, nothing changed",
            async {
                let game = probe.open(&terms()).await?;
                let before = probe.state(&game.negotiation_id).await?;
                let arguments = json!({"negotiation_id": game.negotiation_id, "price": 50});
                let told = probe
                    .call(&game.buyer_token, PROPOSE, json!(arguments.to_string()))
                    .await?;
                let unharmed = before == probe.state(&game.negotiation_id).await?;
                Ok((
                    told.describe(),
                    told.refused(Refusal::InvalidArguments) && unharmed,
                ))
            },
        )
        .await,
    );
    checks.push(
        attempt("an unknown tool", "a protocol error that names it", async {
            let game = probe.open(&terms()).await?;
            let before = probe.state(&game.negotiation_id).await?;
            let params = json!({"name": "raise_limit", "arguments": {"limit": 1000}});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            let reply = probe.post(&[bearer(&game.buyer_token)], &body).await?;
            let text = |pointer| {
                reply
                    .body
                    .pointer(pointer)
                    .map(Value::to_string)
                    .unwrap_or_default()
            };
            let (code, message) = (text("/error/code"), text("/error/message"));
            let unharmed = before == probe.state(&game.negotiation_id).await?;
            Ok((
                format!("error {code}: {message}"),
                code == "-32602" && message.contains("raise_limit") && unharmed,
            ))
        })
        .await,
    );
    checks
}
