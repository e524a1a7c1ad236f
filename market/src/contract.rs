//! The contract of the five tools: what never changes, whatever the descriptions say.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use trajectory::Toolset;

use crate::plain;
use crate::rules::Action;
use crate::scenario::MAX_PRICE;

/// Reads the negotiation.
pub const GET_NEGOTIATION: &str = "get_negotiation";
/// Names a price.
pub const PROPOSE: &str = "propose";
/// Agrees to the counterpart's latest price.
pub const ACCEPT_PROPOSAL: &str = "accept_proposal";
/// Declines the counterpart's latest price.
pub const REJECT_PROPOSAL: &str = "reject_proposal";
/// Walks away.
pub const REFUSE: &str = "refuse";

/// The tools that end a turn when they succeed.
pub const MOVES: [&str; 4] = [PROPOSE, ACCEPT_PROPOSAL, REJECT_PROPOSAL, REFUSE];

/// Characters of a note that are passed on.
pub const MAX_NOTE: usize = 500;

/// A toolset that the market cannot serve.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ContractError {
    /// A tool of the market is missing.
    #[error("the toolset has no tool `{0}`: a version for the market holds exactly {tools}", tools = names())]
    Missing(String),
    /// A tool the market does not have.
    #[error("the market has no tool `{0}`: a version for the market holds exactly {tools}", tools = names())]
    Extra(String),
    /// Something other than a text differs.
    #[error(
        "tool `{0}` differs from the market's in something other than its descriptions (name, order, types, `required` and annotations are fixed): start from `market tools --json` and change only descriptions"
    )]
    Structure(String),
}

fn names() -> String {
    format!("{GET_NEGOTIATION}, {}", MOVES.join(", "))
}

static BASELINE: LazyLock<Toolset> = LazyLock::new(|| {
    // The file is part of the program and a test reads it, so the empty default is never seen.
    Toolset::parse(include_str!("../../scenarios/toolsets/baseline.json")).unwrap_or_default()
});

/// The toolset version that the market serves unless told otherwise: careless one-liners, as many servers have.
pub fn baseline() -> Toolset {
    BASELINE.clone()
}

/// The same version with the optional `note` on the four moves.
pub fn with_notes(toolset: &Toolset) -> Toolset {
    let mut value = toolset.to_value();
    if let Some(tools) = value.get_mut("tools").and_then(Value::as_array_mut) {
        for tool in tools {
            let is_move = tool
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|name| MOVES.contains(&name));
            let properties = tool
                .get_mut("inputSchema")
                .and_then(|schema| schema.get_mut("properties"))
                .and_then(Value::as_object_mut);
            if let (true, Some(properties)) = (is_move, properties) {
                properties.entry("note").or_insert_with(
                    || json!({"type": "string", "maxLength": MAX_NOTE, "description": "A note to the counterpart."}),
                );
            }
        }
    }
    Toolset::from_value(value).unwrap_or_else(|_| toolset.clone())
}

/// Checks that a version differs from the market's own tools in descriptions only; gives whether its moves
/// take notes.
///
/// # Errors
/// The first difference.
pub fn check(toolset: &Toolset) -> Result<bool, ContractError> {
    let plain = baseline();
    for tool in plain.tools() {
        if toolset.tool(tool.name()).is_none() {
            return Err(ContractError::Missing(tool.name().to_owned()));
        }
    }
    for tool in toolset.tools() {
        if plain.tool(tool.name()).is_none() {
            return Err(ContractError::Extra(tool.name().to_owned()));
        }
    }
    let noted = with_notes(&plain);
    if toolset.structure() == plain.structure() {
        return Ok(false);
    }
    if toolset.structure() == noted.structure() {
        return Ok(true);
    }
    let alone = |set: &Toolset, name: &str| {
        set.tool(name)
            .and_then(|tool| Toolset::from_value(json!([tool.raw()])).ok())
            .map(|set| set.structure())
    };
    let differing = toolset
        .tools()
        .iter()
        .zip(plain.tools())
        .find(|(theirs, ours)| {
            let structure = alone(toolset, theirs.name());
            theirs.name() != ours.name()
                || (structure != alone(&plain, ours.name())
                    && structure != alone(&noted, ours.name()))
        });
    Err(ContractError::Structure(
        differing
            .map_or(GET_NEGOTIATION, |(tool, _)| tool.name())
            .to_owned(),
    ))
}

/// Checked arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) negotiation_id: String,
    pub(crate) request: Request,
    pub(crate) note: Option<String>,
}

/// What a call asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    Read,
    Move(Action),
}

/// Why arguments are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadArguments {
    /// The id the caller named, when there was one.
    pub(crate) negotiation_id: Option<String>,
    /// What the agent is told.
    pub(crate) sentence: String,
}

