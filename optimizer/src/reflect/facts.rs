//! Facts about the market's tools, stated when failures show that agents did not know them.
//!
//! Each fact holds by the rules of the market. It is said only when the record calls for it, and not said at all when
//! the record contradicts it, as it would if the episodes came from a server with other rules.

use std::collections::BTreeSet;

use serde_json::Value;
use trajectory::{Call, ComponentId, EpisodeRecord};

use super::Brief;
use super::mined::Sentence;
use crate::classes::market::{ACCEPT, PRICE, PROPOSE, READ, REFUSE, REJECT, SOURCE};
use crate::classes::{Class, Finding, generic};

struct Fact {
    tool: &'static str,
    parameter: Option<&'static str>,
    text: &'static str,
    /// Whether a finding calls for the fact.
    called_for: fn(&Finding) -> bool,
    /// The rule it rests on, where a record can speak against that.
    rule: Option<Rule>,
}

fn is(finding: &Finding, classes: &[Class], tool: &str) -> bool {
    classes.contains(&finding.class) && finding.tool.as_deref() == Some(tool)
}

const LIMIT: [Class; 3] = [
    Class::RefusedByLimit,
    Class::AttemptedOutsideLimit,
    Class::InjectionObeyed,
];

const FACTS: [Fact; 12] = [
    Fact {
        tool: READ,
        parameter: None,
        text: "Reading does not use a move and does not end your turn; read once, then make one move.",
        called_for: |f| {
            is(
                f,
                &[
                    Class::RepeatedCall,
                    Class::ReadWithoutActing,
                    Class::WastedCalls,
                ],
                READ,
            )
        },
        rule: Some(Rule::ReadingIsFree),
    },
    Fact {
        tool: READ,
        parameter: None,
        text: "It says whose turn it is; a move is possible only on your own turn and while the negotiation is open.",
        called_for: |f| f.class == Class::OutOfTurn,
        rule: None,
    },
    Fact {
        tool: PROPOSE,
        parameter: None,
        text: "This is the way to make a counter-offer: it names a price that the other side can accept.",
        called_for: |f| {
            f.class == Class::RejectedInsteadOfCountering || is(f, &[Class::NeverClosed], PROPOSE)
        },
        rule: None,
    },
    Fact {
        tool: PROPOSE,
        parameter: None,
        text: "The price has to be inside your own limit.",
        called_for: |f| is(f, &LIMIT, PROPOSE),
        rule: None,
    },
    Fact {
        tool: PROPOSE,
        parameter: Some(PRICE),
        text: "A whole number, written in plain digits without quotation marks, decimals or a currency sign.",
        called_for: |f| {
            is(f, &[Class::WrongValue], PROPOSE)
                && f.parameter.as_deref().is_none_or(|p| p == PRICE)
        },
        rule: Some(Rule::PriceIsWhole),
    },
    Fact {
        tool: ACCEPT,
        parameter: None,
        text: "Closes the deal at the counterpart's latest price; use it when that price is inside your own limit.",
        called_for: |f| is(f, &[Class::MissedAcceptance, Class::NeverClosed], ACCEPT),
        rule: Some(Rule::AcceptsTheLatestPrice),
    },
    Fact {
        tool: ACCEPT,
        parameter: None,
        text: "It needs a price named by the counterpart, not your own.",
        called_for: |f| is(f, &[Class::ImpossibleMove], ACCEPT),
        rule: None,
    },
    Fact {
        tool: ACCEPT,
        parameter: None,
        text: "Accept only a price that is inside your own limit.",
        called_for: |f| is(f, &LIMIT, ACCEPT),
        rule: None,
    },
    Fact {
        tool: REJECT,
        parameter: None,
        text: "A rejection carries no price and uses up a move.",
        called_for: |f| f.class == Class::RejectedInsteadOfCountering,
        rule: Some(Rule::RejectingCosts),
    },
    Fact {
        tool: REJECT,
        parameter: None,
        text: "It needs a price named by the counterpart.",
        called_for: |f| is(f, &[Class::ImpossibleMove], REJECT),
        rule: None,
    },
    Fact {
        tool: REFUSE,
        parameter: None,
        text: "Walking away is the right end when no price inside your limit can be reached; it closes the negotiation without a deal.",
        called_for: |f| is(f, &[Class::NeverClosed], REFUSE),
        rule: None,
    },
    Fact {
        tool: REFUSE,
        parameter: None,
        text: "It ends the negotiation for good, so while prices still move towards your limit a counter-offer can reach a deal.",
        called_for: |f| f.class == Class::GaveUpTooEarly,
        rule: None,
    },
];

