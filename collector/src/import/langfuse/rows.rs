//! One observation.

use serde_json::Value;

use super::scores;
use crate::import::attributes::Attributes;
use crate::import::decode;
use crate::import::format::Rejection;
use crate::import::row::{Row, number};
use crate::import::step::{Gathered, Payload, Step, TraceFacts};

/// Reads one observation, into the trace it names or else the one it was found in.
pub(super) fn read_observation(
    row: &Row,
    trace_id: Option<&str>,
    empty_is_null: bool,
    into: &mut Gathered,
) -> Result<(), Rejection> {
    let missing = |name: &str| Rejection::new(format!("an observation without `{name}`"));
    let id = row.filled("id").ok_or_else(|| missing("id"))?;
    let trace_id = row
        .filled("traceId")
        .or_else(|| trace_id.map(str::to_owned))
        .ok_or_else(|| missing("traceId"))?;
    // Stored exports add a row that stands for the trace itself.
    let stands_for_trace = id.strip_prefix("t-") == Some(trace_id.as_str());
    let payload = |name: &str, attributes: &Attributes| {
        let text = row
            .text(name)
            .filter(|text| !(empty_is_null && text.is_empty()));
        // Some versions keep inputs and outputs in the attributes only.
        Payload::new(text.or_else(|| attributes.text(&format!("langfuse.observation.{name}"))))
    };
    let attributes = Attributes::read(row.raw("metadata"));
    let (input, output) = (
        payload("input", &attributes),
        payload("output", &attributes),
    );

    let mut facts = TraceFacts {
        name: row.filled("traceName"),
        ..super::shared_facts(row)
    };
    if stands_for_trace {
        facts.input = input;
        facts.output = output;
        facts.timestamp_us = row.time("startTime");
        facts.name = facts.name.or_else(|| row.filled("name"));
        into.trace(&trace_id).facts.complete(facts);
        return Ok(());
    }
    // A version is the observation's own; only a trace's row names that of the trace.
    facts.version = None;
    into.trace(&trace_id).facts.complete(facts);

    let usage = Usage::read(row, &attributes);
    let scores = scores::columns(row);
    into.add_step(
        &trace_id,
        Step {
            id,
            parent: row
                .filled("parentObservationId")
                .filter(|parent| !parent.starts_with("t-")),
            kind: row.filled("type").unwrap_or_default().to_ascii_uppercase(),
            name: row.filled("name").unwrap_or_default(),
            level: row.filled("level").unwrap_or_default().to_ascii_uppercase(),
            status_message: row.filled("statusMessage"),
            started_us: row.time("startTime"),
            ended_us: row.time("endTime"),
            updated_us: row.time("updatedAt"),
            model: ["model", "providedModelName"]
                .iter()
                .find_map(|name| row.filled(name))
                .or_else(|| attributes.text("gen_ai.request.model")),
            parameters: row.value("modelParameters").as_ref().map(decode::unfold),
            input,
            output,
            attributes,
            input_tokens: usage.input,
            output_tokens: usage.output,
            cost_usd: row.number("totalCost").filter(|cost| *cost > 0.0),
            tool_definitions: row.value("toolDefinitions").as_ref().map(decode::unfold),
            tool_calls: row.value("toolCalls").as_ref().map(decode::unfold),
            tool_call_names: row.value("toolCallNames").as_ref().map(decode::unfold),
            scores,
        },
    );
    Ok(())
}

struct Usage {
    input: Option<i64>,
    output: Option<i64>,
}

impl Usage {
    /// Counts are numbers or quoted numbers, under names that changed twice.
    fn read(row: &Row, attributes: &Attributes) -> Self {
        let details = row.value("usageDetails").as_ref().map(decode::unfold);
        let usage = row.value("usage").as_ref().map(decode::unfold);
        let count = |in_details: &str, others: &[&str], attribute: &[&str]| {
            let named = |value: &Option<Value>, name: &str| {
                value
                    .as_ref()
                    .and_then(|value| value.get(name))
                    .and_then(number)
            };
            named(&details, in_details)
                .or_else(|| named(&usage, in_details))
                .or_else(|| {
                    others
                        .iter()
                        .find_map(|name| named(&usage, name).or_else(|| row.number(name)))
                })
                // The row's own zero may stand for nothing at all.
                .filter(|count| *count > 0.0)
                .or_else(|| attributes.first(attribute).and_then(number))
                .map(to_count)
        };
        Self {
            input: count(
                "input",
                &["promptTokens", "inputUsage"],
                &["gen_ai.usage.input_tokens", "llm.token_count.prompt"],
            ),
            output: count(
                "output",
                &["completionTokens", "outputUsage"],
                &["gen_ai.usage.output_tokens", "llm.token_count.completion"],
            ),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped to a range far below 2^53"
)]
fn to_count(value: f64) -> i64 {
    value.round().clamp(0.0, 1e15) as i64
}
