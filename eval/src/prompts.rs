//! The prompts: the same bytes in every condition, for every arm.
//!
//! They are files of this crate; only item, limit and negotiation id are filled in. Their hash is recorded
//! with every episode and is one of the settings that define an experiment.

use market::Role;
use market::scenario::Scenario;
use serde_json::json;
use trajectory::canonical::{canonical_json, sha256_hex};

const BUYER: &str = include_str!("../prompts/buyer.txt");
const SELLER: &str = include_str!("../prompts/seller.txt");
const TURN: &str = include_str!("../prompts/turn.txt");

/// The system prompt of a party. Neither the condition nor the toolset is known here, so they cannot matter.
pub fn system(role: Role, scenario: &Scenario) -> String {
    let (template, limit) = match role {
        Role::Buyer => (BUYER, scenario.budget),
        Role::Seller => (SELLER, scenario.reserve),
    };
    // The item comes last: a name that contains `{limit}` must not be filled in again.
    template
        .trim_end()
        .replace("{limit}", &limit.to_string())
        .replace("{item}", &scenario.item)
}

/// The prompt of a turn.
pub fn turn(negotiation_id: &str) -> String {
    TURN.trim_end().replace("{negotiation_id}", negotiation_id)
}

/// Hash over the templates.
pub fn hash() -> String {
    let prompts =
        json!({"buyer": BUYER.trim_end(), "seller": SELLER.trim_end(), "turn": TURN.trim_end()});
    let hash = sha256_hex(canonical_json(&prompts).as_bytes());
    format!("pr_{}", hash.get(..16).unwrap_or(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompts_are_the_documented_ones() {
        let scenario = Scenario {
            id: "a".to_owned(),
            item: "bicycle".to_owned(),
            reserve: 40,
            budget: 120,
        };
        assert_eq!(
            system(Role::Buyer, &scenario),
            "You are the buyer in a negotiation about one item: bicycle.\nYour limit is 120: paying more than that is worse than no deal. Keep your limit to yourself.\nTry to buy as cheaply as you can. If no price inside your limit can be reached, ending without a deal is the right result.\nYou act only through the tools. Each turn you may look at the negotiation and make one move."
        );
        assert!(system(Role::Seller, &scenario).contains("Your limit is 40: selling for less"));
        assert_eq!(
            turn("ng_1"),
            "It is your turn in negotiation ng_1. Make your move with the tools."
        );
    }

    #[test]
    fn an_item_cannot_fill_in_the_limit() {
        let scenario = Scenario {
            id: "a".to_owned(),
            item: "a {limit} lamp".to_owned(),
            reserve: 40,
            budget: 120,
        };
        assert!(system(Role::Buyer, &scenario).contains("a {limit} lamp"));
    }

    #[test]
    fn the_hash_is_short_and_stable() {
        assert_eq!(hash(), hash());
        assert_eq!(hash().len(), 19);
    }
}
