//! The simulated agent: a rule-based negotiator that behaves like a careless tool user.
//!
//! It knows about the tools only what their served texts state ([`facts`]); what it does not find there it
//! gets wrong at the rates of its profile. A description therefore has an effect whose truth is known, which
//! is what tests of the statistics and of the optimizer need. It says nothing about any language model.
//!
//! It keeps no state: an answer is a function of the request alone.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;
use serde_json::{Value, json};

pub mod facts;
mod lexicon;
mod policy;
mod profile;
mod state;
#[cfg(test)]
mod tests;

pub use facts::{Fact, Facts};

use crate::budget::{Budget, BudgetLimits, Claim};
use crate::model::{ChatModel, ChatReply, ChatRequest, ModelError, ToolCall, ToolSpec, Usage};
use crate::options::ModelSetupError;
use policy::{Act, Policy, Price};
use profile::Profile;
use state::State;

/// Names of the profiles, the default first.
pub fn profile_names() -> Vec<&'static str> {
    Profile::names()
}

pub(crate) struct SimModel {
    name: String,
    profile: Profile,
    budget: Budget,
    /// What was read out of tool lists before: the same few lists come with thousands of requests.
    read: Mutex<Vec<(Vec<ToolSpec>, Facts)>>,
}

/// Tool lists whose facts are kept.
const KEPT_LISTS: usize = 16;

impl SimModel {
    pub(crate) fn new(profile: &str, budget: BudgetLimits) -> Result<Self, ModelSetupError> {
        let profile = Profile::named(profile).ok_or_else(|| ModelSetupError::UnknownProfile {
            given: profile.to_owned(),
            known: Profile::names(),
        })?;
        Ok(Self {
            name: format!("sim:{}", profile.name),
            profile,
            budget: Budget::new(budget, None),
            read: Mutex::default(),
        })
    }

    fn facts(&self, tools: &[ToolSpec]) -> Facts {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, facts)) = read.iter().find(|(known, _)| known == tools) {
            return *facts;
        }
        let facts = Facts::of(tools);
        if read.len() >= KEPT_LISTS {
            read.remove(0);
        }
        read.push((tools.to_vec(), facts));
        facts
    }

    fn answer(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let started = Instant::now();
        let claim = Claim::default();
        let reservation = self.budget.reserve(claim)?;
        self.budget.settle(&reservation, claim, &Usage::default());
        let cannot = |message: String| ModelError::Simulation { message };
        let state = State::of(request).map_err(cannot)?;
        let policy = Policy {
            seed: request.seed.unwrap_or(0),
            profile: &self.profile,
            facts: self.facts(&request.tools),
            state: &state,
        };
        if state.reads > 0
            && state.view.is_none()
            && state.complaints.is_empty()
            && state.reads > MAX_BLIND_READS
        {
            return Err(cannot(
                "`get_negotiation` gives no view with `status` and `moves_left`".to_owned(),
            ));
        }
        let (content, tool_calls) = match policy.next() {
            Act::Say(text) => (Some(text.to_owned()), Vec::new()),
            act => (None, vec![call(&act, &state, request).map_err(cannot)?]),
        };
        let finish_reason = if tool_calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        Ok(ChatReply {
            content,
            tool_calls,
            usage: Usage::default(),
            finish_reason: Some(finish_reason.to_owned()),
            model: Some(self.name.clone()),
            latency_us: i64::try_from(started.elapsed().as_micros()).unwrap_or(i64::MAX),
            extra: None,
        })
    }
}

/// Reads without a usable view after which the server is taken for another one than the market.
const MAX_BLIND_READS: usize = 3;

fn call(act: &Act, state: &State, request: &ChatRequest) -> Result<ToolCall, String> {
    let id = Value::from(state.negotiation_id.as_str());
    let (name, arguments) = match act {
        Act::Read => ("get_negotiation", json!({"negotiation_id": id})),
        Act::Accept => ("accept_proposal", json!({"negotiation_id": id})),
        Act::Reject => ("reject_proposal", json!({"negotiation_id": id})),
        Act::Refuse => ("refuse", json!({"negotiation_id": id})),
        Act::Propose(price) => (
            "propose",
            json!({"negotiation_id": id, "price": written(*price)}),
        ),
        Act::Say(_) => return Err("nothing to call".to_owned()),
    };
    if !request.tools.iter().any(|tool| tool.name() == name) {
        return Err(format!("the server has no tool `{name}`"));
    }
    let number = request
        .messages
        .iter()
        .map(|message| message.tool_calls.len())
        .sum::<usize>();
    Ok(ToolCall {
        id: format!("{}{number:03}", state.role.as_str()),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    })
}

fn written(price: Price) -> Value {
    match price {
        Price::Whole(price) => Value::from(price),
        Price::Quoted(price) => Value::from(price.to_string()),
        Price::Dollars(price) => Value::from(format!("${price}")),
        Price::Half(price) => Value::from(price as f64 - 0.5),
    }
}

impl ChatModel for SimModel {
    fn complete<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(std::future::ready(self.answer(request)))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn simulated(&self) -> bool {
        true
    }
}