/// Checks the arguments of one of the five tools; `None` when there is no such tool.
///
/// A price is a JSON number without a fraction (`120` and `120.0` are the same number) from 1 to
/// [`MAX_PRICE`]. Texts are not converted: an agent that sends `"120"` is told so, because that is what it would
/// meet elsewhere.
pub(crate) fn arguments(
    tool: &str,
    arguments: &Map<String, Value>,
    notes: bool,
) -> Option<Result<Arguments, BadArguments>> {
    let known: &[&str] = match tool {
        PROPOSE if notes => &["negotiation_id", "price", "note"],
        PROPOSE => &["negotiation_id", "price"],
        ACCEPT_PROPOSAL | REJECT_PROPOSAL | REFUSE if notes => &["negotiation_id", "note"],
        GET_NEGOTIATION | ACCEPT_PROPOSAL | REJECT_PROPOSAL | REFUSE => &["negotiation_id"],
        _ => return None,
    };
    let id = arguments
        .get("negotiation_id")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let bad = |sentence: String| {
        Some(Err(BadArguments {
            negotiation_id: id.clone(),
            sentence: format!(
                "{sentence} Nothing was done and no move was used; send the call again."
            ),
        }))
    };
    let Some(negotiation_id) = id.clone() else {
        return bad("`negotiation_id` must be given as a text: the id you were given.".to_owned());
    };
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        let name: String = unknown
            .chars()
            .filter(|c| !c.is_control())
            .take(40)
            .collect();
        return bad(format!(
            "`{tool}` takes no argument `{name}`; it takes {}.",
            known.join(" and ")
        ));
    }
    let note = match arguments.get("note") {
        None | Some(Value::Null) => None,
        Some(Value::String(note)) if note.chars().count() <= MAX_NOTE => Some(plain::visible(note)),
        Some(_) => {
            return bad(format!(
                "`note` must be a text of at most {MAX_NOTE} characters."
            ));
        }
    };
    let request = match tool {
        GET_NEGOTIATION => Request::Read,
        PROPOSE => match price(arguments.get("price")) {
            Some(price) => Request::Move(Action::Propose(price)),
            None => {
                return bad(format!(
                    "`price` must be a whole number from 1 to {MAX_PRICE}, sent as a number: no quotes, no currency sign, no decimals."
                ));
            }
        },
        ACCEPT_PROPOSAL => Request::Move(Action::Accept),
        REJECT_PROPOSAL => Request::Move(Action::Reject),
        _ => Request::Move(Action::Refuse),
    };
    Some(Ok(Arguments {
        negotiation_id,
        request,
        note,
    }))
}

/// Reads a price: a whole JSON number in range.
fn price(value: Option<&Value>) -> Option<i64> {
    let number = value?.as_number()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the range is checked first"
    )]
    let whole = number.as_i64().or_else(|| {
        number
            .as_f64()
            .filter(|f| f.fract() == 0.0 && f.abs() < 1e12)
            .map(|f| f as i64)
    })?;
    (1..=MAX_PRICE).contains(&whole).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trajectory::ComponentId;

    #[test]
    fn the_baseline_is_the_five_tools_in_order() {
        let names: Vec<String> = baseline()
            .tools()
            .iter()
            .map(|t| t.name().to_owned())
            .collect();
        assert_eq!(names.join(", "), super::names());
        assert_eq!(check(&baseline()), Ok(false));
        assert_eq!(check(&with_notes(&baseline())), Ok(true));
    }

    #[test]
    fn only_texts_may_differ() {
        let mut rewritten = baseline();
        rewritten.set_text(&ComponentId::tool(PROPOSE), "Names a price.");
        rewritten.set_text(&ComponentId::parameter(PROPOSE, "price"), "Whole number.");
        assert_eq!(check(&rewritten), Ok(false));

        let change = |edit: &dyn Fn(&mut Value)| {
            let mut value = baseline().to_value();
            edit(&mut value);
            check(&Toolset::from_value(value).unwrap()).unwrap_err()
        };
        assert_eq!(
            change(&|v| v["tools"][1]["inputSchema"]["required"] = json!([])),
            ContractError::Structure(PROPOSE.into())
        );
        assert_eq!(
            change(&|v| v["tools"][2]["annotations"]["readOnlyHint"] = json!(true)),
            ContractError::Structure(ACCEPT_PROPOSAL.into())
        );
        assert_eq!(
            change(&|v| v["tools"][0]["name"] = json!("x")),
            ContractError::Missing(GET_NEGOTIATION.into())
        );
        assert_eq!(
            change(&|v| v["tools"]
                .as_array_mut()
                .unwrap()
                .push(json!({"name": "x"}))),
            ContractError::Extra("x".into())
        );
        assert!(matches!(
            change(&|v| v["tools"].as_array_mut().unwrap().reverse()),
            ContractError::Structure(_)
        ));
    }

    #[test]
    fn prices_are_whole_numbers_in_range() {
        for (value, expected) in [
            (json!(1), Some(1)),
            (json!(120), Some(120)),
            (json!(120.0), Some(120)),
            (json!(1_000_000_000), Some(1_000_000_000)),
            (json!(1_000_000_001), None),
            (json!(0), None),
            (json!(-1), None),
            (json!(1.5), None),
            (json!(1e30), None),
            (json!("ten"), None),
            (json!("120"), None),
            (json!(null), None),
            (json!([1]), None),
            (json!(true), None),
        ] {
            assert_eq!(price(Some(&value)), expected, "{value}");
        }
        assert_eq!(price(None), None);
    }

    #[test]
    fn every_wrong_argument_gets_a_sentence_that_says_what_to_send() {
        let sentence = |tool: &str, value: Value| {
            arguments(tool, value.as_object().unwrap(), false)
                .unwrap()
                .unwrap_err()
                .sentence
        };
        assert!(sentence(PROPOSE, json!({"price": 3})).contains("`negotiation_id`"));
        assert!(sentence(PROPOSE, json!({"negotiation_id": "n"})).contains("whole number"));
        assert!(
            sentence(
                PROPOSE,
                json!({"negotiation_id": "n", "price": 3, "note": "x"})
            )
            .contains("no argument `note`")
        );
        assert!(sentence(REFUSE, json!({"negotiation_id": 7})).contains("`negotiation_id`"));
        assert!(arguments("steal", &Map::new(), false).is_none());
        let noted = arguments(
            REFUSE,
            json!({"negotiation_id": "n", "note": "a\u{1b}[31mb"})
                .as_object()
                .unwrap(),
            true,
        );
        assert_eq!(noted.unwrap().unwrap().note.unwrap(), "a[31mb");
    }
}
