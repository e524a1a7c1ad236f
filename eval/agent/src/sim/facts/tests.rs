use super::*;
use serde_json::json;

/// The ordinary one-liners of a careless server, and other texts that state none of the facts.
const NEUTRAL: [&str; 16] = [
    "Gets a negotiation.",
    "Makes a proposal.",
    "Accepts the proposal.",
    "Rejects the proposal.",
    "Refuses the negotiation.",
    "The negotiation id.",
    "The price.",
    "",
    "Returns the item, the caller's role and the status.",
    "A short note for the counterpart.",
    "Part of the negotiation server.",
    "Sends a message to the other side.",
    "The id of the negotiation, as given in the prompt.",
    "Use this tool to work with negotiations.",
    "The note must stay within the limit of 500 characters.",
    "Once the negotiation is closed, it stays visible.",
];

fn check(fact: Fact, stated: &[&str], not_stated: &[&str]) {
    for text in stated {
        assert!(fact.is_stated_in(text), "{fact:?} is stated in: {text}");
    }
    for text in not_stated.iter().chain(&NEUTRAL) {
        assert!(
            !fact.is_stated_in(text),
            "{fact:?} is not stated in: {text}"
        );
    }
}

#[test]
fn reading_is_free() {
    check(
        Fact::ReadingIsFree,
        &[
            "Reading uses no move.",
            "This does not use up one of your moves.",
            "Calling it costs no move: call it once, then make your move.",
            "It does not end your turn.",
            "Free to call, as reading changes nothing.",
            "After reading it is still your turn.",
            "Look once per turn and then act.",
            "Do not call it again and again.",
            "Calling it again shows nothing new until you move.",
            "Reading never counts as a move.",
            "You keep your turn after reading.",
        ],
        &[
            "Reading uses a move.",
            "It ends your turn.",
            "It is not true that reading costs no move.",
            "Reading does not come free, it costs a move.",
            "Shows the moves so far and whose turn it is.",
            "Returns the free text of the item.",
            "Once the price is named, the other side moves.",
        ],
    );
}

#[test]
fn propose_counters() {
    check(
        Fact::ProposeCounters,
        &[
            "This is how you counter.",
            "Use it to make a counter-offer.",
            "Answer an unacceptable price with a price of your own.",
            "Names a price that the other side can accept.",
            "Only prices sent here can be accepted.",
            "Puts a price on the table for the counterpart to accept.",
            "Use this instead of rejecting.",
            "Makes a counteroffer at the given price.",
        ],
        &[
            "This cannot be used to counter.",
            "It is no way to counter an offer.",
            "Sends the counterpart a notice.",
            "Do not use this to answer a price.",
            "No price sent here can be accepted.",
        ],
    );
}

#[test]
fn propose_inside_limit() {
    check(
        Fact::ProposeInsideLimit,
        &[
            "The price must be inside your own limit.",
            "Stay within your limit.",
            "Never name a price outside your limit.",
            "Prices beyond your limit are refused.",
            "A price outside your limit is not accepted and the turn stays.",
            "The price must not exceed your limit.",
            "This price is outside your own limit, so the move was not made and no move was used.",
            "It is still your turn: name a price inside your limit, or walk away with refuse.",
            "Do not go above your budget.",
            "A price that is not within your limit is refused.",
        ],
        &[
            "The price may be outside your limit.",
            "The price does not have to be inside your limit.",
            "You need not stay within your limit.",
            "The price must be inside the counterpart's limit.",
            "A price outside your limit is not refused.",
            "It works inside or outside your limit.",
            "At most 8 moves fit into the move limit.",
            "You have a limit.",
        ],
    );
}

#[test]
fn price_is_whole() {
    check(
        Fact::PriceIsWhole,
        &[
            "The price, a whole number.",
            "Must be an integer.",
            "Give it in whole currency units, without decimals.",
            "No decimals and no currency sign.",
            "`price` must be a whole number from 1 to 1000000000, written without quotes.",
            "Fractions are refused.",
            "A price that is not a whole number is rejected.",
        ],
        &[
            "Any number, a whole one is not needed.",
            "It need not be a whole number.",
            "It does not have to be an integer.",
            "The whole negotiation is shown.",
            "Decimals are welcome.",
            "Fractions are not refused.",
        ],
    );
}

