//! One JSON object of an export, its fields kept as the text they were written in.
//!
//! Keeping the text costs nothing and saves what parsing would lose: the digits of large integers, the order
//! and spelling of arguments, and nesting deeper than a parser wants to follow.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::decode;

/// One JSON object.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    fields: BTreeMap<String, Box<RawValue>>,
}

impl Row {
    /// Reads an object; the error is a reason for people.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let read = |text: &str| serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text);
        read(text)
            .or_else(|error| read(&decode::repair(text)).map_err(|_| error))
            .map(|fields| Self { fields })
            .map_err(|error| reason(&error))
    }

    /// A field by its camel-case name, or by the same name in snake case; null is absent.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        let find = |name: &str| self.fields.get(name).map(|value| value.get());
        find(name)
            .or_else(|| find(&snake_case(name)))
            .filter(|text| *text != "null")
    }

    /// Whether a field exists under exactly this name, be it null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// Whether a field exists in either spelling, be it null.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.has(name) || self.has(&snake_case(name))
    }

    /// A field's value.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        self.raw(name).and_then(decode::parse)
    }

    /// A field as text: a string's content, or the text of any other value.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let raw = self.raw(name)?;
        if raw.starts_with('"')
            && let Some(Value::String(text)) = decode::parse(raw)
        {
            return Some(text);
        }
        Some(raw.to_owned())
    }

    /// As [`Row::text`], the empty text being absent.
    pub(crate) fn filled(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// A number, also when it is quoted.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.value(name).as_ref().and_then(number)
    }

    /// A time in UTC microseconds.
    pub(crate) fn time(&self, name: &str) -> Option<i64> {
        super::time::parse(&self.value(name)?)
    }

    /// The elements of an array, each as its own text.
    pub(crate) fn elements(&self, name: &str) -> Option<Vec<Box<RawValue>>> {
        let raw = self.raw(name)?;
        serde_json::from_str(raw).ok()
    }

    /// An object below this one.
    pub(crate) fn row(&self, name: &str) -> Option<Self> {
        let raw = self.raw(name)?;
        raw.starts_with('{').then(|| Self::parse(raw).ok())?
    }

    /// All field names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }
}

/// A finite number, also when it is quoted.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

fn reason(error: &serde_json::Error) -> String {
    if error.is_eof() {
        "the row is cut off".to_owned()
    } else {
        // The position counts from the start of the row, which people do not see.
        let text = error.to_string();
        let plain = text.split(" at line ").next().unwrap_or(&text);
        format!("not a JSON object: {plain}")
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_both_spellings_and_kept_as_text() {
        let row = Row::parse(r#"{"trace_id":"t","input":{"n":12345678901234567890123},"x":null}"#)
            .unwrap();
        assert_eq!(row.text("traceId").as_deref(), Some("t"));
        assert_eq!(row.raw("input"), Some(r#"{"n":12345678901234567890123}"#));
        assert_eq!(row.raw("x"), None);
        assert!(row.has("x") && row.knows("traceId") && !row.has("traceId"));
    }

    #[test]
    fn deep_and_broken_fields_do_not_spoil_the_row() {
        let deep = format!(
            r#"{{"id":"a","input":{}{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        assert_eq!(Row::parse(&deep).unwrap().text("id").as_deref(), Some("a"));
        let lone = r#"{"id":"a","name":"\ud83d","key \ud83d":1}"#;
        assert_eq!(
            Row::parse(lone).unwrap().text("name").as_deref(),
            Some("\u{fffd}")
        );
        assert_eq!(
            Row::parse(r#"{"id":"a","in"#).unwrap_err(),
            "the row is cut off"
        );
        assert!(
            Row::parse("[1]")
                .unwrap_err()
                .starts_with("not a JSON object")
        );
    }
}
