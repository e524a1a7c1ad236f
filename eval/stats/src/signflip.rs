//! The sign-flip test: a permutation test for paired differences.
//!
//! If the two versions do not differ, each scenario's difference could as well have had the other sign. The
//! p value is the share of all sign assignments whose sum is at least as far from zero as the observed one.
//! Fisher (1935), The Design of Experiments, section 21; Pitman (1937), Suppl. J. R. Stat. Soc. 4, 119-130.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use crate::StatsError;
use crate::error::finite;

/// Up to this many differences every assignment is enumerated.
pub const EXACT_UP_TO: usize = 20;

/// Random assignments drawn beyond [`EXACT_UP_TO`], fewer for very many differences: see [`monte_carlo_draws`].
pub const MONTE_CARLO_DRAWS: u64 = 100_000;

/// Signs drawn in all; they take a few seconds.
const MOST_SIGNS: u64 = 1_000_000_000;

/// Assignments drawn from one stream; the result must not depend on how threads share the streams.
const DRAWS_PER_STREAM: u64 = 1_000;

/// How the p value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SignFlipMethod {
    /// All 2^K assignments.
    Exact,
    /// `(r + 1) / (B + 1)` with B random assignments: Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39.
    MonteCarlo,
}

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SignFlip {
    /// Two-sided p.
    pub p: f64,
    /// One-sided p: the true difference is above zero.
    pub p_greater: f64,
    /// One-sided p: the true difference is below zero.
    pub p_less: f64,
    /// Differences.
    pub k: usize,
    /// How it was found.
    pub method: SignFlipMethod,
    /// The smallest two-sided p that this many differences can give.
    pub smallest_p: f64,
}

/// The smallest two-sided p that `k` differences can reach: all of one sign, `2/2^K`.
pub fn smallest_p(k: usize) -> f64 {
    if k == 0 {
        1.0
    } else {
        (2.0 * 0.5_f64.powf(k as f64)).min(1.0)
    }
}

/// Random assignments for `k` differences: [`MONTE_CARLO_DRAWS`] up to 10,000 differences, then as many as make a
/// thousand million signs, and not fewer than 1,000.
pub fn monte_carlo_draws(k: usize) -> u64 {
    let affordable = MOST_SIGNS / (k as u64).max(1);
    let whole_streams = affordable / DRAWS_PER_STREAM * DRAWS_PER_STREAM;
    whole_streams.clamp(DRAWS_PER_STREAM, MONTE_CARLO_DRAWS)
}

/// Assignments with a sum at least as far out: (either side, above, below).
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    either: u64,
    above: u64,
    below: u64,
}

impl Counts {
    fn add(self, other: Self) -> Self {
        Self {
            either: self.either + other.either,
            above: self.above + other.above,
            below: self.below + other.below,
        }
    }
}

/// What a sum is compared with. Sums that differ by rounding only must count as equal.
#[derive(Debug, Clone, Copy)]
struct Observed {
    sum: f64,
    tolerance: f64,
}

impl Observed {
    fn count(self, sum: f64) -> Counts {
        Counts {
            either: u64::from(sum.abs() >= self.sum.abs() - self.tolerance),
            above: u64::from(sum >= self.sum - self.tolerance),
            below: u64::from(sum <= self.sum + self.tolerance),
        }
    }
}

/// Tests whether the differences are centred on zero. `seed` is used beyond [`EXACT_UP_TO`] differences only. Without
/// differences, and when all are 0, the p is 1.
///
/// # Errors
/// A difference is not finite.
pub fn sign_flip(differences: &[f64], seed: u64) -> Result<SignFlip, StatsError> {
    finite(differences)?;
    // The order of the rows must not matter, not even by rounding.
    let mut sorted = differences.to_vec();
    sorted.sort_by(|a, b| b.abs().total_cmp(&a.abs()).then(b.total_cmp(a)));
    let total: f64 = sorted.iter().map(|difference| difference.abs()).sum();
    let observed = Observed {
        sum: sorted.iter().sum(),
        tolerance: total * 1e-12,
    };
    let (method, counts, all, extra) = if sorted.len() <= EXACT_UP_TO {
        (
            SignFlipMethod::Exact,
            enumerate(&sorted, 0.0, observed),
            0.5_f64.powf(-(sorted.len() as f64)),
            0.0,
        )
    } else {
        let counts = draw(&sorted, observed, seed);
        (
            SignFlipMethod::MonteCarlo,
            counts,
            monte_carlo_draws(sorted.len()) as f64,
            1.0,
        )
    };
    let share = |count: u64| ((count as f64 + extra) / (all + extra)).min(1.0);
    Ok(SignFlip {
        p: share(counts.either),
        p_greater: share(counts.above),
        p_less: share(counts.below),
        k: sorted.len(),
        method,
        smallest_p: match method {
            SignFlipMethod::Exact => smallest_p(sorted.len()),
            // The observed assignment is one of those counted.
            SignFlipMethod::MonteCarlo => 1.0 / (all + extra),
        },
    })
}

/// Both signs of the first difference, with all assignments of the rest.
fn enumerate(differences: &[f64], sum: f64, observed: Observed) -> Counts {
    match differences.split_first() {
        None => observed.count(sum),
        Some((first, rest)) => {
            enumerate(rest, sum + first, observed).add(enumerate(rest, sum - first, observed))
        }
    }
}

fn draw(differences: &[f64], observed: Observed, seed: u64) -> Counts {
    (0..monte_carlo_draws(differences.len()) / DRAWS_PER_STREAM)
        .into_par_iter()
        .map(|stream| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            (0..DRAWS_PER_STREAM)
                .map(|_| observed.count(random_sum(differences, &mut random)))
                .fold(Counts::default(), Counts::add)
        })
        .reduce(Counts::default, Counts::add)
}

fn random_sum(differences: &[f64], random: &mut ChaCha8Rng) -> f64 {
    let mut sum = 0.0;
    for chunk in differences.chunks(64) {
        let bits = random.next_u64();
        for (position, difference) in chunk.iter().enumerate() {
            sum += if bits >> position & 1 == 1 {
                *difference
            } else {
                -*difference
            };
        }
    }
    sum
}
