//! The reply of a chat-completions server, read leniently.
//!
//! Servers that call themselves compatible leave fields out, add their own, and give a field another type
//! than the next server. Nothing here can fail on a JSON object: what has the wrong form counts as absent,
//! and what is not known is kept in `extra`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::model::{ToolCall, Usage};

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireReply {
    #[serde(default, deserialize_with = "text")]
    pub(super) model: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub(super) choices: Vec<WireChoice>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) usage: Option<WireUsage>,
    #[serde(default)]
    pub(super) error: Option<Value>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireChoice {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) message: Option<WireMessage>,
    #[serde(default, deserialize_with = "text")]
    pub(super) finish_reason: Option<String>,
    #[serde(default)]
    pub(super) error: Option<Value>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireMessage {
    #[serde(default, deserialize_with = "content")]
    pub(super) content: Option<String>,
    #[serde(default, deserialize_with = "list")]
    tool_calls: Vec<WireCall>,
    /// The form before `tool_calls`; some servers still answer with it.
    #[serde(default, deserialize_with = "lenient")]
    function_call: Option<WireFunction>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct WireCall {
    #[serde(default, deserialize_with = "text")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    function: Option<WireFunction>,
    /// Some servers leave the level `function` out.
    #[serde(flatten)]
    flat: WireFunction,
}

#[derive(Debug, Default, Deserialize)]
struct WireFunction {
    #[serde(default, deserialize_with = "text")]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default, alias = "input_tokens", deserialize_with = "tokens")]
    prompt_tokens: Option<i64>,
    #[serde(default, alias = "output_tokens", deserialize_with = "tokens")]
    completion_tokens: Option<i64>,
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

impl WireReply {
    pub(super) fn usage(&self) -> Usage {
        self.usage
            .as_ref()
            .map_or_else(Usage::default, |usage| Usage {
                input_tokens: usage.prompt_tokens,
                output_tokens: usage.completion_tokens,
            })
    }

    /// Why there is nothing to work with, when there is nothing: no choices, or an error in their place.
    pub(super) fn problem(&self) -> Option<&Value> {
        const NONE: &Value = &Value::Null;
        let choice_error = || {
            self.choices
                .first()
                .and_then(|choice| choice.error.as_ref())
        };
        let empty = match self.choices.first() {
            None => true,
            Some(choice) => {
                choice.message.as_ref().is_none_or(WireMessage::is_empty) && choice.error.is_some()
            }
        };
        empty.then(|| self.error.as_ref().or_else(choice_error).unwrap_or(NONE))
    }
}

impl WireMessage {
    fn is_empty(&self) -> bool {
        self.content.is_none() && self.tool_calls.is_empty() && self.function_call.is_none()
    }

    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let listed = self.tool_calls.iter().filter_map(|call| {
            let function = call.function.as_ref().unwrap_or(&call.flat);
            function.call(call.id.clone().unwrap_or_default())
        });
        let single = self
            .function_call
            .as_ref()
            .and_then(|function| function.call(String::new()));
        let calls: Vec<ToolCall> = listed.collect();
        if calls.is_empty() {
            single.into_iter().collect()
        } else {
            calls
        }
    }
}

impl WireFunction {
    fn call(&self, id: String) -> Option<ToolCall> {
        let name = self.name.clone()?;
        let arguments = match &self.arguments {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(value) => value.to_string(),
        };
        Some(ToolCall {
            id,
            name,
            arguments,
        })
    }
}

fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let items = match Value::deserialize(deserializer)? {
        Value::Array(items) => items,
        item @ Value::Object(_) => vec![item],
        _ => Vec::new(),
    };
    Ok(items
        .into_iter()
        .filter_map(|item| serde_json::from_value(item).ok())
        .collect())
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        number @ Value::Number(_) => Some(number.to_string()),
        _ => None,
    })
}

/// A text, or a list of parts of which the texts are joined.
fn content<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let part = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(part) => part.get("text").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(part).collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        value => part(&value),
    })
}

