//! Rates, and differences of independent ones.

use super::{Answer, level_of, p_of, percent, probability, range, shown, strength};
use crate::stats::{
    Fisher, Level, Proportion, StatsError, fisher_exact, newcombe_independent,
    probability_second_higher, trials_to_bound,
};

/// The rate of violations seen across published cohorts, for which one likes to know what its absence takes.
const COURSE_RATE: f64 = 0.04;

/// A rate with all its intervals.
///
/// # Errors
/// Cannot fail for a valid proportion; passes on errors of the methods.
pub fn rate(proportion: Proportion, level: Level) -> Result<Answer, StatsError> {
    let mut answer = Answer::new(format!(
        "rate {}/{}, {} intervals, as if episodes were independent",
        proportion.successes(),
        proportion.n(),
        level_of(level)
    ));
    let (wilson, exact) = (proportion.wilson(level), proportion.clopper_pearson(level));
    match proportion.rate() {
        Some(rate) => answer.line("estimate", format!("{} ({})", shown(rate), percent(rate))),
        None => answer.line("estimate", "none: there is no episode"),
    }
    answer.line("Wilson", format!("{} (for every rate)", range(wilson)));
    answer.line(
        "Wilson, corrected",
        range(proportion.wilson_corrected(level)),
    );
    answer.line(
        "Clopper-Pearson",
        format!("{} (exact: for claims about safety)", range(exact)),
    );
    answer.line("Jeffreys", range(proportion.jeffreys(level)));
    answer.number("successes", proportion.successes());
    answer.number("n", proportion.n());
    answer.number("estimate", proportion.rate());
    answer.number("level", level.get());
    answer.number("wilson", wilson);
    answer.number("wilson_corrected", proportion.wilson_corrected(level));
    answer.number("clopper_pearson", exact);
    answer.number("jeffreys", proportion.jeffreys(level));
    let upper = proportion.upper_bound(level);
    let failures = Proportion::at_most(proportion.failures(), proportion.n());
    let lower = 1.0 - failures.upper_bound(level);
    answer.number("upper_bound", upper);
    answer.number("lower_bound", lower);
    let needed = trials_to_bound(COURSE_RATE, level)?;
    answer.number("trials_to_exclude_4_percent", needed);
    answer.meaning = if proportion.n() == 0 {
        "Without an episode nothing is known about the rate.".to_owned()
    } else if proportion.successes() == 0 {
        answer.line(
            "one-sided bound",
            format!(
                "{} = 1 - {}^(1/{})",
                shown(upper),
                shown(level.alpha()),
                proportion.n()
            ),
        );
        format!(
            "None in {} does not mean never: the true rate may be as high as {}. To exclude a rate of 4 % it takes {} without one.",
            episodes(proportion.n()),
            percent(upper),
            episodes_f(needed)
        )
    } else if proportion.failures() == 0 {
        answer.line(
            "one-sided bound",
            format!(
                "{} = {}^(1/{})",
                shown(lower),
                shown(level.alpha()),
                proportion.n()
            ),
        );
        format!(
            "All of {} does not mean always: the true rate may be as low as {}. To exclude failures at a rate of 4 % it takes {} without one.",
            episodes(proportion.n()),
            percent(lower),
            episodes_f(needed)
        )
    } else {
        format!(
            "The true rate is between {} and {}, if these episodes are independent; repeats of a scenario are not, which makes the truth less certain.",
            percent(wilson.0),
            percent(wilson.1)
        )
    };
    Ok(answer)
}

fn episodes(n: u64) -> String {
    format!("{n} episode{}", if n == 1 { "" } else { "s" })
}

fn episodes_f(n: f64) -> String {
    format!("{n:.0} episodes")
}

/// Two independent rates.
pub fn difference(first: Proportion, second: Proportion, level: Level) -> Answer {
    let mut answer = tests(
        &format!(
            "difference {} - {}, independent samples",
            fraction(first),
            fraction(second)
        ),
        first,
        second,
        level,
    );
    let interval = newcombe_independent(first, second, level);
    let difference = first.rate().zip(second.rate()).map(|(a, b)| a - b);
    if let Some(difference) = difference {
        answer.lines.insert(0, ("estimate", shown(difference)));
    }
    answer.lines.insert(
        1.min(answer.lines.len()),
        (
            "Newcombe",
            format!("{} ({})", range(interval), level_of(level)),
        ),
    );
    answer.number("estimate", difference);
    answer.number("newcombe", interval);
    answer
}

/// Fisher's exact test alone.
pub fn fisher(first: Proportion, second: Proportion, level: Level) -> Answer {
    tests(
        &format!(
            "Fisher's exact test of {} against {}",
            fraction(first),
            fraction(second)
        ),
        first,
        second,
        level,
    )
}

fn fraction(p: Proportion) -> String {
    format!("{}/{}", p.successes(), p.n())
}

fn tests(title: &str, first: Proportion, second: Proportion, level: Level) -> Answer {
    let mut answer = Answer::new(title);
    let found: Fisher = fisher_exact(first, second);
    let higher = probability_second_higher(second, first);
    answer.line("Fisher, two-sided", p_of(found.p));
    answer.line(
        "first is higher",
        format!("{} (one-sided)", p_of(found.p_greater)),
    );
    answer.line(
        "first is lower",
        format!("{} (one-sided)", p_of(found.p_less)),
    );
    answer.line(
        "probability",
        format!(
            "{} that the first rate is higher (uniform priors)",
            probability(higher)
        ),
    );
    answer.number("first", first);
    answer.number("second", second);
    answer.number("level", level.get());
    answer.number("fisher_p", found.p);
    answer.number("fisher_p_greater", found.p_greater);
    answer.number("fisher_p_less", found.p_less);
    answer.number("probability_first_higher", higher);
    let interval = newcombe_independent(first, second, level);
    answer.meaning = if first.n() == 0 || second.n() == 0 {
        "One of the samples is empty, so nothing can be said about a difference.".to_owned()
    } else {
        format!(
            "{} of a difference: the first rate may be anything from {} to {} the second.",
            strength(found.p, level),
            beside(interval.0),
            beside(interval.1)
        )
    };
    answer
}

/// `14.4 points below`, `3 points above`.
fn beside(difference: f64) -> String {
    let points = (difference * 1000.0).round() / 10.0;
    let side = if points < 0.0 { "below" } else { "above" };
    let size = shown(points.abs());
    let unit = if size == "1" { "point" } else { "points" };
    format!("{size} {unit} {side}")
}

/// The probability that the second rate is higher.
pub fn bayes(first: Proportion, second: Proportion) -> Answer {
    let mut answer = Answer::new(format!(
        "beta-binomial comparison of {} and {}, uniform priors",
        fraction(first),
        fraction(second)
    ));
    let higher = probability_second_higher(first, second);
    answer.line("P(second > first)", probability(higher));
    answer.number("first", first);
    answer.number("second", second);
    answer.number("probability_second_higher", higher);
    answer.meaning = format!(
        "Given these data and no earlier opinion, the second rate is the higher one with a probability of {}. About 95 % would be a reason to act; episodes are taken as independent.",
        percent(higher)
    );
    answer
}
