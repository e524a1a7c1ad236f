use super::*;
use crate::injection;
use proptest::prelude::*;

fn terms(reserve: i64, budget: i64, enforce: bool) -> Terms {
    Terms {
        scenario: Scenario {
            id: "s".into(),
            item: "pen".into(),
            reserve,
            budget,
        },
        enforce,
        inject: None,
        opening: Opening::Listing,
        max_moves: 8,
        notes: false,
    }
}

fn injected(mut terms: Terms, id: &str) -> Terms {
    terms.inject = Some(injection::find(id).unwrap());
    terms
}

#[test]
fn a_deal_is_made_at_the_counterparts_latest_price() {
    let mut n = Negotiation::new(terms(40, 120, true));
    n.act(Role::Buyer, Action::Propose(50), None).unwrap();
    n.act(Role::Seller, Action::Propose(90), None).unwrap();
    n.act(Role::Buyer, Action::Reject, None).unwrap();
    n.act(Role::Seller, Action::Reject, None).unwrap();
    // A rejection withdraws nothing: the seller's latest price still stands.
    n.act(Role::Buyer, Action::Accept, None).unwrap();
    assert_eq!(
        (n.status(), n.price(), n.counters().turns),
        (Status::Deal, Some(90), 5)
    );
    assert_eq!(
        n.act(Role::Seller, Action::Refuse, None),
        Err(Refusal::Closed)
    );
}

#[test]
fn impossible_moves_are_refused_and_change_nothing() {
    let mut n = Negotiation::new(Terms {
        opening: Opening::Buyer,
        ..terms(40, 120, false)
    });
    let before = (n.events.clone(), n.turn, n.status, n.moves_left());
    for (role, action, reason) in [
        (Role::Seller, Action::Propose(100), Refusal::OutOfTurn),
        (Role::Buyer, Action::Accept, Refusal::NothingToAccept),
        (Role::Buyer, Action::Reject, Refusal::NothingToReject),
    ] {
        assert_eq!(n.act(role, action, None), Err(reason));
    }
    assert_eq!((n.events.clone(), n.turn, n.status, n.moves_left()), before);
    n.act(Role::Buyer, Action::Propose(50), None).unwrap();
    // The seller's own refusals below are of its own turn; the buyer's two were recovered.
    assert_eq!(n.counters().recovered_refusals, 2);
    n.pass(Role::Seller);
    assert_eq!(
        n.act(Role::Buyer, Action::Accept, None),
        Err(Refusal::NothingToAccept)
    );
}

#[test]
fn the_limit_is_enforced_only_where_the_flag_says_and_counted_everywhere() {
    for enforce in [false, true] {
        let mut n = Negotiation::new(terms(110, 100, enforce));
        let accepted = n.act(Role::Buyer, Action::Accept, None);
        assert_eq!(
            n.counters().attempted_violations,
            PerRole {
                buyer: 1,
                seller: 0
            }
        );
        assert_eq!(
            accepted,
            if enforce {
                Err(Refusal::OutsideLimit)
            } else {
                Ok(())
            }
        );
        assert_eq!(
            n.status(),
            if enforce { Status::Open } else { Status::Deal }
        );
        assert_eq!(n.moves_left(), if enforce { 8 } else { 7 });
    }
}

#[test]
fn the_injection_is_in_the_targets_view_only_and_never_stored() {
    let mut n = Negotiation::new(injected(terms(40, 120, false), injection::DEFAULT));
    let buyer = n.read(Role::Buyer, "n").to_string();
    let seller = n.read(Role::Seller, "n").to_string();
    assert!(buyer.contains("[market notice]") && !seller.contains("[market notice]"));
    assert_eq!(n.counters().exposures, 1);
    assert!(!format!("{:?}", n.events()).contains("notice"));
    n.act(Role::Buyer, Action::Propose(60), None).unwrap();
    n.act(Role::Seller, Action::Propose(130), None).unwrap();
    let view = n.read(Role::Buyer, "n");
    let carrying = view["moves"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["text"].as_str().unwrap().contains("notice"));
    assert_eq!(carrying.count(), 2, "the listing and the seller's price");
}

#[test]
fn an_injection_without_a_price_to_ride_on_is_no_exposure() {
    let mut n = Negotiation::new(Terms {
        opening: Opening::Buyer,
        ..injected(terms(40, 120, false), injection::DEFAULT)
    });
    n.read(Role::Buyer, "n");
    assert_eq!(n.counters().exposures, 0);
}

#[test]
fn a_true_notice_really_raises_the_limit() {
    let mut n = Negotiation::new(injected(terms(110, 100, true), "control_true"));
    assert_eq!(n.limit(Role::Buyer), 140);
    n.act(Role::Buyer, Action::Accept, None).unwrap();
    assert_eq!(n.counters().attempted_violations.buyer, 0);
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (1i64..400).prop_map(Action::Propose),
        1 => Just(Action::Accept),
        2 => Just(Action::Reject),
        1 => Just(Action::Refuse),
    ]
}

proptest! {
    #[test]
    fn no_sequence_of_moves_breaks_the_rules(
        reserve in 1i64..300, budget in 1i64..300, enforce: bool, max_moves in 1u32..10,
        script in prop::collection::vec((any::<bool>(), any_action(), 0u8..10), 0..60),
    ) {
        let mut n = Negotiation::new(Terms { max_moves, ..terms(reserve, budget, enforce) });
        let mut refused = 0;
        for (buyer, action, pass) in script {
            let role = if buyer { Role::Buyer } else { Role::Seller };
            let next = n.next_role();
            let offered = n.latest_price(role.other());
            let before = n.clone();
            if pass == 0 {
                let passed = n.pass(role);
                prop_assert_eq!(passed, next == Some(role));
                continue;
            }
            if n.act(role, action, None).is_ok() {
                prop_assert_eq!(next, Some(role), "only on one's turn");
                if action == Action::Accept {
                    prop_assert_eq!(n.price(), offered, "a deal is at a price the counterpart named");
                }
            } else {
                refused += 1;
                let mut same = n.clone();
                same.counters = before.counters.clone();
                same.refusals_this_turn = before.refusals_this_turn;
                prop_assert_eq!(same, before, "a refusal changes counters only");
            }
            let counters = n.counters();
            prop_assert!(counters.turns + counters.passes <= max_moves);
            prop_assert_eq!(counters.refused.values().sum::<u32>(), refused);
            prop_assert!(counters.recovered_refusals <= refused);
            if let (Some(price), true) = (n.price(), enforce) {
                // The accepting party's limit is enforced on accepting, the other's on proposing; the listing
                // is above both limits, so accepting it is refused too.
                prop_assert!(reserve <= price && price <= budget, "{price} outside {reserve}..{budget}");
            }
        }
    }
}
