//! `collector show`.

mod head;

use std::io::{self, Write};

use anyhow::bail;
use clap::Args;
use serde_json::Value;
use trajectory::store::Filter;
use trajectory::{Call, Capture, EpisodeRecord, Exit, Message};

use super::StoreArgs;
use crate::terminal::{one_line, plain};

const EXAMPLES: &str = "\
Examples:
  collector show ep_3f9a               (the start of an id is enough)
  collector show ep_3f9a --full        (texts uncut)
  collector show ep_3f9a --json        (the whole record)";

/// Arguments of `collector show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShowArgs {
    /// Episode id, or the start of one.
    #[arg(value_name = "EPISODE")]
    pub episode: String,
    /// Only in this experiment.
    #[arg(long, short = 'e', value_name = "NAME")]
    pub experiment: Option<String>,
    /// Show texts in full.
    #[arg(long)]
    pub full: bool,
    /// Print the record as JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the store is.
    #[command(flatten)]
    pub store: StoreArgs,
}

pub(super) fn run(arguments: &ShowArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let store = arguments.store.open()?;
    let filter = Filter {
        experiment: arguments.experiment.clone(),
        episode: Some(arguments.episode.clone()),
        ..Filter::default()
    };
    let records = store.records(&filter)?;
    let record = match records.as_slice() {
        [] => bail!(
            "no episode `{}` here: `collector ls` lists them",
            arguments.episode
        ),
        [record] => record,
        several => {
            let experiments: Vec<&str> = several
                .iter()
                .map(|record| record.episode.experiment.as_str())
                .collect();
            bail!(
                "episode `{}` is in the experiments {}: choose one with --experiment",
                arguments.episode,
                experiments.join(", ")
            )
        }
    };
    if arguments.json {
        let text = serde_json::to_string_pretty(record)?;
        writeln!(out, "{}", crate::terminal::plain_json(&text))?;
    } else {
        let width = if arguments.full { usize::MAX } else { 1200 };
        Transcript {
            record,
            width,
            shown: vec![false; record.calls.len()],
        }
        .write(out)?;
    }
    Ok(Exit::Done)
}

struct Transcript<'a> {
    record: &'a EpisodeRecord,
    /// Longest text shown, in characters.
    width: usize,
    /// Calls that were shown below the message that made them.
    shown: Vec<bool>,
}

