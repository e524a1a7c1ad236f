//! How a count is distributed over episodes: the baseline above, the candidate below, on the same axes.

use super::frame::{Anchor, Frame, WIDTH};
use crate::figures;
use crate::report::evidence::{Count, Distribution};

const LEFT: f64 = 30.0;
const HEIGHT: f64 = 84.0;
const GAP: f64 = 34.0;
const TOP: f64 = 22.0;
/// More bins than this are too narrow to be told apart on a phone.
const MOST_BINS: i64 = 24;

/// Equal bins over whole numbers.
struct Bins {
    first: i64,
    width: i64,
    count: i64,
}

impl Bins {
    fn over(distribution: &Distribution) -> Option<Self> {
        let values = || {
            [&distribution.baseline, &distribution.candidate]
                .into_iter()
                .flatten()
                .map(|count| count.value)
        };
        let (low, high) = (values().min()?, values().max()?);
        let span = high.saturating_sub(low).saturating_add(1);
        let width = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
            .into_iter()
            .find(|width| span / width < MOST_BINS)
            .unwrap_or(span / MOST_BINS + 1);
        let first = low.div_euclid(width) * width;
        Some(Self {
            first,
            width,
            count: high.saturating_sub(first) / width + 1,
        })
    }

    /// The counts of each bin.
    fn fill(&self, counts: &[Count]) -> Vec<usize> {
        (0..self.count)
            .map(|bin| {
                let low = self.first + bin * self.width;
                counts
                    .iter()
                    .filter(|count| (low..low + self.width).contains(&count.value))
                    .map(|count| count.episodes)
                    .sum()
            })
            .collect()
    }

    /// `12`, or `10–14` for a bin of several values.
    fn name(&self, bin: usize) -> String {
        let low = self.first + i64::try_from(bin).unwrap_or(0) * self.width;
        if self.width == 1 {
            low.to_string()
        } else {
            format!("{low}–{}", low + self.width - 1)
        }
    }
}

/// `None` when there is nothing to draw.
pub(in crate::report) fn histogram(distribution: &Distribution) -> Option<String> {
    let bins = Bins::over(distribution)?;
    let sides = [
        (
            "baseline",
            &distribution.baseline,
            distribution.baseline_mean,
        ),
        (
            "candidate",
            &distribution.candidate,
            distribution.candidate_mean,
        ),
    ];
    let filled = sides.map(|(_, counts, _)| bins.fill(counts));
    let most = filled.iter().flatten().copied().max()?.max(1);
    let slot = (WIDTH - LEFT) / bins.count as f64;
    // A single tall bar as wide as the plot would look like a background.
    let bar = (slot - 2.0).clamp(1.0, 28.0);
    let mut frame = Frame::new();
    let mut alternatives = Vec::new();
    for (index, ((name, _, mean), heights)) in sides.iter().zip(&filled).enumerate() {
        let top = TOP + index as f64 * (HEIGHT + GAP);
        let bottom = top + HEIGHT;
        let y = |episodes: usize| bottom - episodes as f64 / most as f64 * HEIGHT;
        frame.text(
            "strong",
            (LEFT, top - 9.0),
            Anchor::Start,
            &format!("{name}, mean {}", figures::number(*mean)),
        );
        for tick in [0, most.div_ceil(2), most] {
            frame.segment("grid", (LEFT, y(tick)), (WIDTH, y(tick)));
            frame.text(
                "tick",
                (LEFT - 5.0, y(tick) + 4.0),
                Anchor::End,
                &tick.to_string(),
            );
        }
        for (bin, episodes) in heights.iter().enumerate() {
            let x = LEFT + slot * (bin as f64 + 0.5);
            frame.bar(
                name,
                (x - bar / 2.0, y(*episodes)),
                (bar, bottom - y(*episodes)),
            );
        }
        let told: Vec<String> = heights
            .iter()
            .enumerate()
            .filter(|(_, episodes)| **episodes > 0)
            .map(|(bin, episodes)| format!("{}: {episodes}", bins.name(bin)))
            .collect();
        alternatives.push(format!(
            "{name}, mean {}, episodes by value: {}",
            figures::number(*mean),
            told.join(", ")
        ));
    }
    let bottom = TOP + 2.0 * HEIGHT + GAP;
    let every = usize::try_from((bins.count + 7) / 8).unwrap_or(1).max(1);
    for bin in (0..filled.first().map_or(0, Vec::len)).step_by(every) {
        let x = LEFT + slot * (bin as f64 + 0.5);
        frame.text("tick", (x, bottom + 14.0), Anchor::Middle, &bins.name(bin));
    }
    Some(frame.finish(
        &format!("distribution-{}", distribution.metric.as_str()),
        bottom + 20.0,
        &format!(
            "{} per episode, number of episodes",
            distribution.metric.title()
        ),
        &alternatives.join(". "),
    ))
}
