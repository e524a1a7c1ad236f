//! Several tests at once.

use serde::Serialize;

use crate::StatsError;

/// Adjusted p values, in the order of the given ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Adjusted {
    /// `min(1, m·p)`.
    pub bonferroni: Vec<f64>,
    /// Controls the chance of any false rejection: Holm (1979), Scand. J. Stat. 6, 65-70.
    pub holm: Vec<f64>,
    /// Controls the expected share of false rejections: Benjamini & Hochberg (1995), J. R. Stat. Soc. B 57, 289-300.
    pub bh: Vec<f64>,
}

/// Adjusts p values for their number; a hypothesis is rejected at `alpha` when its adjusted p is at most that.
///
/// Holm: `max over j <= i of min(1, (m-j+1)·p(j))`. Benjamini and Hochberg: `min over j >= i of min(1, m·p(j)/j)`.
///
/// # Errors
/// A p value is not from 0 to 1.
pub fn adjust(p_values: &[f64]) -> Result<Adjusted, StatsError> {
    if let Some(bad) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::Range {
            what: "a p value",
            range: "from 0 to 1",
            value: *bad,
        });
    }
    let m = p_values.len();
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (mut holm, mut bh) = (vec![1.0; m], vec![1.0; m]);
    let mut largest: f64 = 0.0;
    for (rank, (at, p)) in order.iter().enumerate() {
        largest = largest.max(p * (m - rank) as f64).min(1.0);
        put(&mut holm, *at, largest);
    }
    let mut smallest: f64 = 1.0;
    for (rank, (at, p)) in order.iter().enumerate().rev() {
        smallest = smallest.min(p * m as f64 / (rank + 1) as f64);
        put(&mut bh, *at, smallest);
    }
    Ok(Adjusted {
        bonferroni: p_values.iter().map(|p| (p * m as f64).min(1.0)).collect(),
        holm,
        bh,
    })
}

fn put(values: &mut [f64], at: usize, value: f64) {
    if let Some(cell) = values.get_mut(at) {
        *cell = value;
    }
}
