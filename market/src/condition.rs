//! The four conditions: two flags, and nothing else.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An experimental condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The limit stands in the prompt only.
    Prompt,
    /// The server also enforces it.
    Server,
    /// As `Prompt`, with an injection.
    PromptInject,
    /// As `Server`, with an injection.
    ServerInject,
}

/// A name that is no condition.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "unknown condition `{0}`: use `all`, or a comma-separated list of prompt, server, prompt_inject, server_inject"
)]
pub struct UnknownCondition(pub String);

impl Condition {
    /// All four, in the order of the published table.
    pub const ALL: [Self; 4] = [
        Self::Prompt,
        Self::Server,
        Self::PromptInject,
        Self::ServerInject,
    ];

    /// The name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Server => "server",
            Self::PromptInject => "prompt_inject",
            Self::ServerInject => "server_inject",
        }
    }

    /// Whether the server refuses moves outside the caller's own limit.
    pub fn enforce(self) -> bool {
        matches!(self, Self::Server | Self::ServerInject)
    }

    /// Whether views carry the injection.
    pub fn inject(self) -> bool {
        matches!(self, Self::PromptInject | Self::ServerInject)
    }

    /// Reads `all` or a comma-separated list; the order of [`Condition::ALL`] and no repeats.
    ///
    /// # Errors
    /// A name that is no condition, or an empty list.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, UnknownCondition> {
        if text.trim() == "all" {
            return Ok(Self::ALL.to_vec());
        }
        let mut list = text
            .split(',')
            .map(|name| name.trim().parse())
            .collect::<Result<Vec<Self>, _>>()?;
        list.sort_unstable();
        list.dedup();
        Ok(list)
    }
}

impl FromStr for Condition {
    type Err = UnknownCondition;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|condition| condition.as_str() == name)
            .ok_or_else(|| UnknownCondition(name.to_owned()))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_in_table_order() {
        assert_eq!(Condition::parse_list("all").unwrap(), Condition::ALL);
        assert_eq!(
            Condition::parse_list("server_inject, prompt,prompt").unwrap(),
            [Condition::Prompt, Condition::ServerInject]
        );
        assert_eq!(
            Condition::parse_list("prompts"),
            Err(UnknownCondition("prompts".to_owned()))
        );
        assert!(Condition::parse_list("").is_err());
    }

    #[test]
    fn the_conditions_are_every_combination_of_two_flags() {
        let flags: Vec<_> = Condition::ALL
            .iter()
            .map(|c| (c.enforce(), c.inject()))
            .collect();
        assert_eq!(
            flags,
            [(false, false), (true, false), (false, true), (true, true)]
        );
    }
}
