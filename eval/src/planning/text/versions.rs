//! Versions on the same scenarios, for people.

use std::fmt::Write as _;

use super::{chance, levels, price, share, trimmed, usd, whole};
use crate::figures::{SIMULATED, number, one_line};
use crate::planning::FEW_SCENARIOS;
use crate::planning::versions::{Answer, Judged, MOST_SCENARIOS, Needed, Question};
use crate::table::{Grid, NOTHING};

pub(super) fn text(answer: &Answer) -> String {
    let asked = &answer.asked;
    let mut out = format!(
        "{} versions on the same scenarios: {}\n{}, two-sided\n",
        asked.arms,
        asked.metric.title(),
        levels(asked.levels)
    );
    if let Some(effect) = asked.effect {
        let _ = writeln!(
            out,
            "\nTo find a change of {}{}:",
            amount(asked, effect),
            from(asked)
        );
        let _ = writeln!(out, "{}\n", table(answer).terminal());
        let _ = writeln!(out, "{}", cheapest(answer));
    }
    if let Some(judged) = &answer.judged {
        let _ = writeln!(out, "{}", judgement(answer, judged));
    }
    why(answer, &mut out);
    notes(answer, &mut out);
    out
}

/// A change in the metric's own unit.
fn amount(asked: &Question, value: f64) -> String {
    if asked.metric.is_binary() {
        return format!("{} percentage points", trimmed(value * 100.0));
    }
    let relative = match asked.mean {
        Some(mean) if mean > 0.0 => format!(" ({} of the mean)", share(value / mean)),
        _ => String::new(),
    };
    format!(
        "{} {} an episode{relative}",
        number(value),
        asked.metric.title()
    )
}

/// Variances of rates are small, those of tokens are not.
fn variance(value: f64) -> String {
    if value < 100.0 {
        format!("{value:.4}")
    } else {
        number(value)
    }
}

fn from(asked: &Question) -> String {
    match asked.mean {
        Some(mean) if asked.metric.is_binary() => format!(" from a rate of {}", share(mean)),
        Some(mean) => format!(" from a mean of {}", number(mean)),
        None => String::new(),
    }
}

fn table(answer: &Answer) -> Grid {
    let rows = answer
        .needed
        .iter()
        .map(|row| {
            vec![
                row.repeats.to_string(),
                whole(row.scenarios),
                row.episodes.map_or(NOTHING.to_owned(), |n| n.to_string()),
                usd(row.usd),
                note(answer, row),
            ]
        })
        .collect();
    let header = ["repeats", "scenarios", "episodes", "cost", ""];
    Grid::new(&header, rows).without_empty_columns()
}

fn note(answer: &Answer, row: &Needed) -> String {
    let mut said = Vec::new();
    if row.cheapest {
        said.push("cheapest".to_owned());
    }
    if let (Some(false), Some(there)) = (row.fits, answer.asked.scenarios) {
        said.push(format!("more than the {there} there are"));
    }
    if row.scenarios == Some(answer.fewest_scenarios) {
        said.push("the fewest a test can use".to_owned());
    }
    if said.is_empty() {
        NOTHING.to_owned()
    } else {
        said.join("; ")
    }
}

fn cheapest(answer: &Answer) -> String {
    let Some((row, scenarios)) = answer
        .needed
        .iter()
        .find(|row| row.cheapest)
        .and_then(|row| Some((row, row.scenarios?)))
    else {
        return format!("No number of scenarios up to {MOST_SCENARIOS} finds so small a change.");
    };
    let asked = &answer.asked;
    let cost = row
        .usd
        .map(|usd| format!(", ${usd:.2}"))
        .unwrap_or_default();
    let mut out = format!(
        "Cheapest: {scenarios} scenarios x {} {}{} x {} versions = {} episodes{cost}.",
        row.repeats,
        if row.repeats == 1 {
            "repeat"
        } else {
            "repeats"
        },
        conditions(asked),
        asked.arms,
        row.episodes.unwrap_or(0)
    );
    if row.repeats == 1 && asked.conditions == 1 {
        out.push_str(" One repeat never shows how alike repeats are; two or three do.");
    }
    let fewest = answer
        .needed
        .iter()
        .filter(|row| row.fits == Some(true))
        .min_by_key(|row| row.episodes);
    if let (Some(there), Some(false)) = (asked.scenarios, row.fits) {
        let _ = match fewest {
            Some(fits) => write!(
                out,
                " With the {there} scenarios there are: {} repeats, {} episodes on {} of them.",
                fits.repeats,
                fits.episodes.unwrap_or(0),
                fits.scenarios.unwrap_or(0)
            ),
            None => write!(
                out,
                " The {there} scenarios there are do not suffice with any of these repeats."
            ),
        };
    }
    out
}

