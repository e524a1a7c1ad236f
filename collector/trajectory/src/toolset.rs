//! Toolset versions: an MCP `tools/list` result, kept as the JSON it is.
//!
//! A version is identified by the hash of its tools; `_meta` (of the version and of each tool) is left out of
//! the hash, because it carries the id itself and other facts *about* the version.

use std::fmt;

use serde_json::{Map, Value};

use crate::canonical::{canonical_json, content_id};

/// A toolset could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ToolsetError {
    /// Not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// No list of tools anywhere a `tools/list` dump has one.
    #[error(
        "no tool list found: expected `{{\"tools\": [...]}}`, a JSON-RPC response with it under `result`, or a bare array of tools"
    )]
    NoTools,
    /// A tool is not an object with a name.
    #[error("tool {index} has no `name`: every tool must be an object with a string `name`")]
    Unnamed {
        /// Position in the list, from 0.
        index: usize,
    },
    /// Two tools have one name.
    #[error("tool {index} repeats the name `{name}`")]
    Repeated {
        /// Position in the list, from 0.
        index: usize,
        /// The name.
        name: String,
    },
}

/// One text of a toolset that may be rewritten: a tool's description or one parameter's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComponentId {
    /// Tool name.
    pub tool: String,
    /// Path of the parameter below the input schema's `properties` (`price`, `filter.since`), or `None` for
    /// the tool's own description.
    pub parameter: Option<String>,
}

impl ComponentId {
    /// The description of a tool.
    pub fn tool(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            parameter: None,
        }
    }

    /// The description of a parameter.
    pub fn parameter(tool: &str, path: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            parameter: Some(path.to_owned()),
        }
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parameter {
            None => write!(f, "{}", self.tool),
            Some(path) => write!(f, "{}({path})", self.tool),
        }
    }
}

/// One tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    raw: Map<String, Value>,
}

impl Tool {
    /// Name.
    pub fn name(&self) -> &str {
        self.raw
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Description; empty when there is none.
    pub fn description(&self) -> &str {
        self.raw
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Input schema (`inputSchema`), when it is an object.
    pub fn input_schema(&self) -> Option<&Map<String, Value>> {
        self.raw.get("inputSchema").and_then(Value::as_object)
    }

    /// The definition as seen.
    pub fn raw(&self) -> &Map<String, Value> {
        &self.raw
    }

    /// Paths of all parameters with their descriptions (empty when there is none), in schema order, nested
    /// objects and array items included.
    pub fn parameters(&self) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        if let Some(schema) = self.input_schema() {
            collect_parameters(schema, "", 0, &mut found);
        }
        found
    }
}

/// Nesting below which parameters are not looked for; real schemas stay far above it.
const MAX_DEPTH: usize = 16;

fn collect_parameters<'a>(
    schema: &'a Map<String, Value>,
    prefix: &str,
    depth: usize,
    found: &mut Vec<(String, &'a str)>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            let path = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}.{name}")
            };
            let Some(property) = property.as_object() else {
                continue;
            };
            let text = property
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            found.push((path.clone(), text));
            collect_parameters(property, &path, depth + 1, found);
        }
    }
    if let Some(items) = schema.get("items").and_then(Value::as_object) {
        collect_parameters(items, &format!("{prefix}[]"), depth + 1, found);
    }
}

fn parameter_mut<'a>(
    schema: &'a mut Map<String, Value>,
    path: &str,
    prefix: &str,
    depth: usize,
) -> Option<&'a mut Map<String, Value>> {
    if depth > MAX_DEPTH {
        return None;
    }
    // Which branch holds the path is decided on shared borrows first, so that one mutable borrow suffices.
    let in_properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .and_then(|properties| {
            properties.iter().find_map(|(name, property)| {
                let here = if prefix.is_empty() {
                    name.clone()
                } else {
                    format!("{prefix}.{name}")
                };
                let property = property.as_object()?;
                let mut below = Vec::new();
                collect_parameters(property, &here, depth + 1, &mut below);
                (here == path || below.iter().any(|(p, _)| p == path)).then(|| (name.clone(), here))
            })
        });
    if let Some((name, here)) = in_properties {
        let property = schema
            .get_mut("properties")?
            .get_mut(&name)?
            .as_object_mut()?;
        return if here == path {
            Some(property)
        } else {
            parameter_mut(property, path, &here, depth + 1)
        };
    }
    let items = schema.get_mut("items")?.as_object_mut()?;
    parameter_mut(items, path, &format!("{prefix}[]"), depth + 1)
}

