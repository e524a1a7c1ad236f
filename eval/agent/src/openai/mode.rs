//! How tools are put to the server at the moment, and what was learned about the server on the way.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::error::CallError;
use crate::options::ToolCalling;

/// How one request puts its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Style {
    Native = 0,
    Schema = 1,
    Text = 2,
}

impl Style {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Schema => "schema",
            Self::Text => "text",
        }
    }

    fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Native,
            1 => Self::Schema,
            _ => Self::Text,
        }
    }
}

/// What one request is built with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) style: Style,
    /// Newer models take the bound of the reply by another name.
    pub(super) max_completion_tokens: bool,
    /// Some servers refuse a request with a seed.
    pub(super) seed: bool,
}

/// The dialect a server is spoken to with; shared by all requests of a model.
#[derive(Debug)]
pub(super) struct Mode {
    asked: ToolCalling,
    style: AtomicU8,
    /// A request in the current style was answered once: a later refusal has other reasons.
    proven: AtomicBool,
    max_completion_tokens: AtomicBool,
    without_seed: AtomicBool,
}

impl Mode {
    pub(super) fn new(asked: ToolCalling) -> Self {
        let style = match asked {
            ToolCalling::Native | ToolCalling::Auto => Style::Native,
            ToolCalling::Schema => Style::Schema,
            ToolCalling::Text => Style::Text,
        };
        Self {
            asked,
            style: AtomicU8::new(style as u8),
            proven: AtomicBool::new(false),
            max_completion_tokens: AtomicBool::new(false),
            without_seed: AtomicBool::new(false),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        Dialect {
            style: Style::from_number(self.style.load(Ordering::Relaxed)),
            max_completion_tokens: self.max_completion_tokens.load(Ordering::Relaxed),
            seed: !self.without_seed.load(Ordering::Relaxed),
        }
    }

    /// Whether calls written into the text count.
    pub(super) fn reads_text(&self, style: Style) -> bool {
        style != Style::Native || self.asked == ToolCalling::Auto
    }

    /// A request with tools was answered.
    pub(super) fn worked(&self, style: Style) {
        if self.style.load(Ordering::Relaxed) == style as u8 {
            self.proven.store(true, Ordering::Relaxed);
        }
    }

    /// Whether asking again in another dialect makes sense; changes to it, for all later requests too.
    ///
    /// Each change is made once, so a caller that asks again as long as this is true comes to an end.
    pub(super) fn adapt(
        &self,
        error: &CallError,
        used: Dialect,
        with_tools: bool,
        endpoint: &str,
    ) -> bool {
        if !used.max_completion_tokens && error.blames(&["max_completion_tokens"]) {
            self.max_completion_tokens.store(true, Ordering::Relaxed);
            return true;
        }
        if used.seed && error.blames(&["\"seed\"", "'seed'", "`seed`", "\\\"seed\\\""]) {
            if !self.without_seed.swap(true, Ordering::Relaxed) {
                tracing::warn!("{endpoint} takes no seed: replies are not reproducible there");
            }
            return true;
        }
        if self.asked != ToolCalling::Auto || !with_tools || self.proven.load(Ordering::Relaxed) {
            // Another request may have changed the style meanwhile; then this one is worth asking again.
            return self.asked == ToolCalling::Auto
                && with_tools
                && self.dialect().style != used.style;
        }
        let next = match used.style {
            Style::Native if error.blames(&["tool", "function"]) => Style::Schema,
            Style::Schema if error.blames(&["response_format", "schema", "grammar", "json"]) => {
                Style::Text
            }
            _ => return false,
        };
        let changed = self.style.compare_exchange(
            used.style as u8,
            next as u8,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        if changed.is_ok() {
            tracing::warn!(
                "{endpoint} does not take tools as `{}` ({error}): from now on they are put as `{}`",
                used.style.as_str(),
                next.as_str()
            );
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Cleaner;
    use super::*;

    fn error(status: u16, body: &str) -> CallError {
        Cleaner::new(None).status(status, body.as_bytes()).into()
    }

    #[test]
    fn auto_goes_from_native_to_schema_to_text() {
        let mode = Mode::new(ToolCalling::Auto);
        let native = mode.dialect();
        let refusal = error(400, "gemma does not support tools");
        assert!(mode.adapt(&refusal, native, true, "e"));
        assert_eq!(mode.dialect().style, Style::Schema);
        // A second request that was under way meanwhile is asked again too, and changes nothing.
        assert!(mode.adapt(&refusal, native, true, "e"));
        assert_eq!(mode.dialect().style, Style::Schema);
        assert!(mode.adapt(
            &error(400, "response_format is not supported"),
            mode.dialect(),
            true,
            "e"
        ));
        assert_eq!(mode.dialect().style, Style::Text);
        assert!(!mode.adapt(&error(400, "tools"), mode.dialect(), true, "e"));
    }

    #[test]
    fn nothing_changes_without_a_reason() {
        let refusal = error(400, "tools are not supported");
        let native = Mode::new(ToolCalling::Native);
        assert!(!native.adapt(&refusal, native.dialect(), true, "e"));
        let auto = Mode::new(ToolCalling::Auto);
        assert!(!auto.adapt(&error(400, "too long"), auto.dialect(), true, "e"));
        assert!(!auto.adapt(&refusal, auto.dialect(), false, "e"));
        auto.worked(Style::Native);
        assert!(!auto.adapt(&refusal, auto.dialect(), true, "e"));
        assert_eq!(auto.dialect().style, Style::Native);
    }

    #[test]
    fn parameters_are_renamed_or_left_out_once() {
        let mode = Mode::new(ToolCalling::Native);
        let renamed = error(
            400,
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        );
        assert!(mode.adapt(&renamed, mode.dialect(), false, "e"));
        assert!(mode.dialect().max_completion_tokens);
        assert!(!mode.adapt(&renamed, mode.dialect(), false, "e"));
        let seed = error(
            422,
            r#"{"detail":[{"loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#,
        );
        assert!(mode.adapt(&seed, mode.dialect(), false, "e"));
        assert!(!mode.dialect().seed);
        assert!(!mode.adapt(&seed, mode.dialect(), false, "e"));
    }
}
