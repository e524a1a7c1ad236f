//! What a schema already says about an argument, in words: for arguments that were missing or wrong.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use trajectory::{ComponentId, Tool, Toolset};

use super::mined::Sentence;
use crate::classes::{Class, Finding};

/// Values of an enum that are listed; a longer list is better read in the schema.
const LISTED: usize = 10;

/// One sentence per parameter that got wrong values, and one per tool whose required arguments were left out.
pub(super) fn sentences(toolset: &Toolset, findings: &[&Finding]) -> Vec<Sentence> {
    let mut answers: BTreeMap<(ComponentId, String), Vec<String>> = BTreeMap::new();
    for finding in findings {
        let Some(tool) = finding.tool.as_deref().and_then(|name| toolset.tool(name)) else {
            continue;
        };
        let said = match finding.class {
            Class::MissingArgument => {
                required(tool).map(|text| (ComponentId::tool(tool.name()), text))
            }
            Class::WrongValue | Class::RetriedAfterError => {
                finding.parameter.as_deref().and_then(|path| {
                    let text = in_words(property(tool, path)?)?;
                    Some((ComponentId::parameter(tool.name(), path), text))
                })
            }
            _ => None,
        };
        if let Some(key) = said {
            answers.entry(key).or_default().push(finding.id.clone());
        }
    }
    answers
        .into_iter()
        .map(|((component, text), answers)| Sentence {
            component,
            text,
            answers,
            source: "the tool's own schema, which calls did not meet",
        })
        .collect()
}

fn required(tool: &Tool) -> Option<String> {
    let schema = tool.input_schema()?;
    let names: Vec<String> = schema
        .get("required")?
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("The argument {one} is required.")),
        [most @ .., last] => Some(format!(
            "The arguments {} and {last} are required.",
            most.join(", ")
        )),
    }
}

/// The schema of a parameter, by the path [`Toolset::components`] gives it.
fn property<'a>(tool: &'a Tool, path: &str) -> Option<&'a Map<String, Value>> {
    let mut here = tool.input_schema()?;
    for step in path.split('.') {
        let name = step.trim_end_matches("[]");
        here = here.get("properties")?.get(name)?.as_object()?;
        for _ in 0..step.len().saturating_sub(name.len()) / 2 {
            here = here.get("items")?.as_object()?;
        }
    }
    Some(here)
}

fn in_words(schema: &Map<String, Value>) -> Option<String> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        if values.is_empty() || values.len() > LISTED {
            return None;
        }
        let listed: Vec<String> = values
            .iter()
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| format!("`{value}`"), |text| format!("`{text}`"))
            })
            .collect();
        return Some(format!("One of {}.", listed.join(", ")));
    }
    let kind = match schema.get("type")?.as_str()? {
        "integer" => "A whole number, without quotation marks",
        "number" => "A number, without quotation marks",
        "boolean" => "Either true or false, without quotation marks",
        "string" => "A text",
        "array" => "A list",
        "object" => "An object",
        _ => return None,
    };
    let bound = |key: &str| {
        schema
            .get(key)
            .filter(|value| value.is_number())
            .map(ToString::to_string)
    };
    let range = match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => format!(", from {low} to {high}"),
        (Some(low), None) => format!(", {low} or more"),
        (None, Some(high)) => format!(", at most {high}"),
        (None, None) => String::new(),
    };
    let format = match schema.get("format").and_then(Value::as_str) {
        Some(format) => format!(", in the format `{format}`"),
        None => String::new(),
    };
    Some(format!("{kind}{range}{format}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_put_into_words() {
        let check = |schema: Value, expected: Option<&str>| {
            assert_eq!(
                in_words(schema.as_object().unwrap()).as_deref(),
                expected,
                "{schema}"
            );
        };
        check(
            json!({"type": "integer", "minimum": 1}),
            Some("A whole number, without quotation marks, 1 or more."),
        );
        check(
            json!({"type": "string", "format": "date"}),
            Some("A text, in the format `date`."),
        );
        check(
            json!({"enum": ["c", "f", 3]}),
            Some("One of `c`, `f`, `3`."),
        );
        check(json!({"type": ["string", "null"]}), None);
        check(json!({}), None);
    }

    #[test]
    fn nested_parameters_are_found() {
        let toolset = Toolset::from_value(json!([{"name": "t", "inputSchema": {"properties": {
            "tags": {"type": "array", "items": {"properties": {"name": {"type": "string"}}}}}, "required": ["tags", "x"]}}]))
        .unwrap();
        let tool = toolset.tool("t").unwrap();
        for (component, _) in toolset.components() {
            if let Some(path) = component.parameter {
                assert!(property(tool, &path).is_some(), "{path}");
            }
        }
        assert_eq!(
            required(tool).unwrap(),
            "The arguments `tags` and `x` are required."
        );
    }
}