/// A toolset version.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Toolset {
    tools: Vec<Tool>,
    meta: Map<String, Value>,
}

impl Toolset {
    /// Reads any `tools/list` dump: `{"tools": …}`, the same below `result` (a JSON-RPC response), or a bare
    /// array of tools.
    pub fn parse(text: &str) -> Result<Self, ToolsetError> {
        Self::from_value(serde_json::from_str(text.trim_start_matches('\u{feff}'))?)
    }

    /// As [`Toolset::parse`], from a JSON value.
    pub fn from_value(value: Value) -> Result<Self, ToolsetError> {
        let (list, meta) = match value {
            Value::Array(list) => (list, Map::new()),
            Value::Object(mut object) => {
                if let Some(result @ Value::Object(_)) = object.shift_remove("result") {
                    return Self::from_value(result);
                }
                let meta = match object.shift_remove("_meta") {
                    Some(Value::Object(meta)) => meta,
                    _ => Map::new(),
                };
                match object.shift_remove("tools") {
                    Some(Value::Array(list)) => (list, meta),
                    _ => return Err(ToolsetError::NoTools),
                }
            }
            _ => return Err(ToolsetError::NoTools),
        };
        let mut tools: Vec<Tool> = Vec::with_capacity(list.len());
        for (index, item) in list.into_iter().enumerate() {
            let Value::Object(raw) = item else {
                return Err(ToolsetError::Unnamed { index });
            };
            let Some(name) = raw.get("name").and_then(Value::as_str) else {
                return Err(ToolsetError::Unnamed { index });
            };
            if tools.iter().any(|tool| tool.name() == name) {
                return Err(ToolsetError::Repeated {
                    index,
                    name: name.to_owned(),
                });
            }
            tools.push(Tool { raw });
        }
        Ok(Self { tools, meta })
    }

    /// The tools, in order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// One tool by name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// `_meta` of the version; empty when there is none.
    pub fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// Replaces `_meta` of the version.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }

    /// Id of the version: `ts_` and 16 hexadecimal digits of the hash over the tools without any `_meta`.
    pub fn id(&self) -> String {
        content_id("ts_", &self.without_meta())
    }

    /// The version as a `tools/list` result with `_meta`.
    pub fn to_value(&self) -> Value {
        let mut object = Map::new();
        object.insert("tools".to_owned(), Value::Array(self.tool_values()));
        if !self.meta.is_empty() {
            object.insert("_meta".to_owned(), Value::Object(self.meta.clone()));
        }
        Value::Object(object)
    }

    /// The version as indented JSON text with a final newline: what version files hold.
    pub fn to_pretty(&self) -> String {
        // `{:#}` of a JSON value cannot fail.
        format!("{:#}\n", self.to_value())
    }

    /// Every component with its text (empty when there is none), in list order, a tool before its parameters.
    pub fn components(&self) -> Vec<(ComponentId, String)> {
        let mut found = Vec::new();
        for tool in &self.tools {
            found.push((
                ComponentId::tool(tool.name()),
                tool.description().to_owned(),
            ));
            for (path, text) in tool.parameters() {
                found.push((ComponentId::parameter(tool.name(), &path), text.to_owned()));
            }
        }
        found
    }

    /// The text of one component; `None` when the toolset has no such component.
    pub fn text(&self, component: &ComponentId) -> Option<String> {
        let tool = self.tool(&component.tool)?;
        match &component.parameter {
            None => Some(tool.description().to_owned()),
            Some(path) => tool
                .parameters()
                .into_iter()
                .find(|(p, _)| p == path)
                .map(|(_, text)| text.to_owned()),
        }
    }

    /// Replaces the text of one component; false when the toolset has no such component.
    pub fn set_text(&mut self, component: &ComponentId, text: &str) -> bool {
        let Some(tool) = self
            .tools
            .iter_mut()
            .find(|tool| tool.name() == component.tool)
        else {
            return false;
        };
        let target = match &component.parameter {
            None => Some(&mut tool.raw),
            Some(path) => tool
                .raw
                .get_mut("inputSchema")
                .and_then(Value::as_object_mut)
                .and_then(|schema| parameter_mut(schema, path, "", 0)),
        };
        let Some(target) = target else { return false };
        target.insert("description".to_owned(), Value::from(text));
        true
    }

