//! Arguments against the tools' own input schemas.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use trajectory::{Tool, Toolset};

use crate::visible;

/// What is wrong with one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whether it is missing (as opposed to wrong).
    pub missing: bool,
    /// Path of the parameter, as [`Toolset::components`] names it; `None` when no parameter of the schema is meant.
    pub parameter: Option<String>,
    /// What the schema says about it.
    pub text: String,
}

/// The validators of one toolset, built once.
#[derive(Debug, Default)]
pub struct Schemas {
    tools: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    validator: Option<Validator>,
    parameters: Vec<String>,
}

/// Faults reported per call; more would only repeat the same mistake.
const MAX_FAULTS: usize = 4;
/// Nesting up to which a schema is compiled. Recorded schemas are a stranger's data.
const MAX_DEPTH: usize = 48;

impl Schemas {
    /// Compiles the input schemas of a toolset. A schema that does not compile, or refers to itself or to other
    /// documents, leaves its tool unchecked: nothing is fetched, and no call is blamed for a broken schema.
    pub fn new(toolset: &Toolset) -> Self {
        let tools = toolset
            .tools()
            .iter()
            .map(|tool| (tool.name().to_owned(), Entry::new(tool)))
            .collect();
        Self { tools }
    }

    /// Whether no tool is known at all, so that nothing can be said about unknown ones.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether a tool of this name was offered.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Whether a tool has a parameter of this path.
    pub fn has_parameter(&self, tool: &str, path: &str) -> bool {
        self.tools
            .get(tool)
            .is_some_and(|entry| entry.parameters.iter().any(|known| known == path))
    }

    /// What the tool's schema has against the arguments; empty when they fit or the schema is not known.
    pub fn faults(&self, tool: &str, arguments: &Value) -> Vec<Fault> {
        let Some(entry) = self.tools.get(tool) else {
            return Vec::new();
        };
        let Some(validator) = &entry.validator else {
            return Vec::new();
        };
        validator
            .iter_errors(arguments)
            .take(MAX_FAULTS)
            .map(|error| {
                let at = path_of(error.instance_path().as_str(), arguments);
                let missing = match error.kind() {
                    ValidationErrorKind::Required { property } => property.as_str(),
                    _ => None,
                };
                let path = match (missing, at.as_str()) {
                    (None, at) => at.to_owned(),
                    (Some(name), "") => name.to_owned(),
                    (Some(name), at) => format!("{at}.{name}"),
                };
                let text = match (missing, at.as_str()) {
                    (Some(name), _) => format!("the required argument `{name}` is missing"),
                    (None, "") => {
                        format!("the arguments: {}", visible::line(&error.to_string(), 120))
                    }
                    (None, at) => format!("`{at}`: {}", visible::line(&error.to_string(), 120)),
                };
                Fault {
                    missing: missing.is_some(),
                    parameter: entry.nearest(&path),
                    text,
                }
            })
            .collect()
    }
}

impl Entry {
    fn new(tool: &Tool) -> Self {
        let parameters = tool
            .parameters()
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        Self {
            validator: tool.input_schema().and_then(compile),
            parameters,
        }
    }

    /// The parameter itself, or the closest one above it that has a text.
    fn nearest(&self, path: &str) -> Option<String> {
        let mut path = path;
        while !path.is_empty() {
            if self.parameters.iter().any(|known| known == path) {
                return Some(path.to_owned());
            }
            path = path
                .rsplit_once('.')
                .map_or("", |(above, _)| above)
                .trim_end_matches("[]");
        }
        None
    }
}

fn compile(schema: &Map<String, Value>) -> Option<Validator> {
    let schema = Value::Object(schema.clone());
    if !is_tame(&schema, 0) || has_loop(&schema) {
        return None;
    }
    jsonschema::options()
        .offline()
        .should_validate_formats(false)
        // Linear time on any pattern.
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .build(&schema)
        .ok()
}

/// No bottomless nesting, nothing from outside the schema itself, and no chain of references that comes back to
/// itself without consuming any of the value: that would send a validator round for ever.
fn is_tame(value: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match value {
        Value::Object(map) => map.iter().all(|(key, item)| match (key.as_str(), item) {
            ("$ref", Value::String(target)) => target.starts_with("#/"),
            ("$dynamicRef" | "$recursiveRef", _) => false,
            _ => is_tame(item, depth + 1),
        }),
        Value::Array(items) => items.iter().all(|item| is_tame(item, depth + 1)),
        _ => true,
    }
}

/// References followed while looking for loops; a schema that needs more stays unchecked.
const MAX_STEPS: usize = 20_000;

