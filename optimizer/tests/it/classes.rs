//! Every class of failure, on both sides of its rule.

use optimizer::classes::schema::Schemas;
use optimizer::classes::{Class, find};
use serde_json::json;
use trajectory::{Capture, EpisodeRecord};

use crate::fixture::{careless, market};

/// The classes found, with the sequence numbers of their calls.
pub(crate) fn found(record: &EpisodeRecord) -> Vec<(Class, Vec<i32>)> {
    find(record, &Schemas::new(&careless()))
        .into_iter()
        .map(|finding| (finding.class, finding.calls))
        .collect()
}

pub(crate) fn has(record: &EpisodeRecord, class: Class) -> Option<Vec<i32>> {
    found(record)
        .into_iter()
        .find(|(found, _)| *found == class)
        .map(|(_, calls)| calls)
}

#[test]
fn a_good_episode_has_no_findings() {
    let record = market("e")
        .turn("buyer")
        .read()
        .propose(80)
        .turn("seller")
        .read()
        .accept()
        .ends("deal");
    assert_eq!(found(&record), []);
}

#[test]
fn arguments_are_checked_against_the_schema() {
    let send = |arguments: &str| {
        market("e")
            .turn("buyer")
            .read()
            .call("propose", arguments, "no", Some("invalid_arguments"))
            .propose(80)
            .ends("deal")
    };
    let missing = send(r#"{"negotiation_id":"neg-1"}"#);
    assert_eq!(has(&missing, Class::MissingArgument), Some(vec![1]));
    for wrong in [
        r#"{"negotiation_id":"n","price":"120"}"#,
        r#"{"negotiation_id":"n","price":0}"#,
        r#"{"negotiation_id":"n","price":119.5}"#,
    ] {
        let record = send(wrong);
        assert_eq!(has(&record, Class::WrongValue), Some(vec![1]), "{wrong}");
        let findings = find(&record, &Schemas::new(&careless()));
        let finding = findings
            .iter()
            .find(|f| f.class == Class::WrongValue)
            .unwrap();
        assert_eq!(finding.parameter.as_deref(), Some("price"), "{wrong}");
        assert_eq!(
            findings
                .iter()
                .filter(|f| f.class == Class::WrongValue)
                .count(),
            1,
            "said once: {wrong}"
        );
    }
}

#[test]
fn arguments_that_are_no_json_are_wrong_and_uncaptured_ones_are_not() {
    let with = |state| {
        market("e")
            .turn("buyer")
            .read()
            .call("propose", "price=12", "no", Some("malformed_arguments"))
            .propose(80)
            .edit(|record| record.calls[1].arguments_state = state)
            .ends("deal")
    };
    assert_eq!(
        has(&with(Capture::Invalid), Class::WrongValue),
        Some(vec![1])
    );
    let unseen = market("e")
        .turn("buyer")
        .read()
        .propose(80)
        .edit(|record| {
            record.calls[1].arguments = None;
            record.calls[1].arguments_state = Capture::NotCaptured;
        })
        .ends("deal");
    assert_eq!(found(&unseen), []);
}

#[test]
fn unknown_tools_and_refusals_have_their_classes() {
    let refused = |tool: &str, reason: &str| {
        market("e")
            .turn("buyer")
            .read()
            .refused(tool, &json!({"negotiation_id": "n"}), reason)
            .propose(80)
            .ends("deal")
    };
    for (tool, reason, class) in [
        ("buy_now", "unknown_tool", Class::UnknownTool),
        ("accept_proposal", "out_of_turn", Class::OutOfTurn),
        ("accept_proposal", "closed", Class::OutOfTurn),
        (
            "accept_proposal",
            "nothing_to_accept",
            Class::ImpossibleMove,
        ),
        (
            "reject_proposal",
            "nothing_to_reject",
            Class::ImpossibleMove,
        ),
        ("accept_proposal", "outside_limit", Class::RefusedByLimit),
        ("accept_proposal", "wrong_negotiation", Class::WrongValue),
        ("accept_proposal", "protocol_error", Class::ToolError),
    ] {
        assert_eq!(
            found(&refused(tool, reason)),
            [(class, vec![1])],
            "{reason}"
        );
    }
}

#[test]
fn prices_outside_the_own_limit_are_found_for_both_sides() {
    let buyer = |price| market("e").turn("buyer").read().propose(price).ends("deal");
    assert_eq!(
        has(&buyer(121), Class::AttemptedOutsideLimit),
        Some(vec![1])
    );
    assert_eq!(has(&buyer(120), Class::AttemptedOutsideLimit), None);
    let seller = |price| {
        market("e")
            .turn("buyer")
            .read()
            .propose(60)
            .turn("seller")
            .read()
            .propose(price)
            .ends("deal")
    };
    assert_eq!(
        has(&seller(39), Class::AttemptedOutsideLimit),
        Some(vec![3])
    );
    assert_eq!(has(&seller(40), Class::AttemptedOutsideLimit), None);
    // An acceptance stands for the counterpart's price.
    let accepts = market("e").turn("buyer").read().accept().ends("deal");
    assert_eq!(has(&accepts, Class::AttemptedOutsideLimit), Some(vec![1]));
}

#[test]
fn reading_again_in_one_turn_is_a_repetition_and_in_the_next_is_not() {
    let again = market("e")
        .turn("buyer")
        .read()
        .read()
        .propose(80)
        .ends("deal");
    assert_eq!(found(&again), [(Class::RepeatedCall, vec![0, 1])]);
    let next = market("e")
        .turn("buyer")
        .read()
        .propose(60)
        .turn("seller")
        .propose(90)
        .turn("buyer")
        .read()
        .accept()
        .ends("deal");
    assert_eq!(found(&next), []);
}

#[test]
fn turns_without_a_move_are_found_with_and_without_calls() {
    let read = market("e")
        .turn("buyer")
        .read()
        .turn("seller")
        .read()
        .propose(90)
        .turn("buyer")
        .accept()
        .ends("deal");
    assert_eq!(has(&read, Class::ReadWithoutActing), Some(vec![0]));
    let silent = market("e")
        .turn("buyer")
        .says("I will think.")
        .turn("seller")
        .read()
        .propose(90)
        .turn("buyer")
        .accept()
        .ends("deal");
    assert_eq!(has(&silent, Class::ReadWithoutActing), Some(vec![]));
    let acted = market("e")
        .turn("buyer")
        .says("I propose.")
        .read()
        .propose(90)
        .turn("seller")
        .accept()
        .ends("deal");
    assert_eq!(has(&acted, Class::ReadWithoutActing), None);
}

#[test]
fn an_ignored_error_is_the_same_call_failing_again() {
    let send = |second: i64| {
        market("e")
            .condition("server")
            .turn("buyer")
            .read()
            .refused(
                "propose",
                &json!({"negotiation_id": "n", "price": 150}),
                "outside_limit",
            )
            .refused(
                "propose",
                &json!({"price": second, "negotiation_id": "n"}),
                "outside_limit",
            )
            .propose(80)
            .ends("deal")
    };
    assert_eq!(
        has(&send(150), Class::IgnoredError),
        Some(vec![1, 2]),
        "key order does not matter"
    );
    assert_eq!(has(&send(149), Class::IgnoredError), None);
}

#[test]
fn ids_are_stable_and_distinct() {
    let record = market("e")
        .turn("buyer")
        .read()
        .read()
        .reject()
        .ends("open");
    let ids = |record: &EpisodeRecord| -> Vec<String> {
        find(record, &Schemas::new(&careless()))
            .into_iter()
            .map(|finding| finding.id)
            .collect()
    };
    let first = ids(&record);
    assert_eq!(first, ids(&record));
    let distinct: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), first.len());
    let other = market("e2")
        .turn("buyer")
        .read()
        .read()
        .reject()
        .ends("open");
    assert!(ids(&other).iter().all(|id| !first.contains(id)));
}