    /// Canonical JSON of everything that must not change: the tools in order, with the text of every
    /// component removed and every `_meta` left out.
    pub fn structure(&self) -> String {
        let mut bare = self.clone();
        for tool in &mut bare.tools {
            tool.raw.shift_remove("description");
            let paths: Vec<String> = tool
                .parameters()
                .into_iter()
                .map(|(path, _)| path)
                .collect();
            if let Some(schema) = tool
                .raw
                .get_mut("inputSchema")
                .and_then(Value::as_object_mut)
            {
                for path in paths {
                    if let Some(parameter) = parameter_mut(schema, &path, "", 0)
                        && parameter.get("description").is_some_and(Value::is_string)
                    {
                        parameter.shift_remove("description");
                    }
                }
            }
        }
        canonical_json(&bare.without_meta())
    }

    fn tool_values(&self) -> Vec<Value> {
        self.tools
            .iter()
            .map(|tool| Value::Object(tool.raw.clone()))
            .collect()
    }

    fn without_meta(&self) -> Value {
        let tools = self
            .tools
            .iter()
            .map(|tool| {
                let mut raw = tool.raw.clone();
                raw.shift_remove("_meta");
                Value::Object(raw)
            })
            .collect();
        Value::Array(tools)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample() -> Toolset {
        Toolset::from_value(json!({"tools": [
            {"name": "search", "description": "Finds.", "inputSchema": {"type": "object",
                "properties": {
                    "query": {"type": "string", "description": "Words."},
                    "filter": {"type": "object", "properties": {"since": {"type": "string"}}},
                    "tags": {"type": "array", "items": {"type": "object",
                        "properties": {"name": {"type": "string", "description": "Tag."}}}},
                    "description": {"type": "string", "description": "A parameter named like the key."}},
                "required": ["query"]}},
            {"name": "close"}],
            "_meta": {"parent": "x"}}))
        .unwrap()
    }

    #[test]
    fn accepts_the_dumps_people_have() {
        let bare = json!([{"name": "a"}]);
        for value in [
            bare.clone(),
            json!({"tools": bare}),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": bare}}),
        ] {
            assert_eq!(Toolset::from_value(value).unwrap().tools()[0].name(), "a");
        }
        assert!(matches!(Toolset::parse("{}"), Err(ToolsetError::NoTools)));
        assert!(matches!(
            Toolset::parse("[1]"),
            Err(ToolsetError::Unnamed { index: 0 })
        ));
        assert!(matches!(
            Toolset::parse(r#"[{"name":"a"},{"name":"a"}]"#),
            Err(ToolsetError::Repeated { index: 1, .. })
        ));
    }

    #[test]
    fn lists_and_sets_every_component() {
        let mut toolset = sample();
        let ids: Vec<String> = toolset
            .components()
            .iter()
            .map(|(id, _)| id.to_string())
            .collect();
        assert_eq!(
            ids,
            [
                "search",
                "search(query)",
                "search(filter)",
                "search(filter.since)",
                "search(tags)",
                "search(tags[].name)",
                "search(description)",
                "close"
            ]
        );
        let before = toolset.structure();
        for (id, _) in toolset.components() {
            assert!(toolset.set_text(&id, &format!("new text of {id}")));
            assert_eq!(toolset.text(&id).unwrap(), format!("new text of {id}"));
        }
        assert_eq!(toolset.structure(), before);
        assert!(!toolset.set_text(&ComponentId::tool("none"), ""));
        assert!(!toolset.set_text(&ComponentId::parameter("search", "none"), ""));
    }

    #[test]
    fn the_id_covers_texts_and_not_meta() {
        let toolset = sample();
        let mut other = toolset.clone().with_meta(Map::new());
        assert_eq!(toolset.id(), other.id());
        other.set_text(&ComponentId::tool("close"), "Ends it.");
        assert_ne!(toolset.id(), other.id());
    }

    #[test]
    fn structure_notices_anything_but_texts() {
        let toolset = sample();
        let mut value = toolset.to_value();
        value["tools"][0]["inputSchema"]["required"] = json!([]);
        assert_ne!(
            Toolset::from_value(value).unwrap().structure(),
            toolset.structure()
        );
        let mut value = toolset.to_value();
        value["tools"][0]["inputSchema"]["properties"]["query"]["description"] =
            json!({"$ref": "#"});
        assert_ne!(
            Toolset::from_value(value).unwrap().structure(),
            toolset.structure()
        );
    }
}
