//! Episodes small enough for a prompt.
//!
//! What all episodes share (the lines of their system prompts) is said once. Turns with findings are given call by
//! call; the others are one line each. Under pressure the summaries go first, then the verbatim turns of the episodes
//! at the end; the total never exceeds the cap.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use trajectory::{Call, EpisodeRecord};

use crate::classes::{Finding, generic};
use crate::visible;

/// Longest excerpt of one argument or result.
const EXCERPT: usize = 400;
/// Room for the line that says how many turns were left out.
const LEFT_OUT: usize = 32;
/// Turn number of calls without one.
const NO_TURN: i32 = -1;

/// An episode with what was found in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) record: &'a EpisodeRecord,
    pub(super) findings: &'a [&'a Finding],
}

/// The cases as text of at most `cap` characters.
pub(super) fn compact(cases: &[Case<'_>], cap: usize) -> String {
    let mut out = shared_lines(cases);
    out = visible::cut(&out, cap / 4);
    let left = cap.saturating_sub(out.chars().count());
    let share = left / cases.len().max(1);
    for case in cases {
        out.push_str(&episode(*case, share));
    }
    visible::cut(&out, cap)
}

/// Lines that stand in the system prompt of every episode.
fn shared_lines(cases: &[Case<'_>]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for case in cases {
        let mut lines: Vec<&str> = case
            .record
            .messages
            .iter()
            .filter(|message| message.role == "system")
            .filter_map(|message| message.content.as_deref())
            .flat_map(str::lines)
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            let count = counts.entry(line).or_default();
            if *count == 0 {
                order.push(line);
            }
            *count += 1;
        }
    }
    let shared: Vec<String> = order
        .into_iter()
        .filter(|line| counts.get(line) == Some(&cases.len()))
        .map(|line| visible::line(line, 300))
        .collect();
    if shared.is_empty() {
        String::new()
    } else {
        format!("instructions in every episode:\n{}\n\n", shared.join("\n"))
    }
}

fn episode(case: Case<'_>, cap: usize) -> String {
    let episode = &case.record.episode;
    let mut out = format!("episode {}", visible::line(&episode.episode_id, 60));
    for (name, value) in [
        ("scenario", episode.scenario.as_deref()),
        ("condition", episode.condition.as_deref()),
        ("outcome", episode.outcome.as_deref()),
        ("ended by", episode.termination.as_deref()),
    ] {
        if let Some(value) = value {
            let _ = write!(out, "; {name} {}", visible::line(value, 60));
        }
    }
    out.push('\n');
    for finding in case.findings {
        let _ = writeln!(
            out,
            "  failure {} {}: {}",
            finding.id,
            finding.class,
            visible::line(&finding.evidence, 200)
        );
    }
    let mut turns: Vec<(i32, Vec<&Call>)> = Vec::new();
    for call in &case.record.calls {
        let turn = call.turn.unwrap_or(NO_TURN);
        match turns.last_mut() {
            Some((known, calls)) if *known == turn => calls.push(call),
            _ => turns.push((turn, vec![call])),
        }
    }
    let decisive = |calls: &[&Call]| {
        calls.iter().any(|call| {
            case.findings
                .iter()
                .any(|finding| finding.calls.contains(&call.sequence))
        })
    };
    // Verbatim turns first in the budget, though not in the text; some room stays for saying what was left out.
    let mut budget = cap
        .saturating_sub(out.chars().count())
        .saturating_sub(LEFT_OUT);
    let mut parts: BTreeMap<usize, String> = BTreeMap::new();
    for pass in [true, false] {
        for (index, (turn, calls)) in turns
            .iter()
            .enumerate()
            .filter(|(_, (_, calls))| decisive(calls) == pass)
        {
            let text = if pass {
                verbatim(*turn, calls)
            } else {
                summary(*turn, calls)
            };
            let length = text.chars().count();
            if length <= budget {
                budget -= length;
                parts.insert(index, text);
            }
        }
    }
    let dropped = turns.len() - parts.len();
    out.extend(parts.into_values());
    if dropped > 0 {
        let _ = writeln!(out, "  ({dropped} turns left out)");
    }
    out.push('\n');
    visible::cut(&out, cap)
}

