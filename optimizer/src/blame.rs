//! Blame: which text could have prevented a failure.
//!
//! Every finding votes. The weights say how directly a text speaks about the mistake: 2 for the text that should
//! have said it, 1 for one that could have. The table, for the tool that was called (or should have been):
//!
//! | class | 2 votes | 1 vote |
//! |---|---|---|
//! | `unknown_tool` | | the offered tool with the closest name |
//! | `missing_argument`, `wrong_value` | the parameter | the tool |
//! | `tool_error`, `ignored_error`, `impossible_move`, `repeated_call` | the tool | |
//! | `retried_after_error` | the parameter that had to change | the tool |
//! | `out_of_turn` | | the tool, `get_negotiation` |
//! | `refused_by_limit`, `attempted_outside_limit`, `injection_obeyed` | the tool | the price parameter |
//! | `read_without_acting` | the reading tool | |
//! | `missed_acceptance` | `accept_proposal` | the tool used in its place |
//! | `rejected_instead_of_countering` | | `reject_proposal`, `propose` |
//! | `gave_up_too_early` | `refuse` | |
//! | `never_closed` | `refuse` when no deal was possible, else `accept_proposal` or `propose` | |
//! | `wasted_calls` | | the tool that took most of them |
//!
//! A component that the toolset does not have gets no vote; when a parameter has none, its tool takes over.
//! Equal votes are put in an order derived from the seed, so that runs with other seeds explore the other order.

use std::collections::BTreeMap;

use serde::Serialize;
use trajectory::canonical::sha256_hex;
use trajectory::{ComponentId, Toolset};

use crate::classes::market::{PROPOSE, READ};
use crate::classes::{Class, Finding};

/// One text with what speaks against it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blamed {
    /// The component, as [`ComponentId`] writes it.
    pub component: String,
    /// Tool.
    pub tool: String,
    /// Parameter path, or none for the tool's own description.
    pub parameter: Option<String>,
    /// Votes.
    pub votes: u32,
    /// Findings by class.
    pub classes: BTreeMap<Class, usize>,
    /// Ids of the findings that voted.
    pub findings: Vec<String>,
}

/// Votes of one finding, the strongest first. Without a toolset, every tool is taken to exist and no parameter.
pub fn votes(finding: &Finding, toolset: Option<&Toolset>) -> Vec<(ComponentId, u32)> {
    let tool = finding.tool.as_deref();
    let parameter = finding.parameter.as_deref();
    let mut ballot = Ballot {
        toolset,
        votes: Vec::new(),
    };
    match finding.class {
        Class::UnknownTool => {
            if let Some(closest) = tool
                .zip(toolset)
                .and_then(|(name, toolset)| closest(name, toolset))
            {
                ballot.tool(&closest, 1);
            }
        }
        Class::MissingArgument | Class::WrongValue | Class::RetriedAfterError => {
            if let Some(tool) = tool {
                match parameter {
                    Some(parameter) => {
                        ballot.parameter(tool, parameter, 2);
                        ballot.tool(tool, 1);
                    }
                    None => ballot.tool(tool, 2),
                }
            }
        }
        Class::OutOfTurn => {
            ballot.maybe(tool, 1);
            ballot.tool(READ, 1);
        }
        Class::RefusedByLimit | Class::AttemptedOutsideLimit | Class::InjectionObeyed => {
            if let Some(tool) = tool {
                ballot.tool(tool, 2);
                if let Some(parameter) = parameter {
                    ballot.parameter(tool, parameter, 1);
                }
            }
        }
        Class::MissedAcceptance => {
            ballot.maybe(tool, 2);
            ballot.maybe(finding.instead.as_deref(), 1);
        }
        Class::RejectedInsteadOfCountering => {
            ballot.maybe(tool, 1);
            ballot.tool(PROPOSE, 1);
        }
        Class::WastedCalls => ballot.maybe(tool, 1),
        Class::ToolError
        | Class::IgnoredError
        | Class::ImpossibleMove
        | Class::RepeatedCall
        | Class::ReadWithoutActing
        | Class::GaveUpTooEarly
        | Class::NeverClosed => ballot.maybe(tool, 2),
    }
    ballot
        .votes
        .sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
    ballot.votes
}

struct Ballot<'a> {
    toolset: Option<&'a Toolset>,
    votes: Vec<(ComponentId, u32)>,
}

impl Ballot<'_> {
    fn tool(&mut self, tool: &str, votes: u32) {
        self.cast(ComponentId::tool(tool), votes);
    }

    fn maybe(&mut self, tool: Option<&str>, votes: u32) {
        if let Some(tool) = tool {
            self.tool(tool, votes);
        }
    }

    fn parameter(&mut self, tool: &str, path: &str, votes: u32) {
        let component = ComponentId::parameter(tool, path);
        if self.exists(&component) {
            self.cast(component, votes);
        } else {
            self.tool(tool, votes);
        }
    }

    fn exists(&self, component: &ComponentId) -> bool {
        match self.toolset {
            Some(toolset) => toolset.text(component).is_some(),
            None => component.parameter.is_none(),
        }
    }

    fn cast(&mut self, component: ComponentId, votes: u32) {
        if !self.exists(&component) {
            return;
        }
        match self.votes.iter_mut().find(|(known, _)| *known == component) {
            Some((_, total)) => *total = (*total).max(votes),
            None => self.votes.push((component, votes)),
        }
    }
}