/// A count; negative or fractional nonsense is no count.
fn tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Ok(Value::deserialize(deserializer)?
        .as_i64()
        .filter(|count| *count >= 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(value: Value) -> WireReply {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn reads_calls_in_every_form_seen() {
        let call = |value: Value| {
            let reply = read(json!({"choices": [{"message": value}]}));
            let calls = reply.choices[0].message.as_ref().unwrap().calls();
            assert_eq!(calls.len(), 1);
            (
                calls[0].id.clone(),
                calls[0].name.clone(),
                calls[0].arguments.clone(),
            )
        };
        let expected =
            |id: &str, arguments: &str| (id.to_owned(), "propose".to_owned(), arguments.to_owned());
        assert_eq!(
            call(
                json!({"content": null, "tool_calls": [{"id": "a", "type": "function",
                "function": {"name": "propose", "arguments": "{\"price\": 5}"}}]})
            ),
            expected("a", "{\"price\": 5}")
        );
        assert_eq!(
            call(
                json!({"tool_calls": [{"function": {"name": "propose", "arguments": {"price": 5}}}]})
            ),
            expected("", "{\"price\":5}")
        );
        assert_eq!(
            call(json!({"tool_calls": {"id": 7, "name": "propose"}})),
            expected("7", "")
        );
        assert_eq!(
            call(json!({"function_call": {"name": "propose", "arguments": "{}"}})),
            expected("", "{}")
        );
    }

    #[test]
    fn reads_contents_and_keeps_the_rest() {
        let reply = read(json!({
            "model": "m", "timings": {"n": 1}, "service_tier": "on_demand", "created": 1.5,
            "choices": [{"finish_reason": "eos", "logprobs": null,
                "message": {"content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"], "reasoning_content": "hm"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": -1, "total_tokens": null}}));
        assert_eq!(reply.choices[0].finish_reason.as_deref(), Some("eos"));
        let message = reply.choices[0].message.as_ref().unwrap();
        assert_eq!(message.content.as_deref(), Some("ab"));
        assert_eq!(message.extra["reasoning_content"], "hm");
        assert_eq!(reply.extra["timings"]["n"], 1);
        assert_eq!(
            reply.usage(),
            Usage {
                input_tokens: Some(3),
                output_tokens: None
            }
        );
    }

    #[test]
    fn says_when_there_is_nothing_to_work_with() {
        assert!(read(json!({})).problem().unwrap().is_null());
        assert!(read(json!({"choices": null})).problem().is_some());
        assert_eq!(
            read(json!({"error": {"code": 429}})).problem().unwrap()["code"],
            429
        );
        assert_eq!(
            read(json!({"choices": [{"error": {"code": 502}, "message": {"content": null}}]}))
                .problem()
                .unwrap()["code"],
            502
        );
        assert!(read(json!({"choices": [{}]})).problem().is_none());
        assert!(
            read(json!({"choices": [{"message": {"content": ""}}]}))
                .problem()
                .is_none()
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let key = prop::sample::select(vec![
            "choices",
            "message",
            "content",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "id",
            "usage",
            "prompt_tokens",
            "finish_reason",
            "error",
            "function_call",
            "model",
            "x",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z{}\":]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 48, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((key.clone(), inner), 0..5).prop_map(|pairs| pairs
                    .into_iter()
                    .map(|(k, v)| (k.to_owned(), v))
                    .collect::<Map<_, _>>()
                    .into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_json_object_fails(value in any_json()) {
            let object = match value {
                Value::Object(object) => object,
                other => Map::from_iter([("choices".to_owned(), other)]),
            };
            let reply: WireReply = serde_json::from_value(Value::Object(object)).unwrap();
            let _ = (reply.problem(), reply.usage());
            for choice in &reply.choices {
                let _ = choice.message.as_ref().map(WireMessage::calls);
            }
        }
    }
}
