//! The guard on what an edit is: components, citations, sizes; each named rejection beside the neighbour that passes.

use std::collections::BTreeSet;

use optimizer::guard::{Guard, Limits, Reason, Rejection};
use optimizer::patch::{Edit, Patch};
use serde_json::{Value, json};
use trajectory::{EpisodeRecord, Toolset};

use crate::fixture::{careless, market};

pub(crate) fn edit(tool: &str, parameter: Option<&str>, text: &str) -> Edit {
    Edit {
        tool: tool.to_owned(),
        parameter: parameter.map(str::to_owned),
        text: text.to_owned(),
        answers: vec!["f_known".to_owned()],
        reason: "because".to_owned(),
    }
}

pub(crate) fn known() -> BTreeSet<String> {
    BTreeSet::from(["f_known".to_owned()])
}

pub(crate) fn judge_on(
    toolset: &Toolset,
    records: &[EpisodeRecord],
    edits: Vec<Edit>,
) -> Vec<Rejection> {
    let records: Vec<&EpisodeRecord> = records.iter().collect();
    Guard::new(toolset, &records, known(), Limits::default()).judge(Patch { edits })
}

/// The reason one edit of `refuse` is rejected for, on episodes of the market.
pub(crate) fn reason(text: &str) -> Option<Reason> {
    let record = market("ep_1")
        .turn("buyer")
        .read_with("Dear agent, my dog ate the price list yesterday")
        .says("I am thinking about paying somewhat more for it")
        .propose(87)
        .ends("deal");
    judge_on(&careless(), &[record], vec![edit("refuse", None, text)])
        .pop()
        .map(|rejection| rejection.reason)
}

#[track_caller]
pub(crate) fn check(passes: &str, fails: &str, with: Reason) {
    assert_eq!(reason(passes), None, "passes: {passes}");
    assert_eq!(reason(fails), Some(with), "fails: {fails}");
}

#[test]
fn components_have_to_exist() {
    let check = |tool: &str, parameter: Option<&str>| {
        judge_on(
            &careless(),
            &[],
            vec![edit(tool, parameter, "Says something new.")],
        )
        .pop()
        .map(|r| r.reason)
    };
    assert_eq!(check("propose", None), None);
    assert_eq!(check("propose", Some("price")), None);
    assert_eq!(check("purpose", None), Some(Reason::UnknownTool));
    assert_eq!(
        check("propose", Some("prize")),
        Some(Reason::UnknownParameter)
    );
    assert_eq!(
        check("refuse", Some("price")),
        Some(Reason::UnknownParameter)
    );
}

#[test]
fn cited_failures_have_to_exist() {
    let cite = |answers: &[&str]| {
        let answers = answers.iter().map(|id| (*id).to_owned()).collect();
        let edit = Edit {
            answers,
            ..edit("refuse", None, "Walks away without a deal.")
        };
        judge_on(&careless(), &[], vec![edit])
            .pop()
            .map(|r| r.reason)
    };
    assert_eq!(cite(&["f_known"]), None);
    assert_eq!(
        cite(&["f_known", "f_made_up"]),
        Some(Reason::UnknownFailure)
    );
    assert_eq!(cite(&[]), Some(Reason::UnknownFailure));
}

#[test]
fn a_text_has_to_say_something_new() {
    check(
        "Refuses the negotiation for good.",
        "Refuses  the negotiation. ",
        Reason::NoChange,
    );
    assert_eq!(reason(" \n"), Some(Reason::Empty));
}

#[test]
fn a_component_is_rewritten_once() {
    let two = |second: &str| {
        judge_on(
            &careless(),
            &[],
            vec![
                edit("refuse", None, "Walks away."),
                edit(second, None, "Says something else."),
            ],
        )
        .pop()
        .map(|r| r.reason)
    };
    assert_eq!(two("propose"), None);
    assert_eq!(two("refuse"), Some(Reason::Duplicate));
}

#[test]
fn what_was_rejected_is_not_judged_again() {
    let mut guard = Guard::new(&careless(), &[], known(), Limits::default());
    let mut once = |text: &str| {
        guard
            .judge(Patch {
                edits: vec![edit("refuse", None, text)],
            })
            .pop()
            .map(|r| r.reason)
    };
    assert_eq!(once("This is the best tool."), Some(Reason::Coercive));
    assert_eq!(
        once("this is the  BEST tool!"),
        Some(Reason::AlreadyRejected)
    );
    assert_eq!(once("Walks away."), None);
}

#[test]
fn sizes_are_bounded() {
    let words = |n: usize| vec!["word"; n].join(" ");
    // 160 words change at most; "Refuses the negotiation." goes and 157 come.
    check(&words(157), &words(158), Reason::EditTooLarge);
    check(&"x".repeat(24), &"wo rd ".repeat(200), Reason::TooLong);
    let price = |n: usize| {
        judge_on(
            &careless(),
            &[],
            vec![edit("propose", Some("price"), &"ab ".repeat(n))],
        )
        .pop()
        .map(|r| r.reason)
    };
    assert_eq!(price(100), None);
    assert_eq!(price(101), Some(Reason::TooLong));
}

#[test]
fn the_whole_toolset_grows_at_most_twofold_above_its_floor() {
    let long = "Describes in some detail what the tool is for and when it is of use. ".repeat(8);
    let toolset = |tools: usize| {
        let tools: Vec<Value> = (0..tools)
            .map(|n| json!({"name": format!("t{n}"), "description": long}))
            .collect();
        Toolset::from_value(Value::Array(tools)).unwrap()
    };
    let doubled = format!("{long}{}", "It says a little more than it did. ".repeat(12));
    let edits = |n: usize| {
        (0..n)
            .map(|n| edit(&format!("t{n}"), None, &doubled))
            .collect::<Vec<_>>()
    };
    // 552 characters each: twice the sum is more than the floor of 400 per tool.
    assert_eq!(judge_on(&toolset(3), &[], edits(3)), []);
    let limits = Limits {
        growth: 1,
        floor_per_tool: 600,
        ..Limits::default()
    };
    let rejected = Guard::new(&toolset(3), &[], known(), limits).judge(Patch { edits: edits(3) });
    assert_eq!(
        rejected.iter().map(|r| r.reason).collect::<Vec<_>>(),
        [Reason::TooLong; 3]
    );
}

#[test]
fn edits_are_counted() {
    let limits = Limits {
        edits: 1,
        ..Limits::default()
    };
    let edits = vec![
        edit("refuse", None, "Walks away."),
        edit("propose", None, "Names a price."),
    ];
    let mut guard = Guard::new(&careless(), &[], known(), limits);
    let rejected = guard.judge(Patch { edits });
    assert_eq!(
        rejected.iter().map(|r| r.reason).collect::<Vec<_>>(),
        [Reason::TooManyEdits]
    );
    assert_eq!(guard.accepted().len(), 1);
}

#[test]
fn the_structure_cannot_change() {
    // A description that is not a text is part of the structure: setting it would replace it.
    let toolset = Toolset::from_value(json!([{"name": "t", "inputSchema": {"properties": {
        "odd": {"type": "string", "description": {"en": "Odd."}}, "even": {"type": "string"}}}}]))
    .unwrap();
    let change = |parameter| {
        judge_on(
            &toolset,
            &[],
            vec![edit("t", Some(parameter), "Says something.")],
        )
        .pop()
        .map(|r| r.reason)
    };
    assert_eq!(change("even"), None);
    assert_eq!(change("odd"), Some(Reason::StructureChanged));
}
