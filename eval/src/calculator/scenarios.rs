//! Values that come in scenarios.

use std::collections::BTreeMap;

use super::data::Strata;
use super::{Answer, level_of, p_of, range, shown, shown_name, strength};
use crate::stats::{
    ENUMERATED_UP_TO, Level, StatsError, affordable_resamples, bootstrap_clusters,
    bootstrap_enumerated, clustered_mean, cochran_mantel_haenszel, components, icc_table, mean,
    sign_flip, stratified_permutation,
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
            "{} ({}, CR1, {} degrees of freedom){}",
            range(interval),
            level_of(level),
            found.clusters - 1,
            found
                .p
                .map_or_else(String::new, |p| format!(", {}", p_of(p)))
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
    let drawn = bootstrap_clusters(&values, affordable_resamples(&values), seed, level)?;
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
            "{} that the mean is 0 (smallest possible {})",
            p_of(flip.p),
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
    let around_zero = interval.0 <= 0.0 && interval.1 >= 0.0 && found.se_robust > 0.0;
    answer.meaning = format!(
        "The mean is between {} and {}{}{}.",
        shown(interval.0),
        shown(interval.1),
        if around_zero {
            ", which includes 0: no evidence that it is anything else"
        } else {
            ""
        },
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
        } else if found.icc > 0.02 {
            "less"
        } else {
            "as much here"
        }
    );
    Ok(answer)
}

/// Two arms that are not paired, compared within scenarios.
///
/// # Errors
/// No scenario says anything.
pub fn cmh(table: &Strata, level: Level) -> Result<Answer, StatsError> {
    let [first, second] = table.arms.each_ref().map(|name| shown_name(name));
    let exact = stratified_permutation(&table.strata);
    let mut answer = Answer::new(format!(
        "{first} against {second} within {} scenarios, episodes not paired",
        table.strata.len()
    ));
    let found = cochran_mantel_haenszel(&table.strata, level)?;
    answer.line(
        "CMH",
        format!(
            "{} {}; corrected {} {}",
            shown(found.cmh.statistic),
            p_of(found.cmh.p),
            shown(found.cmh_corrected.statistic),
            p_of(found.cmh_corrected.p)
        ),
    );
    match (found.odds_ratio, found.interval) {
        (Some(ratio), Some(interval)) => answer.line(
            "odds ratio",
            format!("{} {} ({})", shown(ratio), range(interval), level_of(level)),
        ),
        _ => answer.line("odds ratio", "undefined: one of its parts is 0"),
    }
    if let Some(test) = found.breslow_day {
        answer.line(
            "Breslow-Day",
            format!(
                "{} {} that the odds ratio is the same everywhere",
                shown(test.statistic),
                p_of(test.p)
            ),
        );
    }
    answer.line(
        "exact permutation",
        format!(
            "{}, first higher {}, first lower {}",
            p_of(exact.p),
            p_of(exact.p_greater),
            p_of(exact.p_less)
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
        strength(exact.p, level)
    );
    Ok(answer)
}