fn verbatim(turn: i32, calls: &[&Call]) -> String {
    let mut out = String::new();
    for call in calls {
        let who = call.role.as_deref().unwrap_or("agent");
        let _ = writeln!(
            out,
            "  {}#{} {} called {} {}",
            label(turn),
            call.sequence,
            visible::line(who, 20),
            visible::line(&call.tool, 64),
            visible::line(
                call.arguments
                    .as_deref()
                    .unwrap_or("(arguments not recorded)"),
                EXCERPT
            )
        );
        let verdict = if generic::failed(call) {
            "error"
        } else {
            "result"
        };
        let _ = writeln!(
            out,
            "    {verdict}: {}",
            visible::line(
                call.result
                    .as_deref()
                    .or(call.error_message.as_deref())
                    .unwrap_or("(not recorded)"),
                EXCERPT
            )
        );
    }
    out
}

fn summary(turn: i32, calls: &[&Call]) -> String {
    let mut counts: Vec<(&str, usize, usize)> = Vec::new();
    for call in calls {
        let failed = usize::from(generic::failed(call));
        match counts.iter_mut().find(|(tool, ..)| *tool == call.tool) {
            Some((_, n, errors)) => {
                *n += 1;
                *errors += failed;
            }
            None => counts.push((&call.tool, 1, failed)),
        }
    }
    let list: Vec<String> = counts
        .into_iter()
        .map(|(tool, n, errors)| {
            let times = if n > 1 {
                format!(" x{n}")
            } else {
                String::new()
            };
            let failed = if errors > 0 {
                format!(" ({errors} failed)")
            } else {
                String::new()
            };
            format!("{}{times}{failed}", visible::line(tool, 64))
        })
        .collect();
    let who = calls
        .first()
        .and_then(|call| call.role.as_deref())
        .unwrap_or("agent");
    format!(
        "  {}{}: {}\n",
        label(turn),
        visible::line(who, 20),
        list.join(", ")
    )
}

fn label(turn: i32) -> String {
    if turn == NO_TURN {
        String::new()
    } else {
        format!("turn {turn} ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::Class;
    use serde_json::json;
    use trajectory::{Capture, Episode};

    fn call(sequence: i32, turn: i32, tool: &str) -> Call {
        serde_json::from_value(json!({
            "experiment": "x", "episode_id": "e", "sequence": sequence, "turn": turn, "role": "buyer", "tool": tool,
            "arguments": "{\"price\":12}", "arguments_state": "captured", "result": "fine", "result_state": "captured",
            "is_error": false}))
        .unwrap()
    }

    fn record(turns: i32) -> EpisodeRecord {
        let calls = (0..turns)
            .map(|turn| call(turn, turn, if turn % 2 == 0 { "propose" } else { "look" }))
            .collect();
        EpisodeRecord {
            episode: Episode::new("x", "e", "market"),
            calls,
            messages: vec![],
            scores: vec![],
            tools: vec![],
        }
    }

    fn finding(calls: Vec<i32>) -> Finding {
        Finding {
            id: "f_1".to_owned(),
            class: Class::WrongValue,
            episode_id: "e".to_owned(),
            scenario: None,
            condition: None,
            calls,
            turn: None,
            role: None,
            tool: None,
            parameter: None,
            instead: None,
            evidence: "it was wrong".to_owned(),
        }
    }

    #[test]
    fn decisive_turns_are_verbatim_and_the_rest_is_summed_up() {
        let (record, finding) = (record(3), finding(vec![1]));
        let text = compact(
            &[Case {
                record: &record,
                findings: &[&finding],
            }],
            5000,
        );
        assert!(
            text.contains("turn 1 #1 buyer called look {\"price\":12}\n    result: fine"),
            "{text}"
        );
        assert!(text.contains("turn 0 buyer: propose\n"), "{text}");
        assert_eq!(call(0, 0, "x").arguments_state, Capture::Captured);
    }

    #[test]
    fn the_cap_holds_and_decisive_turns_survive_longest() {
        let (record, finding) = (record(200), finding(vec![150]));
        let cases = [Case {
            record: &record,
            findings: &[&finding],
        }];
        for cap in [0, 10, 400, 700, 5000] {
            assert!(compact(&cases, cap).chars().count() <= cap, "{cap}");
        }
        let text = compact(&cases, 400);
        assert!(
            text.contains("turn 150 #150") && text.contains("turns left out"),
            "{text}"
        );
    }
}
