//! Values that come in scenarios.

use std::collections::BTreeMap;

use super::data::Strata;
use super::{Answer, percent, range, shown, strength};
use crate::stats::{
    ENUMERATED_UP_TO, Level, Proportion, RESAMPLES, StatsError, TwoByTwo, bootstrap_clusters,
    bootstrap_enumerated, clustered_mean, cochran_mantel_haenszel, components,
    difference_in_differences, difference_of_rates, icc_table, mean, ratio_of_ratios, sign_flip,
    stratified_permutation,
};

/// The mean of values that come in scenarios.
///
/// # Errors
/// A value is not finite, or there is only one scenario.
pub fn cluster(
    scenarios: &BTreeMap<String, Vec<f64>>,
    level: Level,
    seed: u64,
) -> Result<Answer, StatsError> {
    let values: Vec<Vec<f64>> = scenarios.values().cloned().collect();
    let means: Vec<f64> = values.iter().filter_map(|v| mean(v)).collect();
    let found = clustered_mean(&values)?;
    let interval = found.interval_at(level);
    let mut answer = Answer::new(format!(
        "mean of {} values in {} scenarios",
        found.n, found.clusters
    ));
    answer.line("mean", shown(found.mean));
    answer.line(
        "t over scenarios",
        format!(
            "{} ({}, CR1, {} degrees of freedom)",
            range(interval),
            percent(level.get()),
            found.clusters - 1
        ),
    );
    answer.line(
        "standard errors",
        format!(
            "independent {}, Miller {}, CR0 {}, CR1 {}",
            shown(found.se_independent),
            shown(found.se_miller),
            shown(found.se_cr0),
            shown(found.se_robust)
        ),
    );
    let drawn = bootstrap_clusters(&values, RESAMPLES, seed, level)?;
    answer.line(
        "bootstrap",
        format!(
            "{} ({} resamples of scenarios, then of their values)",
            range(drawn.interval),
            drawn.draws
        ),
    );
    answer.number("n", found.n);
    answer.number("scenarios", found.clusters);
    answer.number("level", level.get());
    answer.number("mean", found.mean);
    answer.number("interval", interval);
    answer.number("p", found.p);
    answer.number("se_independent", found.se_independent);
    answer.number("se_miller", found.se_miller);
    answer.number("se_cr0", found.se_cr0);
    answer.number("se_cr1", found.se_robust);
    answer.number("bootstrap", drawn);
    if means.len() <= ENUMERATED_UP_TO {
        let all = bootstrap_enumerated(&means, level)?;
        answer.line(
            "all draws",
            format!(
                "{} ({} draws of scenario means)",
                range(all.interval),
                all.draws
            ),
        );
        answer.number("bootstrap_enumerated", all);
    }
    let flip = sign_flip(&means, seed)?;
    answer.line(
        "sign-flip",
        format!(
            "p {} that the mean is 0 (smallest possible {})",
            shown(flip.p),
            shown(flip.smallest_p)
        ),
    );
    answer.number("sign_flip", flip);
    let parts = components(&values).ok();
    if let Some(parts) = parts {
        answer.line(
            "ICC",
            format!(
                "{}; {} values are worth about {:.0} independent ones",
                shown(parts.icc),
                parts.n,
                parts.effective_n
            ),
        );
    }
    answer.number("components", parts);
    answer.meaning = format!(
        "The mean is between {} and {}{}.",
        shown(interval.0),
        shown(interval.1),
        if found.clusters < 12 {
            "; with fewer than 12 scenarios that is approximate"
        } else {
            ""
        }
    );
    Ok(answer)
}

/// How alike the values of a scenario are.
///
/// # Errors
/// As [`components`].
pub fn icc(scenarios: &BTreeMap<String, Vec<f64>>) -> Result<Answer, StatsError> {
    let values: Vec<Vec<f64>> = scenarios.values().cloned().collect();
    let found = components(&values)?;
    let mut answer = Answer::new(format!(
        "intraclass correlation of {} values in {} scenarios",
        found.n, found.scenarios
    ));
    answer.line("ICC(1)", shown(found.icc));
    answer.line(
        "variance",
        format!(
            "between scenarios {}, between repeats {}",
            shown(found.scenario_variance),
            shown(found.repeat_variance)
        ),
    );
    answer.line(
        "mean squares",
        format!(
            "between {}, within {}",
            shown(found.between),
            shown(found.within)
        ),
    );
    answer.line(
        "design effect",
        format!(
            "{} at {} repeats",
            shown(found.design_effect),
            shown(found.repeats)
        ),
    );
    answer.number("components", found);
    let table = icc_table(&values).ok();
    if let Some(table) = table {
        answer.line(
            "ICC(2), ICC(3)",
            format!(
                "{}, {} (complete table, columns in the order of the rows)",
                shown(table.icc2),
                shown(table.icc3)
            ),
        );
    }
    answer.number("table", table);
    answer.meaning = format!(
        "{} episodes are worth about {:.0} independent ones. More scenarios add knowledge; more repeats of the same ones add {}.",
        found.n,
        found.effective_n,
        if found.icc > 0.2 {
            "little"
        } else {
            "nearly as much here"
        }
    );
    Ok(answer)
}