/// The offered tool whose name is closest to the one called, when it is close at all.
fn closest(name: &str, toolset: &Toolset) -> Option<String> {
    let names: Vec<&str> = toolset.tools().iter().map(trajectory::Tool::name).collect();
    similar::get_close_matches(name, &names, 1, 0.6)
        .first()
        .map(|found| (*found).to_owned())
}

/// All blamed components, most votes first; equal votes in an order derived from the seed.
pub fn rank<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    toolset: Option<&Toolset>,
    seed: u64,
) -> Vec<Blamed> {
    let mut tally: BTreeMap<ComponentId, Blamed> = BTreeMap::new();
    for finding in findings {
        for (component, votes) in votes(finding, toolset) {
            let blamed = tally
                .entry(component)
                .or_insert_with_key(|component| Blamed {
                    component: component.to_string(),
                    tool: component.tool.clone(),
                    parameter: component.parameter.clone(),
                    votes: 0,
                    classes: BTreeMap::new(),
                    findings: Vec::new(),
                });
            blamed.votes = blamed.votes.saturating_add(votes);
            *blamed.classes.entry(finding.class).or_default() += 1;
            blamed.findings.push(finding.id.clone());
        }
    }
    let mut ranked: Vec<Blamed> = tally.into_values().collect();
    ranked.sort_by_cached_key(|blamed| {
        let lot = sha256_hex(format!("{seed}\n{}", blamed.component).as_bytes());
        (std::cmp::Reverse(blamed.votes), lot)
    });
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn toolset() -> Toolset {
        Toolset::from_value(json!([
            {"name": "get_negotiation"}, {"name": "accept_proposal"}, {"name": "reject_proposal"},
            {"name": "propose", "inputSchema": {"properties": {"price": {"type": "integer"}}}}]))
        .unwrap()
    }

    fn finding(class: Class, tool: Option<&str>, parameter: Option<&str>) -> Finding {
        Finding {
            id: format!("f_{class}"),
            class,
            episode_id: "e".to_owned(),
            scenario: None,
            condition: None,
            calls: Vec::new(),
            turn: None,
            role: None,
            tool: tool.map(str::to_owned),
            parameter: parameter.map(str::to_owned),
            instead: Some("propose".to_owned()),
            evidence: String::new(),
        }
    }

    #[test]
    fn the_table_holds() {
        let check = |class, tool, parameter, expected: &[(&str, u32)]| {
            let votes: Vec<(String, u32)> =
                votes(&finding(class, tool, parameter), Some(&toolset()))
                    .into_iter()
                    .map(|(component, votes)| (component.to_string(), votes))
                    .collect();
            let expected: Vec<(String, u32)> = expected
                .iter()
                .map(|(c, v)| ((*c).to_owned(), *v))
                .collect();
            assert_eq!(votes, expected, "{class}");
        };
        let propose = Some("propose");
        check(
            Class::WrongValue,
            propose,
            Some("price"),
            &[("propose(price)", 2), ("propose", 1)],
        );
        check(Class::WrongValue, propose, Some("none"), &[("propose", 2)]);
        check(Class::WrongValue, propose, None, &[("propose", 2)]);
        check(
            Class::UnknownTool,
            Some("proposal"),
            None,
            &[("propose", 1)],
        );
        check(Class::UnknownTool, Some("zzz"), None, &[]);
        check(
            Class::AttemptedOutsideLimit,
            propose,
            Some("price"),
            &[("propose", 2), ("propose(price)", 1)],
        );
        check(
            Class::MissedAcceptance,
            Some("accept_proposal"),
            None,
            &[("accept_proposal", 2), ("propose", 1)],
        );
        check(
            Class::RejectedInsteadOfCountering,
            Some("reject_proposal"),
            None,
            &[("reject_proposal", 1), ("propose", 1)],
        );
        check(Class::NeverClosed, Some("refuse"), None, &[]);
        check(Class::ReadWithoutActing, None, None, &[]);
    }

    #[test]
    fn ties_follow_the_seed_and_nothing_else() {
        let findings = [finding(
            Class::RejectedInsteadOfCountering,
            Some("reject_proposal"),
            None,
        )];
        let order = |seed| {
            rank(&findings, Some(&toolset()), seed)
                .into_iter()
                .map(|b| b.component)
                .collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(1));
        let orders: std::collections::BTreeSet<_> = (0..16).map(order).collect();
        assert_eq!(orders.len(), 2, "both orders of a tie are explored");
    }
}
