//! The report page: one HTML file that needs nothing else, readable on a phone, in the dark and on paper.
//!
//! Every text goes through the template engine's escaping; only two parts are inserted as they are, and both
//! have types that say so: the plot, which is made here from numbers, and an [`HtmlFragment`] of the caller.

mod plot;
#[cfg(test)]
mod tests;

use minijinja::{Environment, Value, context};

use crate::compare::{self, Comparison};
use crate::figures::{self, one_line};
use crate::summary::{self, Summary};
use crate::table::Grid;

/// The template's name ends in `.html`, which switches escaping on.
const NAME: &str = "report.html";
const TEMPLATE: &str = include_str!("../templates/report.html");

/// HTML that has been escaped already, such as a word difference. Whoever makes one vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlFragment(String);

impl HtmlFragment {
    /// Takes HTML in which every text of a model, a server or a file is escaped, and that loads nothing.
    pub fn from_escaped(html: String) -> Self {
        Self(html)
    }
}

/// The page could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot render the report page")]
pub struct ReportError(#[from] minijinja::Error);

/// A table of the page.
fn table(title: &str, grid: Grid) -> Value {
    context! { title => title, header => grid.header, rows => grid.rows }
}

/// The page of a comparison; `difference` shows how the texts differ, in place of both texts side by side.
///
/// # Errors
/// The template cannot be rendered, which is a fault of this program.
pub fn comparison(
    comparison: &Comparison,
    difference: Option<&HtmlFragment>,
) -> Result<String, ReportError> {
    let tables = vec![
        table(
            &format!(
                "Both versions in the four conditions: {}",
                comparison.metric.title
            ),
            compare::primary(comparison),
        ),
        table(
            "Baseline -> candidate, per episode or in total",
            compare::behaviour(comparison),
        ),
    ];
    let mut facts = vec![("experiment", comparison.experiment.clone())];
    for (name, side) in [
        ("baseline", &comparison.baseline),
        ("candidate", &comparison.candidate),
    ] {
        let coverage = side.coverage;
        facts.push((
            name,
            format!(
                "{} {}, {} of {} episodes completed, {} infrastructure errors",
                side.toolset,
                side.label,
                coverage.completed,
                coverage.planned,
                coverage.infra_errors
            ),
        ));
    }
    let counterpart = comparison
        .counterpart_model
        .as_ref()
        .map(|name| format!(", counterpart {name}"))
        .unwrap_or_default();
    facts.push(("model", format!("{}{counterpart}", comparison.model)));
    facts.push((
        "pack",
        format!(
            "{}, {} scenarios, sha256 {}",
            comparison.pack, comparison.scenarios, comparison.pack_hash
        ),
    ));
    facts.push(("repeats", comparison.repeats.to_string()));
    facts.push(("metric", stated(comparison)));
    let plot = plot::intervals(comparison);
    let methods: Vec<&str> = comparison
        .methods
        .iter()
        .copied()
        .chain([compare::CONDITIONS, compare::BEHAVIOUR])
        .collect();
    let discordant: Vec<Value> = comparison
        .discordant
        .iter()
        .map(|pair| {
            context! {
                place => one_line(&format!("{} / {} / repeat {}", pair.scenario, pair.condition, pair.repeat)),
                baseline => &pair.baseline_episode,
                baseline_outcome => one_line(&pair.baseline_outcome),
                candidate => &pair.candidate_episode,
                candidate_outcome => one_line(&pair.candidate_outcome),
                better => pair.candidate_better,
            }
        })
        .collect();
    let changes: Vec<Value> = comparison
        .changes
        .iter()
        .map(|change| {
            context! {
                component => one_line(&change.component),
                baseline => block(&change.baseline),
                candidate => block(&change.candidate),
            }
        })
        .collect();
    render(context! {
        title => format!("Two toolset versions compared{}", mark(comparison.simulated)),
        simulated => comparison.simulated,
        simulated_text => figures::SIMULATED,
        kind => comparison.verdict.kind.as_str(),
        verdict => &comparison.verdict.sentence,
        notes => &comparison.verdict.notes,
        facts => lines(&facts),
        tables => tables,
        plot => plot.map(Value::from_safe_string),
        by_scenario => by_scenario(comparison),
        plot_title => format!("Difference in {}, candidate minus baseline", comparison.metric.title),
        difference => difference.map(|html| Value::from_safe_string(html.0.clone())),
        changes => changes,
        discordant => discordant,
        methods => methods,
    })
}

/// The page of an experiment without a comparison.
///
/// # Errors
/// As [`comparison`].
pub fn summary(summary: &Summary) -> Result<String, ReportError> {
    let mut tables = Vec::new();
    for (arm, toolset) in &summary.toolsets {
        let title = |what: &str| format!("{what}: {arm} {toolset}");
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
    environment.add_template(NAME, TEMPLATE)?;
    Ok(environment.get_template(NAME)?.render(context)?)
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

/// A text of several lines in which nothing is hidden.
fn block(text: &str) -> String {
    text.lines().map(one_line).collect::<Vec<_>>().join("\n")
}

fn stated(comparison: &Comparison) -> String {
    let metric = &comparison.metric;
    if metric.as_stated {
        format!("{}, stated before the run", metric.name)
    } else {
        format!(
            "{}; stated before the run was {}",
            metric.name, metric.stated
        )
    }
}

fn by_scenario(comparison: &Comparison) -> Value {
    let contrast = comparison.pooled.contrast(comparison.metric.name);
    let rows = contrast.map_or_else(Vec::new, |contrast| {
        contrast
            .by_scenario
            .iter()
            .map(|scenario| {
                vec![
                    one_line(&scenario.scenario),
                    scenario.pairs.to_string(),
                    compare::difference(contrast, scenario.difference),
                ]
            })
            .collect()
    });
    table(
        "Mean difference by scenario: what the test rests on",
        Grid::new(&["scenario", "pairs", "difference"], rows),
    )
}
