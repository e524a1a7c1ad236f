//! The JSON schema that makes a reply one tool call: `{"name": ..., "arguments": {...}}` for one of the
//! served tools.
//!
//! Kept to what grammar converters of local servers know: `anyOf`, `const`, objects with their properties in
//! order. References are written out, and what only annotates or what converters choke on (`format`,
//! patterns) is left out: the tools' texts are described in the prompt, and the MCP server checks the
//! arguments anyway.

use serde_json::{Map, Value, json};

use crate::model::ToolSpec;

/// References are followed this deep; a schema that goes on is cut off as "anything".
const MAX_DEPTH: usize = 16;

const DROPPED: [&str; 12] = [
    "$schema",
    "$id",
    "$defs",
    "$comment",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "pattern",
    "deprecated",
];

/// The schema for a call of any of `tools`.
pub(super) fn call_schema(tools: &[ToolSpec]) -> Value {
    let mut calls: Vec<Value> = tools.iter().map(one_call).collect();
    if calls.len() == 1 {
        calls.remove(0)
    } else {
        json!({"anyOf": calls})
    }
}

fn one_call(tool: &ToolSpec) -> Value {
    let schema = tool.input_schema();
    let mut arguments = simplified(&schema, &schema, 0);
    if let Value::Object(object) = &mut arguments {
        object
            .entry("type")
            .or_insert_with(|| Value::from("object"));
        object
            .entry("additionalProperties")
            .or_insert(Value::Bool(false));
    }
    json!({
        "type": "object",
        "properties": {"name": {"const": tool.name()}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": false,
    })
}

fn simplified(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return json!({});
    }
    let Value::Object(object) = schema else {
        return schema.clone();
    };
    if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return target.map_or_else(|| json!({}), |target| simplified(target, root, depth + 1));
    }
    let below = |value: &Value| simplified(value, root, depth + 1);
    let mut out = Map::new();
    for (key, value) in object {
        let value = match (key.as_str(), value) {
            (dropped, _) if DROPPED.contains(&dropped) => continue,
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, property)| (name.clone(), below(property)))
                .collect::<Map<_, _>>()
                .into(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                list.iter().map(below).collect()
            }
            ("items" | "additionalProperties" | "not", value) => below(value),
            (_, value) => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trajectory::Toolset;

    fn schema(tools: Value) -> Value {
        call_schema(&ToolSpec::list(&Toolset::from_value(tools).unwrap()))
    }

    #[test]
    fn one_alternative_per_tool() {
        let schema = schema(json!([
            {"name": "propose", "description": "d", "inputSchema": {"type": "object", "title": "T",
                "properties": {"price": {"type": "integer", "format": "uint32", "minimum": 1, "description": "The price."}},
                "required": ["price"]}},
            {"name": "stop"}]));
        assert_eq!(
            schema,
            json!({"anyOf": [
                {"type": "object", "properties": {"name": {"const": "propose"}, "arguments": {"type": "object",
                    "properties": {"price": {"type": "integer", "minimum": 1}}, "required": ["price"],
                    "additionalProperties": false}},
                 "required": ["name", "arguments"], "additionalProperties": false},
                {"type": "object", "properties": {"name": {"const": "stop"}, "arguments": {"type": "object",
                    "properties": {}, "additionalProperties": false}},
                 "required": ["name", "arguments"], "additionalProperties": false}]})
        );
    }

    #[test]
    fn references_are_written_out_and_circles_end() {
        let schema = schema(json!([{"name": "a", "inputSchema": {"type": "object",
            "properties": {"format": {"$ref": "#/$defs/Kind"}, "tree": {"$ref": "#/$defs/Tree"}, "far": {"$ref": "http://x"}},
            "$defs": {"Kind": {"enum": ["x"], "description": "d"},
                      "Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}}}}}]));
        let arguments = &schema["properties"]["arguments"];
        // A property may have the name of a dropped key.
        assert_eq!(arguments["properties"]["format"], json!({"enum": ["x"]}));
        assert_eq!(arguments["properties"]["far"], json!({}));
        assert_eq!(
            arguments["properties"]["tree"]["properties"]["next"]["type"],
            "object"
        );
        assert!(!schema.to_string().contains("$ref"));
    }
}
