//! Two arms that are not paired, compared within scenarios.

use serde::Serialize;

use crate::fisher::Hypergeometric;
use crate::mcnemar::ChiSquare;
use crate::special::bisect;
use crate::{Level, Proportion, StatsError};

/// Both arms in one scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stratum {
    /// First arm.
    pub first: Proportion,
    /// Second arm.
    pub second: Proportion,
}

/// Cochran, Mantel and Haenszel's test with the common odds ratio, and Breslow and Day's test of its constancy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StratifiedTest {
    /// Without continuity correction.
    pub cmh: ChiSquare,
    /// With the correction of 1/2, which never takes more than the distance away.
    pub cmh_corrected: ChiSquare,
    /// Mantel and Haenszel's common odds ratio; absent when one of its parts is 0.
    pub odds_ratio: Option<f64>,
    /// Its interval, by Robins, Breslow & Greenland's (1986) variance of the logarithm.
    pub interval: Option<(f64, f64)>,
    /// Whether the odds ratio differs between strata: Breslow & Day (1980), without Tarone's correction; absent when
    /// there is no odds ratio or only one stratum.
    pub breslow_day: Option<ChiSquare>,
    /// Strata in which both arms have trials and not all outcomes agree; the others say nothing.
    pub informative: usize,
}

/// The test over strata. Cochran (1954), Biometrics 10, 417-451; Mantel & Haenszel (1959), J. Natl. Cancer Inst. 22,
/// 719-748.
///
/// # Errors
/// No stratum has trials in both arms and different outcomes.
pub fn cochran_mantel_haenszel(
    strata: &[Stratum],
    level: Level,
) -> Result<StratifiedTest, StatsError> {
    let cells: Vec<[f64; 4]> = informative(strata);
    if cells.is_empty() {
        return Err(StatsError::Undefined {
            method: "the Cochran-Mantel-Haenszel test",
            why: "in every scenario one arm is missing or all outcomes agree",
        });
    }
    let (mut distance, mut variance) = (0.0, 0.0);
    let (mut agree, mut differ) = (0.0, 0.0);
    let (mut pr, mut mixed, mut qs) = (0.0, 0.0, 0.0);
    for [a, b, c, d] in &cells {
        let n = a + b + c + d;
        let (row1, row2, column1, column2) = (a + b, c + d, a + c, b + d);
        distance += a - row1 * column1 / n;
        variance += row1 * row2 * column1 * column2 / (n * n * (n - 1.0));
        let (diagonal, off_diagonal) = (a * d / n, b * c / n);
        let (on_share, off_share) = ((a + d) / n, (b + c) / n);
        agree += diagonal;
        differ += off_diagonal;
        pr += on_share * diagonal;
        mixed += on_share * off_diagonal + off_share * diagonal;
        qs += off_share * off_diagonal;
    }
    let odds_ratio = (agree > 0.0 && differ > 0.0).then(|| agree / differ);
    let interval = odds_ratio.map(|ratio| {
        let log_variance = pr / (2.0 * agree * agree)
            + mixed / (2.0 * agree * differ)
            + qs / (2.0 * differ * differ);
        let half = level.z() * log_variance.sqrt();
        ((ratio.ln() - half).exp(), (ratio.ln() + half).exp())
    });
    let corrected = (distance.abs() - 0.5).max(0.0);
    Ok(StratifiedTest {
        cmh: ChiSquare::of(distance * distance / variance, 1.0),
        cmh_corrected: ChiSquare::of(corrected * corrected / variance, 1.0),
        odds_ratio,
        interval,
        breslow_day: odds_ratio
            .filter(|_| cells.len() > 1)
            .map(|ratio| breslow_day(&cells, ratio)),
        informative: cells.len(),
    })
}

/// Successes and failures of the first arm, then of the second.
fn informative(strata: &[Stratum]) -> Vec<[f64; 4]> {
    strata
        .iter()
        .filter(|stratum| {
            let successes = stratum.first.successes() + stratum.second.successes();
            let failures = stratum.first.failures() + stratum.second.failures();
            stratum.first.n() > 0 && stratum.second.n() > 0 && successes > 0 && failures > 0
        })
        .map(|stratum| {
            [
                stratum.first.successes() as f64,
                stratum.first.failures() as f64,
                stratum.second.successes() as f64,
                stratum.second.failures() as f64,
            ]
        })
        .collect()
}

