//! Newcombe's interval for the difference of two paired proportions.

use super::wilson;

/// The four kinds of pairs of a paired yes/no comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct PairedCells {
    /// Yes in both.
    pub both: u64,
    /// Yes in the first only.
    pub first_only: u64,
    /// Yes in the second only.
    pub second_only: u64,
    /// Yes in neither.
    pub neither: u64,
}

impl PairedCells {
    /// Pairs.
    pub fn n(self) -> u64 {
        self.both + self.first_only + self.second_only + self.neither
    }

    /// Rate of the first minus rate of the second; 0 without pairs.
    pub fn difference(self) -> f64 {
        match self.n() {
            0 => 0.0,
            n => (self.first_only as f64 - self.second_only as f64) / n as f64,
        }
    }
}

/// Two-sided 95 % interval for the rate of the first minus the rate of the second; (-1, 1) without pairs.
///
/// Square-and-add of Wilson intervals with the correlation `phi` of the table, whose numerator is reduced by
/// n/2 but not below 0 when positive: method 10 of Newcombe (1998), Stat. Med. 17, 2635-2650.
pub fn newcombe_paired(cells: PairedCells) -> (f64, f64) {
    let n = cells.n();
    if n == 0 {
        return (-1.0, 1.0);
    }
    let size = n as f64;
    let (both, neither) = (cells.both as f64, cells.neither as f64);
    let (first_only, second_only) = (cells.first_only as f64, cells.second_only as f64);
    let (first, second) = (both + first_only, both + second_only);
    let (p1, p2) = (first / size, second / size);
    let (l1, u1) = wilson(cells.both + cells.first_only, n);
    let (l2, u2) = wilson(cells.both + cells.second_only, n);
    let cross = both * neither - first_only * second_only;
    let numerator = if cross > 0.0 {
        (cross - size / 2.0).max(0.0)
    } else {
        cross
    };
    let margins = first * (second_only + neither) * second * (first_only + neither);
    let phi = if margins > 0.0 {
        numerator / margins.sqrt()
    } else {
        0.0
    };
    // Rounding may leave a tiny negative number under the root when both distances are equal.
    let spread = |x: f64, y: f64| (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt();
    let difference = cells.difference();
    let low = difference - spread(p1 - l1, u2 - p2);
    let high = difference + spread(u1 - p1, p2 - l2);
    (low.max(-1.0), high.min(1.0))
}
