//! The report of a comparison: one HTML file that needs nothing else, readable on a phone, in the dark and on
//! paper; and the same evidence as Markdown and JSON.
//!
//! [`Evidence`] is computed once from the recorded episodes. On the page every recorded text is escaped, by the
//! template engine or, in plots and transcripts, by the code that writes them; an [`HtmlFragment`] of the caller
//! is inserted as it is, and its type says so.

mod annotations;
mod episodes;
mod evidence;
mod markdown;
mod markup;
mod page;
mod plot;
mod tables;
#[cfg(test)]
mod tests;
mod transcript;

use minijinja::{Environment, Value, context};

use crate::figures::{self, one_line};
use crate::summary::{self, Summary};
use crate::table::Grid;

pub use annotations::{Annotations, FailureClass};
pub use evidence::{
    Affected, Attempts, AttemptsByRole, Cost, Count, Distribution, Ended, Evidence, Exposure,
    Failure, Injection, Known, Material, Played, ScenarioMeans, Spent,
};
pub use markdown::markdown;
pub use markup::HtmlFragment;
pub use page::comparison;

/// Names end in `.html`, which switches escaping on.
const TEMPLATES: [(&str, &str); 5] = [
    ("report.html", include_str!("../templates/report.html")),
    ("style.html", include_str!("../templates/style.html")),
    ("macros.html", include_str!("../templates/macros.html")),
    ("sections.html", include_str!("../templates/sections.html")),
    ("episodes.html", include_str!("../templates/episodes.html")),
];

/// Which transcripts a page carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Transcripts {
    /// Those of all episodes
    #[default]
    All,
    /// Those of pairs that ended differently
    Differing,
    /// None
    None,
}

/// The page could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot render the report page")]
pub struct ReportError(#[from] minijinja::Error);

/// A table of the page.
fn table(title: &str, grid: Grid) -> Value {
    let rows: Vec<Vec<String>> = grid
        .rows
        .into_iter()
        .map(|row| row.iter().map(|cell| one_line(cell)).collect())
        .collect();
    context! { title => title, header => grid.header, rows => rows }
}

/// The page of an experiment without a comparison.
///
/// # Errors
/// As [`comparison`].
pub fn summary(summary: &Summary) -> Result<String, ReportError> {
    let mut tables = Vec::new();
    for (arm, toolset) in &summary.toolsets {
        let title = |what: &str| format!("{what}: {} {toolset}", one_line(arm));
        tables.push(table(&title("Outcomes"), summary::outcomes(summary, arm)));
        tables.push(table(&title("Behaviour"), summary::behaviour(summary, arm)));
    }
    let facts = [
        ("experiment", summary.experiment.clone()),
        ("plan", summary::setup(summary)),
    ];
    render(context! {
        title => format!("Experiment {}{}", summary.experiment, mark(summary.simulated)),
        simulated => summary.simulated,
        simulated_text => figures::SIMULATED,
        facts => lines(&facts),
        tables => tables,
        methods => summary::remarks(summary),
    })
}

fn render(context: Value) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    for (name, template) in TEMPLATES {
        environment.add_template(name, template)?;
    }
    Ok(environment.get_template("report.html")?.render(context)?)
}

fn mark(simulated: bool) -> &'static str {
    if simulated { " (simulated agents)" } else { "" }
}

fn lines(facts: &[(&str, String)]) -> Vec<Value> {
    facts
        .iter()
        .map(|(name, text)| context! { name => *name, text => one_line(text) })
        .collect()
}
