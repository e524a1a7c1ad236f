//! The diagnosis for a terminal: plain text, nothing recorded printed unescaped.

use std::fmt::Write as _;

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;

use super::{Diagnosis, FailureMode, Rate};
use crate::visible::line;

pub(super) fn render(diagnosis: &Diagnosis, examples: usize) -> String {
    let mut out = head(diagnosis);
    if diagnosis.modes.is_empty() {
        out.push_str("no failure of a known class was found\n");
        unused(diagnosis, &mut out);
        return out;
    }
    out.push_str(&modes_table(&diagnosis.modes));
    out.push('\n');
    for mode in &diagnosis.modes {
        details(mode, examples, &mut out);
    }
    out.push_str("\nTexts to blame (votes of the findings; see `optimizer propose`)\n");
    let mut table = Table::new();
    table
        .load_style(UTF8_HORIZONTAL_ONLY)
        .set_header(["component", "votes", "for"]);
    for blamed in &diagnosis.blamed {
        let classes: Vec<String> = blamed
            .classes
            .iter()
            .map(|(class, n)| format!("{class} {n}"))
            .collect();
        table.add_row([
            line(&blamed.component, 60),
            blamed.votes.to_string(),
            classes.join(", "),
        ]);
    }
    let _ = writeln!(out, "{table}");
    unused(diagnosis, &mut out);
    out
}

/// Two to five lines that say what the numbers rest on.
pub(super) fn head(diagnosis: &Diagnosis) -> String {
    let scope = &diagnosis.scope;
    let mut out = String::new();
    if let Some(note) = diagnosis.simulation_note() {
        let _ = writeln!(out, "** {note} **");
    }
    let _ = writeln!(
        out,
        "{} with {} tool calls; toolset seen: {}",
        counted(scope.episodes, "episode"),
        scope.calls,
        scope
            .toolset
            .as_deref()
            .map_or_else(|| "not recorded".to_owned(), |id| line(id, 40))
    );
    for (name, values) in [
        ("experiments", &scope.experiments),
        ("sources", &scope.sources),
        ("arms", &scope.arms),
        ("conditions", &scope.conditions),
        ("models", &scope.models),
    ] {
        if !values.is_empty() {
            let list: Vec<String> = values.iter().take(8).map(|value| line(value, 60)).collect();
            let more = if values.len() > 8 {
                format!(" and {} more", values.len() - 8)
            } else {
                String::new()
            };
            let _ = writeln!(out, "{name}: {}{more}", list.join(", "));
        }
    }
    if !scope.definitions_known {
        out.push_str(
            "the definitions of the tools were not recorded: arguments are not checked, and only tool names can be blamed\n",
        );
    }
    if !scope.excluded.is_empty() {
        let list: Vec<String> = scope
            .excluded
            .iter()
            .map(|(status, n)| format!("{n} {status}"))
            .collect();
        let _ = writeln!(
            out,
            "left out, as they say nothing about the agents: {}",
            list.join(", ")
        );
    }
    if let Some(correct) = &scope.correct {
        let _ = writeln!(out, "correct (strict): {}", share(correct));
    }
    out
}

fn modes_table(modes: &[FailureMode]) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header([
        "failure",
        "kind",
        "episodes affected [95% Wilson]",
        "findings",
        "mostly to blame",
    ]);
    for mode in modes {
        let blamed: Vec<String> = mode
            .blamed
            .iter()
            .take(2)
            .map(|b| format!("{} {}", line(&b.component, 40), b.votes))
            .collect();
        table.add_row([
            mode.class.to_string(),
            kind(mode).to_owned(),
            share(&mode.episodes),
            mode.findings.len().to_string(),
            if blamed.is_empty() {
                "no text".to_owned()
            } else {
                blamed.join(", ")
            },
        ]);
    }
    format!("{table}\n")
}

fn details(mode: &FailureMode, examples: usize, out: &mut String) {
    let _ = writeln!(out, "{}: {}", mode.class, mode.meaning);
    for finding in mode.findings.iter().take(examples) {
        let _ = writeln!(
            out,
            "  {} {}: {}",
            finding.id,
            place(finding),
            line(&finding.evidence, 300)
        );
    }
    if mode.findings.len() > examples {
        let _ = writeln!(
            out,
            "  … and {} more (all of them with --json)",
            mode.findings.len() - examples
        );
    }
    if let Some(contrast) = &mode.contrast {
        let _ = writeln!(
            out,
            "  in contrast, the same scenario ({}) {} in {}{}",
            line(&contrast.scenario, 60),
            if contrast.success_correct {
                "ended correctly"
            } else {
                "went without this failure"
            },
            line(&contrast.success_episode, 60),
            if contrast.same_condition {
                ""
            } else {
                ", under another condition"
            }
        );
    }
}

fn unused(diagnosis: &Diagnosis, out: &mut String) {
    if !diagnosis.unused_tools.is_empty() {
        let list: Vec<String> = diagnosis
            .unused_tools
            .iter()
            .map(|tool| line(tool, 60))
            .collect();
        let _ = writeln!(
            out,
            "for information, offered and never called: {}",
            list.join(", ")
        );
    }
}

/// Where a finding is: episode, turn, role, calls.
pub(super) fn place(finding: &crate::classes::Finding) -> String {
    let mut place = line(&finding.episode_id, 60);
    if let Some(turn) = finding.turn {
        let _ = write!(place, " turn {turn}");
    }
    if let Some(role) = &finding.role {
        let _ = write!(place, " {}", line(role, 20));
    }
    match finding.calls.as_slice() {
        [] => {}
        [one] => {
            let _ = write!(place, " call {one}");
        }
        many => {
            let shown: Vec<String> = many.iter().take(6).map(i32::to_string).collect();
            let more = if many.len() > 6 { ", …" } else { "" };
            let _ = write!(place, " calls {}{more}", shown.join(", "));
        }
    }
    place
}

/// `12/60 = 20% [12%, 32%]`.
pub(super) fn share(rate: &Rate) -> String {
    if rate.n == 0 {
        return "0/0".to_owned();
    }
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    let point = rate.count as f64 / rate.n as f64;
    format!(
        "{}/{} = {} [{}, {}]",
        rate.count,
        rate.n,
        percent(point),
        percent(rate.low),
        percent(rate.high)
    )
}

pub(super) fn kind(mode: &FailureMode) -> &'static str {
    match mode.kind {
        crate::classes::Kind::Failure => "failure",
        crate::classes::Kind::Waste => "waste",
    }
}

pub(super) fn counted(n: usize, noun: &str) -> String {
    if n == 1 {
        format!("1 {noun}")
    } else {
        format!("{n} {noun}s")
    }
}
