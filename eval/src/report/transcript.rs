//! One episode's transcript: messages and tool calls in the order in which they happened.
//!
//! It is written without the template engine because there may be hundreds of them: recorded texts go into the
//! inside of elements only, through `line` and `cut`, never into an attribute.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;
use trajectory::{Call, Capture, EpisodeRecord, Message};

use super::markup::{CUT, argument, cut, line};

/// Arguments and results longer than this many characters are folded, so that a transcript can be skimmed.
const FOLD: usize = 200;

/// A call as an assistant message wrote it.
struct Written {
    id: Option<String>,
    name: String,
    arguments: String,
}

struct Transcript<'a> {
    record: &'a EpisodeRecord,
    /// Calls that were shown with the message that made them.
    shown: BTreeSet<usize>,
    /// Prompts that were shown before; hosts send the same one every turn.
    prompts: BTreeSet<(Option<&'a str>, &'a str)>,
    /// Turn and party of the heading above.
    heading: Option<(Option<i32>, Option<&'a str>)>,
    out: String,
}

/// The transcript as HTML.
pub(super) fn transcript(record: &EpisodeRecord) -> String {
    let mut transcript = Transcript {
        record,
        shown: BTreeSet::new(),
        prompts: BTreeSet::new(),
        heading: None,
        out: String::new(),
    };
    for message in &record.messages {
        transcript.message(message);
    }
    for (index, call) in record.calls.iter().enumerate() {
        if !transcript.shown.contains(&index) {
            transcript.turn(call.turn, call.role.as_deref());
            transcript.call(call);
        }
    }
    if record.messages.is_empty() && record.calls.is_empty() {
        transcript
            .out
            .push_str("<p>No message and no tool call was recorded.</p>");
    }
    transcript.out
}

impl<'a> Transcript<'a> {
    fn turn(&mut self, turn: Option<i32>, party: Option<&'a str>) {
        if self.heading == Some((turn, party)) {
            return;
        }
        self.heading = Some((turn, party));
        let turn = turn.map_or_else(
            || "outside any turn".to_owned(),
            |turn| format!("turn {turn}"),
        );
        let party = party.map_or_else(String::new, |party| format!(", {}", line(party)));
        let _ = write!(self.out, "<p class=\"turn\">{turn}{party}</p>");
    }

    fn message(&mut self, message: &'a Message) {
        let party = message.party.as_deref();
        let content = message.content.as_deref().unwrap_or_default();
        let what = match message.role.as_str() {
            "tool" if self.is_result(message) => return,
            "tool" => "told to the model",
            "system" => "system prompt",
            "user" => "prompt",
            "assistant" => "says",
            other => other,
        };
        let is_prompt = matches!(message.role.as_str(), "system" | "user");
        if is_prompt && !self.prompts.insert((party, content)) {
            return;
        }
        self.turn(message.turn, party);
        if !content.is_empty() {
            let _ = write!(
                self.out,
                "<div class=\"said\"><span class=\"what\">{}</span>",
                line(what)
            );
            self.text(content);
            self.out.push_str("</div>");
        }
        for written in written(message) {
            if let Some((index, call)) = self.find(message, &written) {
                self.shown.insert(index);
                self.call(call);
            } else {
                let _ = write!(
                    self.out,
                    "<div class=\"call\"><p><span class=\"what\">written, not carried out</span> <code><b>{}</b></code></p>",
                    line(&written.name)
                );
                self.text(&written.arguments);
                self.out.push_str("</div>");
            }
        }
    }

    /// The recorded call that a written one became: by id, or else the next one of that name.
    fn find(&self, message: &Message, written: &Written) -> Option<(usize, &'a Call)> {
        let record = self.record;
        let mut open = record.calls.iter().enumerate().filter(|(index, call)| {
            !self.shown.contains(index)
                && call.tool == written.name
                && (message.party.is_none() || call.role == message.party)
        });
        match &written.id {
            Some(id) => {
                let candidates: Vec<(usize, &Call)> = open.collect();
                candidates
                    .iter()
                    .find(|(_, call)| call.call_id.as_ref() == Some(id))
                    .or_else(|| {
                        candidates
                            .iter()
                            .find(|(_, call)| call.call_id.is_none() && call.turn == message.turn)
                    })
                    .copied()
            }
            None => open.find(|(_, call)| call.turn == message.turn),
        }
    }

    /// Whether a tool message only repeats the result of a call that stands above it.
    fn is_result(&self, message: &Message) -> bool {
        self.shown.iter().any(|index| {
            self.record.calls.get(*index).is_some_and(|call| {
                call.turn == message.turn && call.result.is_some() && call.result == message.content
            })
        })
    }

    fn call(&mut self, call: &Call) {
        let failed = call.is_error == Some(true);
        let class = if failed { "call failed" } else { "call" };
        let role = call.role.as_deref().unwrap_or("agent");
        let _ = write!(self.out, "<div class=\"{class}\">");
        self.part(
            &format!("{role} calls"),
            Some(&call.tool),
            call.arguments.as_deref(),
            call.arguments_state,
        );
        if failed || call.error_class.is_some() {
            let class = call.error_class.as_deref().unwrap_or("no class recorded");
            let _ = write!(
                self.out,
                "<p class=\"refusal\">refused or failed: {}</p>",
                line(class)
            );
        }
        let sentence = call.error_message.as_deref();
        if let Some(sentence) = sentence.filter(|text| Some(*text) != call.result.as_deref()) {
            self.text(sentence);
        }
        self.part("result", None, call.result.as_deref(), call.result_state);
        self.out.push_str("</div>");
    }

    /// Arguments or result of a call: on one line when they are short, folded when they are long; or what is
    /// known instead of them.
    fn part(&mut self, what: &str, tool: Option<&str>, text: Option<&str>, state: Capture) {
        let known = match (text, state) {
            (None, _) => " (not captured)",
            (_, Capture::Truncated) => " (cut off by the source)",
            (_, Capture::Invalid) => " (not valid)",
            _ => "",
        };
        let mut head = format!("<span class=\"what\">{}{known}</span>", line(what));
        if let Some(tool) = tool {
            let _ = write!(head, " <code><b>{}</b></code>", line(tool));
        }
        let text = text.unwrap_or_default();
        let length = text.chars().count();
        if length <= FOLD {
            let _ = write!(self.out, "<p>{head} <code>{}</code></p>", line(text));
            return;
        }
        let _ = write!(
            self.out,
            "<details><summary>{head}, {length} characters</summary>"
        );
        self.text(text);
        self.out.push_str("</details>");
    }

    fn text(&mut self, text: &str) {
        let (kept, left_out) = cut(text);
        let _ = write!(self.out, "<pre>{kept}</pre>");
        if left_out > 0 {
            let _ = write!(
                self.out,
                "<p class=\"what\">{left_out} characters after the first {CUT} are left out; <code>whetstone collector show {} --full</code> shows them</p>",
                line(&argument(&self.record.episode.episode_id))
            );
        }
    }
}

fn written(message: &Message) -> Vec<Written> {
    let parsed: Option<Value> = message
        .tool_calls
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok());
    let Some(Value::Array(calls)) = parsed else {
        return Vec::new();
    };
    let text = |call: &Value, name: &str| call.get(name).and_then(Value::as_str).map(str::to_owned);
    calls
        .iter()
        .filter_map(|call| {
            Some(Written {
                id: text(call, "id"),
                name: text(call, "name")?,
                arguments: text(call, "arguments").unwrap_or_default(),
            })
        })
        .collect()
}
