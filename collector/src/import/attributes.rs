//! Looking up attributes, whichever way the exporter wrote them.
//!
//! Metadata is a nested object, an object whose values are JSON strings, one JSON string for everything, or
//! an object with dotted keys; attributes lie below `attributes`, directly in the metadata, or below
//! `attributes.` as a prefix.

use serde_json::{Map, Value};

use super::decode;

/// The attributes of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attributes {
    /// The metadata's `attributes`.
    inner: Map<String, Value>,
    /// The metadata itself.
    outer: Map<String, Value>,
}

impl Attributes {
    /// Reads metadata from its JSON text.
    pub(crate) fn read(raw: Option<&str>) -> Self {
        let Some(raw) = raw else {
            return Self::default();
        };
        let Value::Object(outer) = decode::decode(raw).value else {
            return Self::default();
        };
        let inner = match outer.get("attributes").map(decode::unfold) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        Self { inner, outer }
    }

    /// An attribute as it was written.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        if self.outer.is_empty() {
            return None;
        }
        self.inner
            .get(name)
            .or_else(|| self.outer.get(&format!("attributes.{name}")))
            .or_else(|| self.outer.get(name))
            .or_else(|| nested(&self.inner, name))
            .or_else(|| nested(&self.outer, name))
            .filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// The first of several attributes.
    pub(crate) fn first(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| self.get(name))
    }

    /// An attribute as text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) | Value::Array(_) | Value::Null => None,
            scalar => Some(scalar.to_string()),
        }
    }

    /// An attribute with JSON strings decoded.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        self.get(name).map(decode::unfold)
    }

    /// Attributes below a prefix, numbered segments becoming arrays: `llm.tools.0.tool.json_schema` is
    /// found under `llm.tools` as `[{"tool": {"json_schema": …}}]`.
    pub(crate) fn below(&self, prefix: &str) -> Option<Value> {
        let mut tree = Map::new();
        for (map, prefix) in [
            (&self.outer, format!("attributes.{prefix}.")),
            (&self.outer, format!("{prefix}.")),
            (&self.inner, format!("{prefix}.")),
        ] {
            for (key, value) in map {
                if let Some(rest) = key.strip_prefix(&prefix) {
                    plant(&mut tree, rest, value);
                }
            }
        }
        if tree.is_empty() {
            return nested(&self.inner, prefix)
                .or_else(|| nested(&self.outer, prefix))
                .cloned();
        }
        Some(to_arrays(tree))
    }
}

/// A value reached by following the dots of `name` through nested objects.
fn nested<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let (first, rest) = name.split_once('.')?;
    let below = map.get(first)?.as_object()?;
    below.get(rest).or_else(|| nested(below, rest))
}

/// Keys come from the file; deeper paths than any convention has are left out.
const MAX_SEGMENTS: usize = 16;

fn plant(tree: &mut Map<String, Value>, path: &str, value: &Value) {
    if path.split('.').count() > MAX_SEGMENTS {
        return;
    }
    match path.split_once('.') {
        None => {
            tree.insert(path.to_owned(), value.clone());
        }
        Some((first, rest)) => {
            let below = tree
                .entry(first.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                plant(below, rest, value);
            }
        }
    }
}

fn to_arrays(tree: Map<String, Value>) -> Value {
    let numbered = tree.keys().all(|key| key.parse::<u32>().is_ok());
    let mut entries: Vec<(String, Value)> = tree
        .into_iter()
        .map(|(key, value)| match value {
            Value::Object(below) => (key, to_arrays(below)),
            other => (key, other),
        })
        .collect();
    if numbered && !entries.is_empty() {
        entries.sort_by_key(|(key, _)| key.parse::<u32>().unwrap_or(u32::MAX));
        return Value::Array(entries.into_iter().map(|(_, value)| value).collect());
    }
    Value::Object(entries.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_encodings_answer_alike() {
        let nested = json!({"attributes": {"gen_ai.tool.name": "search", "n": 1}});
        let strings = json!({"attributes": "{\"gen_ai.tool.name\":\"search\",\"n\":1}"});
        let flat = json!({"attributes.gen_ai.tool.name": "search", "attributes.n": "1"});
        let direct = json!({"gen_ai.tool.name": "search", "n": 1});
        let deep = json!({"attributes": {"gen_ai": {"tool": {"name": "search"}}, "n": 1}});
        for metadata in [&nested, &strings, &flat, &direct, &deep] {
            for raw in [
                metadata.to_string(),
                json!(metadata.to_string()).to_string(),
            ] {
                let attributes = Attributes::read(Some(&raw));
                assert_eq!(
                    attributes.text("gen_ai.tool.name").as_deref(),
                    Some("search"),
                    "{raw}"
                );
                assert_eq!(attributes.text("n").as_deref(), Some("1"), "{raw}");
                assert_eq!(attributes.text("none"), None);
            }
        }
        for raw in [None, Some("12"), Some("\"cut {\""), Some("[1]"), Some("{}")] {
            assert!(Attributes::read(raw).get("n").is_none());
        }
    }

    #[test]
    fn numbered_keys_become_arrays() {
        let raw = json!({"attributes": {
            "llm.tools.1.tool.json_schema": "b", "llm.tools.0.tool.json_schema": "a", "llm.tool": 1}});
        let attributes = Attributes::read(Some(&raw.to_string()));
        assert_eq!(
            attributes.below("llm.tools"),
            Some(json!([{"tool": {"json_schema": "a"}}, {"tool": {"json_schema": "b"}}]))
        );
        assert_eq!(attributes.below("llm.prompts"), None);
        let long = format!("llm.tools{}", ".x".repeat(5000));
        let attributes = Attributes::read(Some(&json!({ long: 1 }).to_string()));
        assert_eq!(attributes.below("llm.tools"), None);
    }
}
