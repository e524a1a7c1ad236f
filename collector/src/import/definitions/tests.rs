//! One case per shape and place.

#![expect(
    clippy::needless_pass_by_value,
    reason = "tables of JSON literals read better without `&`"
)]

use serde_json::json;

use super::*;
use crate::import::attributes::Attributes;
use crate::import::step::Payload;

fn generation(input: Value, metadata: Value) -> Step {
    Step {
        kind: "GENERATION".to_owned(),
        input: Payload::new(Some(input.to_string())),
        attributes: Attributes::read(Some(&metadata.to_string())),
        ..Step::default()
    }
}

fn check(step: &Step, expected: Value) {
    let found = toolsets("e", &[step], &HashMap::new());
    let tools: Vec<Value> = found
        .rows
        .iter()
        .map(|row| serde_json::from_str(&row.definition).unwrap())
        .collect();
    assert_eq!(
        Value::Array(tools),
        expected,
        "{:?} {:?}",
        step.input.raw(),
        step.attributes
    );
}

#[test]
fn every_shape_becomes_the_same_tool() {
    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string", "description": "Words."}}});
    let expected = json!([{"name": "f", "description": "d", "inputSchema": schema}]);
    let parts = |key: &str| {
        let mut tool = json!({"name": "f", "description": "d"});
        tool[key] = schema.clone();
        tool
    };
    let upper =
        json!({"type": "OBJECT", "properties": {"q": {"type": "STRING", "description": "Words."}}});
    let shapes = [
        json!([{"type": "function", "function": parts("parameters")}]),
        json!([{"type": "function", "name": "f", "description": "d", "parameters": schema, "strict": true}]),
        json!([parts("input_schema")]),
        json!([parts("inputSchema")]),
        json!([{"function_declarations": [{"name": "f", "description": "d", "parameters": upper}]}]),
        json!([{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": schema}}}]),
        json!([parts("parameters_json_schema")]),
        json!([parts("inputSchema").to_string()]),
        json!(json!([parts("parameters")]).to_string()),
        json!([{"name": "f", "description": "d", "parameters": schema.to_string()}]),
    ];
    for tools in shapes {
        check(
            &generation(json!({"messages": [], "tools": tools}), json!({})),
            expected.clone(),
        );
    }
    let places = [
        generation(
            json!({"config": {"tools": [parts("parameters")]}}),
            json!({}),
        ),
        generation(
            json!([]),
            json!({"tools": [parts("inputSchema").to_string()]}),
        ),
        generation(
            json!([]),
            json!({"attributes": {"gen_ai.tool.definitions": json!([parts("parameters")]).to_string()}}),
        ),
        generation(
            json!([]),
            json!({"attributes": {"llm.tools.0.tool.json_schema": parts("parameters").to_string()}}),
        ),
        generation(
            json!([]),
            json!({"attributes": {"model_request_parameters": {"function_tools": [parts("parameters_json_schema")]}}}),
        ),
        generation(
            json!([]),
            json!({"attributes.ai.prompt.tools": json!([parts("inputSchema").to_string()]).to_string()}),
        ),
        Step {
            parameters: Some(json!({"tools": json!([parts("parameters")]).to_string()})),
            ..generation(json!([]), json!({}))
        },
        Step {
            tool_definitions: Some(
                json!({"f": json!({"description": "d", "parameters": schema.to_string()}).to_string()}),
            ),
            ..generation(json!([]), json!({}))
        },
        Step {
            output: Payload::new(Some(
                json!({"output": [], "tools": [parts("parameters")]}).to_string(),
            )),
            ..generation(json!([]), json!({}))
        },
    ];
    for step in &places {
        check(step, expected.clone());
    }
}

#[test]
fn what_is_no_definition() {
    check(
        &generation(json!({"tools": ["search", "web"]}), json!({"tools": ["a"]})),
        json!([]),
    );
    check(
        &generation(
            json!({"tools": [{"type": "web_search"}, {"name": ""}, 1, null]}),
            json!({}),
        ),
        json!([]),
    );
    check(&generation(json!("text"), json!({})), json!([]));
}

#[test]
fn two_versions_of_a_tool_make_two_lists() {
    let step = |text: &str, at: i64| Step {
        started_us: Some(at),
        ..generation(
            json!({"tools": [{"name": "f", "description": text}, {"name": "g"}]}),
            json!({}),
        )
    };
    let (old, new, again) = (step("old", 1), step("new", 5), step("new", 9));
    let found = toolsets("e", &[&old, &new, &again], &HashMap::new());
    assert_eq!(found.ids.len(), 2);
    let seen: Vec<_> = found
        .rows
        .iter()
        .map(|row| {
            (
                row.name.as_str(),
                row.description.as_deref(),
                row.first_seen_us,
                row.last_seen_us,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("f", Some("old"), Some(1), Some(1)),
            ("g", None, Some(1), Some(9)),
            ("f", Some("new"), Some(5), Some(9))
        ]
    );
}

#[test]
fn an_execution_fills_in_only_what_nothing_else_told() {
    let execution = |description: &str| {
        Step {
        kind: "TOOL".to_owned(),
        attributes: Attributes::read(Some(
            &json!({"attributes": {"gen_ai.tool.name": "f", "gen_ai.tool.description": description}}).to_string(),
        )),
        ..Step::default()
    }
    };
    check(&execution("d"), json!([{"name": "f", "description": "d"}]));
    check(&execution(PLACEHOLDER), json!([]));
    let full = generation(
        json!({"tools": [{"name": "f", "description": "full"}]}),
        json!({}),
    );
    let found = toolsets("e", &[&execution("d"), &full], &HashMap::new());
    assert_eq!(found.rows.len(), 1);
    assert_eq!(found.rows[0].description.as_deref(), Some("full"));
}
