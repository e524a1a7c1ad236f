//! `eval stats`: the statistics as a calculator. Every answer has the figures, what they rest on, and one sentence for
//! people who know no statistics.

pub mod counts;
pub mod data;
pub mod paired;
pub mod rates;
pub mod scenarios;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

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
    if value != 0.0 && value.abs() < 1e-4 {
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

/// `[low, high]`.
fn range((low, high): (f64, f64)) -> String {
    format!("[{}, {}]", shown(low), shown(high))
}

/// A share as a percentage with a decimal where there is one.
fn percent(share: f64) -> String {
    format!("{} %", shown((share * 1000.0).round() / 10.0))
}

/// How strong a p value is, in words.
fn strength(p: f64) -> &'static str {
    if p <= 0.001 {
        "Strong evidence"
    } else if p <= 0.05 {
        "Evidence"
    } else {
        "No evidence"
    }
}
