//! The reflector that needs no model: sentences mined from the evidence.
//!
//! Three sources, all of them true by the record: facts of the market whose lack the failures show (`facts`), what
//! the tool's own schema says about arguments that were wrong, and the server's own error sentences, reduced to the
//! precondition they state. The sentences are appended to the existing text (its author knew what the tool is for, and
//! even a one-liner says that), most frequent first, as far as the caps allow. It is a real baseline: a model has to
//! beat it.

use std::collections::{BTreeMap, BTreeSet};

use trajectory::ComponentId;

use super::{Brief, Draft, DraftFuture, Reflector, Spent, errors, facts, parameters};
use crate::classes::{Class, Finding};
use crate::guard::evidence::server_sentences;
use crate::guard::words;
use crate::patch::{Edit, Patch};

/// Findings an edit cites; beyond that the number says enough.
const CITED: usize = 12;
/// Sentences added to one text.
const SENTENCES: usize = 4;

/// The reflector `mined`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mined;

impl Reflector for Mined {
    fn name(&self) -> String {
        "mined".to_owned()
    }

    fn rounds(&self) -> usize {
        1
    }

    fn draft<'a>(&'a self, brief: &'a Brief<'a>) -> DraftFuture<'a> {
        Box::pin(std::future::ready(Ok(Draft {
            patch: Ok(mine(brief)),
            spent: Spent::default(),
            observed: Vec::new(),
            notes: Vec::new(),
        })))
    }
}

/// A sentence for one component, with the findings that call for it.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) component: ComponentId,
    pub(super) text: String,
    pub(super) answers: Vec<String>,
    /// Where the sentence comes from, for the reason of the edit.
    pub(super) source: &'static str,
}

fn mine(brief: &Brief<'_>) -> Patch {
    let findings: Vec<&Finding> = brief.diagnosis.findings().collect();
    let mut sentences = facts::sentences(brief, &findings);
    // What a fact already answers needs no second sentence for the same text.
    let answered: BTreeSet<String> = sentences
        .iter()
        .flat_map(|s| s.answers.iter().cloned())
        .collect();
    let open: Vec<&Finding> = findings
        .into_iter()
        .filter(|finding| !answered.contains(&finding.id))
        .collect();
    sentences.extend(parameters::sentences(brief.toolset, &open));
    sentences.extend(error_sentences(brief, &open));
    sentences.extend(repetition_sentences(brief, &open));
    Patch {
        edits: assemble(brief, sentences),
    }
}

/// Groups sentences by component and appends them to its text.
fn assemble(brief: &Brief<'_>, sentences: Vec<Sentence>) -> Vec<Edit> {
    let mut by_component: BTreeMap<ComponentId, Vec<Sentence>> = BTreeMap::new();
    for sentence in sentences {
        by_component
            .entry(sentence.component.clone())
            .or_default()
            .push(sentence);
    }
    // The order of blame, which also settles which edits stand when there are more than allowed.
    let place = |component: &ComponentId| {
        let name = component.to_string();
        brief
            .diagnosis
            .blamed
            .iter()
            .position(|blamed| blamed.component == name)
            .unwrap_or(usize::MAX)
    };
    let mut components: Vec<(ComponentId, Vec<Sentence>)> = by_component.into_iter().collect();
    components.sort_by_key(|(component, _)| place(component));
    components
        .into_iter()
        .filter_map(|(component, sentences)| edit(brief, component, sentences))
        .take(brief.limits.edits)
        .collect()
}

