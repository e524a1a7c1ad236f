//! The only thing a rewriter may return: a list of edits, each the new text of one component.
//!
//! A patch is not a toolset. It is parsed strictly, applied to a copy, and every edit is judged on its own by the
//! [`guard`](crate::guard).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trajectory::{ComponentId, Toolset};

use crate::guard::{Reason, Rejection};
use crate::visible;

/// A list of edits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The edits.
    pub edits: Vec<Edit>,
}

/// The new text of one component, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Tool name.
    pub tool: String,
    /// Parameter path as [`Toolset::components`] names it, or null for the tool's own description.
    pub parameter: Option<String>,
    /// The whole new text.
    pub text: String,
    /// Ids of the findings it answers.
    pub answers: Vec<String>,
    /// Why this text answers them.
    pub reason: String,
}

impl Edit {
    /// The component it rewrites.
    pub fn component(&self) -> ComponentId {
        ComponentId {
            tool: self.tool.clone(),
            parameter: self.parameter.clone(),
        }
    }
}

/// How replies of models begin that decline the task.
const REFUSALS: [&str; 8] = [
    "i'm sorry",
    "i’m sorry",
    "i am sorry",
    "sorry, ",
    "i can't",
    "i cannot",
    "i'm unable",
    "i am unable",
];

impl Patch {
    /// Reads a model's reply. The reply has to be one JSON object and nothing else; a code fence around the whole of
    /// it is taken off, as many models cannot leave it out.
    ///
    /// `cut_off` says that the provider stopped the reply at a length limit.
    pub fn parse(reply: &str, cut_off: bool) -> Result<Self, Rejection> {
        let body = without_fence(reply.trim());
        if body.is_empty() {
            return Err(Rejection::of_reply(Reason::Empty, "the reply was empty"));
        }
        if cut_off {
            return Err(Rejection::of_reply(
                Reason::Truncated,
                "the reply was cut off at its length limit",
            ));
        }
        match serde_json::from_str::<Self>(body) {
            Ok(patch) if patch.edits.is_empty() => {
                Err(Rejection::of_reply(Reason::Empty, "the patch has no edits"))
            }
            Ok(patch) => Ok(patch),
            Err(error) if error.is_eof() && body.starts_with('{') => Err(Rejection::of_reply(
                Reason::Truncated,
                &format!("the JSON ends too early: {error}"),
            )),
            Err(error) => {
                let start: String = body.chars().take(20).collect::<String>().to_lowercase();
                if REFUSALS.iter().any(|refusal| start.starts_with(refusal)) {
                    let shown = visible::line(body, 80);
                    return Err(Rejection::of_reply(
                        Reason::Refusal,
                        &format!("the model declined: {shown}"),
                    ));
                }
                Err(Rejection::of_reply(
                    Reason::NotJson,
                    &format!("not a patch: {error}"),
                ))
            }
        }
    }

    /// The JSON Schema given to providers that can constrain a reply.
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["edits"],
            "properties": {"edits": {"type": "array", "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["tool", "parameter", "text", "answers", "reason"],
                "properties": {
                    "tool": {"type": "string"},
                    "parameter": {"type": ["string", "null"]},
                    "text": {"type": "string"},
                    "answers": {"type": "array", "items": {"type": "string"}},
                    "reason": {"type": "string"}
                }
            }}}
        })
    }

    /// A copy of the toolset with the texts replaced. Edits of components that do not exist change nothing; the
    /// guard names them.
    pub fn apply(&self, toolset: &Toolset) -> Toolset {
        let mut changed = toolset.clone();
        for edit in &self.edits {
            changed.set_text(&edit.component(), &edit.text);
        }
        changed
    }
}

/// Takes one code fence off, when it encloses the whole text.
pub(crate) fn without_fence(text: &str) -> &str {
    let Some(inner) = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"))
    else {
        return text;
    };
    match inner.split_once('\n') {
        Some((language, body))
            if language.trim().chars().all(char::is_alphanumeric) && !body.contains("```") =>
        {
            body.trim()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"edits":[{"tool":"a","parameter":null,"text":"t","answers":["f_1"],"reason":"r"}]}"#;

    #[test]
    fn replies_are_read_strictly_and_named_when_bad() {
        let check = |reply: &str, cut_off: bool| {
            Patch::parse(reply, cut_off).map_err(|rejection| rejection.reason)
        };
        assert_eq!(check(GOOD, false).unwrap().edits.len(), 1);
        assert_eq!(
            check(&format!("```json\n{GOOD}\n```"), false)
                .unwrap()
                .edits
                .len(),
            1
        );
        assert_eq!(check(GOOD, true), Err(Reason::Truncated));
        assert_eq!(check(&GOOD[..40], false), Err(Reason::Truncated));
        assert_eq!(check("", false), Err(Reason::Empty));
        assert_eq!(check(r#"{"edits":[]}"#, false), Err(Reason::Empty));
        assert_eq!(
            check("I'm sorry, but I can't help with that.", false),
            Err(Reason::Refusal)
        );
        for bad in [
            "Here is the patch:",
            "[]",
            r#"{"edits":[{"tool":"a"}]}"#,
            &format!("{GOOD} and more"),
            &GOOD.replace("\"reason\"", "\"because\""),
            r#"{"tools":[{"name":"a","description":"t"}]}"#,
        ] {
            assert_eq!(check(bad, false), Err(Reason::NotJson), "{bad}");
        }
    }

    #[test]
    fn applying_changes_a_copy() {
        let toolset = Toolset::parse(r#"[{"name":"a","description":"old"}]"#).unwrap();
        let changed = Patch::parse(GOOD, false).unwrap().apply(&toolset);
        assert_eq!(changed.tool("a").unwrap().description(), "t");
        assert_eq!(toolset.tool("a").unwrap().description(), "old");
        assert_eq!(changed.structure(), toolset.structure());
    }
}
