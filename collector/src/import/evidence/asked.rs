//! The calls that models wrote, each once, with the results they were given.
//!
//! Long conversations repeat their history in every request, so mentions are looked up and not searched for.

use std::collections::{HashMap, HashSet};

use super::{Exchange, agree};
use crate::import::conversation::{CallPart, Message, ResultPart};

/// A call that a model wrote.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) part: CallPart,
    pub(super) result: Option<ResultPart>,
    pub(super) at_us: Option<i64>,
    /// Joined with an execution.
    pub(super) used: bool,
}

/// Collects the calls of all exchanges, which are in time order.
pub(super) fn collect(exchanges: &[Exchange<'_>]) -> Vec<Asked> {
    let mut collected = Collected::default();
    for exchange in exchanges {
        collected.read(exchange);
    }
    collected.calls
}

#[derive(Default)]
struct Collected {
    calls: Vec<Asked>,
    by_id: HashMap<String, Vec<usize>>,
    by_name: HashMap<String, Vec<usize>>,
    without_id: HashMap<String, Vec<usize>>,
}

impl Collected {
    fn read(&mut self, exchange: &Exchange<'_>) {
        // Calls of this conversation in order, to give results without ids to.
        let mut conversation: Vec<usize> = Vec::new();
        let mut matched: HashSet<usize> = HashSet::new();
        for message in exchange.input {
            for part in parts(message, exchange) {
                let at = match self.known(&part, &matched) {
                    Some(at) => at,
                    None => self.add(part, exchange.at_us),
                };
                matched.insert(at);
                conversation.push(at);
            }
            for result in &message.results {
                self.give(result, &mut conversation);
            }
        }
        for message in exchange.output {
            for part in parts(message, exchange) {
                // An answer asks anew, unless an id says that it was told before.
                let known = if part.ids.is_empty() {
                    None
                } else {
                    self.known(&part, &HashSet::new())
                };
                match known.and_then(|at| self.calls.get_mut(at)) {
                    None => {
                        self.add(part, exchange.at_us);
                    }
                    // A later mention may have what an earlier one lacked.
                    Some(known) if !known.part.arguments.is_known() => {
                        known.part.arguments = part.arguments;
                    }
                    Some(_) => {}
                }
            }
            for result in &message.results {
                self.give(result, &mut conversation);
            }
        }
    }

    fn add(&mut self, part: CallPart, at_us: Option<i64>) -> usize {
        let at = self.calls.len();
        for id in &part.ids {
            self.by_id.entry(id.clone()).or_default().push(at);
        }
        if part.ids.is_empty() {
            self.without_id
                .entry(part.name.clone())
                .or_default()
                .push(at);
        }
        self.by_name.entry(part.name.clone()).or_default().push(at);
        self.calls.push(Asked {
            part,
            result: None,
            at_us,
            used: false,
        });
        at
    }

    /// The call that a mention repeats. Without an id, mentions in one conversation are matched in order.
    fn known(&self, part: &CallPart, matched: &HashSet<usize>) -> Option<usize> {
        let same = |at: &usize| {
            self.calls.get(*at).is_some_and(|asked| {
                asked.part.name == part.name && agree(&asked.part.arguments, &part.arguments)
            })
        };
        let by_id = part
            .ids
            .iter()
            .filter_map(|id| self.by_id.get(id))
            .flatten();
        let others = if part.ids.is_empty() {
            &self.by_name
        } else {
            &self.without_id
        };
        by_id.copied().find(same).or_else(|| {
            others
                .get(&part.name)?
                .iter()
                .copied()
                .find(|at| !matched.contains(at) && same(at))
        })
    }

    /// Gives a result to its call; of several with its id, to the last.
    fn give(&mut self, result: &ResultPart, conversation: &mut Vec<usize>) {
        let by_id = result
            .ids
            .iter()
            .filter_map(|id| self.by_id.get(id))
            .flatten();
        let mut at = by_id.copied().max();
        if at.is_none() && (result.name.is_some() || result.ids.is_empty()) {
            let name = result.name.as_deref();
            let fits = |at: &usize| {
                self.calls.get(*at).is_some_and(|asked| {
                    (asked.part.ids.is_empty() || result.ids.is_empty())
                        && name.is_none_or(|name| name == asked.part.name)
                })
            };
            at = conversation
                .iter()
                .position(fits)
                .map(|index| conversation.remove(index));
        }
        if let Some(asked) = at.and_then(|at| self.calls.get_mut(at))
            && asked.result.is_none()
        {
            asked.result = Some(result.clone());
        }
    }
}

/// The calls of a message, without ids that are the tool's name, which identify nothing. An outer model
/// call repeats what an inner one tells, so only what can be recognised is taken from it.
fn parts<'a>(
    message: &'a Message,
    exchange: &'a Exchange<'_>,
) -> impl Iterator<Item = CallPart> + 'a {
    message
        .calls
        .iter()
        .map(|part| {
            let mut part = part.clone();
            part.ids.retain(|id| *id != part.name);
            part
        })
        .filter(|part| !(exchange.is_outer && part.ids.is_empty()))
}
