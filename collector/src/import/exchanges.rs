//! The model calls of a trace: what each was given and answered, and the conversation they add up to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use trajectory::Message as Row;

use super::attributes::Attributes;
use super::conversation::{self, CallPart, Message, Side};
use super::execution;
use super::step::{Payload, Step};
use super::tree::Tree;

/// One model call.
pub(crate) struct ModelCall<'a> {
    pub(crate) step: &'a Step,
    pub(crate) input: Vec<Message>,
    pub(crate) output: Vec<Message>,
    /// Another model call inside this one records the same exchange.
    pub(crate) is_outer: bool,
}

/// The model calls of a trace, in time order.
pub(crate) fn model_calls<'a>(tree: &Tree<'a>) -> Vec<ModelCall<'a>> {
    let generations: Vec<&Step> = tree
        .steps
        .iter()
        .copied()
        .filter(|step| !step.is_hidden() && step.is_generation())
        .collect();
    let mut outer: BTreeSet<&str> = BTreeSet::new();
    for step in &generations {
        for above in tree.ancestors(step) {
            // Below a tool, a model call is another agent's.
            if above.is_generation() {
                outer.insert(&above.id);
            } else if execution::is_one(above) {
                break;
            }
        }
    }
    let call = |step: &'a Step, is_outer: bool| ModelCall {
        input: read(step, Side::Input),
        output: read(step, Side::Output),
        step,
        is_outer,
    };
    if generations.is_empty() {
        // Without model calls, agents and chains may still hold a conversation.
        let others = tree
            .steps
            .iter()
            .filter(|step| !step.is_hidden() && step.kind != "EVENT" && !execution::is_one(step));
        return others
            .map(|step| call(step, true))
            .filter(|call| has_calls(call))
            .collect();
    }
    generations
        .into_iter()
        .map(|step| call(step, outer.contains(step.id.as_str())))
        .collect()
}

fn has_calls(call: &ModelCall<'_>) -> bool {
    call.input
        .iter()
        .chain(&call.output)
        .any(|message| !message.calls.is_empty() || !message.results.is_empty())
}

fn read(step: &Step, side: Side) -> Vec<Message> {
    let (payload, names, trees): (&Payload, _, _) = match side {
        Side::Input => (
            &step.input,
            ["gen_ai.input.messages", "ai.prompt.messages", "input.value"],
            ["llm.input_messages", "gen_ai.prompt"],
        ),
        Side::Output => (
            &step.output,
            [
                "gen_ai.output.messages",
                "ai.response.toolCalls",
                "output.value",
            ],
            ["llm.output_messages", "gen_ai.completion"],
        ),
    };
    let mut messages = match payload.value() {
        Some(value) if payload.is_telling() => conversation::read(value, side),
        _ => from_attributes(&step.attributes, &names, &trees)
            .map(|value| conversation::read(&value, side))
            .unwrap_or_default(),
    };
    if side == Side::Output {
        add_drawn_out(step, &mut messages);
    }
    messages
}

fn from_attributes(attributes: &Attributes, names: &[&str], trees: &[&str]) -> Option<Value> {
    names
        .iter()
        .find_map(|name| attributes.value(name))
        .or_else(|| trees.iter().find_map(|prefix| attributes.below(prefix)))
}

/// Calls that the source itself drew out of a generation, where the output does not show them.
fn add_drawn_out(step: &Step, messages: &mut Vec<Message>) {
    let (Some(Value::Array(calls)), Some(Value::Array(names))) =
        (&step.tool_calls, &step.tool_call_names)
    else {
        return;
    };
    let shown = messages.iter().any(|message| !message.calls.is_empty());
    if shown || calls.is_empty() {
        return;
    }
    let mut parts: Vec<CallPart> = Vec::new();
    for (call, name) in calls.iter().zip(names) {
        let mut call = super::decode::unfold(call);
        if let Value::Object(object) = &mut call {
            object.insert("name".to_owned(), name.clone());
            object.entry("arguments").or_insert(Value::Null);
        }
        parts.extend(conversation::call(&call));
    }
    messages.push(Message {
        role: "assistant".to_owned(),
        calls: parts,
        ..Message::default()
    });
}