/// Whether a chain of references anywhere in the schema leads back into itself.
fn has_loop(root: &Value) -> bool {
    let mut steps = MAX_STEPS;
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if chases_its_tail(root, node, &mut Vec::new(), &mut steps) {
            return true;
        }
        match node {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

/// Follows only what applies to the same value: references and the combining keywords.
fn chases_its_tail<'a>(
    root: &'a Value,
    node: &'a Value,
    chain: &mut Vec<&'a str>,
    steps: &mut usize,
) -> bool {
    let Value::Object(map) = node else {
        return false;
    };
    if *steps == 0 || chain.len() > MAX_DEPTH {
        return true;
    }
    *steps -= 1;
    if let Some(target) = map.get("$ref").and_then(Value::as_str) {
        if chain.contains(&target) {
            return true;
        }
        let pointer = target.strip_prefix('#').unwrap_or(target);
        if let Some(next) = root.pointer(pointer) {
            chain.push(target);
            if chases_its_tail(root, next, chain, steps) {
                return true;
            }
            chain.pop();
        }
    }
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"]
        .into_iter()
        .filter_map(|key| map.get(key))
        .any(|below| match below {
            Value::Array(items) => items
                .iter()
                .any(|item| chases_its_tail(root, item, chain, steps)),
            other => chases_its_tail(root, other, chain, steps),
        })
}

/// A JSON pointer into the arguments as a parameter path: `/tags/0/name` is `tags[].name`.
fn path_of(pointer: &str, arguments: &Value) -> String {
    let mut path = String::new();
    let mut here = Some(arguments);
    for raw in pointer.split('/').skip(1) {
        let name = raw.replace("~1", "/").replace("~0", "~");
        here = match here {
            Some(Value::Array(items)) => {
                path.push_str("[]");
                name.parse::<usize>()
                    .ok()
                    .and_then(|index| items.get(index))
            }
            Some(Value::Object(map)) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&name);
                map.get(&name)
            }
            _ => None,
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schemas() -> Schemas {
        Schemas::new(
            &Toolset::from_value(json!([
                {"name": "book", "inputSchema": {"type": "object", "required": ["city"], "properties": {
                    "city": {"type": "string"},
                    "unit": {"enum": ["c", "f"]},
                    "guests": {"type": "array", "items": {"type": "object",
                        "properties": {"age": {"type": "integer"}}, "required": ["age"]}}}}},
                {"name": "loop", "inputSchema": {"$ref": "#"}},
                {"name": "pingpong", "inputSchema": {"$ref": "#/$defs/a",
                    "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}},
                {"name": "tree", "inputSchema": {"$ref": "#/$defs/n",
                    "$defs": {"n": {"type": "object", "properties": {"left": {"$ref": "#/$defs/n"}}}}}},
                {"name": "far", "inputSchema": {"$ref": "https://example.com/schema.json"}},
                {"name": "slow", "inputSchema": {"type": "object",
                    "properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}}]))
            .unwrap(),
        )
    }

    #[test]
    fn faults_name_the_parameter() {
        let check = |arguments: Value| -> Vec<(bool, Option<String>)> {
            schemas()
                .faults("book", &arguments)
                .into_iter()
                .map(|f| (f.missing, f.parameter))
                .collect()
        };
        assert_eq!(check(json!({"city": "x"})), []);
        assert_eq!(check(json!({})), [(true, Some("city".to_owned()))]);
        assert_eq!(
            check(json!({"city": 3})),
            [(false, Some("city".to_owned()))]
        );
        assert_eq!(
            check(json!({"city": "x", "unit": "k"})),
            [(false, Some("unit".to_owned()))]
        );
        assert_eq!(
            check(json!({"city": "x", "guests": [{"age": 3}, {"age": "4"}]})),
            [(false, Some("guests[].age".to_owned()))]
        );
        assert_eq!(
            check(json!({"city": "x", "guests": [{}]})),
            [(true, Some("guests[].age".to_owned()))]
        );
        assert_eq!(check(json!([1])), [(false, None)]);
    }

    #[test]
    fn a_strange_schema_neither_hangs_nor_fetches_nor_blames() {
        for tool in ["loop", "pingpong", "far", "none"] {
            assert_eq!(schemas().faults(tool, &json!({"a": 1})), [], "{tool}");
        }
        assert_eq!(
            schemas()
                .faults("tree", &json!({"left": {"left": 1}}))
                .len(),
            1
        );
        let long = format!("{}!", "a".repeat(200));
        assert_eq!(schemas().faults("slow", &json!({"x": long})).len(), 1);
    }
}
