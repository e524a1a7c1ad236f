//! Paired outcomes and differences.

use super::{Answer, level_of, p_of, probability, range, shown, strength};
use crate::stats::{
    Level, PairedCells, Proportion, SignFlipMethod, StatsError, confidence_sequence, e_value,
    fewest_pairs, mcnemar_chi_squared, mcnemar_exact, mcnemar_mid_p, mean, monte_carlo_draws,
    newcombe_paired, one_sample, probability_paired_higher, sign_flip, sign_test, signed_rank,
    tango, threshold,
};

/// McNemar and what goes with it. `b` counts the pairs in which only the first version has it, `c` those with only the
/// second; `agreeing` are those that agree, when known, and of these those that have it in both, when known.
pub fn paired(b: u64, c: u64, agreeing: Option<(u64, Option<u64>)>, level: Level) -> Answer {
    let mut answer = Answer::new(format!(
        "paired yes/no outcomes: b = {b}, c = {c} differing pairs"
    ));
    let exact = mcnemar_exact(b, c);
    answer.line("McNemar, exact", p_of(exact));
    answer.line("McNemar, mid-p", p_of(mcnemar_mid_p(b, c)));
    answer.number("b", b);
    answer.number("c", c);
    answer.number("level", level.get());
    answer.number("mcnemar_exact_p", exact);
    answer.number("mcnemar_mid_p", mcnemar_mid_p(b, c));
    let plain = mcnemar_chi_squared(b, c, false);
    let corrected = mcnemar_chi_squared(b, c, true);
    if let (Some(plain), Some(corrected)) = (plain, corrected) {
        answer.line(
            "chi-squared",
            format!(
                "{} {}; corrected {} {}",
                shown(plain.statistic),
                p_of(plain.p),
                shown(corrected.statistic),
                p_of(corrected.p)
            ),
        );
    }
    answer.number("chi_squared", plain);
    answer.number("chi_squared_corrected", corrected);
    let mut size = String::new();
    if let Some((rest, both)) = agreeing {
        // Tango's interval does not ask how the agreeing pairs divide.
        let cells = PairedCells {
            both: both.unwrap_or(0).min(rest),
            first_only: b,
            second_only: c,
            neither: rest - both.unwrap_or(0).min(rest),
        };
        let by_tango = tango(cells, level);
        answer.line(
            "difference",
            format!("{} over {} pairs", shown(cells.difference()), cells.n()),
        );
        answer.line(
            "Tango",
            format!("{} ({})", range(by_tango), level_of(level)),
        );
        answer.number("pairs", cells.n());
        answer.number("difference", cells.difference());
        answer.number("tango", by_tango);
        if both.is_some() {
            let by_newcombe = newcombe_paired(cells, level);
            answer.line("Newcombe", range(by_newcombe));
            answer.number("newcombe", by_newcombe);
        }
        size = format!(
            " The difference is between {} and {} points.",
            shown((by_tango.0 * 1000.0).round() / 10.0),
            shown((by_tango.1 * 1000.0).round() / 10.0)
        );
    }
    let higher = probability_paired_higher(b, c);
    answer.line(
        "probability",
        format!(
            "{} that the first is better (uniform prior)",
            probability(higher)
        ),
    );
    answer.number("probability_first_higher", higher);
    let evidence = e_value(Proportion::at_most(b, b.saturating_add(c)));
    answer.line(
        "e-value",
        format!(
            "{} ({} rejects at any time)",
            shown(evidence.e),
            shown(threshold(level))
        ),
    );
    answer.number("e_value", evidence.e);
    answer.meaning = format!(
        "{} that the versions differ, if pairs are independent: of {} differing pairs {b} go one way and {c} the other.{size}",
        strength(exact, level),
        b.saturating_add(c)
    );
    answer
}

