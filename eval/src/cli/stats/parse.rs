//! Arguments that are numbers: what cannot be meant is wrong use.

use crate::calculator::data::MOST_TRIALS;
use crate::stats::{Level, Proportion};

/// `9/15`.
pub(super) fn proportion(text: &str) -> Result<Proportion, String> {
    let (k, n) = text
        .split_once('/')
        .ok_or("write successes/trials, such as 9/15")?;
    Proportion::new(count(k)?, count(n)?).map_err(|error| error.to_string())
}

/// A count that an exact test can work with.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let count: u64 = text
        .parse()
        .map_err(|_| format!("`{text}` is no whole number, 0 or more"))?;
    if count > MOST_TRIALS {
        return Err(format!(
            "{count} is more than {MOST_TRIALS}, too many for an exact test"
        ));
    }
    Ok(count)
}

/// A confidence level.
pub(super) fn level(text: &str) -> Result<Level, String> {
    Level::new(number(text)?).map_err(|error| error.to_string())
}

/// A p value.
pub(super) fn p_value(text: &str) -> Result<f64, String> {
    within(text, "a p value must be from 0 to 1", |p| {
        (0.0..=1.0).contains(&p)
    })
}

/// Episodes or hours in which events were counted.
pub(super) fn exposure(text: &str) -> Result<f64, String> {
    let rule = "an exposure (episodes, hours) must be a positive number";
    within(text, rule, |value| value.is_finite() && value > 0.0)
}

/// How much more variable than Poisson counts.
pub(super) fn overdispersion(text: &str) -> Result<f64, String> {
    let rule = "the overdispersion must be 1 or more";
    within(text, rule, |value| value.is_finite() && value >= 1.0)
}

/// One of the differences, or `-` for standard input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Difference {
    Number(f64),
    Input,
}

/// A difference.
pub(super) fn difference(text: &str) -> Result<Difference, String> {
    if text == "-" {
        return Ok(Difference::Input);
    }
    let rule = "a difference must be a finite number; leave it out, and say so";
    within(text, rule, f64::is_finite).map(Difference::Number)
}

fn number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{}` is no number", text.trim()))
}

fn within(text: &str, rule: &str, good: impl Fn(f64) -> bool) -> Result<f64, String> {
    let value = number(text)?;
    if good(value) {
        Ok(value)
    } else {
        Err(rule.to_owned())
    }
}
