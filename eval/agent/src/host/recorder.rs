//! The record of an episode while it is being played.

use std::collections::BTreeMap;

use trajectory::{Call, Message};

use crate::model::{ChatMessage, ChatReply};

/// What one party's model used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartyUsage {
    /// Replies of the model.
    pub model_calls: i32,
    /// Prompt tokens; `None` as long as the provider counted none.
    pub input_tokens: Option<i64>,
    /// Completion tokens; `None` as long as the provider counted none.
    pub output_tokens: Option<i64>,
    /// Time spent waiting for the model, microseconds.
    pub model_time_us: i64,
}

/// Collects the calls and messages of one episode, with sequence numbers that run through both parties.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    experiment: String,
    episode_id: String,
    /// Tool calls, in order.
    pub calls: Vec<Call>,
    /// Messages, in order.
    pub messages: Vec<Message>,
    /// What each party's model used, by party.
    pub usage: BTreeMap<String, PartyUsage>,
}

/// Counts stay far below the type's range; a count beyond it is shown as its largest value.
fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

fn add(total: &mut Option<i64>, tokens: Option<i64>) {
    if let Some(tokens) = tokens {
        *total = Some(total.unwrap_or(0).saturating_add(tokens));
    }
}

impl Recorder {
    /// An empty record of the episode.
    pub fn new(experiment: &str, episode_id: &str) -> Self {
        Self {
            experiment: experiment.to_owned(),
            episode_id: episode_id.to_owned(),
            ..Self::default()
        }
    }

    /// Model calls of all parties.
    pub fn model_calls(&self) -> i32 {
        self.usage.values().map(|usage| usage.model_calls).sum()
    }

    /// What the model of `party` used so far.
    pub fn usage_of(&self, party: &str) -> PartyUsage {
        self.usage.get(party).copied().unwrap_or_default()
    }

    pub(super) fn message(&mut self, party: &str, turn: i32, message: &ChatMessage) {
        let mut row = self.row(party, turn, message.role.as_str());
        row.content = Some(message.content.clone());
        self.messages.push(row);
    }

    pub(super) fn reply(
        &mut self,
        party: &str,
        turn: i32,
        message: &ChatMessage,
        reply: &ChatReply,
    ) {
        let mut row = self.row(party, turn, message.role.as_str());
        row.content.clone_from(&reply.content);
        if !message.tool_calls.is_empty() {
            row.tool_calls = serde_json::to_string(&message.tool_calls).ok();
        }
        row.model.clone_from(&reply.model);
        row.input_tokens = reply.usage.input_tokens;
        row.output_tokens = reply.usage.output_tokens;
        row.latency_us = Some(reply.latency_us);
        row.finish_reason.clone_from(&reply.finish_reason);
        row.extra = reply.extra.as_ref().map(ToString::to_string);
        self.messages.push(row);

        let usage = self.usage.entry(party.to_owned()).or_default();
        usage.model_calls = usage.model_calls.saturating_add(1);
        add(&mut usage.input_tokens, reply.usage.input_tokens);
        add(&mut usage.output_tokens, reply.usage.output_tokens);
        usage.model_time_us = usage.model_time_us.saturating_add(reply.latency_us);
    }

    /// Sets the identity and position of a call, and keeps it.
    pub(super) fn call(&mut self, mut call: Call) {
        call.experiment.clone_from(&self.experiment);
        call.episode_id.clone_from(&self.episode_id);
        call.sequence = count(self.calls.len());
        self.calls.push(call);
    }

    fn row(&self, party: &str, turn: i32, role: &str) -> Message {
        Message {
            experiment: self.experiment.clone(),
            episode_id: self.episode_id.clone(),
            sequence: count(self.messages.len()),
            turn: Some(turn),
            party: Some(party.to_owned()),
            role: role.to_owned(),
            content: None,
            tool_calls: None,
            model: None,
            input_tokens: None,
            output_tokens: None,
            latency_us: None,
            finish_reason: None,
            extra: None,
        }
    }
}
