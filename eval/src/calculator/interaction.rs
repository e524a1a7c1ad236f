//! Whether enforcement changes what the injection does.

use super::{Answer, level_of, p_of, range, shown, strength};
use crate::stats::{
    Level, Proportion, StatsError, TwoByTwo, difference_in_differences, difference_of_rates,
    ratio_of_ratios,
};

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
            level_of(level)
        ),
    );
    if let (Some(value), Some(p)) = (t.t, t.p) {
        answer.line("t", format!("{} {}", shown(value), p_of(p)));
    } else {
        answer.line("t", "nothing varies between scenarios, so there is no t");
    }
    answer.line(
        "sign-flip",
        format!(
            "{} (smallest possible {})",
            p_of(found.sign_flip.p),
            shown(found.sign_flip.smallest_p)
        ),
    );
    answer.number("scenarios", scenarios.len());
    answer.number("left_out", left_out);
    answer.number("level", level.get());
    answer.number("mean", t);
    answer.number("sign_flip", found.sign_flip);
    answer.meaning = about(strength(found.sign_flip.p, level));
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
            level_of(level)
        ),
    );
    answer.number("cells", cells);
    answer.number("level", level.get());
    answer.number("estimate", difference);
    answer.number("interval", interval);
    let excludes = interval.0 > 0.0 || interval.1 < 0.0;
    let varies = |cell: &Proportion| cell.successes() > 0 && cell.failures() > 0;
    answer.meaning = if cells.iter().any(varies) {
        about(if excludes { "Evidence" } else { "No evidence" })
    } else {
        "Nothing can be said: in every cell all episodes agree, which leaves the normal approximation without an error.".to_owned()
    };
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
            "{} {} ({}) {}",
            shown(found.ratio),
            range(found.interval),
            level_of(level),
            p_of(found.p)
        ),
    );
    answer.number("counts", counts);
    answer.number("overdispersion", phi);
    answer.number("level", level.get());
    answer.number("ratio", found.ratio);
    answer.number("interval", found.interval);
    answer.number("p", found.p);
    answer.meaning = about(strength(found.p, level));
    Ok(answer)
}
