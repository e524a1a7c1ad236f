//! Payload texts: JSON, JSON inside JSON strings, Python's `repr`, or plain text.
//!
//! Tracing systems keep inputs and outputs as whatever they were given, often encoded twice. A decode is kept
//! only when it yields an object, an array or a quoted string; the text before it is never thrown away.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::python;

/// How often a text is decoded; no known exporter nests deeper.
const MAX_LAYERS: usize = 4;

/// What a text turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, at some layer.
    Json,
    /// Python's `repr` of a container.
    Python,
    /// Neither.
    Text,
}

/// A decoded text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decoded {
    /// The innermost text: JSON as it was written, JSON made from a `repr`, or the plain text.
    pub(crate) text: String,
    /// Its value; plain text as a string.
    pub(crate) value: Value,
    /// What it is.
    pub(crate) form: Form,
}

/// Decodes a text as far as it goes.
pub(crate) fn decode(raw: &str) -> Decoded {
    let mut text = raw.to_owned();
    for _ in 0..MAX_LAYERS {
        let trimmed = text.trim();
        if !trimmed.starts_with(['{', '[', '"']) {
            break;
        }
        match parse(trimmed) {
            Some(Value::String(inner)) => text = inner,
            Some(value @ (Value::Object(_) | Value::Array(_))) => {
                return Decoded {
                    text: trimmed.to_owned(),
                    value,
                    form: Form::Json,
                };
            }
            _ => break,
        }
    }
    if let Some(value) = python::parse(text.trim()) {
        return Decoded {
            text: value.to_string(),
            value,
            form: Form::Python,
        };
    }
    Decoded {
        value: Value::String(text.clone()),
        text,
        form: Form::Text,
    }
}

/// Decodes a value that may be a string holding JSON.
pub(crate) fn unfold(value: &Value) -> Value {
    unfolded(value).into_owned()
}

/// As [`unfold`], without copying what needs no decoding: a whole conversation, usually.
pub(crate) fn unfolded(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::String(text) => Cow::Owned(decode(text).value),
        other => Cow::Borrowed(other),
    }
}

/// Parses JSON, tolerating what exporters get wrong; see [`repair`].
pub(crate) fn parse(text: &str) -> Option<Value> {
    // Long digit strings parse, but not into the number that was written.
    if !has_long_number(text)
        && let Ok(value) = serde_json::from_str(text)
    {
        return Some(value);
    }
    serde_json::from_str(&repair(text)).ok()
}

fn has_long_number(text: &str) -> bool {
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        if run > 18 {
            return true;
        }
    }
    false
}

/// Rewrites what strict JSON does not allow or a 64-bit number does not hold: lone surrogate escapes become
/// the replacement character, raw control characters in strings are escaped, `NaN` and infinities become
/// null, and numbers that would lose digits become strings.
pub(crate) fn repair(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0;
    let mut in_string = false;
    while let Some(&byte) = bytes.get(at) {
        let length = if in_string {
            match byte {
                b'"' => {
                    in_string = false;
                    copy(text, at, 1, &mut out)
                }
                b'\\' => escape(text, at, &mut out),
                0..0x20 => {
                    let _ = write!(out, "\\u{byte:04x}");
                    1
                }
                _ => copy(text, at, character_length(byte), &mut out),
            }
        } else {
            match byte {
                b'"' => {
                    in_string = true;
                    copy(text, at, 1, &mut out)
                }
                b'-' | b'0'..=b'9' | b'N' | b'I' => number(text, at, &mut out),
                _ => copy(text, at, character_length(byte), &mut out),
            }
        };
        at += length;
    }
    out
}

fn copy(text: &str, at: usize, length: usize, out: &mut String) -> usize {
    match text.get(at..at + length) {
        Some(part) => out.push_str(part),
        // Cannot happen for lengths taken from leading bytes; dropping is the harmless way out.
        None => return 1,
    }
    length
}

fn character_length(first: u8) -> usize {
    match first {
        0..0x80 => 1,
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    }
}

/// A `\uXXXX` escape's code unit.
fn code_unit(text: &str, at: usize) -> Option<u16> {
    let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(hex, 16).ok()
}

