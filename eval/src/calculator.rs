//! `eval stats`: the statistics as a calculator. Every answer has the figures, what they rest on, and one sentence for
//! people who know no statistics.

pub mod counts;
pub mod data;
pub mod interaction;
pub mod paired;
pub mod rates;
pub mod scenarios;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::figures::one_line;
use crate::stats::Level;

/// What a calculation gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What was calculated, from what.
    pub title: String,
    /// Lines for people: name and text.
    pub lines: Vec<(&'static str, String)>,
    /// What it means.
    pub meaning: String,
    /// Every number under a stable name.
    pub json: Map<String, Value>,
}

impl Answer {
    fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lines: Vec::new(),
            meaning: String::new(),
            json: Map::new(),
        }
    }

    /// Adds a line for people.
    fn line(&mut self, name: &'static str, text: impl Into<String>) {
        self.lines.push((name, text.into()));
    }

    /// Adds a number, or anything with numbers, under a stable name.
    fn number(&mut self, name: &str, value: impl serde::Serialize) {
        self.json.insert(name.to_owned(), json!(value));
    }

    /// As text.
    pub fn text(&self) -> String {
        let width = self
            .lines
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        let mut out = format!("{}\n", self.title);
        for (name, text) in &self.lines {
            let _ = writeln!(out, "  {name:width$}  {text}");
        }
        out.push_str(&self.meaning);
        out.push('\n');
        out
    }

    /// As JSON, the meaning included.
    pub fn json(&self) -> Value {
        let mut all = self.json.clone();
        all.insert("meaning".to_owned(), Value::from(self.meaning.clone()));
        Value::Object(all)
    }
}

/// A number to six decimals at most, without trailing zeros; small ones keep six figures.
fn shown(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 {
            "unbounded"
        } else {
            "-unbounded"
        }
        .to_owned();
    }
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e15) {
        return format!("{value:.5e}");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// A name or cell of a file, for one line of a terminal.
fn shown_name(name: &str) -> String {
    let start: String = name.chars().take(60).collect();
    one_line(&start)
}

/// `[low, high]`.
fn range((low, high): (f64, f64)) -> String {
    format!("[{}, {}]", shown(low), shown(high))
}

/// A share as a percentage with a decimal where there is one; never none or all because of rounding.
fn percent(share: f64) -> String {
    let tenths = (share * 1000.0).round();
    if tenths >= 1000.0 && share < 1.0 {
        "> 99.9 %".to_owned()
    } else if tenths <= 0.0 && share > 0.0 {
        "< 0.1 %".to_owned()
    } else {
        format!("{} %", shown(tenths / 10.0))
    }
}

/// The level of an interval, such as `95 %`.
fn level_of(level: Level) -> String {
    format!("{} %", shown(level.get() * 100.0))
}

/// `p 0.031`; a p that is too small for a floating-point number is not 0.
fn p_of(p: f64) -> String {
    if p > 0.0 {
        format!("p {}", shown(p))
    } else {
        "p < 1e-25".to_owned()
    }
}

/// A probability; never 0 or 1 because of rounding.
fn probability(value: f64) -> String {
    if value > 0.999_999 {
        "> 0.999999".to_owned()
    } else if value < 1e-6 {
        "< 0.000001".to_owned()
    } else {
        shown(value)
    }
}

/// How strong a p value is, in words.
fn strength(p: f64, level: Level) -> &'static str {
    // Subtracting the level from 1 leaves dust in the last digits.
    if p > level.alpha() + 1e-12 {
        "No evidence"
    } else if p <= 0.001 {
        "Strong evidence"
    } else {
        "Evidence"
    }
}
