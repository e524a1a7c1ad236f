//! What differs besides descriptions, named by its path.

use serde_json::Value;
use trajectory::{Tool, Toolset};

/// Paths named per tool; a rebuilt schema would otherwise fill the screen.
const NAMED: usize = 8;

/// Paths in the tools both versions have, below which something other than a description differs.
pub(super) fn differences(from: &Toolset, to: &Toolset) -> Vec<String> {
    let mut found = Vec::new();
    for old in from.tools() {
        let Some(new) = to.tool(old.name()) else {
            continue;
        };
        let (Some(before), Some(after)) = (bare(old), bare(new)) else {
            continue;
        };
        let mut paths = Vec::new();
        compare(&before, &after, "", &mut paths);
        let more = paths.len().saturating_sub(NAMED);
        found.extend(
            paths
                .into_iter()
                .take(NAMED)
                .map(|path| format!("{}: {path}", old.name())),
        );
        if more > 0 {
            found.push(format!("{}: and {more} more", old.name()));
        }
    }
    found
}

/// One tool without its texts.
fn bare(tool: &Tool) -> Option<Value> {
    let alone = Toolset::from_value(Value::Array(vec![Value::Object(tool.raw().clone())])).ok()?;
    let list: Value = serde_json::from_str(&alone.structure()).ok()?;
    list.get(0).cloned()
}

fn compare(old: &Value, new: &Value, path: &str, found: &mut Vec<String>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                match b.get(key) {
                    Some(other) => compare(value, other, &below(key), found),
                    None => found.push(format!("{} is gone", below(key))),
                }
            }
            for key in b.keys().filter(|key| !a.contains_key(*key)) {
                found.push(format!("{} is new", below(key)));
            }
        }
        (a, b) if a == b => {}
        _ => found.push(format!(
            "{} differs",
            if path.is_empty() { "definition" } else { path }
        )),
    }
}