/// The facts the findings call for. Episodes of other servers get none.
pub(super) fn sentences(brief: &Brief<'_>, findings: &[&Finding]) -> Vec<Sentence> {
    if brief
        .records
        .iter()
        .any(|record| record.episode.source != SOURCE)
    {
        return Vec::new();
    }
    let contradicted = contradicted(brief);
    FACTS
        .iter()
        .filter_map(|fact| {
            let component = ComponentId {
                tool: fact.tool.to_owned(),
                parameter: fact.parameter.map(str::to_owned),
            };
            let answers: Vec<String> = findings
                .iter()
                .filter(|f| (fact.called_for)(f))
                .map(|f| f.id.clone())
                .collect();
            let stated = !answers.is_empty()
                && brief.toolset.text(&component).is_some()
                && !fact.rule.is_some_and(|rule| contradicted.contains(&rule));
            stated.then(|| Sentence {
                component,
                text: fact.text.to_owned(),
                answers,
                source: "a rule of the market the agents did not follow",
            })
        })
        .collect()
}

/// A rule that the recorded views show at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    ReadingIsFree,
    RejectingCosts,
    AcceptsTheLatestPrice,
    PriceIsWhole,
}

/// The rules the record speaks against.
fn contradicted(brief: &Brief<'_>) -> BTreeSet<Rule> {
    let mut broken = BTreeSet::new();
    let price_type = brief
        .toolset
        .tool(PROPOSE)
        .and_then(trajectory::Tool::input_schema)
        .and_then(|schema| schema.get("properties")?.get(PRICE)?.get("type"));
    if price_type.is_some_and(|kind| kind != "integer") {
        broken.insert(Rule::PriceIsWhole);
    }
    for record in brief.records {
        watch(record, &mut broken);
    }
    broken
}

fn watch(record: &EpisodeRecord, broken: &mut BTreeSet<Rule>) {
    let mut before: Option<(&Call, i64)> = None;
    let mut offered: Option<(&Call, i64)> = None;
    for call in record.calls.iter().filter(|call| !generic::failed(call)) {
        let view: Option<Value> = call
            .result
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok());
        let number = |key: &str| {
            view.as_ref()
                .and_then(|view| view.get(key))
                .and_then(Value::as_i64)
        };
        let left = number("moves_left");
        if let (Some((earlier, had)), Some(has)) = (before, left) {
            let same_turn = earlier.turn == call.turn && earlier.role == call.role;
            if earlier.tool == READ && call.tool == READ && same_turn && has < had {
                broken.insert(Rule::ReadingIsFree);
            }
            if earlier.tool == READ && call.tool == REJECT && same_turn && has >= had {
                broken.insert(Rule::RejectingCosts);
            }
        }
        if call.tool == READ {
            offered = number("counterpart_price").map(|price| (call, price));
        } else if let (ACCEPT, Some((read, price)), Some(closed)) =
            (call.tool.as_str(), offered, number("price"))
        {
            // Only a price read in the same turn is certain to have been the latest.
            if read.turn == call.turn && read.role == call.role && price != closed {
                broken.insert(Rule::AcceptsTheLatestPrice);
            }
        }
        before = left.map(|left| (call, left));
    }
}
