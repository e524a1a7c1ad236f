//! Two older tests for paired differences, for comparison with the sign-flip test.

use crate::error::finite;
use crate::mcnemar::mcnemar_exact;
use crate::{Proportion, StatsError};

/// Up to this many differences the signed-rank test is enumerated.
const RANKS_UP_TO: usize = 1_000;

/// Exact two-sided sign test: how many differences are above zero, of those that are not zero.
///
/// # Errors
/// A difference is not finite.
pub fn sign_test(differences: &[f64]) -> Result<(Proportion, f64), StatsError> {
    finite(differences)?;
    let above = differences.iter().filter(|d| **d > 0.0).count() as u64;
    let below = differences.iter().filter(|d| **d < 0.0).count() as u64;
    let share = Proportion::at_most(above, above + below);
    Ok((share, mcnemar_exact(above, below)))
}

/// Wilcoxon's signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SignedRank {
    /// The smaller of the two rank sums.
    pub w: f64,
    /// Exact two-sided p.
    pub p: f64,
    /// Differences that are not zero.
    pub n: usize,
}

/// Exact signed-rank test; zeros are left out, ties get their mean rank.
///
/// All 2^n sign assignments of the ranks are counted by adding one rank after the other. Wilcoxon (1945),
/// Biometrics Bull. 1, 80-83.
///
/// # Errors
/// A difference is not finite, or there are more than a thousand.
pub fn signed_rank(differences: &[f64]) -> Result<SignedRank, StatsError> {
    finite(differences)?;
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = sorted.len();
    if n > RANKS_UP_TO {
        return Err(StatsError::Undefined {
            method: "the exact signed-rank test",
            why: "it enumerates at most a thousand differences; use the sign-flip test",
        });
    }
    // Twice the rank is a whole number, also for ties.
    let doubled = doubled_ranks(&sorted);
    let total: usize = doubled.iter().sum();
    let above: usize = sorted
        .iter()
        .zip(&doubled)
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let smaller = above.min(total - above);
    let mut share = vec![0.0; total + 1];
    if let Some(none) = share.first_mut() {
        *none = 1.0;
    }
    for rank in &doubled {
        for sum in (0..=total).rev() {
            let with = sum
                .checked_sub(*rank)
                .and_then(|rest| share.get(rest))
                .copied();
            if let Some(cell) = share.get_mut(sum) {
                *cell = f64::midpoint(*cell, with.unwrap_or(0.0));
            }
        }
    }
    let tail: f64 = share.iter().take(smaller + 1).sum();
    Ok(SignedRank {
        w: smaller as f64 / 2.0,
        p: (2.0 * tail).min(1.0),
        n,
    })
}

/// Twice the mean rank of every value of a sorted list.
fn doubled_ranks(sorted: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a.abs().total_cmp(&b.abs()).is_eq()) {
        // Ranks first..=last have the mean (first + last) / 2.
        let first = ranks.len() + 1;
        let last = ranks.len() + group.len();
        ranks.extend(std::iter::repeat_n(first + last, group.len()));
    }
    ranks
}
