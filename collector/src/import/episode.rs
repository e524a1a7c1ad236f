//! From a trace to an episode.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use trajectory::canonical::sha256_hex;
use trajectory::{Call, Episode, EpisodeRecord, Score};

use super::definitions::{self, Toolsets};
use super::evidence::{self, CallSeen, Exchange};
use super::exchanges::{self, ModelCall};
use super::execution::{self, Execution, split_server};
use super::step::{ScoreSeen, Step, Trace};
use super::tree::Tree;

/// An episode with what the import's summary tells about it.
pub(crate) struct Assembled {
    pub(crate) record: EpisodeRecord,
    pub(crate) orphans: usize,
}

/// The id of a trace's episode: the trace's own where it is a sane name, so that people find it again.
pub(crate) fn episode_id(trace_id: &str) -> String {
    let sane = (4..=100).contains(&trace_id.len())
        && trace_id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && trace_id
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
    if sane {
        return trace_id.to_owned();
    }
    let hash = sha256_hex(trace_id.as_bytes());
    format!("tr_{}", &hash[..20])
}

/// Makes the episode of a trace.
pub(crate) fn assemble(experiment: &str, source: &str, trace_id: &str, trace: &Trace) -> Assembled {
    let tree = Tree::new(trace);
    let id = episode_id(trace_id);
    let model_calls = exchanges::model_calls(&tree);
    let output_tools = definitions::output_tools(&tree.steps);
    let seen = calls_of(&tree, &model_calls, &output_tools);
    let among_messages = model_calls
        .iter()
        .map(|call| {
            let definitions = call.input.iter().flat_map(|message| &message.definitions);
            (call.step.id.as_str(), definitions.collect())
        })
        .collect();
    let toolsets = definitions::toolsets(experiment, &tree.steps, &among_messages);

    let mut episode = Episode::new(experiment, &id, source);
    describe(&mut episode, trace, &tree, &model_calls);
    episode.toolset_seen = toolsets.ids.first().cloned();
    episode.tool_calls = i32::try_from(seen.len()).ok();
    episode.attributes =
        Some(attributes(trace_id, trace, &tree, &toolsets, &output_tools).to_string());

    let mut messages = exchanges::transcript(experiment, &id, &model_calls);
    if messages.is_empty() {
        let root = tree.steps.iter().find(|step| tree.is_root(step));
        let input = trace.facts.input.value().or_else(|| root?.input.value());
        let output = trace.facts.output.value().or_else(|| root?.output.value());
        messages = exchanges::outline(experiment, &id, input, output);
    }
    let scores = scores(experiment, &id, trace, &tree, &seen);
    let calls = (0..)
        .zip(seen)
        .map(|(sequence, call)| row(experiment, &id, sequence, call))
        .collect();
    Assembled {
        record: EpisodeRecord {
            episode,
            calls,
            messages,
            scores,
            tools: toolsets.rows,
        },
        orphans: tree.orphans,
    }
}

fn calls_of(
    tree: &Tree<'_>,
    model_calls: &[ModelCall<'_>],
    output_tools: &[String],
) -> Vec<CallSeen> {
    let executions: Vec<Execution> = tree
        .steps
        .iter()
        .filter_map(|step| execution::read(step))
        .collect();
    let ancestors: BTreeMap<String, Vec<String>> = executions
        .iter()
        .filter_map(|execution| tree.step(&execution.step))
        .map(|step| {
            (
                step.id.clone(),
                tree.ancestors(step)
                    .iter()
                    .map(|above| above.id.clone())
                    .collect(),
            )
        })
        .collect();
    let exchanges: Vec<Exchange<'_>> = model_calls
        .iter()
        .map(|call| Exchange {
            is_outer: call.is_outer,
            input: &call.input,
            output: &call.output,
            at_us: call.step.ended_us.or(call.step.started_us),
        })
        .collect();
    evidence::calls(executions, &ancestors, &exchanges, output_tools)
}

/// Fills in what the episode's own columns hold.
fn describe(episode: &mut Episode, trace: &Trace, tree: &Tree<'_>, model_calls: &[ModelCall<'_>]) {
    let facts = &trace.facts;
    let root = tree.steps.iter().find(|step| tree.is_root(step));
    episode.scenario = facts
        .name
        .clone()
        .or_else(|| {
            root.filter(|root| root.parent.is_none())
                .map(|root| root.name.clone())
        })
        .filter(|name| !name.is_empty());
    let starts = tree.steps.iter().filter_map(|step| step.started_us);
    let ends = tree
        .steps
        .iter()
        .filter_map(|step| step.ended_us.or(step.started_us));
    episode.started_us = starts.min().or(facts.timestamp_us);
    episode.ended_us = ends.max();
    if let Some(root) = root.filter(|root| root.level == "ERROR") {
        episode.error.clone_from(&root.status_message);
        episode.termination = Some("error".to_owned());
    }
    let inner: Vec<&Step> = model_calls
        .iter()
        .filter(|call| !call.is_outer && call.step.is_generation())
        .map(|call| call.step)
        .collect();
    episode.model = inner.iter().find_map(|step| step.model.clone());
    episode.model_calls = i32::try_from(inner.len()).ok();
    let sum = |count: fn(&Step) -> Option<i64>| {
        let counts: Vec<i64> = inner.iter().filter_map(|step| count(step)).collect();
        (!counts.is_empty()).then(|| {
            counts
                .iter()
                .fold(0, |sum: i64, count| sum.saturating_add(*count))
        })
    };
    episode.input_tokens_buyer = sum(|step| step.input_tokens);
    episode.output_tokens_buyer = sum(|step| step.output_tokens);
    let costs: Vec<f64> = inner.iter().filter_map(|step| step.cost_usd).collect();
    episode.cost_usd = (!costs.is_empty()).then(|| costs.iter().sum());
    let times = inner
        .iter()
        .filter_map(|step| step.ended_us?.checked_sub(step.started_us?));
    let time = times.fold(0, |sum: i64, time| sum.saturating_add(time.max(0)));
    episode.model_time_us_buyer = (time > 0).then_some(time);
}