fn escape(text: &str, at: usize, out: &mut String) -> usize {
    match code_unit(text, at) {
        Some(0xd800..=0xdbff) => {
            if matches!(code_unit(text, at + 6), Some(0xdc00..=0xdfff)) {
                return copy(text, at, 12, out);
            }
            out.push_str("\\ufffd");
            6
        }
        Some(0xdc00..=0xdfff) => {
            out.push_str("\\ufffd");
            6
        }
        Some(_) => copy(text, at, 6, out),
        None => {
            let next = text.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
            copy(text, at, 1 + character_length(next), out)
        }
    }
}

fn number(text: &str, at: usize, out: &mut String) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    for word in ["NaN", "-Infinity", "Infinity"] {
        if rest.starts_with(word) {
            out.push_str("null");
            return word.len();
        }
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')))
        .unwrap_or(rest.len());
    if end == 0 {
        return copy(text, at, 1, out);
    }
    let literal = &rest[..end];
    let whole = !literal.contains(['.', 'e', 'E']);
    let held = if whole {
        literal.parse::<i64>().is_ok() || literal.parse::<u64>().is_ok()
    } else {
        literal.parse::<f64>().is_ok_and(f64::is_finite)
    };
    if held {
        out.push_str(literal);
    } else {
        out.push('"');
        out.push_str(literal);
        out.push('"');
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn decodes_as_far_as_it_goes() {
        let twice = json!(json!({"a": 1}).to_string()).to_string();
        let check = |raw: &str, value: Value, text: &str, form: Form| {
            let decoded = decode(raw);
            assert_eq!(
                (decoded.value, decoded.text.as_str(), decoded.form),
                (value, text, form),
                "{raw}"
            );
        };
        check(r#"{"a": 1}"#, json!({"a": 1}), r#"{"a": 1}"#, Form::Json);
        check(&twice, json!({"a": 1}), r#"{"a":1}"#, Form::Json);
        check(r#""plain""#, json!("plain"), "plain", Form::Text);
        check("plain", json!("plain"), "plain", Form::Text);
        check("", json!(""), "", Form::Text);
        check("null", json!("null"), "null", Form::Text);
        check("12", json!("12"), "12", Form::Text);
        check(
            "{'q': \"it's\", 'n': None, 'ok': True}",
            json!({"q": "it's", "n": null, "ok": true}),
            r#"{"q":"it's","n":null,"ok":true}"#,
            Form::Python,
        );
        check(
            r#"{"a":1}{"b":2}"#,
            json!(r#"{"a":1}{"b":2}"#),
            r#"{"a":1}{"b":2}"#,
            Form::Text,
        );
    }

    #[test]
    fn five_layers_are_left_alone_below_the_fourth() {
        let mut text = json!({"a": 1}).to_string();
        for _ in 0..5 {
            text = json!(text).to_string();
        }
        assert_eq!(decode(&text).form, Form::Text);
    }

    #[test]
    fn what_exporters_get_wrong_is_repaired() {
        assert_eq!(
            parse(r#"{"a":"\ud83d!","b":"\ude00","c":"\ud83d\ude00","d":"\\ud83d"}"#).unwrap(),
            json!({"a": "\u{fffd}!", "b": "\u{fffd}", "c": "😀", "d": "\\ud83d"})
        );
        assert_eq!(
            parse(r#"{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN"}"#).unwrap(),
            json!({"a": null, "b": [null, null], "c": "NaN"})
        );
        assert_eq!(
            parse(r#"{"id":123456789012345678901234567890,"e":1e999,"max":18446744073709551615}"#)
                .unwrap(),
            json!({"id": "123456789012345678901234567890", "e": "1e999", "max": u64::MAX})
        );
        assert_eq!(
            parse("{\"a\":\"line\nline\u{1}\"}").unwrap(),
            json!({"a": "line\nline\u{1}"})
        );
        assert_eq!(parse("{\"a\":"), None);
        assert_eq!(parse("{\"ü\": \"ü\\"), None);
    }

    #[test]
    fn deep_nesting_stays_text() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(decode(&deep).form, Form::Text);
        assert_eq!(decode(&deep).text, deep);
    }
}
