//! Arguments and results, with what is known about them.
//!
//! "Not captured" is something else than empty, and something else than cut off or not JSON at all.

use serde_json::Value;
use trajectory::Capture;
use trajectory::canonical::canonical_json;

use super::decode::{Decoded, Form, decode};

/// Marks that tracing systems leave where they cut a text off.
const CUT_MARKS: [&str; 3] = [
    "[TRUNCATED: Field exceeded size limit]",
    "<truncated due to size exceeding limit>",
    "...[truncated]",
];

/// Whether a text carries a mark of having been cut off.
pub(crate) fn is_cut(text: &str) -> bool {
    let text = text.trim_end_matches(['"', ' ', '\n', '}', ']']);
    CUT_MARKS
        .iter()
        .any(|mark| text.ends_with(mark.trim_end_matches(']')))
}

/// A text of a call with what is known about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Captured {
    /// The text.
    pub(crate) text: Option<String>,
    /// What is known about it; nothing is known about an absent text.
    pub(crate) state: Option<Capture>,
    /// Its value, when it was decoded.
    pub(crate) value: Value,
    /// What arguments are compared by: their value, not their spelling.
    pub(crate) key: String,
}

impl Captured {
    /// Whether there is a usable text.
    pub(crate) fn is_known(&self) -> bool {
        self.state == Some(Capture::Captured)
    }

    /// What is known, for the record.
    pub(crate) fn state(&self) -> Capture {
        self.state.unwrap_or(Capture::NotCaptured)
    }

    /// Arguments of a call: JSON, or something that should have been.
    pub(crate) fn arguments(value: Option<&Value>) -> Self {
        let mut captured = Self::argument_value(value);
        captured.key = match &captured.value {
            Value::Null => String::new(),
            Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
            value => canonical_json(value),
        };
        captured
    }

    fn argument_value(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::default(),
            Some(Value::String(raw)) => Self::argument_text(raw),
            Some(value @ (Value::Object(_) | Value::Array(_))) => Self {
                text: Some(value.to_string()),
                state: Some(Capture::Captured),
                value: value.clone(),
                ..Self::default()
            },
            Some(scalar) => Self {
                text: Some(scalar.to_string()),
                state: Some(Capture::Invalid),
                value: scalar.clone(),
                ..Self::default()
            },
        }
    }

    fn argument_text(raw: &str) -> Self {
        let Decoded { text, value, form } = decode(raw);
        let state = if is_cut(raw) {
            Capture::Truncated
        } else if form != Form::Text || text.trim().is_empty() {
            Capture::Captured
        } else {
            unfinished(&text)
        };
        Self {
            text: Some(text),
            state: Some(state),
            value,
            ..Self::default()
        }
    }

    /// A result: JSON or any text.
    pub(crate) fn result(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Self::default(),
            Some(Value::String(raw)) => {
                let decoded = decode(raw);
                let state = if is_cut(raw) {
                    Capture::Truncated
                } else {
                    Capture::Captured
                };
                // A repr is what the model was shown; only arguments are turned into JSON.
                let text = if decoded.form == Form::Python {
                    raw.clone()
                } else {
                    decoded.text
                };
                Self {
                    text: Some(text),
                    state: Some(state),
                    value: decoded.value,
                    ..Self::default()
                }
            }
            Some(value) => Self {
                text: Some(value.to_string()),
                state: Some(Capture::Captured),
                value: value.clone(),
                ..Self::default()
            },
        }
    }
}

/// JSON that stops in the middle was cut off; anything else is no JSON.
fn unfinished(text: &str) -> Capture {
    let text = text.trim();
    let opens = text.starts_with(['{', '[']);
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Err(error) if opens && error.is_eof() => Capture::Truncated,
        _ => Capture::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn states_of_arguments() {
        let state = |value: Value| Captured::arguments(Some(&value)).state();
        assert_eq!(state(json!({})), Capture::Captured);
        assert_eq!(state(json!("{}")), Capture::Captured);
        assert_eq!(state(json!("")), Capture::Captured);
        assert_eq!(state(json!(null)), Capture::NotCaptured);
        assert_eq!(state(json!("{\"a\": \"b")), Capture::Truncated);
        assert_eq!(
            state(json!("{\"a\": \"b...[truncated]\"}")),
            Capture::Truncated
        );
        assert_eq!(
            state(json!("<truncated due to size exceeding limit>")),
            Capture::Truncated
        );
        assert_eq!(state(json!("{\"a\":1}{\"b\":2}")), Capture::Invalid);
        assert_eq!(state(json!("london")), Capture::Invalid);
        assert_eq!(state(json!(7)), Capture::Invalid);
    }
}
