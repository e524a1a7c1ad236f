//! The tool calls of a trace, from everything that speaks of them.
//!
//! A call shows up as an executed step, as a part of the answer in which a model asked for it, and again in
//! the history of every later request. It is counted once: parts and steps are one call when they share an
//! id, or else when tool and arguments agree. Ids are trusted only as far as they are ids, since one
//! framework uses the tool's name, and are compared together with name and arguments, since they repeat.

mod asked;

use std::collections::{BTreeMap, HashMap, HashSet};

use super::captured::Captured;
use super::conversation::{Message, ResultPart};
use super::execution::{Execution, split_server};
use super::failure::{self, Failure};
use asked::Asked;

/// One tool call.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallSeen {
    pub(crate) ids: Vec<String>,
    pub(crate) tool: String,
    pub(crate) arguments: Captured,
    pub(crate) result: Captured,
    pub(crate) failure: Failure,
    pub(crate) started_us: Option<i64>,
    pub(crate) ended_us: Option<i64>,
    /// The executed step, when there is one.
    pub(crate) step: Option<String>,
}

/// One model call, as far as tool calls are concerned.
pub(crate) struct Exchange<'a> {
    /// Another model call inside this one records the same exchange.
    pub(crate) is_outer: bool,
    pub(crate) input: &'a [Message],
    pub(crate) output: &'a [Message],
    /// When its answer was there.
    pub(crate) at_us: Option<i64>,
}

