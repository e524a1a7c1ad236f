//! Cluster bootstrap of a mean: scenarios are drawn with replacement, then the repeats of every drawn scenario.
//!
//! A drawn scenario enters by the sum of its redrawn repeats only. When its values are few different ones (yes
//! and no, differences of them, counts), how often each is drawn is multinomial, which takes as many random
//! numbers as there are different values, however many episodes there are.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Binomial, Distribution as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;

use crate::error::finite;
use crate::{Level, StatsError};

/// Resamples when scenarios are not enumerated.
pub const RESAMPLES: usize = 10_000;

/// Up to this many scenarios all K^K draws of scenarios are enumerated: 7^7 is 823,543.
pub const ENUMERATED_UP_TO: usize = 7;

/// Of a bootstrap distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bootstrap {
    /// Mean over all observations.
    pub mean: f64,
    /// Standard deviation of the resampled means.
    pub sd: f64,
    /// Percentile interval: the smallest resampled means below which at least the tail's share lies.
    pub interval: (f64, f64),
    /// Share of resampled means at or below 0.
    pub at_or_below_zero: f64,
    /// Clusters.
    pub clusters: usize,
    /// Resamples, or all K^K of them.
    pub draws: u64,
    /// Whether all were enumerated; then clusters only are drawn, each by its mean.
    pub enumerated: bool,
}

/// All K^K draws of K cluster means. Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 5.
///
/// # Errors
/// A mean is not finite, there are none, or more than [`ENUMERATED_UP_TO`].
pub fn bootstrap_enumerated(means: &[f64], level: Level) -> Result<Bootstrap, StatsError> {
    finite(means)?;
    let k = means.len();
    let found = |found| StatsError::TooFew {
        method: "a bootstrap",
        what: "scenarios",
        needed: 1,
        found,
    };
    let mean = crate::mean(means).ok_or(found(0))?;
    if k > ENUMERATED_UP_TO {
        return Err(StatsError::Undefined {
            method: "an enumerated bootstrap",
            why: "more than seven scenarios have too many draws; resample them",
        });
    }
    let mut sums = vec![0.0];
    for _ in 0..k {
        sums = sums
            .iter()
            .flat_map(|sum| means.iter().map(move |value| sum + value))
            .collect();
    }
    let resampled = sums.into_iter().map(|sum| sum / k as f64).collect();
    Ok(describe(mean, resampled, k, true, level))
}

/// Resamples scenarios, then the repeats of every drawn scenario. The result depends on the seed, not on the
/// number of threads: every resample has a random stream of its own.
///
/// Davison & Hinkley (1997), Bootstrap Methods and their Application, section 3.8; percentile interval.
///
/// # Errors
/// A value is not finite, there are no values, or no resamples are asked for.
pub fn bootstrap_clusters(
    clusters: &[Vec<f64>],
    resamples: usize,
    seed: u64,
    level: Level,
) -> Result<Bootstrap, StatsError> {
    let mut urns = Vec::new();
    let (mut sum, mut n) = (0.0, 0_u64);
    for cluster in clusters.iter().filter(|cluster| !cluster.is_empty()) {
        finite(cluster)?;
        sum += cluster.iter().sum::<f64>();
        n += cluster.len() as u64;
        urns.push(Urn::of(cluster));
    }
    for (what, found) in [("scenarios", urns.len()), ("resamples", resamples)] {
        if found == 0 {
            return Err(StatsError::TooFew {
                method: "a bootstrap",
                what,
                needed: 1,
                found,
            });
        }
    }
    let resampled: Vec<f64> = (0..resamples)
        .into_par_iter()
        .map(|stream| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream as u64);
            resample(&urns, &mut random)
        })
        .collect();
    Ok(describe(
        sum / n as f64,
        resampled,
        urns.len(),
        false,
        level,
    ))
}

