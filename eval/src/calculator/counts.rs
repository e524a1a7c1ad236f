//! Counts, several tests at once, reliability.

use super::{Answer, level_of, p_of, percent, range, shown, strength};
use crate::stats::{
    Level, Proportion, StatsError, adjust, garwood, overdispersed_ratio, poisson_ratio, reliability,
};

/// The ratio of two counts.
///
/// # Errors
/// An exposure or the overdispersion is out of range.
pub fn poisson(
    (first, second): (u64, u64),
    (first_exposure, second_exposure): (f64, f64),
    phi: Option<f64>,
    level: Level,
) -> Result<Answer, StatsError> {
    let found = poisson_ratio(first, first_exposure, second, second_exposure, level)?;
    let mut answer = Answer::new(format!(
        "rate ratio of {first} events in {} against {second} in {}",
        shown(first_exposure),
        shown(second_exposure)
    ));
    answer.line(
        "ratio",
        format!(
            "{} {} (exact, {})",
            found.ratio.map_or_else(|| "undefined".to_owned(), shown),
            range(found.interval),
            level_of(level)
        ),
    );
    answer.line(
        "p",
        format!(
            "{} that the rates are equal (exact, two-sided)",
            p_of(found.p).trim_start_matches("p ")
        ),
    );
    let (a, b) = (garwood(first, level), garwood(second, level));
    answer.line(
        "Garwood",
        format!("first count {}, second count {}", range(a), range(b)),
    );
    answer.number("first", first);
    answer.number("second", second);
    answer.number("exposure", (first_exposure, second_exposure));
    answer.number("level", level.get());
    answer.number("ratio", found.ratio.filter(|ratio| ratio.is_finite()));
    answer.number("interval", found.interval);
    answer.number("p", found.p);
    answer.number("garwood_first", a);
    answer.number("garwood_second", b);
    let mut p = found.p;
    if let Some(phi) = phi {
        let adjusted = overdispersed_ratio(
            (first, first_exposure),
            (second, second_exposure),
            phi,
            level,
        )?;
        answer.line(
            "overdispersed",
            format!(
                "{} {} when events come in clusters ({} times as variable)",
                range(adjusted.interval),
                p_of(adjusted.p),
                shown(phi)
            ),
        );
        answer.number("overdispersion", phi);
        answer.number("adjusted_interval", adjusted.interval);
        answer.number("adjusted_p", adjusted.p);
        p = adjusted.p;
    }
    answer.meaning = format!(
        "{} that the rates differ{}.",
        strength(p, level),
        if phi.is_some() {
            ", with clusters of events taken into account"
        } else {
            ", if every event is independent of the others; attempts of one episode are not (--overdispersion)"
        }
    );
    Ok(answer)
}

/// Holm and Benjamini-Hochberg side by side.
///
/// # Errors
/// A p value is out of range.
pub fn multiplicity(p_values: &[f64], alpha: f64, holm_first: bool) -> Result<Answer, StatsError> {
    let found = adjust(p_values)?;
    let mut answer = Answer::new(format!(
        "{} p values corrected for their number",
        p_values.len()
    ));
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    let at = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(1.0);
    order.sort_by(|a, b| at(p_values, *a).total_cmp(&at(p_values, *b)));
    for i in order {
        answer.line(
            "p",
            format!(
                "{:<12} Holm {:<12} BH {:<12} Bonferroni {}",
                shown(at(p_values, i)),
                shown(at(&found.holm, i)),
                shown(at(&found.bh, i)),
                shown(at(&found.bonferroni, i))
            ),
        );
    }
    let rejected = |values: &[f64]| values.iter().filter(|p| **p <= alpha).count();
    let (holm, bh) = (rejected(&found.holm), rejected(&found.bh));
    answer.number("p", p_values);
    answer.number("alpha", alpha);
    answer.number("holm", &found.holm);
    answer.number("bh", &found.bh);
    answer.number("bonferroni", &found.bonferroni);
    answer.number("rejected_holm", holm);
    answer.number("rejected_bh", bh);
    answer.number("rejected_bonferroni", rejected(&found.bonferroni));
    let alpha = shown((alpha * 1e9).round() / 1e9);
    answer.meaning = if holm_first {
        format!(
            "At {alpha} {holm} of {} stand with Holm's method, which bounds the chance of even one false finding; with BH, which bounds their expected share, {bh}.",
            p_values.len()
        )
    } else {
        format!(
            "At {alpha} {bh} of {} stand with Benjamini and Hochberg's method, which bounds the expected share of false findings; with Holm, which bounds the chance of even one, {holm}.",
            p_values.len()
        )
    };
    Ok(answer)
}

/// pass^k and pass@k over scenarios.
///
/// # Errors
/// No scenario has `k` attempts.
pub fn passk(scenarios: &[Proportion], k: u64) -> Result<Answer, StatsError> {
    let found = reliability(scenarios, k)?;
    let mut answer = Answer::new(format!(
        "reliability over {k} attempts, averaged over scenarios"
    ));
    answer.line(
        "pass^k",
        format!(
            "{} (all {k} succeed: C(c,k)/C(n,k))",
            shown(found.pass_hat_k)
        ),
    );
    answer.line(
        "pass@k",
        format!("{} (at least one succeeds)", shown(found.pass_at_k)),
    );
    answer.line(
        "scenarios",
        format!(
            "{}, {} left out with fewer than {k} attempts",
            found.scenarios, found.too_few
        ),
    );
    answer.number("k", k);
    answer.number("pass_hat_k", found.pass_hat_k);
    answer.number("pass_at_k", found.pass_at_k);
    answer.number("scenarios", found.scenarios);
    answer.number("too_few", found.too_few);
    answer.meaning = format!(
        "Asked {k} times, the agents succeed every time with a probability of {}, and at least once with {}.",
        percent(found.pass_hat_k),
        percent(found.pass_at_k)
    );
    Ok(answer)
}
