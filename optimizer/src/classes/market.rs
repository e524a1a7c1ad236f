//! Failure classes of the negotiation market.
//!
//! The rules are applied to the recorded calls, not taken from the server's counters, so that a diagnosis can be
//! checked against the record alone.

mod endings;
mod replay;

use std::collections::BTreeMap;

pub use market::contract::{
    ACCEPT_PROPOSAL as ACCEPT, GET_NEGOTIATION as READ, PROPOSE, REFUSE, REJECT_PROPOSAL as REJECT,
};
use trajectory::EpisodeRecord;

use super::schema::Schemas;
use super::{Class, Draft, EXCERPT, generic};
use crate::visible;
use replay::{Replay, Step};

/// `Episode::source` of the market's episodes.
pub const SOURCE: &str = "market";

/// The parameter that holds a price.
pub const PRICE: &str = "price";

/// Findings of an episode of the market.
pub(crate) fn find(record: &EpisodeRecord, schemas: &Schemas) -> Vec<Draft> {
    let replay = Replay::of(record);
    let mut found = Vec::new();
    for step in &replay.steps {
        call_classes(step, schemas, &mut found);
    }
    let turns = replay.turns();
    for steps in turns.values() {
        turn_classes(steps, &mut found);
    }
    silent_turns(record, &turns, &mut found);
    endings::find(record, &replay, &turns, &mut found);
    wasted(&replay, &turns, &mut found);
    found
}

/// The steps of one turn of one party.
type Turn<'r, 'a> = Vec<&'r Step<'a>>;
/// Turns by number and role.
type Turns<'r, 'a> = BTreeMap<(i32, &'a str), Turn<'r, 'a>>;

/// What a single call shows.
fn call_classes(step: &Step<'_>, schemas: &Schemas, found: &mut Vec<Draft>) {
    let call = step.call;
    if generic::unknown_tool(call, schemas, found) {
        return;
    }
    let explained = generic::arguments(call, schemas, found);
    let shown = || {
        visible::line(
            generic::error_text(call).unwrap_or("no message was recorded"),
            EXCERPT,
        )
    };
    if let Some(class) = call
        .error_class
        .as_deref()
        .filter(|_| generic::failed(call))
    {
        let (class, parameter) = match class {
            "out_of_turn" | "closed" => (Class::OutOfTurn, None),
            "nothing_to_accept" | "own_price" | "nothing_to_reject" => {
                (Class::ImpossibleMove, None)
            }
            "outside_limit" => (
                Class::RefusedByLimit,
                (call.tool == PROPOSE).then(|| PRICE.to_owned()),
            ),
            "wrong_negotiation" => (Class::WrongValue, Some("negotiation_id".to_owned())),
            "invalid_arguments" | "malformed_arguments" => (
                Class::WrongValue,
                (call.tool == PROPOSE).then(|| PRICE.to_owned()),
            ),
            _ => (Class::ToolError, None),
        };
        // The schema has already said the same, and said it more exactly.
        if !(explained && class == Class::WrongValue) {
            let evidence = format!("`{}` was refused: {}", call.tool, shown());
            found.push(Draft::new(class, evidence).at(call).parameter(parameter));
        }
    } else if generic::failed(call) {
        if !explained {
            found.push(
                Draft::new(
                    Class::ToolError,
                    format!("`{}` failed: {}", call.tool, shown()),
                )
                .at(call),
            );
        }
    } else if let (true, Some(price), Some(limit)) = (step.is_outside(), step.price, step.limit) {
        let evidence = format!(
            "`{}` at {price} is outside the {}'s limit of {limit}",
            call.tool, step.role
        );
        let parameter = (call.tool == PROPOSE).then(|| PRICE.to_owned());
        found.push(
            Draft::new(Class::AttemptedOutsideLimit, evidence)
                .at(call)
                .parameter(parameter),
        );
    }
    if call.tool == REJECT && step.moved {
        let evidence = match step.counterpart {
            Some(price) => format!("the price {price} was rejected without naming another one"),
            None => "a price was rejected without naming another one".to_owned(),
        };
        found.push(Draft::new(Class::RejectedInsteadOfCountering, evidence).at(call));
    }
}

/// What one turn shows: reading again and again, errors ignored, no move.
fn turn_classes(steps: &[&Step<'_>], found: &mut Vec<Draft>) {
    let reads: Vec<&&Step<'_>> = steps.iter().filter(|step| step.call.tool == READ).collect();
    if let (Some(last), true) = (reads.last(), reads.len() > 1) {
        let evidence = format!("the negotiation was read {} times in one turn", reads.len());
        found.push(
            Draft::new(Class::RepeatedCall, evidence)
                .at(last.call)
                .calls(reads.iter().map(|step| step.call.sequence)),
        );
    }
    let calls: Vec<_> = steps.iter().map(|step| step.call).collect();
    let mut chains = Vec::new();
    generic::after_errors(&calls, &mut chains);
    // A move mended after a refusal is how the market is meant to be used; only ignored errors count here.
    found.extend(
        chains
            .into_iter()
            .filter(|draft| draft.class == Class::IgnoredError),
    );
    if let (true, Some(last)) = (reads.len() == steps.len(), steps.last()) {
        let evidence = format!(
            "the turn passed with {} and no move",
            if reads.len() == 1 {
                "one reading".to_owned()
            } else {
                format!("{} readings", reads.len())
            }
        );
        found.push(
            Draft::new(Class::ReadWithoutActing, evidence)
                .at(last.call)
                .calls(steps.iter().map(|step| step.call.sequence)),
        );
    }
}

/// Turns in which the model answered and called nothing.
fn silent_turns(record: &EpisodeRecord, turns: &Turns<'_, '_>, found: &mut Vec<Draft>) {
    let mut silent: Vec<(i32, &str)> = record
        .messages
        .iter()
        .filter(|message| message.role == "assistant")
        .filter_map(|message| Some((message.turn?, message.party.as_deref()?)))
        .filter(|key| !turns.contains_key(key))
        .collect();
    silent.sort_unstable();
    silent.dedup();
    for (turn, role) in silent {
        let evidence = "the turn passed without any tool call".to_owned();
        found.push(Draft::new(Class::ReadWithoutActing, evidence).turn(Some(turn), Some(role)));
    }
}

/// Fewer wasted calls than this are not worth a finding.
const WASTED_AT_LEAST: usize = 3;

/// An episode much of which was spent on failed calls and repeated readings.
fn wasted(replay: &Replay<'_>, turns: &Turns<'_, '_>, found: &mut Vec<Draft>) {
    let mut calls = Vec::new();
    let mut by_tool: BTreeMap<&str, usize> = BTreeMap::new();
    for steps in turns.values() {
        let mut read = false;
        for step in steps {
            let again = step.call.tool == READ && std::mem::replace(&mut read, true);
            if again || generic::failed(step.call) {
                calls.push(step.call.sequence);
                *by_tool.entry(&step.call.tool).or_default() += 1;
            }
        }
    }
    let total = replay.steps.len();
    if calls.len() < WASTED_AT_LEAST || calls.len() * 3 < total {
        return;
    }
    let Some((tool, _)) = by_tool
        .into_iter()
        .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))
    else {
        return;
    };
    let evidence = format!(
        "{} of {total} calls failed or read the same again",
        calls.len()
    );
    found.push(
        Draft::new(Class::WastedCalls, evidence)
            .calls(calls)
            .tool(tool),
    );
}
