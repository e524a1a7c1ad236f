//! What else the data say, a line each.

use std::fmt::Write as _;

use crate::compare::contrast::{Contrast, Counts};
use crate::compare::interaction::TwoByTwoEffect;
use crate::compare::{Comparison, Metric};
use crate::figures;
use crate::stats::{Components, Interaction};

/// Secondary figures: name and text.
pub(crate) fn further(comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(contrast) = comparison.pooled.contrast(comparison.metric.name) {
        lines.extend(intervals(contrast));
        lines.extend(pairwise(contrast));
    }
    lines.extend(intention(comparison));
    lines.extend(sequence(comparison));
    lines.extend(pass_k(comparison));
    lines.extend(correlation(comparison));
    for metric in [
        Metric::AttemptedViolations,
        Metric::RefusedCalls,
        Metric::ToolCalls,
    ] {
        let contrast = comparison.pooled.contrast(metric.as_str());
        if let Some(counts) = contrast.and_then(|contrast| contrast.counts.as_ref()) {
            lines.extend(ratio(metric, counts));
        }
    }
    lines.extend(comparison.interactions.iter().filter_map(interaction));
    lines
}

fn range(metric: Metric, (low, high): (f64, f64)) -> String {
    let shown = |value: f64| {
        if metric.is_binary() {
            figures::points(value)
        } else {
            figures::signed(value, 1)
        }
    };
    format!("[{}, {}]", shown(low), shown(high))
}

/// As [`range`], for a difference of rates: it cannot leave -1 to 1, or twice that for a difference of differences.
fn bounded(metric: Metric, (low, high): (f64, f64), bound: f64) -> String {
    if metric.is_binary() {
        range(metric, (low.max(-bound), high.min(bound)))
    } else {
        range(metric, (low, high))
    }
}

fn intervals(contrast: &Contrast) -> Option<(&'static str, String)> {
    let clustered = contrast.clustered?;
    let mut text = format!(
        "t over {} scenarios (CR1) {}",
        clustered.clusters,
        bounded(contrast.metric, clustered.interval, 1.0)
    );
    if let Some(bootstrap) = contrast.bootstrap {
        let _ = write!(
            text,
            "; bootstrap {} ({})",
            range(contrast.metric, bootstrap.interval),
            if bootstrap.enumerated {
                format!("all {} draws of scenarios", bootstrap.draws)
            } else {
                format!("{} resamples of scenarios and repeats", bootstrap.draws)
            }
        );
    }
    if clustered.clusters < 12 {
        text.push_str("; approximate with fewer than 12 scenarios");
    }
    Some(("intervals", text))
}

fn pairwise(contrast: &Contrast) -> Option<(&'static str, String)> {
    let binary = contrast.binary?;
    if contrast.pairs == 0 {
        return None;
    }
    Some((
        "as if pairs were independent",
        format!(
            "McNemar exact {}, mid-p {}; Tango {}; probability that the candidate's rate is higher {}",
            figures::p_is(binary.mcnemar_p),
            figures::p(binary.mcnemar_mid_p),
            range(contrast.metric, binary.tango),
            figures::probability(binary.probability_higher)
        ),
    ))
}

fn intention(comparison: &Comparison) -> Option<(&'static str, String)> {
    let robustness = comparison.robustness;
    let begun = robustness.intention_to_treat;
    let metric = comparison.pooled.contrast(comparison.metric.name)?.metric;
    let difference = begun.difference?;
    let shown = if metric.is_binary() {
        format!("{} points", figures::points(difference))
    } else {
        figures::signed(difference, 1)
    };
    let interval = begun
        .interval
        .map(|interval| range(metric, interval))
        .unwrap_or_default();
    let p = begun
        .sign_flip
        .map(|test| figures::p_is(test.p))
        .unwrap_or_default();
    Some((
        "intention to treat",
        if robustness.scored_as_worst == 0 && robustness.missing_pairs == 0 {
            "the same: every planned pair ran to its end".to_owned()
        } else {
            format!(
                "{shown} {interval}, {p} over {} pairs; {} episodes their agent could not finish count as the worst, infrastructure errors stay out",
                begun.pairs, robustness.scored_as_worst
            )
        },
    ))
}