/// Difference in differences over scenarios.
///
/// # Errors
/// A value is not finite, or there is only one scenario.
pub fn did(
    scenarios: &[TwoByTwo],
    left_out: usize,
    level: Level,
    seed: u64,
) -> Result<Answer, StatsError> {
    let found = difference_in_differences(scenarios, level, seed)?;
    let mut answer = Answer::new(format!(
        "difference in differences over {} scenarios ({left_out} left out, without all four conditions)",
        scenarios.len()
    ));
    let t = found.mean;
    answer.line(
        "estimate",
        format!(
            "{} {} ({}, t)",
            shown(t.mean),
            range(t.interval),
            percent(level.get())
        ),
    );
    if let (Some(value), Some(p)) = (t.t, t.p) {
        answer.line("t", format!("{} p {}", shown(value), shown(p)));
    } else {
        answer.line("t", "nothing varies between scenarios, so there is no t");
    }
    answer.line(
        "sign-flip",
        format!(
            "p {} (smallest possible {})",
            shown(found.sign_flip.p),
            shown(found.sign_flip.smallest_p)
        ),
    );
    answer.number("scenarios", scenarios.len());
    answer.number("left_out", left_out);
    answer.number("level", level.get());
    answer.number("mean", t);
    answer.number("sign_flip", found.sign_flip);
    answer.meaning = about(strength(found.sign_flip.p));
    Ok(answer)
}

fn about(strength: &str) -> String {
    format!(
        "{strength} that enforcement changes what the injection does: (prompt_inject - prompt) - (server_inject - server)."
    )
}

/// Difference in differences of four published rates, without scenarios.
///
/// # Errors
/// A cell has no episodes.
pub fn did_rates(cells: [Proportion; 4], level: Level) -> Result<Answer, StatsError> {
    let (difference, interval) = difference_of_rates(cells, level)?;
    let mut answer =
        Answer::new("difference in differences of four rates, as if episodes were independent");
    answer.line(
        "estimate",
        format!(
            "{} {} ({}, normal)",
            shown(difference),
            range(interval),
            percent(level.get())
        ),
    );
    answer.number("cells", cells);
    answer.number("level", level.get());
    answer.number("estimate", difference);
    answer.number("interval", interval);
    let excludes = interval.0 > 0.0 || interval.1 < 0.0;
    answer.meaning = about(if excludes { "Evidence" } else { "No evidence" });
    Ok(answer)
}

/// Ratio of ratios of four published counts.
///
/// # Errors
/// A count is 0.
pub fn did_counts(counts: TwoByTwo, phi: f64, level: Level) -> Result<Answer, StatsError> {
    let found = ratio_of_ratios(counts, phi, level)?;
    let mut answer = Answer::new(
        "ratio of ratios of four counts: (prompt_inject/prompt) / (server_inject/server)",
    );
    answer.line(
        "server over prompt",
        format!(
            "{} {} ({}) p {}",
            shown(found.ratio),
            range(found.interval),
            percent(level.get()),
            shown(found.p)
        ),
    );
    answer.number("counts", counts);
    answer.number("overdispersion", phi);
    answer.number("level", level.get());
    answer.number("ratio", found.ratio);
    answer.number("interval", found.interval);
    answer.number("p", found.p);
    answer.meaning = about(strength(found.p));
    Ok(answer)
}

/// Two arms that are not paired, compared within scenarios.
///
/// # Errors
/// No scenario says anything.
pub fn cmh(table: &Strata, level: Level) -> Result<Answer, StatsError> {
    let [first, second] = &table.arms;
    let exact = stratified_permutation(&table.strata);
    let mut answer = Answer::new(format!(
        "{first} against {second} within {} scenarios, episodes not paired",
        table.strata.len()
    ));
    let found = cochran_mantel_haenszel(&table.strata, level)?;
    answer.line(
        "CMH",
        format!(
            "{} p {}; corrected {} p {}",
            shown(found.cmh.statistic),
            shown(found.cmh.p),
            shown(found.cmh_corrected.statistic),
            shown(found.cmh_corrected.p)
        ),
    );
    match (found.odds_ratio, found.interval) {
        (Some(ratio), Some(interval)) => answer.line(
            "odds ratio",
            format!(
                "{} {} ({})",
                shown(ratio),
                range(interval),
                percent(level.get())
            ),
        ),
        _ => answer.line("odds ratio", "undefined: one of its parts is 0"),
    }
    if let Some(test) = found.breslow_day {
        answer.line(
            "Breslow-Day",
            format!(
                "{} p {} that the odds ratio is the same everywhere",
                shown(test.statistic),
                shown(test.p)
            ),
        );
    }
    answer.line(
        "exact permutation",
        format!(
            "p {}, first higher p {}, first lower p {}",
            shown(exact.p),
            shown(exact.p_greater),
            shown(exact.p_less)
        ),
    );
    answer.line(
        "informative",
        format!("{} of {} scenarios", found.informative, table.strata.len()),
    );
    answer.number("arms", &table.arms);
    answer.number("strata", &table.strata);
    answer.number("level", level.get());
    answer.number("cmh", found);
    answer.number("permutation", exact);
    answer.meaning = format!(
        "{} that {first} and {second} differ inside scenarios; scenarios in which all outcomes agree say nothing.",
        strength(exact.p)
    );
    Ok(answer)
}