/// What has no column. Users, e-mail addresses and keys are left behind on purpose.
fn attributes(
    trace_id: &str,
    trace: &Trace,
    tree: &Tree<'_>,
    toolsets: &Toolsets,
    output_tools: &[String],
) -> Value {
    let facts = &trace.facts;
    let mut map = Map::new();
    map.insert("trace_id".to_owned(), json!(trace_id));
    for (name, value) in [
        ("project_id", &facts.project),
        ("session_id", &facts.session),
        ("environment", &facts.environment),
        ("release", &facts.release),
        ("version", &facts.version),
    ] {
        if let Some(value) = value {
            map.insert(name.to_owned(), json!(value));
        }
    }
    if !facts.tags.is_empty() {
        map.insert("tags".to_owned(), json!(facts.tags));
    }
    map.insert("steps".to_owned(), json!(tree.steps.len()));
    if tree.orphans > 0 {
        map.insert("orphans".to_owned(), json!(tree.orphans));
    }
    if toolsets.ids.len() > 1 {
        map.insert("toolsets".to_owned(), json!(toolsets.ids));
    }
    if !output_tools.is_empty() {
        map.insert("output_tools".to_owned(), json!(output_tools));
    }
    Value::Object(map)
}

fn row(experiment: &str, episode_id: &str, sequence: i32, call: CallSeen) -> Call {
    Call {
        experiment: experiment.to_owned(),
        episode_id: episode_id.to_owned(),
        sequence,
        turn: None,
        role: None,
        server: split_server(&call.tool).0.map(str::to_owned),
        call_id: call_id(&call),
        tool: call.tool,
        arguments_state: call.arguments.state(),
        arguments: call.arguments.text,
        result_state: call.result.state(),
        result: call.result.text,
        is_error: call.failure.is_error,
        error_class: call.failure.class,
        error_message: call.failure.message,
        started_us: call.started_us,
        ended_us: call.ended_us,
    }
}

/// The id models know the call by, which is the last where a framework writes several; else the step's.
fn call_id(call: &CallSeen) -> Option<String> {
    call.ids.last().or(call.step.as_ref()).cloned()
}

fn scores(
    experiment: &str,
    episode_id: &str,
    trace: &Trace,
    tree: &Tree<'_>,
    calls: &[CallSeen],
) -> Vec<Score> {
    let by_step: BTreeMap<&str, Option<String>> = calls
        .iter()
        .filter_map(|call| Some((call.step.as_deref()?, call_id(call))))
        .collect();
    let of_steps: Vec<&ScoreSeen> = tree.steps.iter().flat_map(|step| &step.scores).collect();
    let mut mentions: BTreeMap<Judgement, usize> = BTreeMap::new();
    for seen in &of_steps {
        *mentions.entry(judgement(seen)).or_default() += 1;
    }
    let mut known = BTreeSet::new();
    let mut rows = Vec::new();
    for seen in trace.scores.iter().chain(of_steps.iter().copied()) {
        let of_trace = seen.step.as_deref().is_none_or(|step| {
            // Exports repeat a trace's scores on its observations.
            let repeated = seen.id.is_none()
                && mentions
                    .get(&judgement(seen))
                    .is_some_and(|count| *count > 1);
            repeated
                || tree
                    .step(step)
                    .is_some_and(|step| seen.id.is_none() && tree.is_root(step))
        });
        let call_id = if of_trace {
            None
        } else {
            let step = seen.step.clone().unwrap_or_default();
            by_step.get(step.as_str()).cloned().flatten().or(Some(step))
        };
        let key = match &seen.id {
            Some(id) => (Some(id.clone()), None, None),
            None => (None, Some(judgement(seen)), call_id.clone()),
        };
        if known.insert(key) {
            rows.push(Score {
                experiment: experiment.to_owned(),
                episode_id: episode_id.to_owned(),
                call_id,
                name: seen.name.clone(),
                value: seen.value,
                text: seen.text.clone(),
                source: seen.source.clone(),
                comment: seen.comment.clone(),
            });
        }
    }
    rows
}

/// What makes two scores the same judgement; the value by its bits, which are what is compared.
type Judgement = (String, Option<u64>, Option<String>);

fn judgement(seen: &ScoreSeen) -> Judgement {
    (
        seen.name.clone(),
        seen.value.map(f64::to_bits),
        seen.text.clone(),
    )
}
