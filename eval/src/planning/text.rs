//! Answers for people: a table, a sentence for what it means, and what it rests on.

mod versions;

use std::fmt::Write as _;

use super::{Answer, Levels, Price, mcnemar, sequential, violation};
use crate::figures::one_line;
use crate::table::{Grid, NOTHING};

/// The answer as text.
pub fn text(answer: &Answer) -> String {
    match answer {
        Answer::Versions(answer) => versions::text(answer),
        Answer::Violation(answer) => violation_text(answer),
        Answer::Mcnemar(answer) => mcnemar_text(answer),
        Answer::Sequential(answer) => sequential_text(answer),
    }
}

/// A share in percent, with a decimal where there is one.
fn share(value: f64) -> String {
    format!("{} %", trimmed(value * 100.0))
}

/// At most one decimal; more for what would be shown as 0.
fn trimmed(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.05 {
        return if value.abs() < 1e-4 {
            format!("{value:.1e}")
        } else {
            format!("{value:.4}").trim_end_matches('0').to_owned()
        };
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A chance in percent; what is not certain is never shown as 0 or 100.
fn chance(value: f64) -> String {
    if value > 0.0 && value < 0.000_5 {
        "< 0.1 %".to_owned()
    } else if value < 1.0 && value > 0.999_5 {
        "> 99.9 %".to_owned()
    } else {
        share(value)
    }
}

/// The levels, told once at the head of an answer.
fn levels(levels: Levels) -> String {
    format!(
        "power (chance to find it) {}, alpha (chance to find what is not there) {}",
        share(levels.power),
        levels.alpha
    )
}

fn usd(value: Option<f64>) -> String {
    value.map_or(NOTHING.to_owned(), |usd| format!("${usd:.2}"))
}

fn whole(value: Option<u64>) -> String {
    value.map_or("> 1,000,000".to_owned(), |n| n.to_string())
}

fn or_nothing(value: Option<f64>) -> String {
    value.map_or(NOTHING.to_owned(), share)
}

fn chance_or_nothing(value: Option<f64>) -> String {
    value.map_or(NOTHING.to_owned(), chance)
}

fn price(price: &Price, out: &mut String) {
    let basis = one_line(&price.basis);
    let _ = match price.usd_per_episode {
        Some(usd) => writeln!(out, "- cost: ${usd:.4} an episode ({basis})"),
        None => writeln!(out, "- cost: not known: {basis}"),
    };
}

fn violation_text(answer: &violation::Answer) -> String {
    let mut out = format!(
        "Episodes per arm that tell a violation rate from none at all\n{}\n\n",
        levels(answer.asked.levels)
    );
    let rows = answer
        .rates
        .iter()
        .map(|row| {
            vec![
                share(row.rate),
                whole(row.one_sided),
                whole(row.two_sided),
                usd(row.usd),
                row.excluded_by.to_string(),
                chance_or_nothing(row.power_one_sided),
                chance_or_nothing(row.power_two_sided),
            ]
        })
        .collect();
    let header = [
        "rate",
        "one-sided",
        "two-sided",
        "cost (2 arms, two-sided)",
        "0 of n excludes it",
        "chance now, one-sided",
        "two-sided",
    ];
    let grid = Grid::new(&header, rows).without_empty_columns();
    let _ = writeln!(out, "{}\n", grid.terminal());
    if let Some(row) = answer.rates.first() {
        let _ = writeln!(
            out,
            "A rate of {} needs {} episodes in each arm (Fisher's exact test, two-sided), {} when only \"more\" was asked before looking. If one arm alone shows no violation in {} episodes, rates of {} and more are excluded.",
            share(row.rate),
            whole(row.two_sided),
            whole(row.one_sided),
            row.excluded_by,
            share(row.rate)
        );
    }
    if let Some(at_hand) = answer.at_hand {
        let fewest = |k: Option<u64>| k.map_or("no number".to_owned(), |k| format!("{k} or more"));
        let _ = writeln!(
            out,
            "With {} episodes in each arm, {} against 0 differ two-sided ({} one-sided); the smallest rate that is found is {} ({}). None seen in {} bounds the rate by {}.",
            at_hand.n,
            fewest(at_hand.fewest_two_sided),
            fewest(at_hand.fewest_one_sided),
            or_nothing(at_hand.detectable_two_sided),
            or_nothing(at_hand.detectable_one_sided),
            at_hand.n,
            share(at_hand.none_seen_bound)
        );
    }
    let _ = writeln!(
        out,
        "- episodes count as independent: repeats of one scenario are not quite, so take many scenarios rather than many repeats"
    );
    price(&answer.price, &mut out);
    out
}

fn mcnemar_text(answer: &mcnemar::Answer) -> String {
    let asked = &answer.asked;
    let mut out = format!(
        "Differences between pairs that McNemar's exact two-sided test finds\n{}\n\n",
        levels(asked.levels)
    );
    let rows = answer
        .rows
        .iter()
        .map(|row| {
            vec![
                row.pairs.to_string(),
                row.episodes.to_string(),
                usd(row.usd),
                or_nothing(row.detectable),
                chance_or_nothing(row.power),
            ]
        })
        .collect();
    let header = ["pairs", "episodes", "cost", "found from", "chance"];
    let grid = Grid::new(&header, rows).without_empty_columns();
    let _ = writeln!(out, "{}\n", grid.terminal());
    if let Some(row) = answer.rows.last() {
        let _ = match row.detectable {
            Some(difference) => writeln!(
                out,
                "{} pairs find a difference of {} percentage points: {} of the pairs won and {} lost.",
                row.pairs,
                trimmed(difference * 100.0),
                share(asked.reverse + difference),
                share(asked.reverse)
            ),
            None => writeln!(
                out,
                "{} pairs find no difference with that chance, whatever it is.",
                row.pairs
            ),
        };
    }
    if let Some(effect) = asked.effect {
        let _ = writeln!(
            out,
            "The last column is the chance to find a difference of {} percentage points.",
            trimmed(effect * 100.0)
        );
    }
    let _ = writeln!(
        out,
        "- {} of the pairs are taken to go the other way (--reverse)\n- pairs count as independent, which repeats of one scenario are not: for versions on the same scenarios ask --question versions",
        share(asked.reverse)
    );
    price(&answer.price, &mut out);
    out
}

fn sequential_text(answer: &sequential::Answer) -> String {
    let asked = &answer.asked;
    let mut out = format!(
        "Discordant pairs until the evidence suffices (e-value of {}, for alpha {}), at most {}\n\n",
        trimmed(answer.threshold),
        asked.levels.alpha,
        asked.most_pairs
    );
    let rows = answer
        .rows
        .iter()
        .map(|row| {
            let found = row.stopping;
            vec![
                share(found.win_share),
                format!("{:.1}", found.expected_pairs),
                found
                    .median_pairs
                    .map_or(NOTHING.to_owned(), |m| m.to_string()),
                chance(found.stops_for),
                chance(found.stops_against),
                chance(found.undecided),
                row.expected_episodes
                    .map_or(NOTHING.to_owned(), |n| format!("{n:.0}")),
                usd(row.usd),
            ]
        })
        .collect();
    let header = [
        "pairs won",
        "expected pairs",
        "half stop by",
        "stops for",
        "stops against",
        "undecided",
        "expected episodes",
        "cost",
    ];
    let grid = Grid::new(&header, rows).without_empty_columns();
    let _ = writeln!(out, "{}\n", grid.terminal());
    let _ = writeln!(
        out,
        "The fewest are {} pairs, all won. A run that wins and loses alike stops with a chance of at most {}, however often one looks.",
        answer.fewest_pairs, asked.levels.alpha
    );
    let _ = writeln!(
        out,
        "- a run that is undecided counts with {} pairs; the numbers are exact, over all paths",
        asked.most_pairs
    );
    let _ = match asked.discordant {
        Some(discordant) => writeln!(
            out,
            "- {} of all pairs are taken to be discordant; the others tell nothing, but are played",
            share(discordant)
        ),
        None => writeln!(
            out,
            "- pairs in which both versions do alike tell nothing; --discordant says how many do not, and gives episodes and cost"
        ),
    };
    let _ = writeln!(
        out,
        "- pairs count as independent, which repeats of one scenario are not quite"
    );
    price(&answer.price, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_as_many_digits_as_they_need() {
        assert_eq!(
            (share(0.15), share(0.2641), share(0.000_01), share(1.0)),
            (
                "15 %".into(),
                "26.4 %".into(),
                "0.001 %".into(),
                "100 %".into()
            )
        );
        assert_eq!(
            (chance(0.0), chance(1e-9), chance(1.0 - 1e-9), trimmed(1e-9)),
            (
                "0 %".into(),
                "< 0.1 %".into(),
                "> 99.9 %".into(),
                "1.0e-9".into()
            )
        );
        assert_eq!(
            (trimmed(0.0), trimmed(-1.25), trimmed(12.0)),
            ("0".into(), "-1.2".into(), "12".into())
        );
    }
}
