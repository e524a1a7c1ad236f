//! Imported traces: the same classes, as far as the record shows them.

use optimizer::classes::schema::Schemas;
use optimizer::classes::{Class, find};
use optimizer::diagnosis::{diagnose, split};
use optimizer::propose::{Options, propose};
use optimizer::reflect::mined::Mined;
use serde_json::json;
use trajectory::{Capture, EpisodeRecord, Toolset};

use crate::fixture::imported;

fn toolset() -> Toolset {
    Toolset::from_value(json!([
        {"name": "search_orders", "description": "Searches orders.", "inputSchema": {"type": "object",
            "properties": {"since": {"type": "string", "format": "date"}, "status": {"enum": ["open", "closed"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50}},
            "required": ["since", "status"]}},
        {"name": "cancel_order", "description": "Cancels an order."}]))
    .unwrap()
}

const RANGE: &str =
    "ValidationError: the start date has to be earlier than the end date, got 2025-03-01";

fn classes(record: &EpisodeRecord) -> Vec<(Class, Vec<i32>)> {
    find(record, &Schemas::new(&toolset()))
        .into_iter()
        .map(|finding| (finding.class, finding.calls))
        .collect()
}

#[test]
fn errors_retries_and_redundant_calls_are_found() {
    let good = r#"{"since":"2025-01-01","status":"open"}"#;
    let record = imported("t", &toolset())
        .call(
            "search_orders",
            r#"{"since":"2025-04-01","status":"open"}"#,
            RANGE,
            Some("tool_error"),
        )
        .call(
            "search_orders",
            r#"{"since":"2025-04-01","status":"open"}"#,
            RANGE,
            Some("tool_error"),
        )
        .call("search_orders", good, "[1]", None)
        .call("search_orders", good, "[1]", None)
        .call("search_orders", good, "[1,2]", None)
        .ends("done");
    assert_eq!(
        classes(&record),
        [
            (Class::ToolError, vec![0]),
            (Class::IgnoredError, vec![0, 1]),
            (Class::ToolError, vec![1]),
            (Class::RetriedAfterError, vec![1, 2]),
            // The last call got another answer, so it was not for nothing.
            (Class::RepeatedCall, vec![2, 3]),
        ]
    );
}

#[test]
fn silence_of_the_source_is_no_failure() {
    let record = imported("t", &toolset())
        .call("search_orders", "{}", "?", None)
        .call("elsewhere", "{}", "?", None)
        .edit(|record| {
            for call in &mut record.calls {
                call.is_error = None;
                call.result = None;
                call.result_state = Capture::NotCaptured;
                call.arguments_state = Capture::NotCaptured;
            }
        })
        .ends("done");
    assert_eq!(classes(&record), []);
}

#[test]
fn a_tool_outside_an_incomplete_list_is_unknown_only_when_it_failed() {
    let call = |error| {
        imported("t", &toolset())
            .call("serch_orders", "{}", "no such tool", error)
            .ends("done")
    };
    assert_eq!(
        classes(&call(Some("protocol_error"))),
        [(Class::UnknownTool, vec![0])]
    );
    assert_eq!(classes(&call(None)), []);
}

#[test]
fn unused_tools_are_information() {
    let record = imported("t", &toolset())
        .call(
            "search_orders",
            r#"{"since":"2025-01-01","status":"open"}"#,
            "[]",
            None,
        )
        .ends("done");
    let diagnosis = diagnose(&[&record], Some(&toolset()), 1);
    assert_eq!(diagnosis.unused_tools, ["cancel_order"]);
    assert!(diagnosis.modes.is_empty());
    assert!(
        diagnosis
            .to_text(3)
            .contains("offered and never called: cancel_order")
    );
}

#[test]
fn without_definitions_only_tools_can_be_blamed() {
    let record = imported("t", &toolset())
        .call(
            "search_orders",
            r#"{"limit":900}"#,
            "too many",
            Some("tool_error"),
        )
        .edit(|record| {
            record.tools.clear();
            record.episode.toolset_seen = None;
        })
        .ends("done");
    let records = [record];
    let groups = split(&records);
    assert_eq!(groups.len(), 1);
    let diagnosis = diagnose(&groups[0].records, None, 1);
    assert_eq!(diagnosis.modes.len(), 1);
    assert_eq!(diagnosis.blamed[0].component, "search_orders");
    assert!(
        diagnosis
            .to_text(3)
            .contains("definitions of the tools were not recorded")
    );
}

#[tokio::test]
async fn mined_sentences_come_from_schema_and_errors() {
    let episode = |id: &str| {
        imported(id, &toolset())
            .call(
                "search_orders",
                r#"{"since":"2025-04-01","status":"open"}"#,
                RANGE,
                Some("tool_error"),
            )
            .call(
                "search_orders",
                r#"{"since":"2025-01-01"}"#,
                "bad request",
                Some("tool_error"),
            )
            .call(
                "search_orders",
                r#"{"since":"2025-01-01","status":"pending"}"#,
                "bad request",
                Some("tool_error"),
            )
            .ends("done")
    };
    let records = [episode("t1"), episode("t2")];
    let outcome = propose(&records, &toolset(), &Mined, &Options::default())
        .await
        .unwrap();
    assert_eq!(outcome.rejected, []);
    let candidate = outcome.candidate.unwrap();
    let tool = candidate.tool("search_orders").unwrap();
    assert_eq!(
        tool.description(),
        "Searches orders. The arguments `since` and `status` are required. The start date has to be earlier than the end date."
    );
    assert_eq!(
        tool.parameters()[1],
        ("status".to_owned(), "One of `open`, `closed`.")
    );
    assert_eq!(candidate.structure(), toolset().structure());
}
