//! How alike the repeats of a scenario are.

use serde::Serialize;

use crate::StatsError;
use crate::error::finite;

/// One-way variance components, and what they make of a number of episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Components {
    /// Mean square between scenarios.
    pub between: f64,
    /// Mean square within scenarios.
    pub within: f64,
    /// Variance between scenarios, 0 when the estimate is below that.
    pub scenario_variance: f64,
    /// Variance between repeats of a scenario.
    pub repeat_variance: f64,
    /// Intraclass correlation ICC(1); may be below 0.
    pub icc: f64,
    /// Repeats per scenario: their number when equal, else the mean that makes the estimate unbiased.
    pub repeats: f64,
    /// `1 + (repeats - 1)·ICC`, 1 at least.
    pub design_effect: f64,
    /// Episodes.
    pub n: usize,
    /// Independent episodes that would carry as much: `n / design_effect`.
    pub effective_n: f64,
    /// Scenarios.
    pub scenarios: usize,
}

/// ICC(1) by one-way analysis of variance: `(MSB - MSW) / (MSB + (m-1)·MSW)`, with `m = (N - Σn²/N)/(K-1)` for unequal
/// numbers of repeats. Shrout & Fleiss (1979), Psychol. Bull. 86, 420-428; design effect: Kish (1965), Survey Sampling.
///
/// # Errors
/// A value is not finite, there are fewer than two scenarios, no scenario has two repeats, or nothing varies.
pub fn components(scenarios: &[Vec<f64>]) -> Result<Components, StatsError> {
    for scenario in scenarios {
        finite(scenario)?;
    }
    let filled: Vec<&Vec<f64>> = scenarios.iter().filter(|s| !s.is_empty()).collect();
    let k = filled.len();
    let n: usize = filled.iter().map(|s| s.len()).sum();
    for (what, found, ok) in [
        ("scenarios", k, k >= 2),
        ("repeats of a scenario", 1, n > k),
    ] {
        if !ok {
            return Err(StatsError::TooFew {
                method: "an intraclass correlation",
                what,
                needed: 2,
                found,
            });
        }
    }
    let (groups, size) = (k as f64, n as f64);
    let mean = filled.iter().flat_map(|s| s.iter()).sum::<f64>() / size;
    let (mut between, mut within, mut squares) = (0.0, 0.0, 0.0);
    for scenario in &filled {
        let m = scenario.len() as f64;
        let own = scenario.iter().sum::<f64>() / m;
        between += m * (own - mean).powi(2);
        within += scenario.iter().map(|x| (x - own).powi(2)).sum::<f64>();
        squares += m * m;
    }
    let (msb, msw) = (between / (groups - 1.0), within / (size - groups));
    let repeats = (size - squares / size) / (groups - 1.0);
    let total = msb + (repeats - 1.0) * msw;
    if total <= 0.0 {
        return Err(StatsError::Undefined {
            method: "an intraclass correlation",
            why: "all values are the same",
        });
    }
    let icc = (msb - msw) / total;
    let design_effect = (1.0 + (repeats - 1.0) * icc).max(1.0);
    Ok(Components {
        between: msb,
        within: msw,
        scenario_variance: ((msb - msw) / repeats).max(0.0),
        repeat_variance: msw,
        icc,
        repeats,
        design_effect,
        n,
        effective_n: size / design_effect,
        scenarios: k,
    })
}

/// The intraclass correlations of a complete table, a row a scenario and a column a rater or repeat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct IccTable {
    /// Mean square between rows.
    pub rows: f64,
    /// Mean square within rows.
    pub within: f64,
    /// Mean square of what rows and columns leave.
    pub error: f64,
    /// Mean square between columns.
    pub columns: f64,
    /// One-way random.
    pub icc1: f64,
    /// Two-way random, absolute agreement.
    pub icc2: f64,
    /// Two-way mixed, consistency.
    pub icc3: f64,
}

/// ICC(1), ICC(2) and ICC(3) of Shrout & Fleiss (1979).
///
/// # Errors
/// As [`components`], and when the rows do not have equally many values.
pub fn icc_table(table: &[Vec<f64>]) -> Result<IccTable, StatsError> {
    let one_way = components(table)?;
    let (n, k) = (table.len(), table.first().map_or(0, Vec::len));
    if table.iter().any(|row| row.len() != k) {
        return Err(StatsError::Undefined {
            method: "a two-way intraclass correlation",
            why: "the scenarios do not have equally many repeats",
        });
    }
    let (rows, columns) = (n as f64, k as f64);
    let mean = table.iter().flatten().sum::<f64>() / (rows * columns);
    let squares: f64 = (0..k)
        .map(|column| {
            let own: f64 = table.iter().filter_map(|row| row.get(column)).sum::<f64>() / rows;
            rows * (own - mean).powi(2)
        })
        .sum();
    let msj = squares / (columns - 1.0);
    let within_sum = one_way.within * rows * (columns - 1.0);
    let mse = (within_sum - squares).max(0.0) / ((rows - 1.0) * (columns - 1.0));
    let msb = one_way.between;
    Ok(IccTable {
        rows: msb,
        within: one_way.within,
        error: mse,
        columns: msj,
        icc1: one_way.icc,
        icc2: (msb - mse) / (msb + (columns - 1.0) * mse + columns * (msj - mse) / rows),
        icc3: (msb - mse) / (msb + (columns - 1.0) * mse),
    })
}
