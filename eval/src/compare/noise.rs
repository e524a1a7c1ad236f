//! The noise floor: what the whole procedure says when there is nothing to find.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;

use super::metric::Metric;
use super::pairs::Pair;
use super::{CompareError, Coverage, VerdictKind, judge_pairs};
use crate::analysis::Analysis;
use crate::stats::{Level, Proportion};

/// Relabellings drawn.
const RELABELLINGS: u64 = 400;

/// What chance alone does in this design.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoiseFloor {
    /// Relabellings: in every pair it was drawn anew which episode is called the baseline's.
    pub relabellings: u64,
    /// 95 % of them show a difference of at most this size.
    pub floor: f64,
    /// Of these, how many the whole procedure called improved or regressed.
    pub false_verdicts: u64,
    /// Their share with its Wilson 95 % interval.
    pub false_verdict_rate: f64,
    /// The interval.
    pub interval: (f64, f64),
}

/// Measures the floor by swapping labels inside pairs and judging every such relabelling as the comparison itself is.
pub(super) fn noise_floor(
    metric: Metric,
    analysis: &Analysis,
    pairs: &[Pair<'_>],
    coverage: [Coverage; 2],
    seed: u64,
) -> Result<NoiseFloor, CompareError> {
    let judged: Vec<(f64, VerdictKind)> = (0..RELABELLINGS)
        .into_par_iter()
        .map(|stream| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            let relabelled: Vec<Pair<'_>> = pairs
                .iter()
                .map(|pair| {
                    if random.random::<bool>() {
                        Pair {
                            baseline: pair.candidate,
                            candidate: pair.baseline,
                            ..*pair
                        }
                    } else {
                        *pair
                    }
                })
                .collect();
            judge_pairs(metric, analysis, &relabelled, coverage, seed)
        })
        .collect::<Result<_, _>>()?;
    let mut sizes: Vec<f64> = judged
        .iter()
        .map(|(difference, _)| difference.abs())
        .collect();
    sizes.sort_by(f64::total_cmp);
    let last = sizes
        .len()
        .saturating_mul(95)
        .div_ceil(100)
        .saturating_sub(1);
    let wrong = judged
        .iter()
        .filter(|(_, kind)| matches!(kind, VerdictKind::Improved | VerdictKind::Regressed))
        .count() as u64;
    let share = Proportion::at_most(wrong, RELABELLINGS);
    Ok(NoiseFloor {
        relabellings: RELABELLINGS,
        floor: sizes.get(last).copied().unwrap_or(0.0),
        false_verdicts: wrong,
        false_verdict_rate: share.rate().unwrap_or(0.0),
        interval: share.wilson(Level::P95),
    })
}