/// The conversation as message rows: every request repeats what came before, and each message is kept once.
pub(crate) fn transcript(experiment: &str, episode_id: &str, calls: &[ModelCall<'_>]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    let all_outer = calls.iter().all(|call| call.is_outer);
    for call in calls.iter().filter(|call| all_outer || !call.is_outer) {
        let mut repeated: BTreeMap<String, usize> = BTreeMap::new();
        for message in &call.input {
            for (key, row) in rows_of(experiment, episode_id, message) {
                tell(key, row, &mut repeated, &mut told, &mut rows);
            }
        }
        let mut answers: Vec<(String, Row)> = call
            .output
            .iter()
            .flat_map(|message| rows_of(experiment, episode_id, message))
            .collect();
        if let Some(answer) = answers
            .iter_mut()
            .map(|(_, row)| row)
            .rfind(|row| row.role == "assistant")
        {
            answer.model.clone_from(&call.step.model);
            answer.input_tokens = call.step.input_tokens;
            answer.output_tokens = call.step.output_tokens;
            answer.latency_us = match (call.step.started_us, call.step.ended_us) {
                (Some(start), Some(end)) if end >= start => Some(end - start),
                _ => None,
            };
        }
        for (key, row) in answers {
            *told.entry(key).or_default() += 1;
            rows.push(row);
        }
    }
    number(rows)
}

/// Input and output of a trace whose model calls are not recorded.
pub(crate) fn outline(
    experiment: &str,
    episode_id: &str,
    input: Option<&Value>,
    output: Option<&Value>,
) -> Vec<Row> {
    let read = |value: Option<&Value>, side| {
        value
            .map(|value| conversation::read(value, side))
            .unwrap_or_default()
    };
    let messages = read(input, Side::Input)
        .into_iter()
        .chain(read(output, Side::Output));
    number(
        messages
            .flat_map(|message| rows_of(experiment, episode_id, &message))
            .map(|(_, row)| row)
            .collect(),
    )
}

fn number(mut rows: Vec<Row>) -> Vec<Row> {
    for (sequence, row) in (0..).zip(&mut rows) {
        row.sequence = sequence;
    }
    rows
}

/// Adds a message of a request unless it was told before, as often as it was told.
fn tell(
    key: String,
    row: Row,
    repeated: &mut BTreeMap<String, usize>,
    told: &mut BTreeMap<String, usize>,
    rows: &mut Vec<Row>,
) {
    let count = repeated.entry(key.clone()).or_default();
    *count += 1;
    let known = told.entry(key).or_default();
    if *count > *known {
        *known = *count;
        rows.push(row);
    }
}

/// The rows of a message, each with what it is compared by: what it says, without ids, which histories
/// lose, and with the value of arguments instead of their spelling.
fn rows_of(experiment: &str, episode_id: &str, message: &Message) -> Vec<(String, Row)> {
    let row = |role: &str, content: Option<String>| Row {
        experiment: experiment.to_owned(),
        episode_id: episode_id.to_owned(),
        sequence: 0,
        turn: None,
        party: None,
        role: role.to_owned(),
        content,
        tool_calls: None,
        model: None,
        input_tokens: None,
        output_tokens: None,
        latency_us: None,
        finish_reason: None,
        extra: None,
    };
    let mut rows = Vec::new();
    for result in &message.results {
        let mut row = row("tool", result.content.text.clone());
        if let Some(id) = result.ids.last() {
            row.extra = Some(json!({"tool_call_id": id}).to_string());
        }
        rows.push((
            format!("tool\u{0}{}", row.content.as_deref().unwrap_or_default()),
            row,
        ));
    }
    if message.text.is_some() || !message.calls.is_empty() {
        let mut row = row(&message.role, message.text.clone());
        row.finish_reason.clone_from(&message.finish_reason);
        if !message.calls.is_empty() {
            let calls: Vec<Value> = message
                .calls
                .iter()
                .map(|call| json!({"id": call.ids.last(), "name": call.name, "arguments": call.arguments.text}))
                .collect();
            row.tool_calls = Some(Value::Array(calls).to_string());
        }
        let mut key = format!(
            "{}\u{0}{}",
            row.role,
            row.content.as_deref().unwrap_or_default()
        );
        for call in &message.calls {
            let _ = write!(key, "\u{0}{}{}", call.name, call.arguments.key);
        }
        rows.push((key, row));
    }
    rows
}
