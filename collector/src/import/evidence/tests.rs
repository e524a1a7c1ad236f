//! Counting: once each, whatever ids and histories do.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of JSON literals read better without `&`"
)]

use serde_json::{Value, json};

use super::super::conversation::{self, Side};
use super::*;

fn execution(step: &str, tool: &str, arguments: Value, ids: &[&str]) -> Execution {
    Execution {
        step: step.to_owned(),
        ids: ids.iter().map(ToString::to_string).collect(),
        tool: tool.to_owned(),
        arguments: Captured::arguments(Some(&arguments)),
        weak_arguments: false,
        result: Captured::result(Some(&json!(format!("result of {step}")))),
        weak_result: false,
        failure: Failure::default(),
        started_us: Some(10),
        ended_us: Some(11),
    }
}

/// `tool(arguments)#id=result` of each call.
fn show(executions: Vec<Execution>, model_calls: &[(Value, Value)]) -> Vec<String> {
    show_in(executions, &BTreeMap::new(), model_calls, &[])
}

fn show_in(
    executions: Vec<Execution>,
    ancestors: &BTreeMap<String, Vec<String>>,
    model_calls: &[(Value, Value)],
    output_tools: &[String],
) -> Vec<String> {
    let messages: Vec<_> = model_calls
        .iter()
        .map(|(input, output)| {
            (
                conversation::read(input, Side::Input),
                conversation::read(output, Side::Output),
            )
        })
        .collect();
    let exchanges: Vec<Exchange<'_>> = (0..)
        .zip(&messages)
        .map(|(at, (input, output))| Exchange {
            is_outer: false,
            input,
            output,
            at_us: Some(at),
        })
        .collect();
    calls(executions, ancestors, &exchanges, output_tools)
        .into_iter()
        .map(|call| {
            let arguments = call.arguments.text.unwrap_or_else(|| "-".to_owned());
            let result = call.result.text.unwrap_or_else(|| "-".to_owned());
            let mark = if call.failure.is_error == Some(true) {
                "!"
            } else {
                ""
            };
            format!(
                "{}({arguments})#{}={result}{mark}",
                call.tool,
                call.ids.join("+")
            )
        })
        .collect()
}

