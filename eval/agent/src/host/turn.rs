//! One turn of one party.

use std::collections::HashSet;

use trajectory::{Call, Capture, clock};

use super::connection::Answer;
use super::convert::{self, Outcome};
use super::{HostError, PartyHost, Recorder, TurnEnd};
use crate::model::{ChatMessage, ChatModel, ChatReply, ChatRole, ToolCall, toolset_id};

/// Said to a model that answered without calling a tool.
pub(super) const REMINDER: &str =
    "You act only through the tools: call one now. Your turn ends when a move has gone through.";

/// The answer to calls that stand behind the one that ended the turn.
pub(super) const TURN_ENDED: &str = "not executed: your turn has ended";

/// Calls of one reply that are run; a reply with more has lost its way.
const MAX_CALLS_PER_REPLY: usize = 16;

/// The answer to calls beyond [`MAX_CALLS_PER_REPLY`].
const TOO_MANY: &str = "not executed: too many calls in one reply";

pub(super) async fn play(
    host: &mut PartyHost,
    model: &dyn ChatModel,
    user_prompt: &str,
    turn: i32,
    recorder: &mut Recorder,
) -> Result<TurnEnd, HostError> {
    let party = host.config.party.clone();
    if !host.system_recorded {
        if let Some(system) = host.request.messages.first() {
            recorder.message(&party, turn, system);
        }
        host.system_recorded = true;
    }
    say(host, recorder, turn, ChatMessage::user(user_prompt));

    let limit = host.config.max_calls_per_turn;
    let mut without_call = 0;
    for call_number in 1..=limit {
        host.delivered = toolset_id(&host.request.tools);
        let reply = model.complete(&host.request).await?;
        let message = assistant_message(&host.request.messages, &reply);
        recorder.reply(&party, turn, &message, &reply);
        let calls = message.tool_calls.clone();
        host.request.messages.push(message);
        if calls.is_empty() {
            without_call += 1;
            if call_number < limit {
                say(host, recorder, turn, ChatMessage::user(REMINDER));
            }
            continue;
        }
        if run_calls(host, recorder, turn, &calls).await? {
            return Ok(TurnEnd::Moved);
        }
    }
    Ok(TurnEnd::NoMove {
        model_calls: limit,
        without_call,
    })
}

fn say(host: &mut PartyHost, recorder: &mut Recorder, turn: i32, message: ChatMessage) {
    recorder.message(&host.config.party, turn, &message);
    host.request.messages.push(message);
}

/// Runs the calls in order; true when one of them ended the turn.
async fn run_calls(
    host: &mut PartyHost,
    recorder: &mut Recorder,
    turn: i32,
    calls: &[ToolCall],
) -> Result<bool, HostError> {
    let mut ended = false;
    for (index, call) in calls.iter().enumerate() {
        let text = if ended {
            TURN_ENDED.to_owned()
        } else if index >= MAX_CALLS_PER_REPLY {
            TOO_MANY.to_owned()
        } else {
            let outcome = run_call(host, recorder, turn, call).await?;
            ended = !outcome.failed() && host.config.turn_ending.contains(&call.name);
            outcome.text
        };
        say(
            host,
            recorder,
            turn,
            ChatMessage::tool(call.id.clone(), text),
        );
    }
    Ok(ended)
}

async fn run_call(
    host: &PartyHost,
    recorder: &mut Recorder,
    turn: i32,
    call: &ToolCall,
) -> Result<Outcome, HostError> {
    let started_us = clock::now_us();
    let (outcome, arguments_state) = match convert::arguments(&call.arguments) {
        Err(outcome) => (outcome, Capture::Invalid),
        Ok(arguments) => {
            let outcome = match host.connection.call(&call.name, arguments).await? {
                Answer::Result(result) => convert::result(&result),
                Answer::Refused(error) => {
                    convert::refused(&error, &call.name, host.toolset.tool(&call.name).is_some())
                }
            };
            (outcome, Capture::Captured)
        }
    };
    recorder.call(Call {
        experiment: String::new(),
        episode_id: String::new(),
        sequence: 0,
        turn: Some(turn),
        role: Some(host.config.party.clone()),
        tool: call.name.clone(),
        server: None,
        call_id: Some(call.id.clone()),
        arguments: Some(call.arguments.clone()),
        arguments_state,
        result: Some(outcome.text.clone()),
        result_state: Capture::Captured,
        is_error: Some(outcome.failed()),
        error_class: outcome.error_class.clone(),
        error_message: outcome.failed().then(|| outcome.text.clone()),
        started_us: Some(started_us),
        ended_us: Some(clock::now_us()),
    });
    Ok(outcome)
}

/// The reply as a message of the conversation, every call with an id of its own: providers pair results
/// with calls by it, and some servers give none, or the same one again.
fn assistant_message(conversation: &[ChatMessage], reply: &ChatReply) -> ChatMessage {
    let mut taken: HashSet<&str> = conversation
        .iter()
        .filter(|message| message.role == ChatRole::Assistant)
        .flat_map(|message| message.tool_calls.iter().map(|call| call.id.as_str()))
        .collect();
    let mut calls = Vec::with_capacity(reply.tool_calls.len());
    for (index, written) in reply.tool_calls.iter().enumerate() {
        let mut call = written.clone();
        if written.id.is_empty() || !taken.insert(written.id.as_str()) {
            // Nine letters and digits: the one form that the strictest provider takes as well.
            call.id = format!("c{:05}{:03}", conversation.len() % 100_000, index % 1000);
        }
        calls.push(call);
    }
    ChatMessage::assistant(reply.content.clone().unwrap_or_default(), calls)
}
