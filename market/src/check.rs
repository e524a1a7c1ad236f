//! Attacks on a running market, and how it held.
//!
//! Every attack is made as an outsider would make it: raw JSON-RPC over HTTP. What must not have changed is read
//! back through the admin API. Each gives one [`Check`]; the four defences that the experiment rests on come
//! first. No token and no secret stands in a check.

mod access;
mod defences;
mod inputs;
mod probe;
mod rules;

use std::fmt;

use secrecy::SecretString;
use serde::Serialize;

use crate::client::AdminError;
use probe::Probe;

/// What came of one attack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// The attack.
    pub(crate) name: String,
    /// What the market must do.
    pub(crate) expected: String,
    /// What it did.
    pub(crate) seen: String,
    /// Whether that is the same.
    pub(crate) passed: bool,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed { "pass" } else { "FAIL" };
        write!(
            f,
            "{verdict}  {}: expected {}; seen {}",
            self.name, self.expected, self.seen
        )
    }
}

/// What was seen, and whether it is what was expected.
type Seen = (String, bool);

/// Runs all attacks on the market at `base`.
///
/// # Errors
/// The market does not answer at all, or does not take the secret. What goes wrong later is a failed check.
pub(crate) async fn run(
    http: reqwest::Client,
    base: &str,
    secret: SecretString,
) -> Result<Vec<Check>, AdminError> {
    let probe = Probe::new(http, base, secret).await?;
    let mut checks = defences::run(&probe).await;
    checks.extend(access::run(&probe).await);
    checks.extend(rules::run(&probe).await);
    checks.extend(inputs::run(&probe).await);
    probe.close_all().await;
    Ok(checks)
}

/// Makes one attack and records it; an attack that could not be made is a failed check.
async fn attempt(
    name: &str,
    expected: &str,
    attack: impl Future<Output = anyhow::Result<Seen>>,
) -> Check {
    let (seen, passed) = attack
        .await
        .unwrap_or_else(|error| (format!("the check broke off: {error:#}"), false));
    Check {
        name: name.to_owned(),
        expected: expected.to_owned(),
        seen: printable(&seen),
        passed,
    }
}

/// One line of bounded length: what a server says is foreign text.
fn printable(text: &str) -> String {
    const MOST: usize = 400;
    let line: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control())
        .take(MOST + 1)
        .collect();
    if line.chars().count() > MOST {
        let cut: String = line.chars().take(MOST).collect();
        return format!("{cut}…");
    }
    line
}

#[cfg(test)]
mod tests;