fn asks(id: Option<&str>, name: &str, arguments: &Value) -> Value {
    let mut call =
        json!({"type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    json!({"role": "assistant", "tool_calls": [call]})
}

fn answers(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

#[test]
fn a_history_repeats_and_does_not_add() {
    let call = asks(Some("c1"), "f", &json!({"a": 1}));
    let exchanges = [
        (json!([]), call.clone()),
        (json!([call, answers("c1", "r")]), json!("done")),
        (json!([call, answers("c1", "r")]), json!("done again")),
    ];
    assert_eq!(show(vec![], &exchanges), ["f({\"a\":1})#c1=r"]);
}

#[test]
fn without_ids_calls_are_counted_in_order() {
    let call = asks(None, "f", &json!({}));
    let twice = json!([call, {"role": "function", "name": "f", "content": "one"}, call, {"role": "function", "name": "f", "content": "two"}]);
    let exchanges = [
        (json!([]), call.clone()),
        (
            json!([call, {"role": "function", "name": "f", "content": "one"}]),
            call.clone(),
        ),
        (twice, json!("done")),
    ];
    assert_eq!(show(vec![], &exchanges), ["f({})#=one", "f({})#=two"]);
}

#[test]
fn an_execution_and_its_request_are_one() {
    let ask = |id: Option<&str>| [(json!([]), asks(id, "f", &json!({"a": 1, "b": 2})))];
    let spelled = json!({"b": 2, "a": 1});
    let expected = |id: &str| [format!("f({{\"b\":2,\"a\":1}})#{id}=result of s")];
    assert_eq!(
        show(
            vec![execution("s", "f", spelled.clone(), &["c1"])],
            &ask(Some("c1"))
        ),
        expected("c1")
    );
    assert_eq!(
        show(
            vec![execution("s", "f", spelled.clone(), &[])],
            &ask(Some("c1"))
        ),
        expected("c1")
    );
    assert_eq!(
        show(
            vec![execution("s", "f", spelled.clone(), &["c9"])],
            &ask(None)
        ),
        expected("c9")
    );
    let with_server = show(
        vec![execution("s", "f", spelled.clone(), &[])],
        &[(json!([]), asks(None, "mcp__x__f", &spelled))],
    );
    assert_eq!(with_server, ["mcp__x__f({\"b\":2,\"a\":1})#=result of s"]);
}

#[test]
fn other_arguments_or_ids_are_other_calls() {
    let exchanges = [(json!([]), asks(Some("c1"), "f", &json!({"a": 2})))];
    assert_eq!(
        show(vec![execution("s", "f", json!({"a": 1}), &[])], &exchanges),
        ["f({\"a\":2})#c1=-", "f({\"a\":1})#=result of s"]
    );
    let same = json!({"a": 1});
    let both = vec![
        execution("s", "f", same.clone(), &["x"]),
        execution("t", "f", same.clone(), &["y"]),
    ];
    assert_eq!(show(both, &[]).len(), 2);
    let both = vec![
        execution("s", "f", same.clone(), &[]),
        execution("t", "f", same, &[]),
    ];
    assert_eq!(show(both, &[]).len(), 2);
}

#[test]
fn twins_are_merged() {
    let arguments = json!({"a": 1});
    // The same step stored twice under different ids.
    let twice = vec![
        execution("s", "f", arguments.clone(), &["c"]),
        execution("t", "f", arguments.clone(), &["c"]),
    ];
    assert_eq!(show(twice, &[]), ["f({\"a\":1})#c=result of s"]);
    // Client and server of one call.
    let nested = vec![
        execution("s", "f", arguments.clone(), &[]),
        execution("t", "x.f", Value::Null, &[]),
    ];
    let above = BTreeMap::from([("t".to_owned(), vec!["s".to_owned()])]);
    assert_eq!(
        show_in(nested, &above, &[], &[]),
        ["f({\"a\":1})#=result of s"]
    );
    // An id that is the tool's name says nothing.
    let named = vec![
        execution("s", "f", json!({"a": 1}), &["f"]),
        execution("t", "f", json!({"a": 1}), &["f"]),
    ];
    assert_eq!(show(named, &[]).len(), 2);
}

#[test]
fn repeated_ids_with_other_arguments_stay_apart() {
    let exchanges = [
        (json!([]), asks(Some("call"), "f", &json!({"a": 1}))),
        (json!([]), asks(Some("call"), "f", &json!({"a": 2}))),
    ];
    assert_eq!(
        show(vec![], &exchanges),
        ["f({\"a\":1})#call=-", "f({\"a\":2})#call=-"]
    );
}

#[test]
fn several_ids_meet_in_any_of_them() {
    let part = |id: Value| json!([{"role": "assistant", "parts": [{"type": "tool_call", "id": id, "name": "f", "arguments": {}}]}]);
    let exchanges = [(json!([]), part(json!(["run_1", "call_1"])))];
    assert_eq!(
        show(
            vec![execution("s", "f", json!({}), &["call_1"])],
            &exchanges
        ),
        ["f({})#run_1+call_1=result of s"]
    );
}

#[test]
fn what_an_execution_lacks_comes_from_the_conversation() {
    let mut bare = execution("s", "f", json!({}), &["c1"]);
    bare.weak_arguments = true;
    bare.result = Captured::default();
    let call = asks(Some("c1"), "f", &json!({"a": 1}));
    let failed = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": true}]});
    let exchanges = [
        (json!([]), call.clone()),
        (json!([call, failed]), json!("done")),
    ];
    assert_eq!(show(vec![bare], &exchanges), ["f({\"a\":1})#c1=no!"]);
}

#[test]
fn structured_output_is_no_tool_call() {
    let exchanges = [(
        json!([]),
        asks(Some("c1"), "final_result", &json!({"a": 1})),
    )];
    let output_tools = ["final_result".to_owned()];
    assert_eq!(
        show_in(vec![], &BTreeMap::new(), &exchanges, &output_tools),
        [""; 0]
    );
    assert_eq!(show(vec![], &exchanges).len(), 1);
}

#[test]
fn a_result_without_its_call_is_no_call() {
    let exchanges = [(json!([answers("gone", "r")]), json!("done"))];
    assert_eq!(show(vec![], &exchanges), [""; 0]);
}