/// How many resamples of these scenarios take a few seconds: [`RESAMPLES`], fewer for very many different values, and
/// not fewer than 400.
pub fn affordable_resamples(clusters: &[Vec<f64>]) -> usize {
    /// Random numbers drawn in all.
    const MOST: usize = 1_000_000_000;
    /// What picking a scenario costs, in random numbers.
    const SCENARIO: usize = 4;
    let cost: usize = clusters
        .iter()
        .map(|cluster| {
            SCENARIO
                + match Urn::of(cluster) {
                    Urn::Counted { values, .. } => SCENARIO * values.len(),
                    Urn::Plain(values) => values.len(),
                }
        })
        .sum();
    (MOST / cost.max(1)).clamp(400, RESAMPLES)
}

/// The mean of one resample.
fn resample(urns: &[Urn<'_>], random: &mut ChaCha8Rng) -> f64 {
    let (mut sum, mut n) = (0.0, 0_u64);
    for _ in 0..urns.len() {
        if let Some(urn) = urns.get(random.random_range(0..urns.len())) {
            sum += urn.draw(random);
            n += urn.size();
        }
    }
    sum / n as f64
}

/// The values of one cluster, ready to be drawn from with replacement.
enum Urn<'a> {
    /// Different values with how often each occurs, the most frequent first.
    Counted { values: Vec<(f64, u64)>, size: u64 },
    /// Mostly different values: one draw each.
    Plain(&'a [f64]),
}

impl<'a> Urn<'a> {
    fn of(values: &'a [f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut counted: Vec<(f64, u64)> = sorted
            .chunk_by(|a, b| a.total_cmp(b).is_eq())
            .filter_map(|same| Some((*same.first()?, same.len() as u64)))
            .collect();
        // A binomial draw costs about as much as a few plain ones.
        if counted.len() * 4 > values.len().max(8) {
            return Self::Plain(values);
        }
        counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Self::Counted {
            values: counted,
            size: values.len() as u64,
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::Counted { size, .. } => *size,
            Self::Plain(values) => values.len() as u64,
        }
    }

    /// Sum of as many draws with replacement as there are values.
    fn draw(&self, random: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Plain(values) => (0..values.len())
                .filter_map(|_| values.get(random.random_range(0..values.len())))
                .sum(),
            Self::Counted { values, size } => {
                let (mut left, mut weight, mut sum) = (*size, *size, 0.0);
                for (value, count) in values {
                    // The last value takes what is left; before it each count is binomial given the earlier ones.
                    let drawn = if *count == weight {
                        left
                    } else {
                        let share = *count as f64 / weight as f64;
                        Binomial::new(left, share).map_or(0, |binomial| binomial.sample(random))
                    };
                    sum += value * drawn as f64;
                    left -= drawn;
                    weight -= count;
                    if left == 0 {
                        break;
                    }
                }
                sum
            }
        }
    }
}

fn describe(
    mean: f64,
    mut resampled: Vec<f64>,
    clusters: usize,
    enumerated: bool,
    level: Level,
) -> Bootstrap {
    resampled.sort_by(f64::total_cmp);
    let n = resampled.len();
    let center = resampled.iter().sum::<f64>() / n as f64;
    let variance = resampled
        .iter()
        .map(|value| (value - center).powi(2))
        .sum::<f64>()
        / n as f64;
    let tail = level.alpha() / 2.0;
    // Means that are equal on paper differ by rounding; they must count as zero together.
    let zero = 1e-12 * resampled.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let below = resampled.partition_point(|value| *value <= zero);
    Bootstrap {
        mean,
        sd: variance.sqrt(),
        interval: (quantile(&resampled, tail), quantile(&resampled, 1.0 - tail)),
        at_or_below_zero: below as f64 / n as f64,
        clusters,
        draws: n as u64,
        enumerated,
    }
}

/// The smallest value with at least this share of the values at or below it.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length; the cast saturates"
    )]
    let rank = (share * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
    sorted
        .get(rank - 1)
        .or(sorted.last())
        .copied()
        .unwrap_or(f64::NAN)
}
