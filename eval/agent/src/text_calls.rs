//! Reads tool calls that a model wrote into its text, in the forms models were trained on.
//!
//! Tried in this order, and the first form that yields a call wins: `<tool_call>` tags, `<function=...>`
//! tags, a text that is JSON as a whole, fenced blocks, and last the first call object inside prose.
//! Outside of tags only the names of tools that were served count, so that an object that merely looks like
//! a call is not taken for one.

use serde_json::{Map, Value};

use crate::model::ToolCall;

/// Text that is looked at; a call does not stand behind tens of thousands of characters.
const MAX_TEXT: usize = 64 * 1024;

/// Places at which a JSON value is looked for; bounds the work on a text full of braces.
const MAX_STARTS: usize = 512;

/// Finds the calls in `text`; `known` are the names of the served tools.
pub(crate) fn find(text: &str, known: &[&str]) -> Vec<ToolCall> {
    let text = cut(text);
    for calls in [tagged(text), function_tags(text)] {
        if !calls.is_empty() {
            return calls;
        }
    }
    let known_only = |calls: Vec<ToolCall>| -> Vec<ToolCall> {
        calls
            .into_iter()
            .filter(|call| known.contains(&call.name.as_str()))
            .collect()
    };
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        return known_only(calls_in(&value));
    }
    let fenced: Vec<ToolCall> = fences(text)
        .into_iter()
        .flat_map(values_in)
        .flat_map(|value| calls_in(&value))
        .collect();
    let fenced = known_only(fenced);
    if !fenced.is_empty() {
        return fenced;
    }
    // In prose a second object may be an example or a wish for later: only the first call counts.
    values_in(text)
        .into_iter()
        .map(|value| known_only(calls_in(&value)))
        .find(|c| !c.is_empty())
        .unwrap_or_default()
}

/// Whether `text` says nothing else than the calls.
pub(crate) fn is_only(text: &str, calls: &[ToolCall], known: &[&str]) -> bool {
    let same = |(a, b): (&ToolCall, &ToolCall)| a.name == b.name && a.arguments == b.arguments;
    let found = find(text, known);
    !found.is_empty() && found.len() == calls.len() && found.iter().zip(calls).all(same)
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// `<tool_call>{...}</tool_call>`, the closing tag being optional: some models stop before it.
fn tagged(text: &str) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for part in text.split("<tool_call>").skip(1) {
        let inside = part.split("</tool_call>").next().unwrap_or(part);
        if let Some(value) = values_in(inside).into_iter().next() {
            calls.extend(calls_in(&value));
        } else {
            calls.extend(function_tags(inside));
        }
    }
    calls
}

/// `<function=NAME>{...}</function>` and `<function=NAME><parameter=KEY>VALUE</parameter></function>`.
fn function_tags(text: &str) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for part in text.split("<function=").skip(1) {
        let Some((name, rest)) = part.split_once('>') else {
            continue;
        };
        let name = name.trim().trim_matches(['"', '\'']);
        let inside = rest.split("</function>").next().unwrap_or(rest);
        let arguments = if inside.contains("<parameter=") {
            parameter_tags(inside)
        } else {
            match values_in(inside).into_iter().next() {
                Some(Value::Object(object)) => object,
                _ => Map::new(),
            }
        };
        if !name.is_empty() {
            calls.push(call(name, Value::Object(arguments).to_string()));
        }
    }
    calls
}

fn parameter_tags(text: &str) -> Map<String, Value> {
    let mut arguments = Map::new();
    for part in text.split("<parameter=").skip(1) {
        let Some((key, rest)) = part.split_once('>') else {
            continue;
        };
        let raw = rest.split("</parameter>").next().unwrap_or(rest).trim();
        // The form has no types: what reads as a JSON scalar is one, everything else is a string.
        let value = serde_json::from_str(raw).unwrap_or_else(|_| Value::from(raw));
        arguments.insert(key.trim().trim_matches(['"', '\'']).to_owned(), value);
    }
    arguments
}

/// The insides of fenced blocks, without the language behind the opening fence.
fn fences(text: &str) -> Vec<&str> {
    text.split("```")
        .enumerate()
        .filter(|(index, _)| index % 2 == 1)
        .map(|(_, block)| block.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}

/// All JSON objects and arrays in a text, one behind the other.
fn values_in(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut starts = 0;
    while let Some(offset) = text.get(from..).and_then(|rest| rest.find(['{', '['])) {
        starts += 1;
        if starts > MAX_STARTS {
            break;
        }
        let start = from + offset;
        let mut stream =
            serde_json::Deserializer::from_str(text.get(start..).unwrap_or_default()).into_iter();
        if let Some(Ok(value)) = stream.next() {
            from = start + stream.byte_offset();
            found.push(value);
        } else {
            from = start + 1;
        }
    }
    found
}

/// The calls a JSON value stands for; empty when it stands for none.
fn calls_in(value: &Value) -> Vec<ToolCall> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_object)
            .filter_map(one_call)
            .collect(),
        Value::Object(object) => match object.get("tool_calls") {
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(Value::as_object)
                .filter_map(one_call)
                .collect(),
            _ => one_call(object).into_iter().collect(),
        },
        _ => Vec::new(),
    }
}

const NAME_KEYS: [&str; 4] = ["name", "tool", "tool_name", "function"];
const ARGUMENT_KEYS: [&str; 5] = ["arguments", "parameters", "args", "input", "tool_input"];