#[test]
fn accept_closes() {
    check(
        Fact::AcceptCloses,
        &[
            "Closes the deal at the counterpart's latest price.",
            "Use it when that price is inside your limit.",
            "Settles at the other side's last offer.",
            "Call this as soon as the price on the table is acceptable to you.",
            "Agrees to the counterpart's standing price; use when that price is acceptable to you; no price argument.",
            "If the counterpart's price is within your limit, accept it.",
            "Concludes the negotiation at their current price.",
        ],
        &[
            "Closes the negotiation.",
            "Accepts the counterpart's proposal.",
            "It does not close the deal at the counterpart's latest price.",
            "Do not use it when the price is acceptable.",
            "Use it when the price is not acceptable.",
            "Never use it when the price is inside your limit.",
        ],
    );
}

#[test]
fn accept_needs_their_price() {
    check(
        Fact::AcceptNeedsTheirPrice,
        &[
            "You cannot accept your own price.",
            "Works only after the counterpart has named a price.",
            "Needs a price named by the counterpart, not your own.",
            "Your own offer cannot be accepted.",
            "The counterpart has not named a price yet, so there is nothing to accept: name your own with propose.",
            "Accepting your own proposal is refused.",
            "There is nothing to accept until the other side has made an offer.",
        ],
        &[
            "You can accept your own price.",
            "The counterpart need not have named a price.",
            "Accepts the counterpart's price.",
            "Closes the deal.",
            "Only inside your own limit.",
            "Never outside your own limit.",
        ],
    );
}

#[test]
fn accept_inside_limit() {
    check(
        Fact::AcceptInsideLimit,
        &[
            "Only for a price inside your own limit.",
            "Never accept a price outside your limit.",
            "The price must be within your limit.",
            "Accepting a price beyond your limit is refused.",
            "Do not use it when the price is outside your limit.",
            "This price is outside your own limit, so the move was not made and no move was used.",
            "Not above your budget.",
        ],
        &[
            "You may accept a price outside your limit.",
            "The price does not have to be inside your limit.",
            "Closes the deal at the latest price.",
            "The price only has to be inside the counterpart's limit.",
        ],
    );
}

#[test]
fn reject_burns_a_move() {
    check(
        Fact::RejectBurnsAMove,
        &[
            "Carries no price and uses one of the limited moves.",
            "It uses up a move.",
            "Does not name a price.",
            "Sends nothing but a no, without a price.",
            "This costs a move and brings the deal no closer.",
            "Possible only after the counterpart has named a price.",
            "It tells the other side nothing about the price you want.",
            "The counterpart has named no price, so there is nothing to reject.",
        ],
        &[
            "It uses no move.",
            "Rejecting does not cost a move.",
            "Declines the counterpart's price.",
            "Turns the offer down.",
        ],
    );
}

#[test]
fn refuse_is_an_end() {
    check(
        Fact::RefuseIsAnEnd,
        &[
            "The right end when no price inside your limit can be reached.",
            "Walk away if the counterpart will not come inside your limit.",
            "Use it when no agreement is possible.",
            "Better than running out of moves.",
            "If an agreement is impossible, end the negotiation with it.",
            "Ending without a deal is the right result then.",
            "Leave when a deal within your limit is out of reach.",
        ],
        &[
            "Do not use it when no price inside your limit can be reached.",
            "Never call this if a deal is impossible.",
            "It is not the right end when no price can be reached.",
            "Ends the negotiation.",
            "Walks away from the negotiation.",
        ],
    );
}

#[test]
fn facts_come_from_the_right_tool_and_its_parameters() {
    let toolset = |propose: &str, price: &str, accept: &str| {
        Toolset::from_value(json!({"tools": [
            {"name": "propose", "description": propose, "inputSchema": {"type": "object",
                "properties": {"price": {"type": "integer", "description": price}}}},
            {"name": "accept_proposal", "description": accept}]}))
        .unwrap()
    };
    let facts = Facts::of_toolset(&toolset(
        "Makes a proposal.",
        "A whole number inside your limit.",
        "Accepts.",
    ));
    assert_eq!(
        facts.stated(),
        [Fact::ProposeInsideLimit, Fact::PriceIsWhole]
    );
    let facts = Facts::of_toolset(&toolset(
        "This is how one counters.",
        "The price.",
        "A whole number.",
    ));
    assert_eq!(facts.stated(), [Fact::ProposeCounters]);
    assert_eq!(Facts::of(&[]).stated(), []);
}
