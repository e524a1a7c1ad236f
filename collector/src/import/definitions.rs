//! Tool definitions: where traces hide them, and their many shapes, brought to the one of MCP.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use trajectory::canonical::canonical_json;
use trajectory::{ToolRow, Toolset};

use super::decode;
use super::step::Step;

/// One tool as some step described it.
#[derive(Debug, Clone, PartialEq)]
struct Definition {
    /// The tool in MCP's form.
    tool: Map<String, Value>,
    /// Drawn from an execution, which knows a description at best.
    partial: bool,
}

/// The toolsets of one trace.
#[derive(Debug, Default)]
pub(crate) struct Toolsets {
    /// Ids, the one that most of the trace saw first.
    pub(crate) ids: Vec<String>,
    /// Their rows.
    pub(crate) rows: Vec<ToolRow>,
}

#[derive(Debug)]
struct Seen {
    definition: Definition,
    first_us: Option<i64>,
    last_us: Option<i64>,
}

/// Collects the definitions of a trace, given its steps in time order, and those that frameworks put among
/// the messages of a step.
///
/// Agents of one trace may have different tools; they are taken as one list. Only when one name has two
/// definitions, as after a change of version, there are several lists.
pub(crate) fn toolsets(
    experiment: &str,
    steps: &[&Step],
    among_messages: &HashMap<&str, Vec<&Value>>,
) -> Toolsets {
    let mut seen: Vec<Seen> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for step in steps {
        let mut definitions = of_step(step);
        for value in among_messages.get(step.id.as_str()).into_iter().flatten() {
            read(value, &mut definitions, 0);
        }
        for definition in definitions {
            let key = canonical_json(&Value::Object(definition.tool.clone()));
            let at = *known.entry(key).or_insert_with(|| {
                seen.push(Seen {
                    definition,
                    first_us: step.started_us,
                    last_us: step.started_us,
                });
                seen.len() - 1
            });
            if let Some(entry) = seen.get_mut(at) {
                entry.last_us = entry.last_us.max(step.started_us);
            }
        }
    }
    let has_full = |name: &str, seen: &[Seen]| {
        seen.iter()
            .any(|other| !other.definition.partial && name_of(&other.definition.tool) == name)
    };
    let keep: Vec<bool> = seen
        .iter()
        .map(|entry| !entry.definition.partial || !has_full(name_of(&entry.definition.tool), &seen))
        .collect();
    let mut lists: Vec<Vec<Seen>> = Vec::new();
    for (entry, keep) in seen.into_iter().zip(keep) {
        if !keep {
            continue;
        }
        let name = name_of(&entry.definition.tool).to_owned();
        let fits = |list: &Vec<Seen>| {
            list.iter()
                .all(|other| name_of(&other.definition.tool) != name)
        };
        match lists.iter().position(fits) {
            Some(at) => lists[at].push(entry),
            None => lists.push(vec![entry]),
        }
    }
    let mut found = Toolsets::default();
    for list in lists {
        let tools = list
            .iter()
            .map(|entry| Value::Object(entry.definition.tool.clone()))
            .collect();
        // Names are unique and present here, so this cannot fail.
        let Ok(toolset) = Toolset::from_value(Value::Array(tools)) else {
            continue;
        };
        let id = toolset.id();
        for (position, entry) in (0..).zip(&list) {
            found.rows.push(row(experiment, &id, position, entry));
        }
        found.ids.push(id);
    }
    found
}

fn name_of(tool: &Map<String, Value>) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn row(experiment: &str, toolset_id: &str, position: i32, seen: &Seen) -> ToolRow {
    let tool = &seen.definition.tool;
    let text = |name: &str| tool.get(name).map(Value::to_string);
    ToolRow {
        experiment: experiment.to_owned(),
        toolset_id: toolset_id.to_owned(),
        position,
        name: name_of(tool).to_owned(),
        description: tool
            .get("description")
            .and_then(Value::as_str)
            .map(str::to_owned),
        input_schema: text("inputSchema"),
        output_schema: text("outputSchema"),
        annotations: text("annotations"),
        definition: Value::Object(tool.clone()).to_string(),
        first_seen_us: seen.first_us,
        last_seen_us: seen.last_us,
    }
}

fn of_step(step: &Step) -> Vec<Definition> {
    let mut found = Vec::new();
    if step.is_hidden() {
        return found;
    }
    if let Some(Value::Object(map)) = &step.tool_definitions {
        for (name, value) in map {
            let mut tool = decode::unfold(value);
            if let Value::Object(tool) = &mut tool {
                tool.entry("name")
                    .or_insert_with(|| Value::from(name.as_str()));
            }
            read(&tool, &mut found, 0);
        }
    }
    let input = step.input.value();
    for path in [
        &["tools"][..],
        &["functions"],
        &["config", "tools"],
        &["invocation_params", "tools"],
    ] {
        found.extend(
            below(input, path)
                .map(|value| list(&value))
                .unwrap_or_default(),
        );
        found.extend(
            below(step.parameters.as_ref(), path)
                .map(|value| list(&value))
                .unwrap_or_default(),
        );
    }
    // A reply that repeats the request's tools, and a server's answer to `tools/list`.
    found.extend(
        below(step.output.value(), &["tools"])
            .map(|value| list(&value))
            .unwrap_or_default(),
    );
    for name in [
        "tools",
        "gen_ai.tool.definitions",
        "ai.prompt.tools",
        "llm.invocation_parameters",
        "model_request_parameters",
        "invocation_params",
    ] {
        if let Some(value) = step.attributes.value(name) {
            let inner = value
                .get("function_tools")
                .or_else(|| value.get("tools"))
                .map(decode::unfold);
            found.extend(list(inner.as_ref().unwrap_or(&value)));
        }
    }
    if let Some(value) = step.attributes.below("llm.tools") {
        found.extend(list(&value));
    }
    if let Some(value) = step.attributes.below("llm.request.functions") {
        found.extend(list(&value));
    }
    found.extend(of_execution(step));
    found
}