/// All calls of a trace, in time order; `output_tools` are called like tools and are none.
pub(crate) fn calls(
    executions: Vec<Execution>,
    ancestors: &BTreeMap<String, Vec<String>>,
    exchanges: &[Exchange<'_>],
    output_tools: &[String],
) -> Vec<CallSeen> {
    let executions = merge_executions(executions, ancestors);
    let mut asked = asked::collect(exchanges);
    let executed_tools: HashSet<String> = executions
        .iter()
        .map(|e| bare(&e.tool).to_owned())
        .collect();
    let keys: HashSet<(String, String)> = executions
        .iter()
        .map(|e| (bare(&e.tool).to_owned(), e.arguments.key.clone()))
        .collect();
    let mut found: Vec<CallSeen> = pair(executions, &mut asked);
    for asked in asked.into_iter().filter(|asked| !asked.used) {
        let tool = bare(&asked.part.name).to_owned();
        let structured = output_tools.contains(&asked.part.name) && !executed_tools.contains(&tool);
        // Without an id, more mentions than executions are the same call told again.
        let key = (tool, asked.part.arguments.key.clone());
        let again = asked.part.ids.is_empty() && keys.contains(&key);
        if !structured && !again {
            found.push(unexecuted(asked));
        }
    }
    // Stable: calls of one moment keep the order in which they were asked for.
    found.sort_by_key(|call| call.started_us.unwrap_or(i64::MAX));
    found
}

fn bare(tool: &str) -> &str {
    split_server(tool).1
}

/// Whether two arguments can be those of one call: unknown ones fit any.
fn agree(a: &Captured, b: &Captured) -> bool {
    !a.is_known() || !b.is_known() || a.key == b.key
}

fn share_id(a: &[String], b: &[String]) -> bool {
    a.iter().any(|id| b.contains(id))
}

/// A step below a step of the same tool and arguments is the same call seen from the other end, and two
/// steps with one id, tool and arguments were recorded twice.
fn merge_executions(
    executions: Vec<Execution>,
    ancestors: &BTreeMap<String, Vec<String>>,
) -> Vec<Execution> {
    let mut kept: Vec<Execution> = Vec::with_capacity(executions.len());
    let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
    let mut by_step: HashMap<String, usize> = HashMap::new();
    // Steps above those kept: a child can start before its parent when clocks differ.
    let mut by_ancestor: HashMap<&String, Vec<usize>> = HashMap::new();
    for mut execution in executions {
        // An id that is the tool's name identifies nothing.
        execution.ids.retain(|id| *id != execution.tool);
        let above = ancestors
            .get(&execution.step)
            .map_or(&[][..], Vec::as_slice);
        let candidates = above
            .iter()
            .filter_map(|step| by_step.get(step))
            .chain(by_ancestor.get(&execution.step).into_iter().flatten())
            .chain(
                execution
                    .ids
                    .iter()
                    .filter_map(|id| by_id.get(id))
                    .flatten(),
            );
        let twin = candidates.copied().filter(|at| {
            kept.get(*at).is_some_and(|other| {
                bare(&other.tool) == bare(&execution.tool)
                    && agree(&other.arguments, &execution.arguments)
            })
        });
        let at = twin.min();
        let index = at.unwrap_or(kept.len());
        for id in &execution.ids {
            by_id.entry(id.clone()).or_default().push(index);
        }
        by_step.insert(execution.step.clone(), index);
        for step in above {
            by_ancestor.entry(step).or_default().push(index);
        }
        match at.and_then(|at| kept.get_mut(at)) {
            Some(twin) => absorb(twin, execution),
            None => kept.push(execution),
        }
    }
    kept
}

fn absorb(twin: &mut Execution, other: Execution) {
    if twin.ids.is_empty() {
        twin.ids = other.ids;
    }
    if !twin.arguments.is_known() {
        twin.arguments = other.arguments;
    }
    if !twin.result.is_known() || (twin.weak_result && !other.weak_result) {
        twin.result = other.result;
    }
    if twin.failure.is_error != Some(true) && other.failure != Failure::default() {
        twin.failure = other.failure;
    }
    twin.started_us = twin.started_us.or(other.started_us);
    twin.ended_us = twin.ended_us.or(other.ended_us);
}

/// Joins executions with the calls that asked for them: by id first, then by tool and arguments in order.
fn pair(executions: Vec<Execution>, asked: &mut [Asked]) -> Vec<CallSeen> {
    let mut partner: Vec<Option<usize>> = vec![None; executions.len()];
    for (index, execution) in executions.iter().enumerate() {
        partner[index] = take(asked, |asked| {
            let same_call = bare(&asked.part.name) == bare(&execution.tool)
                || (!execution.arguments.value.is_null()
                    && agree(&asked.part.arguments, &execution.arguments));
            share_id(&asked.part.ids, &execution.ids) && same_call
        });
    }
    for (index, execution) in executions.iter().enumerate() {
        if partner[index].is_none() {
            partner[index] = take(asked, |asked| {
                let one_without = asked.part.ids.is_empty() || execution.ids.is_empty();
                let arguments_agree =
                    execution.weak_arguments || agree(&asked.part.arguments, &execution.arguments);
                one_without && bare(&asked.part.name) == bare(&execution.tool) && arguments_agree
            });
        }
    }
    executions
        .into_iter()
        .zip(partner)
        .map(|(execution, partner)| join(execution, partner.and_then(|at| asked.get(at))))
        .collect()
}

fn take(asked: &mut [Asked], fits: impl Fn(&Asked) -> bool) -> Option<usize> {
    let at = asked.iter().position(|asked| !asked.used && fits(asked))?;
    asked.get_mut(at)?.used = true;
    Some(at)
}

fn join(execution: Execution, asked: Option<&Asked>) -> CallSeen {
    let mut call = CallSeen {
        ids: execution.ids,
        tool: execution.tool,
        arguments: execution.arguments,
        result: execution.result,
        failure: execution.failure,
        started_us: execution.started_us,
        ended_us: execution.ended_us,
        step: Some(execution.step),
    };
    let Some(asked) = asked else { return call };
    call.tool.clone_from(&asked.part.name);
    if !asked.part.ids.is_empty() {
        call.ids.clone_from(&asked.part.ids);
    }
    if (!call.arguments.is_known() || execution.weak_arguments)
        && asked.part.arguments.text.is_some()
    {
        call.arguments = asked.part.arguments.clone();
    }
    if let Some(result) = &asked.result {
        if (!call.result.is_known() || execution.weak_result) && result.content.text.is_some() {
            call.result = result.content.clone();
        }
        if call.failure.is_error != Some(true) && result.is_error == Some(true) {
            call.failure = failed(result);
        }
    }
    call
}

fn unexecuted(asked: Asked) -> CallSeen {
    let result = asked.result.unwrap_or_default();
    let failure = if result.is_error == Some(true) {
        failed(&result)
    } else {
        let mut judged = failure::of_payload(&result.content.value);
        judged.is_error = judged.is_error.or(result.is_error);
        judged
    };
    CallSeen {
        ids: asked.part.ids,
        tool: asked.part.name,
        arguments: asked.part.arguments,
        result: result.content,
        failure,
        started_us: asked.at_us,
        ended_us: None,
        step: None,
    }
}

fn failed(result: &ResultPart) -> Failure {
    let judged = failure::of_payload(&result.content.value);
    Failure {
        is_error: Some(true),
        class: judged.class.or_else(|| Some("tool_error".to_owned())),
        message: judged.message.or_else(|| result.content.text.clone()),
    }
}

#[cfg(test)]
mod tests;