fn sequence(comparison: &Comparison) -> Option<(&'static str, String)> {
    let sequence = comparison.sequence;
    (sequence.discordant > 0).then(|| {
        (
            "evidence over time",
            format!(
                "{} of {} differing pairs favour the candidate (share {} to {} at any time); e-value {}, at most {} along the way, {:.0} would stop a sequential run",
                sequence.candidate_better,
                sequence.discordant,
                figures::percent(sequence.share.0),
                figures::percent(sequence.share.1),
                figures::large(sequence.e),
                figures::large(sequence.largest_e),
                sequence.threshold
            ),
        )
    })
}

fn pass_k(comparison: &Comparison) -> Option<(&'static str, String)> {
    let last = comparison.pass_k.last()?;
    let values: Vec<String> = comparison
        .pass_k
        .iter()
        .map(|pass| {
            format!(
                "k={} {} -> {}",
                pass.k,
                figures::percent(pass.baseline.pass_hat_k),
                figures::percent(pass.candidate.pass_hat_k)
            )
        })
        .collect();
    (last.k > 1).then(|| {
        (
            "every time of k (pass^k)",
            format!("{}; a task is a scenario in a condition", values.join(", ")),
        )
    })
}

fn correlation(comparison: &Comparison) -> Option<(&'static str, String)> {
    let worth = |name: &str, components: Option<Components>| {
        components.map(|c| {
            format!(
                "{name} ICC {:.2}, {} worth about {:.0} independent ones",
                c.icc, c.n, c.effective_n
            )
        })
    };
    let correlation = comparison.correlation;
    let parts: Vec<String> = [
        worth("baseline", correlation.baseline),
        worth("candidate", correlation.candidate),
        worth("differences", correlation.difference),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| ("episodes of a scenario are alike", parts.join("; ")))
}

fn ratio(metric: Metric, counts: &Counts) -> Option<(&'static str, String)> {
    let ratio = counts.poisson.ratio.filter(|ratio| ratio.is_finite())?;
    let (low, high) = counts.poisson.interval;
    let mut text = format!(
        "{} -> {} in all, ratio {ratio:.2} [{low:.2}, {high:.2}] {} as if events were independent",
        counts.baseline,
        counts.candidate,
        figures::p_is(counts.poisson.p)
    );
    // A ratio that hardly changes is not worth a second look.
    if let (Some(phi), Some(adjusted)) = (counts.overdispersion, counts.adjusted)
        && phi > 1.05
    {
        let _ = write!(
            text,
            "; they vary {phi:.1} times as much, so rather [{:.2}, {:.2}] {}",
            adjusted.interval.0,
            adjusted.interval.1,
            figures::p_is(adjusted.p)
        );
    }
    Some((metric.title(), text))
}

fn interaction(effect: &TwoByTwoEffect) -> Option<(&'static str, String)> {
    let shown = |side: Option<Interaction>| {
        side.map(|side| {
            let value = if effect.metric.is_binary() {
                figures::points(side.mean.mean)
            } else {
                figures::signed(side.mean.mean, 1)
            };
            if side.mean.t.is_none() {
                return format!("{value} in every scenario");
            }
            format!(
                "{value} {} {}",
                bounded(effect.metric, side.mean.interval, 2.0),
                figures::p_is(side.sign_flip.p)
            )
        })
    };
    Some((
        "enforcement and injection",
        format!(
            "{}: what the injection adds without enforcement minus what it adds with it: baseline {}; candidate {}; change {}",
            effect.metric.title(),
            shown(effect.baseline)?,
            shown(effect.candidate)?,
            shown(effect.difference)?
        ),
    ))
}