fn conditions(asked: &Question) -> String {
    if asked.conditions == 1 {
        String::new()
    } else {
        format!(" x {} conditions", asked.conditions)
    }
}

fn judgement(answer: &Answer, judged: &Judged) -> String {
    let asked = &answer.asked;
    let design = format!(
        "{} scenarios x {} repeats{} x {} versions ({} episodes{})",
        judged.scenarios,
        judged.repeats,
        conditions(asked),
        asked.arms,
        judged.episodes,
        judged
            .usd
            .map(|usd| format!(", ${usd:.2}"))
            .unwrap_or_default()
    );
    let Some(change) = judged.detectable else {
        return format!(
            "{design}: {}",
            refusal(answer, judged.scenarios, judged.smallest_p)
        );
    };
    let mut out = if judged.possible {
        format!(
            "{design} find a change of {} or more.",
            amount(asked, change)
        )
    } else {
        format!(
            "{design} find no change with that chance: it would have to be {}, and the rate cannot change so much.",
            amount(asked, change)
        )
    };
    if let (Some(effect), Some(power), Some(enough)) = (asked.effect, judged.power, judged.enough) {
        let _ = write!(
            out,
            " A change of {} is found with a chance of {}: {}.",
            amount(asked, effect),
            chance(power),
            if enough { "enough" } else { "not enough" }
        );
    }
    out
}

/// Why no test on so few scenarios can reject.
fn refusal(answer: &Answer, scenarios: u64, smallest: f64) -> String {
    let possible = 2_u64.saturating_pow(u32::try_from(scenarios).unwrap_or(u32::MAX));
    format!(
        "no test on {scenarios} {} can reach {}, whatever the effect: the smallest p is 2/{possible} = {}. {} is the fewest.",
        if scenarios == 1 {
            "scenario"
        } else {
            "scenarios"
        },
        trimmed_level(answer.alpha_each),
        trimmed_level(smallest),
        answer.fewest_scenarios
    )
}

/// A level as it is written, without digits that only rounding has made.
fn trimmed_level(alpha: f64) -> String {
    let text = format!("{alpha:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn why(answer: &Answer, out: &mut String) {
    let Some(why) = answer.why else { return };
    let asked = &answer.asked;
    let short = |value: f64| {
        if asked.metric.is_binary() {
            trimmed(value * 100.0)
        } else {
            number(value)
        }
    };
    let _ = writeln!(
        out,
        "\nWhy more scenarios beat more repeats: a scenario's difference has the variance {} + {}, the first between scenarios, the second between its {} episodes per version.\nRepeats shrink the second only. {} scenarios find {}; with twice the repeats {}; with repeats without end still {}; with twice the scenarios {}.",
        variance(why.between),
        variance(why.within),
        why.repeats.saturating_mul(asked.conditions),
        why.scenarios,
        amount(asked, why.detectable),
        short(why.detectable_twice_repeats),
        short(why.detectable_endless_repeats),
        short(why.detectable_twice_scenarios)
    );
}

fn notes(answer: &Answer, out: &mut String) {
    let asked = &answer.asked;
    if answer.has_few_scenarios() {
        let _ = writeln!(
            out,
            "- warning: fewer than {FEW_SCENARIOS} scenarios. They say little about others, and the formula promises too much: where it says a chance of 80 %, the sign-flip test has about 60 % with 6 scenarios and 77 % with 8. Use {FEW_SCENARIOS} at least, better 20 to 40."
        );
    }
    if let Some(recorded) = &asked.recorded {
        let _ = writeln!(
            out,
            "- from experiment {}, arm {}: {} episodes in {} scenarios{}",
            one_line(&recorded.experiment),
            one_line(&recorded.arm),
            recorded.episodes,
            recorded.scenarios,
            recorded
                .correlated_with
                .as_ref()
                .map(|arm| format!("; correlation with arm {}", one_line(arm)))
                .unwrap_or_default()
        );
        if recorded.simulated {
            let _ = writeln!(out, "- {SIMULATED}");
        }
    }
    let design = asked.design;
    let _ = writeln!(
        out,
        "- variance {} of an episode, ICC {:.2} (its share between scenarios), correlation {:.2} between the versions' scenarios",
        variance(design.variance),
        design.icc,
        design.correlation
    );
    for assumed in &asked.assumed {
        let _ = writeln!(out, "- assumed: {}", one_line(assumed));
    }
    if asked.conditions > 1 {
        let _ = writeln!(
            out,
            "- conditions count as further repeats, which is right if a scenario is as hard in all of them"
        );
    }
    if asked.arms > 2 {
        let _ = writeln!(
            out,
            "- {} comparisons with the baseline, each at {} (Bonferroni)",
            asked.arms - 1,
            trimmed_level(answer.alpha_each)
        );
    }
    price(&answer.price, out);
}