/// The sign-flip test with the older tests beside it.
///
/// # Errors
/// A value is not finite.
pub fn signflip(differences: &[f64], level: Level, seed: u64) -> Result<Answer, StatsError> {
    let found = sign_flip(differences, seed)?;
    let mut answer = Answer::new(format!(
        "{} differences, one for each scenario, against 0",
        differences.len()
    ));
    let average = mean(differences);
    if let Some(average) = average {
        answer.line("mean", shown(average));
    }
    let method = match found.method {
        SignFlipMethod::Exact => format!("all 2^{} sign assignments", found.k),
        SignFlipMethod::MonteCarlo => {
            format!("{} random sign assignments", monte_carlo_draws(found.k))
        }
    };
    answer.line(
        "sign-flip",
        format!(
            "{}, above 0 {}, below 0 {} ({method})",
            p_of(found.p),
            p_of(found.p_greater),
            p_of(found.p_less)
        ),
    );
    answer.line("smallest p possible", shown(found.smallest_p));
    answer.number("n", differences.len());
    answer.number("mean", average);
    answer.number("sign_flip", found);
    answer.number("level", level.get());
    let t = one_sample(differences, level).ok();
    match t {
        Some(t) => answer.line(
            "t",
            match (t.t, t.p) {
                (Some(value), Some(p)) => format!(
                    "{} {}, interval {}",
                    shown(value),
                    p_of(p),
                    range(t.interval)
                ),
                _ => "nothing varies, so there is no t".to_owned(),
            },
        ),
        None => answer.line("t", "needs two values"),
    }
    answer.number("t", t);
    let (above, p) = sign_test(differences)?;
    answer.line(
        "sign test",
        format!(
            "{} of {} above 0, {}",
            above.successes(),
            above.n(),
            p_of(p)
        ),
    );
    answer.number("sign_test_above", above);
    answer.number("sign_test_p", p);
    let rank = signed_rank(differences).ok();
    if let Some(rank) = rank {
        answer.line("Wilcoxon", format!("W {} {}", shown(rank.w), p_of(rank.p)));
    }
    answer.number("wilcoxon", rank);
    answer.meaning = if differences.is_empty() {
        "Without a difference nothing can be said.".to_owned()
    } else if found.smallest_p > level.alpha() {
        format!(
            "{} values can never show a difference at {}, however large it is: the smallest p they allow is {}. It takes more scenarios, not more repeats.",
            differences.len(),
            shown(round(level.alpha())),
            shown(found.smallest_p)
        )
    } else {
        format!(
            "{} of a difference: if there were none, a mean this far from 0 would come up with a probability of {}.",
            strength(found.p, level),
            shown(found.p)
        )
    };
    Ok(answer)
}

/// Takes away what the subtraction of a level from 1 leaves in the last digits.
fn round(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// Evidence that may be looked at after every pair.
///
/// # Errors
/// The level asks for more than a thousand pairs.
pub fn eprocess(pairs: Proportion, level: Level) -> Result<Answer, StatsError> {
    let found = e_value(pairs);
    let limit = threshold(level);
    let share = confidence_sequence(pairs, level);
    let mut answer = Answer::new(format!(
        "e-process: {} of {} differing pairs favour one version",
        pairs.successes(),
        pairs.n()
    ));
    answer.line(
        "e-value",
        format!("{} ({} rejects)", shown(found.e), shown(round(limit))),
    );
    answer.line(
        "p, valid at any time",
        p_of(found.p).trim_start_matches("p "),
    );
    answer.line(
        "share",
        format!(
            "{} ({}, at all times together)",
            range(share),
            level_of(level)
        ),
    );
    answer.line(
        "fewest pairs",
        format!("{}, all of one side", fewest_pairs(level)?),
    );
    answer.number("pairs", pairs);
    answer.number("level", level.get());
    answer.number("e_value", found.e);
    answer.number("ln_e_value", found.ln_e);
    answer.number("p_any_time", found.p);
    answer.number("threshold", limit);
    answer.number("confidence_sequence", share);
    answer.meaning = if found.e >= limit * (1.0 - 1e-12) {
        "This is enough: a run may stop here, however often it was looked at.".to_owned()
    } else {
        format!(
            "Not enough to stop: the e-value has to reach {}. It may be looked at again after every further pair.",
            shown(round(limit))
        )
    };
    Ok(answer)
}
