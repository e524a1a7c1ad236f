//! The prompts, filled in. Their texts are the files in `optimizer/prompts/`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use minijinja::{Environment, context};
use trajectory::ComponentId;

use crate::guard::Rejection;
use crate::reflect::compaction::{Case, compact};
use crate::reflect::fence::{Fence, escaped};
use crate::reflect::{Brief, Observation, ReflectError};
use crate::visible;

const SYSTEM: &str = include_str!("../../../prompts/system.jinja");
const ANALYSE: &str = include_str!("../../../prompts/analyse.jinja");
const REWRITE: &str = include_str!("../../../prompts/rewrite.jinja");
const REPAIR: &str = include_str!("../../../prompts/repair.jinja");

/// Rejected edits shown to the rewriter.
const REJECTED: usize = 12;
/// Characters of a description that only stands beside the blamed ones, in a toolset too large for all.
const SIBLING: usize = 100;
/// Findings listed per blamed component.
const LISTED: usize = 8;

fn render(
    name: &'static str,
    template: &str,
    values: minijinja::Value,
) -> Result<String, ReflectError> {
    let environment = Environment::new();
    environment
        .render_str(template, values)
        .map_err(|source| ReflectError::Prompt { name, source })
}

pub(super) fn system() -> Result<String, ReflectError> {
    render("system.jinja", SYSTEM, context! {})
}

pub(super) fn repair(fault: &Rejection) -> Result<String, ReflectError> {
    // The detail can quote the model's own reply, never a trace.
    render(
        "repair.jinja",
        REPAIR,
        context! { reason => fault.reason.as_str(), detail => visible::line(&fault.detail, 200) },
    )
}

pub(super) fn analyse(
    brief: &Brief<'_>,
    batch: &[Case<'_>],
    characters: usize,
) -> Result<String, ReflectError> {
    let tools = descriptions(brief, characters);
    let episodes = compact(batch, characters);
    let fence = Fence::new(brief.seed, &[&tools, &episodes]);
    let values = context! {
        mark => fence.mark(),
        tools => fence.block("tool descriptions", &tools),
        episodes => fence.block("episodes", &episodes),
    };
    render("analyse.jinja", ANALYSE, values)
}

pub(super) fn rewrite(
    brief: &Brief<'_>,
    observed: &[Observation],
    characters: usize,
) -> Result<String, ReflectError> {
    let tools = descriptions(brief, characters);
    let evidence = visible::cut(&evidence(brief, observed), characters);
    let rejected = rejections(brief.rejected);
    let fence = Fence::new(brief.seed, &[&tools, &evidence, &rejected]);
    let limits = brief.limits;
    let values = context! {
        mark => fence.mark(),
        tools => fence.block("tool descriptions", &tools),
        evidence => fence.block("failures and the texts blamed for them", &evidence),
        rejected => (!rejected.is_empty()).then(|| fence.block("rejected edits", &rejected)),
        done => brief.accepted.iter().map(|edit| visible::line(&escaped(&edit.component().to_string()), 80)).collect::<Vec<_>>(),
        edits => limits.edits.saturating_sub(brief.accepted.len()),
        tool_characters => limits.tool_characters,
        parameter_characters => limits.parameter_characters,
        whole => limits.whole(brief.toolset),
        now => crate::guard::size::total(brief.toolset),
    };
    render("rewrite.jinja", REWRITE, values)
}

/// All descriptions, siblings included: a text has to fit beside the others.
///
/// Of a toolset too large for that, the blamed tools are given whole and the others with the beginning of their
/// description, as far as the cap allows.
fn descriptions(brief: &Brief<'_>, characters: usize) -> String {
    let line = |component: &ComponentId, text: &str| {
        let parameter = component
            .parameter
            .as_deref()
            .map_or_else(|| "null".to_owned(), quoted);
        format!(
            "tool {} parameter {parameter}: {}\n",
            quoted(&component.tool),
            quoted(text)
        )
    };
    let components = brief.toolset.components();
    let all: String = components
        .iter()
        .map(|(component, text)| line(component, text))
        .collect();
    if all.chars().count() <= characters {
        return all;
    }
    let blamed: BTreeSet<&str> = brief
        .diagnosis
        .blamed
        .iter()
        .map(|blamed| blamed.tool.as_str())
        .collect();
    let (whole, others): (Vec<_>, Vec<_>) = components
        .iter()
        .partition(|(component, _)| blamed.contains(component.tool.as_str()));
    let mut out: String = whole
        .iter()
        .map(|(component, text)| line(component, text))
        .collect();
    for (component, text) in others
        .iter()
        .filter(|(component, _)| component.parameter.is_none())
    {
        out.push_str(&line(component, &visible::line(text, SIBLING)));
    }
    visible::cut(&out, characters)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn evidence(brief: &Brief<'_>, observed: &[Observation]) -> String {
    let mut out = String::new();
    for mode in &brief.diagnosis.modes {
        let _ = writeln!(
            out,
            "{} ({}): {} of {} episodes",
            mode.class, mode.meaning, mode.episodes.count, mode.episodes.n
        );
    }
    out.push('\n');
    for blamed in &brief.diagnosis.blamed {
        let _ = writeln!(
            out,
            "blamed: {} with {} votes",
            visible::line(&blamed.component, 80),
            blamed.votes
        );
        for id in blamed.findings.iter().take(LISTED) {
            if let Some(finding) = brief.diagnosis.finding(id) {
                let _ = writeln!(
                    out,
                    "  {id} {}: {}",
                    finding.class,
                    visible::line(&finding.evidence, 200)
                );
            }
        }
    }
    if !observed.is_empty() {
        out.push_str("\nseen by the analysis:\n");
    }
    for observation in observed {
        let ids: Vec<&str> = observation
            .failures
            .iter()
            .take(LISTED)
            .map(String::as_str)
            .collect();
        let _ = writeln!(
            out,
            "  {} [{}]: {} ({})",
            visible::line(&observation.component, 80),
            observation.title,
            observation.description,
            ids.join(", ")
        );
    }
    out
}

fn rejections(rejected: &[Rejection]) -> String {
    let mut out = String::new();
    for rejection in rejected.iter().rev().take(REJECTED) {
        let (component, text) = match &rejection.edit {
            Some(edit) => (edit.component().to_string(), visible::line(&edit.text, 120)),
            None => ("the whole reply".to_owned(), String::new()),
        };
        let _ = writeln!(
            out,
            "{}: {}: {} | {text}",
            visible::line(&component, 80),
            rejection.reason,
            visible::line(&rejection.detail, 120)
        );
    }
    out
}