fn one_call(object: &Map<String, Value>) -> Option<ToolCall> {
    if let Some(Value::Object(function)) = object.get("function") {
        return one_call(function);
    }
    let name = NAME_KEYS
        .iter()
        .find_map(|key| object.get(*key).and_then(Value::as_str))?;
    let arguments = match ARGUMENT_KEYS.iter().find_map(|key| object.get(*key)) {
        // Arguments as text are passed on as they are: whether they are an object is for the host to say.
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => "{}".to_owned(),
        Some(value) => value.to_string(),
    };
    Some(call(name, arguments))
}

fn call(name: &str, arguments: String) -> ToolCall {
    ToolCall {
        id: String::new(),
        name: name.to_owned(),
        arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KNOWN: [&str; 2] = ["propose", "get_negotiation"];

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = find(text, &KNOWN);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|call| (call.name.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn reads_every_form() {
        let price = [("propose", r#"{"price":90}"#)];
        check(r#"{"name":"propose","arguments":{"price":90}}"#, &price);
        check(
            r#"  {"name":"propose","parameters":{"price":90}}  "#,
            &price,
        );
        check(r#"{"name":"propose","arguments":"{\"price\":90}"}"#, &price);
        check(
            r#"{"type":"function","function":{"name":"propose","arguments":{"price":90}}}"#,
            &price,
        );
        check(r#"{"tool":"propose","args":{"price":90}}"#, &price);
        check(
            r#"{"tool_calls":[{"function":{"name":"propose","arguments":{"price":90}}}]}"#,
            &price,
        );
        check(
            r#"[TOOL_CALLS][{"name":"propose","arguments":{"price":90}}]"#,
            &price,
        );
        check(
            "I offer 90.\n```json\n{\"name\":\"propose\",\"arguments\":{\"price\":90}}\n```\nDone.",
            &price,
        );
        check(
            "```\n{\"name\":\"propose\",\"arguments\":{\"price\":90}}\n```",
            &price,
        );
        check(
            r#"Let me see. <tool_call>{"name":"propose","arguments":{"price":90}}</tool_call>"#,
            &price,
        );
        check(
            "<tool_call>\n{\"name\":\"propose\",\"arguments\":{\"price\":90}}",
            &price,
        );
        check(
            r#"I will call {"name":"propose","arguments":{"price":90}} now."#,
            &price,
        );
        check(r#"<function=propose>{"price":90}</function>"#, &price);
        check(
            "<tool_call><function=propose><parameter=price>\n90\n</parameter></function></tool_call>",
            &price,
        );
        check(
            r#"{"name":"get_negotiation"}"#,
            &[("get_negotiation", "{}")],
        );
    }

    #[test]
    fn reads_several_calls_where_they_are_meant() {
        check(
            r#"<tool_call>{"name":"get_negotiation","arguments":{}}</tool_call><tool_call>{"name":"propose","arguments":{"price":1}}</tool_call>"#,
            &[("get_negotiation", "{}"), ("propose", r#"{"price":1}"#)],
        );
        check(
            r#"[{"name":"get_negotiation"},{"name":"propose","arguments":{"price":1}}]"#,
            &[("get_negotiation", "{}"), ("propose", r#"{"price":1}"#)],
        );
        // In prose the second one is a plan, not a call.
        check(
            r#"First {"name":"get_negotiation"} and perhaps later {"name":"propose","arguments":{"price":1}}."#,
            &[("get_negotiation", "{}")],
        );
    }

    #[test]
    fn does_not_take_anything_else_for_a_call() {
        for text in [
            "",
            "I think 90 is a fair price.",
            r#"{"price": 90}"#,
            r#"{"name": "Anna", "arguments": {}}"#,
            r#"{"name": 5}"#,
            r#"The item {"name": "lamp"} costs [1, 2]."#,
            "```json\n{\"ok\": true}\n```",
            "{\"name\":\"propose\",\"arguments\":{\"price\":",
        ] {
            check(text, &[]);
        }
        // A tag says that it is a call, so an unknown tool is one too, and the host will say so.
        check(
            r#"<tool_call>{"name":"buy","arguments":{}}</tool_call>"#,
            &[("buy", "{}")],
        );
    }

    #[test]
    fn knows_a_text_that_is_only_the_call() {
        let text = r#"{"name":"propose","arguments":{"price":90}}"#;
        let calls = find(text, &KNOWN);
        assert!(is_only(text, &calls, &KNOWN));
        assert!(!is_only("hello", &calls, &KNOWN));
        assert!(!is_only("hello", &[], &KNOWN));
    }

    #[test]
    fn hostile_texts_take_bounded_time() {
        for unit in [
            "{",
            "[",
            "{\"a\":",
            "<tool_call>{",
            "```",
            "<function=",
            "é{",
        ] {
            let _ = find(&unit.repeat(100_000), &KNOWN);
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = find(&text, &KNOWN);
        }

        #[test]
        fn never_panics_near_a_call(text in r#"(<tool_call>|</tool_call>|<function=|<parameter=|>|```|json|\{|\}|\[|\]|"name"|:|"propose"|"arguments"|,|é| ){0,40}"#) {
            let _ = find(&text, &KNOWN);
        }

        #[test]
        fn a_call_survives_its_surroundings(before in "[a-z .é]{0,30}", after in "[a-z .é]{0,30}", price in any::<u32>()) {
            let text = format!(r#"{before}{{"name":"propose","arguments":{{"price":{price}}}}}{after}"#);
            let found = find(&text, &KNOWN);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].arguments, &format!(r#"{{"price":{price}}}"#));
        }
    }
}