fn breslow_day(cells: &[[f64; 4]], ratio: f64) -> ChiSquare {
    let statistic: f64 = cells
        .iter()
        .map(|[a, b, c, d]| {
            let (row1, row2, column1) = (a + b, c + d, a + c);
            // The cell that the common odds ratio expects, given the margins: its odds ratio grows with it.
            let expected = bisect((column1 - row2).max(0.0), row1.min(column1), |x| {
                x * (row2 - column1 + x) < ratio * (row1 - x) * (column1 - x)
            });
            let variance = 1.0
                / (1.0 / expected
                    + 1.0 / (row1 - expected)
                    + 1.0 / (column1 - expected)
                    + 1.0 / (row2 - column1 + expected));
            (a - expected).powi(2) / variance
        })
        .sum();
    ChiSquare::of(statistic, cells.len() as f64 - 1.0)
}

/// Exact permutation test within strata.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StratifiedPermutation {
    /// Two-sided: sums at least as far from their expectation.
    pub p: f64,
    /// The first arm has more.
    pub p_greater: f64,
    /// The first arm has fewer.
    pub p_less: f64,
    /// Successes of the first arm.
    pub successes: u64,
    /// Their expectation when the arms do not differ.
    pub expected: f64,
}

/// Terms of a distribution with a smaller share than this are left out once there are many.
const NEGLIGIBLE: f64 = 1e-30;

/// As many terms are kept whatever their share, so that ordinary tables lose nothing.
const KEPT: usize = 2_000;

/// Permutes outcomes between the arms inside every stratum and looks at the first arm's successes: the sum of
/// independent hypergeometric variables, whose distribution is found exactly, by convolution. Scenarios in which all
/// outcomes agree change nothing. In tables with thousands of episodes terms below 1e-30 are left out, so a p below about
/// 1e-25 may come out as 0 there. Mantel & Haenszel (1959); Cox (1970), The Analysis of Binary Data, section 5.
pub fn stratified_permutation(strata: &[Stratum]) -> StratifiedPermutation {
    let mut distribution = vec![1.0];
    let (mut start, mut expected, mut successes) = (0, 0.0, 0);
    for stratum in strata {
        let (first, second) = (stratum.first, stratum.second);
        let both = first.successes() + second.successes();
        let masses = Hypergeometric::new(first.n(), second.n(), both);
        let range = masses.range();
        let terms: Vec<f64> = range.clone().map(|k| masses.mass(k)).collect();
        successes += first.successes();
        let episodes = first.n() + second.n();
        if episodes > 0 {
            expected += both as f64 * first.n() as f64 / episodes as f64;
        }
        let (skipped, terms) = trimmed(&terms);
        distribution = convolve(&distribution, terms);
        let (more, kept) = trimmed(&distribution);
        start += range.start() + skipped + more;
        distribution = kept.to_vec();
    }
    let distance = (successes as f64 - expected).abs();
    let (mut p, mut p_greater, mut p_less) = (0.0, 0.0, 0.0);
    for (offset, mass) in distribution.iter().enumerate() {
        let sum = start + offset as u64;
        if (sum as f64 - expected).abs() >= distance - 1e-9 {
            p += mass;
        }
        if sum >= successes {
            p_greater += mass;
        }
        if sum <= successes {
            p_less += mass;
        }
    }
    StratifiedPermutation {
        p: f64::min(p, 1.0),
        p_greater: f64::min(p_greater, 1.0),
        p_less: f64::min(p_less, 1.0),
        successes,
        expected,
    }
}

/// A long distribution without its negligible ends, and how many terms fell away before it.
fn trimmed(terms: &[f64]) -> (u64, &[f64]) {
    if terms.len() <= KEPT {
        return (0, terms);
    }
    let matters = |share: &f64| *share >= NEGLIGIBLE;
    let from = terms.iter().position(matters).unwrap_or(0);
    let to = terms.iter().rposition(matters).map_or(0, |last| last + 1);
    match terms.get(from..to) {
        Some(kept) if !kept.is_empty() => (from as u64, kept),
        _ => (0, terms),
    }
}

fn convolve(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; left.len() + right.len().max(1) - 1];
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            if let Some(cell) = out.get_mut(i + j) {
                *cell += a * b;
            }
        }
    }
    out
}
