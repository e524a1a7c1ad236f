//! The diagnosis as Markdown. Recorded text appears in code spans only, so it renders as nothing but itself.

use std::fmt::Write as _;

use super::Diagnosis;
use super::text::{counted, head, kind, place, share};
use crate::visible::{line, markdown_code, markdown_text};

pub(super) fn render(diagnosis: &Diagnosis, examples: usize) -> String {
    let mut out = String::from("# Diagnosis\n\n");
    for fact in head(diagnosis).lines() {
        let fact = fact.trim_matches('*').trim();
        let _ = writeln!(out, "- {}", markdown_text(fact));
    }
    out.push('\n');
    if diagnosis.modes.is_empty() {
        out.push_str("No failure of a known class was found.\n");
    } else {
        body(diagnosis, examples, &mut out);
    }
    if !diagnosis.unused_tools.is_empty() {
        let list: Vec<String> = diagnosis
            .unused_tools
            .iter()
            .map(|tool| markdown_code(tool))
            .collect();
        let _ = writeln!(
            out,
            "\nFor information, offered and never called: {}.",
            list.join(", ")
        );
    }
    out
}

fn body(diagnosis: &Diagnosis, examples: usize, out: &mut String) {
    out.push_str(
        "| failure | kind | episodes affected [95% Wilson] | findings |\n|---|---|---|---|\n",
    );
    for mode in &diagnosis.modes {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            mode.class,
            kind(mode),
            share(&mode.episodes),
            mode.findings.len()
        );
    }
    for mode in &diagnosis.modes {
        let _ = writeln!(
            out,
            "\n## `{}`\n\n{}.\n",
            mode.class,
            capitalised(mode.meaning)
        );
        let blamed: Vec<String> = mode
            .blamed
            .iter()
            .map(|b| format!("{} ({})", markdown_code(&b.component), b.votes))
            .collect();
        if blamed.is_empty() {
            out.push_str("No text of the toolset is to blame.\n\n");
        } else {
            let _ = writeln!(out, "To blame (votes): {}.\n", blamed.join(", "));
        }
        for finding in mode.findings.iter().take(examples) {
            let _ = writeln!(
                out,
                "- `{}` {}: {}",
                finding.id,
                markdown_code(&place(finding)),
                markdown_code(&line(&finding.evidence, 300))
            );
        }
        if mode.findings.len() > examples {
            let _ = writeln!(out, "- … and {} more", mode.findings.len() - examples);
        }
        if let Some(contrast) = &mode.contrast {
            let _ = writeln!(
                out,
                "\nIn contrast: scenario {} {} in {}{}.",
                markdown_code(&contrast.scenario),
                if contrast.success_correct {
                    "ended correctly"
                } else {
                    "went without this failure"
                },
                markdown_code(&contrast.success_episode),
                if contrast.same_condition {
                    ""
                } else {
                    " (another condition)"
                }
            );
        }
    }
    out.push_str("\n## Texts to blame\n\n");
    for blamed in &diagnosis.blamed {
        let classes: Vec<String> = blamed
            .classes
            .iter()
            .map(|(class, n)| format!("`{class}` {n}"))
            .collect();
        let _ = writeln!(
            out,
            "- {}: {}, for {}",
            markdown_code(&blamed.component),
            counted(blamed.votes as usize, "vote"),
            classes.join(", ")
        );
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