/// A value further down, JSON strings on the way being opened.
fn below(value: Option<&Value>, path: &[&str]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    let mut found = decode::unfold(value?.get(first)?);
    for name in rest {
        found = decode::unfold(found.get(name)?);
    }
    Some(found)
}

/// What ADK writes where it has nothing to say.
const PLACEHOLDER: &str = "Call self as a function.";

fn of_execution(step: &Step) -> Option<Definition> {
    let attributes = &step.attributes;
    let name = attributes
        .text("gen_ai.tool.name")
        .or_else(|| attributes.text("tool.name"))?;
    let description = ["gen_ai.tool.description", "tool.description"]
        .iter()
        .find_map(|name| attributes.text(name))
        .filter(|text| text != PLACEHOLDER)?;
    let mut tool = Map::new();
    tool.insert("name".to_owned(), Value::from(name));
    tool.insert("description".to_owned(), Value::from(description));
    if let Some(Value::Object(schema)) = attributes.value("tool.json_schema") {
        tool.insert("inputSchema".to_owned(), Value::Object(schema));
    }
    Some(Definition {
        tool,
        partial: true,
    })
}

/// Names of what is called like a tool and only gives structured output.
pub(crate) fn output_tools(steps: &[&Step]) -> Vec<String> {
    let mut names = Vec::new();
    for step in steps {
        let Some(parameters) = step.attributes.value("model_request_parameters") else {
            continue;
        };
        let Some(Value::Array(tools)) = parameters.get("output_tools").map(decode::unfold) else {
            continue;
        };
        names.extend(
            tools
                .iter()
                .filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)),
        );
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Lists inside lists are at most a few deep.
const MAX_DEPTH: usize = 6;

fn list(value: &Value) -> Vec<Definition> {
    let mut found = Vec::new();
    read(value, &mut found, 0);
    found
}

fn read(value: &Value, found: &mut Vec<Definition>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Array(items) => {
            for item in items {
                read(item, found, depth + 1);
            }
        }
        Value::String(_) => {
            let inner = decode::unfold(value);
            if !inner.is_string() {
                read(&inner, found, depth + 1);
            }
        }
        Value::Object(object) => read_object(object, found, depth),
        _ => {}
    }
}

fn read_object(object: &Map<String, Value>, found: &mut Vec<Definition>, depth: usize) {
    for name in ["function_declarations", "functionDeclarations"] {
        if let Some(Value::Array(declarations)) = object.get(name) {
            for declaration in declarations {
                if let Some(mut tool) = declaration.as_object().and_then(normalise) {
                    lower_types(&mut tool, 0);
                    found.push(Definition {
                        tool,
                        partial: false,
                    });
                }
            }
            return;
        }
    }
    for name in ["function", "toolSpec", "tool", "json_schema"] {
        if let Some(inner) = object
            .get(name)
            .map(decode::unfold)
            .filter(Value::is_object)
            && !object.contains_key("name")
        {
            return read(&inner, found, depth + 1);
        }
    }
    if let Some(tool) = normalise(object) {
        found.push(Definition {
            tool,
            partial: false,
        });
    }
}

/// A definition in MCP's form: only what MCP has a place for, without empty fields.
fn normalise(object: &Map<String, Value>) -> Option<Map<String, Value>> {
    let name = object
        .get("name")
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty())?;
    let get = |names: &[&str]| {
        names.iter().find_map(|name| {
            object
                .get(*name)
                .map(decode::unfold)
                .filter(|value| !value.is_null())
        })
    };
    let mut tool = Map::new();
    tool.insert("name".to_owned(), Value::from(name));
    if let Some(title @ Value::String(_)) = get(&["title"]) {
        tool.insert("title".to_owned(), title);
    }
    if let Some(Value::String(description)) = object.get("description") {
        tool.insert("description".to_owned(), Value::from(description.as_str()));
    }
    let schemas = [
        "inputSchema",
        "input_schema",
        "parameters",
        "parameters_json_schema",
        "parametersJsonSchema",
        "args_schema",
    ];
    if let Some(schema) = get(&schemas).map(schema) {
        tool.insert("inputSchema".to_owned(), schema);
    }
    if let Some(schema) = get(&["outputSchema", "output_schema"]).map(schema) {
        tool.insert("outputSchema".to_owned(), schema);
    }
    if let Some(annotations @ Value::Object(_)) = get(&["annotations"]) {
        tool.insert("annotations".to_owned(), annotations);
    }
    Some(tool)
}

/// One provider wraps the schema once more.
fn schema(value: Value) -> Value {
    match value {
        Value::Object(mut object) => match object.get("json").map(decode::unfold) {
            Some(inner @ Value::Object(_)) if object.len() == 1 => inner,
            _ => {
                object.retain(|_, value| !value.is_null());
                Value::Object(object)
            }
        },
        _ => json!({"type": "object"}),
    }
}

/// Gemini's schemas name types in upper case, which no validator knows.
fn lower_types(object: &mut Map<String, Value>, depth: usize) {
    if depth > 32 {
        return;
    }
    for (key, value) in object.iter_mut() {
        match value {
            Value::String(kind) if key == "type" => *kind = kind.to_ascii_lowercase(),
            Value::Object(below) => lower_types(below, depth + 1),
            Value::Array(items) => {
                for item in items {
                    if let Value::Object(below) = item {
                        lower_types(below, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
