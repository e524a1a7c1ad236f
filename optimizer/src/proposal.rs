//! The proposal for people: what goes wrong, what would change and why, and what was turned down.

use std::fmt::Write as _;

use trajectory::Toolset;

use crate::diff::{self, Difference};
use crate::propose::Outcome;
use crate::visible::{line, markdown_code, markdown_text};

/// Evidence shown per edit.
const SHOWN: usize = 6;
/// Findings shown per failure mode.
const EXAMPLES: usize = 3;

/// The proposal as Markdown. `created_us` is the time the version was made.
pub fn render(outcome: &Outcome, parent: &Toolset, version: &Toolset, created_us: i64) -> String {
    let mut out = format!("# Proposal: {} → {}\n\n", parent.id(), version.id());
    if let Some(note) = outcome.diagnosis.simulation_note() {
        let _ = writeln!(out, "**{}**\n", markdown_text(&note));
    }
    let _ = writeln!(
        out,
        "Made {} by {}. Status: **unverified**. Nothing has been run with these texts yet; `eval compare` decides \
         whether they help.\n",
        trajectory::clock::rfc3339(created_us),
        markdown_code(&outcome.reflector)
    );
    changes(outcome, parent, version, &mut out);
    rejections(outcome, &mut out);
    spent(outcome, &mut out);
    if !outcome.notes.is_empty() {
        out.push_str("\n## Notes\n\n");
        for note in &outcome.notes {
            let _ = writeln!(out, "- {}", markdown_code(&line(note, 300)));
        }
    }
    out.push('\n');
    // The diagnosis is a document of its own; here its headings are one level lower.
    for text in outcome.diagnosis.to_markdown(EXAMPLES).lines() {
        let _ = writeln!(
            out,
            "{}{text}",
            if text.starts_with('#') { "#" } else { "" }
        );
    }
    out
}

fn changes(outcome: &Outcome, parent: &Toolset, version: &Toolset, out: &mut String) {
    let difference = Difference::between(parent, version);
    out.push_str("## Changes\n");
    for edit in &outcome.edits {
        let component = edit.component();
        let _ = writeln!(out, "\n### {}\n", markdown_code(&component.to_string()));
        if let Some(change) = difference
            .texts
            .iter()
            .find(|change| change.component == component.to_string())
        {
            let _ = writeln!(out, "{}\n", diff::markdown::words(change));
        }
        let _ = writeln!(out, "Why: {}.\n", markdown_code(&line(&edit.reason, 300)));
        for finding in edit
            .answers
            .iter()
            .filter_map(|id| outcome.diagnosis.finding(id))
            .take(SHOWN)
        {
            let turn = finding
                .turn
                .map_or_else(String::new, |turn| format!(" turn {turn}"));
            let _ = writeln!(
                out,
                "- `{}` {} {}{turn}: {}",
                finding.id,
                finding.class,
                markdown_code(&finding.episode_id),
                markdown_code(&line(&finding.evidence, 200))
            );
        }
        if edit.answers.len() > SHOWN {
            let _ = writeln!(
                out,
                "- … and {} more in the version file",
                edit.answers.len() - SHOWN
            );
        }
    }
    for observation in &outcome.observed {
        let _ = writeln!(
            out,
            "\nThe analysis of {} says about {}: {} ({}; {})",
            markdown_code(&outcome.reflector),
            markdown_code(&observation.component),
            markdown_code(&observation.description),
            markdown_code(&observation.title),
            observation.failures.join(", ")
        );
    }
}

fn rejections(outcome: &Outcome, out: &mut String) {
    out.push_str("\n## Rejected\n\n");
    if outcome.rejected.is_empty() {
        out.push_str("Nothing was rejected.\n");
        return;
    }
    for (reason, n) in outcome.rejections() {
        let _ = writeln!(out, "- `{reason}`: {n}");
    }
    out.push('\n');
    for rejection in &outcome.rejected {
        let (component, text) = match &rejection.edit {
            Some(edit) => (edit.component().to_string(), line(&edit.text, 400)),
            None => ("the whole reply".to_owned(), String::new()),
        };
        let _ = write!(
            out,
            "- `{}` {}: {}",
            rejection.reason,
            markdown_code(&component),
            markdown_code(&rejection.detail)
        );
        if text.is_empty() {
            out.push('\n');
        } else {
            let _ = writeln!(out, "\n  {}", markdown_code(&text));
        }
    }
}

fn spent(outcome: &Outcome, out: &mut String) {
    let spent = &outcome.spent;
    out.push_str("\n## Spent\n\n");
    if spent.model_calls == 0 {
        out.push_str("No model was asked.\n");
        return;
    }
    let _ = write!(
        out,
        "{} model calls, {} input and {} output tokens",
        spent.model_calls, spent.input_tokens, spent.output_tokens
    );
    if spent.uncounted_calls > 0 {
        let _ = write!(
            out,
            " (the provider did not count those of {} calls)",
            spent.uncounted_calls
        );
    }
    out.push_str(".\n");
}
