//! What the template of the page is given.

use minijinja::{Value, context};

use super::episodes::{self, LARGEST};
use super::evidence::{Evidence, Failure};
use super::markup::block;
use super::{Annotations, Material, ReportError, Transcripts, plot, render, table, tables};
use crate::compare::{self, Comparison};
use crate::figures::{self, one_line};

/// The page of a comparison.
///
/// # Errors
/// The template cannot be rendered, which is a fault of this program.
pub fn comparison(
    material: Material<'_>,
    evidence: &Evidence,
    annotations: &Annotations,
    transcripts: Transcripts,
) -> Result<String, ReportError> {
    let comparison = material.comparison;
    let shown = episodes::choose(material.records, evidence, transcripts, LARGEST);
    let simulated = super::mark(comparison.simulated);
    render(context! {
        title => format!("Two toolset versions compared{simulated}"),
        simulated => comparison.simulated,
        simulated_text => figures::SIMULATED,
        kind => comparison.verdict.kind.as_str(),
        verdict => &comparison.verdict.sentence,
        notes => &comparison.verdict.notes,
        limits => &evidence.limits,
        facts => facts(comparison),
        tables => comparison_tables(comparison),
        conditions_note => compare::CONDITIONS,
        behaviour_note => compare::BEHAVIOUR,
        forest => forest(comparison),
        metric => comparison.metric.title,
        is_binary => comparison.metric.is_binary,
        guards => table("", compare::guard_table(comparison)),
        guards_note => compare::GUARDS,
        tests => table("", compare::tests_table(comparison)),
        further => further(comparison),
        paired => svg(plot::scenarios(comparison, &evidence.scenarios)),
        scenarios => table("", tables::scenarios(&comparison.metric, evidence)),
        histograms => evidence.distributions.iter().filter_map(histogram).collect::<Vec<_>>(),
        distributions => table("", tables::distributions(evidence)),
        attempts => table("", tables::attempts(evidence)),
        attempt_bars => svg(plot::bars(
            "attempts-bars",
            "Attempts outside the own limit by role",
            &tables::attempt_bars(evidence),
        )),
        injection => table("", tables::injection(evidence)),
        injection_bars => svg(plot::bars(
            "injection-bars",
            "Exposed episodes that obeyed the injection",
            &tables::injection_bars(evidence),
        )),
        failures => evidence.failures.iter().enumerate().map(failure).collect::<Vec<_>>(),
        cost => table("", tables::cost(evidence)),
        difference => difference(material, annotations),
        changes => changes(comparison),
        versions => versions(material),
        episodes => episodes::conditions(material, evidence, &shown),
        transcripts_note => shown.note,
        methods => &comparison.methods,
    })
}

fn svg(plot: Option<String>) -> Option<Value> {
    plot.map(Value::from_safe_string)
}

fn comparison_tables(comparison: &Comparison) -> Vec<Value> {
    vec![
        table(
            &format!("The metric of the verdict: {}", comparison.metric.title),
            compare::primary(comparison),
        ),
        table(
            "Baseline -> candidate, per episode or in total",
            compare::behaviour(comparison),
        ),
    ]
}

fn forest(comparison: &Comparison) -> Vec<Value> {
    plot::panels(comparison)
        .into_iter()
        .map(|panel| {
            context! {
                title => panel.title,
                note => panel.note,
                svg => Value::from_safe_string(panel.svg),
            }
        })
        .collect()
}

fn further(comparison: &Comparison) -> Vec<Value> {
    compare::further(comparison)
        .into_iter()
        .map(|(name, text)| context! { name => name, text => one_line(&text) })
        .collect()
}

fn histogram(distribution: &super::evidence::Distribution) -> Option<Value> {
    Some(context! {
        title => format!("{} per episode", distribution.metric.title()),
        svg => Value::from_safe_string(plot::histogram(distribution)?),
    })
}

fn failure((number, failure): (usize, &Failure)) -> Value {
    context! {
        id => format!("failure-{number}"),
        class => one_line(&failure.class),
        meaning => one_line(&failure.meaning),
        waste => failure.waste,
        baseline => tables::affected(&failure.baseline),
        candidate => tables::affected(&failure.candidate),
        baseline_links => episodes::links(&failure.baseline.episodes),
        candidate_links => episodes::links(&failure.candidate.episodes),
    }
}

fn difference(material: Material<'_>, annotations: &Annotations) -> Option<Value> {
    let (before, after) = material.toolsets.0.zip(material.toolsets.1)?;
    let html = (annotations.difference)(before, after)?;
    Some(Value::from_safe_string(html.as_str().to_owned()))
}

fn changes(comparison: &Comparison) -> Vec<Value> {
    comparison
        .changes
        .iter()
        .map(|change| {
            context! {
                component => one_line(&change.component),
                baseline => block(&change.baseline),
                candidate => block(&change.candidate),
            }
        })
        .collect()
}

/// Every text that either version served.
fn versions(material: Material<'_>) -> Vec<Value> {
    let comparison = material.comparison;
    [
        ("baseline", &comparison.baseline, material.toolsets.0),
        ("candidate", &comparison.candidate, material.toolsets.1),
    ]
    .into_iter()
    .filter_map(|(name, side, toolset)| {
        let texts: Vec<Value> = toolset?
            .components()
            .into_iter()
            .map(|(component, text)| {
                context! { component => one_line(&component.to_string()), text => block(&text) }
            })
            .collect();
        Some(context! {
            name => name,
            toolset => one_line(&side.toolset),
            texts => texts,
        })
    })
    .collect()
}

fn facts(comparison: &Comparison) -> Vec<Value> {
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
    let metric = &comparison.metric;
    let stated = if metric.as_stated {
        format!("{}, stated before the run", metric.name)
    } else {
        format!(
            "{}; stated before the run was {}",
            metric.name, metric.stated
        )
    };
    facts.push(("metric", stated));
    facts.push(("analysis", compare::analysis(comparison)));
    super::lines(&facts)
}