fn edit(brief: &Brief<'_>, component: ComponentId, mut sentences: Vec<Sentence>) -> Option<Edit> {
    let old = brief.toolset.text(&component)?;
    let cap = brief.limits.cap(component.parameter.is_some());
    sentences.sort_by_key(|sentence| std::cmp::Reverse(sentence.answers.len()));
    let mut text = old.trim().to_owned();
    let mut answers: Vec<String> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for sentence in sentences.into_iter().take(SENTENCES) {
        let known = words::normal(&text);
        if known.contains(&words::normal(&sentence.text)) {
            continue;
        }
        let longer = joined(&text, &sentence.text);
        if longer.chars().count() > cap {
            continue;
        }
        text = longer;
        reasons.push(format!(
            "{} ({})",
            sentence.source,
            counted(sentence.answers.len())
        ));
        answers.extend(sentence.answers.into_iter().take(CITED));
    }
    if answers.is_empty() {
        return None;
    }
    let mut seen = BTreeSet::new();
    answers.retain(|id| seen.insert(id.clone()));
    answers.truncate(CITED);
    Some(Edit {
        tool: component.tool,
        parameter: component.parameter,
        text,
        answers,
        reason: reasons.join("; "),
    })
}

fn counted(findings: usize) -> String {
    if findings == 1 {
        "1 finding".to_owned()
    } else {
        format!("{findings} findings")
    }
}

/// Two texts with a full stop and a space between them.
fn joined(text: &str, sentence: &str) -> String {
    if text.is_empty() {
        return sentence.to_owned();
    }
    let stop = if text.ends_with(['.', '!', '?', ':']) {
        ""
    } else {
        "."
    };
    format!("{text}{stop} {sentence}")
}

/// The server's own sentences, for the tools whose calls ran into them.
fn error_sentences(brief: &Brief<'_>, findings: &[&Finding]) -> Vec<Sentence> {
    let trusted = server_sentences(brief.records);
    let known = errors::Vocabulary::of(brief.toolset);
    let calls: BTreeMap<(&str, i32), &trajectory::Call> = brief
        .records
        .iter()
        .flat_map(|record| &record.calls)
        .map(|call| ((call.episode_id.as_str(), call.sequence), call))
        .collect();
    let mut answers: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    // The same message comes back many times; it is read once.
    let mut reduced: BTreeMap<&str, Option<String>> = BTreeMap::new();
    for finding in findings {
        // These are about what was done with an error, not about what the error says.
        if matches!(finding.class, Class::IgnoredError | Class::WastedCalls) {
            continue;
        }
        for sequence in &finding.calls {
            let Some(call) = calls.get(&(finding.episode_id.as_str(), *sequence)) else {
                continue;
            };
            let Some(sentence) =
                crate::classes::generic::error_text(call).filter(|text| trusted.contains(text))
            else {
                continue;
            };
            let clean = reduced
                .entry(sentence)
                .or_insert_with(|| errors::precondition(sentence, &known))
                .clone();
            if let Some(clean) = clean {
                answers
                    .entry((call.tool.clone(), clean))
                    .or_default()
                    .push(finding.id.clone());
                break;
            }
        }
    }
    answers
        .into_iter()
        .map(|((tool, text), answers)| Sentence {
            component: ComponentId::tool(&tool),
            text,
            answers,
            source: "the server's own error message",
        })
        .collect()
}

/// What repeated and ignored calls teach about a tool.
fn repetition_sentences(brief: &Brief<'_>, findings: &[&Finding]) -> Vec<Sentence> {
    let mut answers: BTreeMap<(&str, &'static str), Vec<String>> = BTreeMap::new();
    for finding in findings {
        let text = match finding.class {
            Class::RepeatedCall => {
                "The same arguments give the same result, so one call is enough."
            }
            Class::IgnoredError => "A call that failed fails again with the same arguments.",
            _ => continue,
        };
        if let Some(tool) = finding
            .tool
            .as_deref()
            .filter(|tool| brief.toolset.tool(tool).is_some())
        {
            answers
                .entry((tool, text))
                .or_default()
                .push(finding.id.clone());
        }
    }
    answers
        .into_iter()
        .map(|((tool, text), answers)| Sentence {
            component: ComponentId::tool(tool),
            text: text.to_owned(),
            answers,
            source: "calls that repeated themselves in the record",
        })
        .collect()
}
