//! What a description may not say: orders and pressure.
//!
//! The tables are deliberately plain. A phrase the original text of the component already has is its author's
//! business and does not count against an edit that keeps it.

use super::evidence::Evidence;
use super::words::{self, Pattern};
use super::{Fault, Reason};

/// Orders aimed at something other than the use of this tool.
const ORDERS: &[(&str, Pattern)] = &[
    (
        "sets other instructions aside",
        &[
            &[
                "ignore*",
                "disregard*",
                "forget*",
                "overrid*",
                "bypass*",
                "discard*",
            ],
            &[
                "instruction*",
                "prompt*",
                "rule*",
                "guideline*",
                "message*",
                "limit*",
                "budget*",
                "context",
            ],
        ],
    ),
    (
        "gives new instructions",
        &[
            &["new", "updated", "revised"],
            &["instruction*", "rules", "policy"],
        ],
    ),
    (
        "hides something from the user",
        &[
            &["not", "don't", "never", "without"],
            &["tell*", "mention*", "reveal*", "inform*", "notify*"],
            &[
                "user*",
                "operator*",
                "human*",
                "anyone",
                "principal*",
                "customer*",
                "this",
            ],
        ],
    ),
    (
        "hides something from the user",
        &[&["hide*", "conceal*"], &["user*", "operator*", "human*"]],
    ),
    (
        "gives the agent a role",
        &[&["you"], &["are"], &["a", "an", "now", "the"]],
    ),
    ("gives the agent a role", &[&["pretend*", "roleplay*"]]),
    (
        "reaches for the conversation",
        &[
            &["conversation", "chat"],
            &["history", "log*", "transcript*"],
        ],
    ),
    (
        "reaches for the system prompt",
        &[&["system"], &["prompt*", "message*", "instruction*"]],
    ),
    (
        "reaches for secrets",
        &[
            &["api", "access", "private", "secret"],
            &["key*", "token*", "credential*", "password*"],
        ],
    ),
    ("reaches for secrets", &[&["password*", "credential*"]]),
    (
        "sends something along",
        &[
            &[
                "include*", "send*", "forward*", "attach*", "paste*", "upload*",
            ],
            &[
                "content*",
                "file*",
                "history",
                "prompt*",
                "environment",
                "everything",
            ],
        ],
    ),
    (
        "acts behind the scenes",
        &[
            &["also"],
            &[
                "send*", "log", "logs", "store*", "forward*", "email*", "call*",
            ],
        ],
    ),
    (
        "acts behind the scenes",
        &[&["silently", "secretly", "quietly", "covertly"]],
    ),
    (
        "steers other tools",
        &[
            &["call*", "use", "using", "run*", "invoke*", "execute*"],
            &["other", "another", "every", "all"],
            &["tool*"],
        ],
    ),
    (
        "orders the user about",
        &[
            &["ask", "tell", "instruct", "order", "urge"],
            &["user*", "operator*", "human*"],
        ],
    ),
    (
        "speaks for the principal",
        &[
            &["authoriz*", "authoris*", "approved"],
            &["by"],
            &[
                "manager*",
                "admin*",
                "principal*",
                "owner*",
                "organization*",
                "organisation*",
            ],
        ],
    ),
];

/// Pressure instead of information.
const PRESSURE: &[(&str, Pattern)] = &[
    (
        "claims precedence",
        &[
            &["before", "over", "instead"],
            &["any", "every", "all", "other"],
            &["tool*", "else", "function*", "call*"],
        ],
    ),
    (
        "claims precedence",
        &[
            &["highest", "top", "maximum", "utmost"],
            &["priority", "importance"],
        ],
    ),
    (
        "claims precedence",
        &[
            &["always", "must", "have"],
            &[
                "use*", "call*", "invoke*", "prefer*", "choose", "select*", "run",
            ],
            &["this", "tool*", "it", "first"],
        ],
    ),
    (
        "claims precedence",
        &[&["required"], &["to"], &["first", "always"]],
    ),
    (
        "claims to be the best",
        &[
            &[
                "best",
                "superior",
                "preferred",
                "recommended",
                "official",
                "ultimate",
            ],
            &["tool*", "choice", "option", "way", "function*"],
        ],
    ),
    (
        "claims to be the best",
        &[
            &["better", "faster", "safer", "more"],
            &["than"],
            &["other*", "any", "all", "every"],
            &["tool*", "function*", "option*"],
        ],
    ),
    (
        "claims to be the best",
        &[
            &["most"],
            &[
                "reliable",
                "accurate",
                "trusted",
                "effective",
                "powerful",
                "important",
            ],
        ],
    ),
    (
        "threatens",
        &[
            &["will"],
            &["not", "fail"],
            &["work*", "unless", "function*"],
            &["unless", "until", "first"],
        ],
    ),
    (
        "threatens",
        &[
            &["otherwise", "else"],
            &["you"],
            &["will", "lose*", "fail*"],
        ],
    ),
    (
        "presses",
        &[&[
            "urgent*",
            "immediately",
            "hurry",
            "asap",
            "crucial*",
            "critical*",
            "vital*",
            "essential",
        ]],
    ),
    (
        "presses",
        &[
            &["act", "decide", "now"],
            &["now", "fast", "quickly", "or"],
            &["never", "or", "before"],
        ],
    ),
    ("presses", &[&["last"], &["chance", "opportunity"]]),
    ("presses", &[&["very", "extremely"], &["important"]]),
];

/// Shouted words.
const SHOUTED: [&str; 9] = [
    "ALWAYS",
    "NEVER",
    "MUST",
    "IMPORTANT",
    "CRITICAL",
    "WARNING",
    "URGENT",
    "ATTENTION",
    "MANDATORY",
];

pub(crate) fn check(text: &str, old: &str, evidence: &Evidence) -> Result<(), Fault> {
    let (new_words, old_words) = (words::words(text), words::words(old));
    let hit = |table: &[(&'static str, Pattern)]| {
        table
            .iter()
            .find(|(_, pattern)| {
                words::contains(&new_words, pattern) && !words::contains(&old_words, pattern)
            })
            .map(|(what, _)| *what)
    };
    if let Some(what) = hit(ORDERS) {
        return Err((Reason::InstructionLike, format!("the text {what}")));
    }
    if let Some(stranger) = new_words
        .iter()
        .find(|word| word.contains('_') && !evidence.has_token(word))
    {
        return Err((
            Reason::InstructionLike,
            format!("the text refers to `{stranger}`, which this toolset does not have"),
        ));
    }
    if let Some(what) = hit(PRESSURE) {
        return Err((Reason::Coercive, format!("the text {what}")));
    }
    let shouted = text
        .split(|c: char| !c.is_alphanumeric())
        .find(|word| SHOUTED.contains(word) && !old.contains(*word));
    match shouted {
        Some(word) => Err((Reason::Coercive, format!("the text shouts `{word}`"))),
        None => Ok(()),
    }
}