impl Transcript<'_> {
    fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        head::write(&self.record.episode, out)?;
        self.tools(out)?;
        for message in &self.record.messages {
            self.message(message, out)?;
        }
        let rest: Vec<usize> = (0..self.shown.len())
            .filter(|index| !self.shown[*index])
            .collect();
        if !rest.is_empty() {
            let title = if self.record.messages.is_empty() {
                "Calls"
            } else {
                "Calls outside the conversation"
            };
            writeln!(out, "\n{title}")?;
            for index in rest {
                self.call(index, out)?;
            }
        }
        self.scores(out)
    }

    fn tools(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.record.tools.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nTools")?;
        for tool in &self.record.tools {
            let description = tool.description.as_deref().filter(|text| !text.is_empty());
            let description = description
                .map_or_else(|| "(no description)".to_owned(), |text| one_line(text, 160));
            writeln!(out, "  {}: {description}", one_line(&tool.name, 80))?;
        }
        Ok(())
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        if message.role == "tool" && self.result_is_shown(message) {
            return Ok(());
        }
        let party = message
            .party
            .as_deref()
            .map(|party| format!("{} ", one_line(party, 20)))
            .unwrap_or_default();
        let turn = message
            .turn
            .map(|turn| format!(" (turn {turn})"))
            .unwrap_or_default();
        let model = message
            .model
            .as_deref()
            .map(|model| format!(" [{}]", one_line(model, 60)))
            .unwrap_or_default();
        writeln!(out, "\n{party}{}{turn}{model}", one_line(&message.role, 20))?;
        if let Some(content) = message
            .content
            .as_deref()
            .filter(|content| !content.is_empty())
        {
            self.text("  ", content, out)?;
        }
        for written in written_calls(message) {
            if let Some(index) = self.find(message, &written) {
                self.shown[index] = true;
                self.call(index, out)?;
                continue;
            }
            // Imports name the tools that only give an answer its form.
            let why = if self.gives_form(&written.name) {
                "structured output"
            } else {
                "not executed"
            };
            let arguments = one_line(written.arguments.as_deref().unwrap_or_default(), self.width);
            writeln!(
                out,
                "  -> {}({arguments})  {why}",
                one_line(&written.name, 80)
            )?;
        }
        Ok(())
    }

    fn gives_form(&self, tool: &str) -> bool {
        let attributes = self
            .record
            .episode
            .attributes
            .as_deref()
            .unwrap_or_default();
        let attributes: Option<Value> = serde_json::from_str(attributes).ok();
        attributes
            .as_ref()
            .and_then(|attributes| attributes.get("output_tools")?.as_array())
            .is_some_and(|tools| tools.iter().any(|name| name.as_str() == Some(tool)))
    }

    /// A tool message repeats the result of a call that is shown with it.
    fn result_is_shown(&self, message: &Message) -> bool {
        let parse =
            |text: Option<&String>| text.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let extra = parse(message.extra.as_ref());
        let id = extra
            .as_ref()
            .and_then(|extra| extra.get("tool_call_id"))
            .and_then(Value::as_str);
        // Sources write the same JSON in several spellings.
        let same = |call: &Call| {
            call.result == message.content
                || parse(call.result.as_ref())
                    .is_some_and(|result| Some(result) == parse(message.content.as_ref()))
        };
        self.record
            .calls
            .iter()
            .zip(&self.shown)
            .any(|(call, shown)| {
                let by_id = id.is_some() && call.call_id.as_deref() == id;
                *shown && (by_id || call.result.is_some() && same(call))
            })
    }

    /// The recorded call that a message's call became: by id, or else the next one of that name.
    fn find(&self, message: &Message, written: &Written) -> Option<usize> {
        let fits = |call: &Call| {
            call.tool == written.name && (message.party.is_none() || call.role == message.party)
        };
        let open = || {
            self.record
                .calls
                .iter()
                .enumerate()
                .filter(|(index, _)| !self.shown[*index])
        };
        let by_id = written.id.as_ref().and_then(|id| {
            open().find(|(_, call)| call.call_id.as_ref() == Some(id) && fits(call))
        });
        by_id
            .or_else(|| {
                open().find(|(_, call)| {
                    fits(call)
                        && (written.id.is_none() || call.call_id.is_none())
                        && call.turn == message.turn
                })
            })
            .map(|(index, _)| index)
    }

    fn call(&self, index: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(call) = self.record.calls.get(index) else {
            return Ok(());
        };
        let arguments = known(call.arguments.as_deref(), call.arguments_state);
        let role = call
            .role
            .as_deref()
            .map(|role| format!("{} ", one_line(role, 20)))
            .unwrap_or_default();
        writeln!(
            out,
            "  -> {role}{}({})",
            one_line(&call.tool, 80),
            one_line(&arguments, self.width)
        )?;
        let mark = match call.is_error {
            Some(true) => "failed",
            Some(false) => "ok",
            None => "unknown",
        };
        let class = call
            .error_class
            .as_deref()
            .map(|class| format!(" {}", one_line(class, 60)))
            .unwrap_or_default();
        let time = match (call.started_us, call.ended_us) {
            (Some(start), Some(end)) if end >= start => {
                format!(", {:.3} s", (end - start) as f64 / 1e6)
            }
            _ => String::new(),
        };
        writeln!(out, "  <- {mark}{class}{time}")?;
        if let Some(message) = call
            .error_message
            .as_deref()
            .filter(|message| Some(*message) != call.result.as_deref())
        {
            self.text("     ! ", message, out)?;
        }
        self.text(
            "     ",
            &known(call.result.as_deref(), call.result_state),
            out,
        )
    }

    fn text(&self, indent: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let cut: String = text.chars().take(self.width).collect();
        for line in plain(&cut).lines() {
            writeln!(out, "{indent}{line}")?;
        }
        if cut.len() < text.len() {
            writeln!(
                out,
                "{indent}… {} more bytes, shown with --full",
                text.len() - cut.len()
            )?;
        }
        Ok(())
    }

    fn scores(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.record.scores.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nScores")?;
        for score in &self.record.scores {
            let value = score.value.map(|value| value.to_string());
            let texts: Vec<String> = [value.as_deref(), score.text.as_deref()]
                .into_iter()
                .flatten()
                .map(|text| one_line(text, 80))
                .collect();
            let of = score
                .call_id
                .as_deref()
                .map(|id| format!(" of {}", one_line(id, 60)))
                .unwrap_or_default();
            let source = score
                .source
                .as_deref()
                .map(|by| format!(" ({})", one_line(by, 40)))
                .unwrap_or_default();
            writeln!(
                out,
                "  {}{of} = {}{source}",
                one_line(&score.name, 80),
                texts.join(" ")
            )?;
            if let Some(comment) = score
                .comment
                .as_deref()
                .filter(|comment| !comment.is_empty())
            {
                writeln!(out, "    {}", one_line(comment, 200))?;
            }
        }
        Ok(())
    }
}

/// A text, or what is known instead of it.
fn known(text: Option<&str>, state: Capture) -> String {
    match (text, state) {
        (Some(text), Capture::Captured) => text.to_owned(),
        (Some(text), Capture::Truncated) => format!("{text} (cut off by the source)"),
        (Some(text), Capture::Invalid) => format!("{text} (not valid)"),
        _ => "(not captured)".to_owned(),
    }
}

struct Written {
    id: Option<String>,
    name: String,
    arguments: Option<String>,
}

fn written_calls(message: &Message) -> Vec<Written> {
    let parsed = message
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
                arguments: text(call, "arguments"),
            })
        })
        .collect()
}
