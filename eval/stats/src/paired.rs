//! Intervals for the difference of two paired proportions.

use crate::special::bisect;
use crate::{Level, Proportion};

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
        [self.first_only, self.second_only, self.neither]
            .into_iter()
            .fold(self.both, u64::saturating_add)
    }

    /// Rate of the first minus rate of the second; 0 without pairs.
    pub fn difference(self) -> f64 {
        match self.n() {
            0 => 0.0,
            n => (self.first_only as f64 - self.second_only as f64) / n as f64,
        }
    }
}

/// Newcombe's interval for the rate of the first minus the rate of the second; (-1, 1) without pairs.
///
/// Square-and-add of Wilson intervals with the correlation `phi` of the table, whose numerator is reduced by
/// n/2 but not below 0 when positive: method 10 of Newcombe (1998), Stat. Med. 17, 2635-2650.
pub fn newcombe_paired(cells: PairedCells, level: Level) -> (f64, f64) {
    let n = cells.n();
    if n == 0 {
        return (-1.0, 1.0);
    }
    let size = n as f64;
    let (both, neither) = (cells.both as f64, cells.neither as f64);
    let (first_only, second_only) = (cells.first_only as f64, cells.second_only as f64);
    let (first, second) = (both + first_only, both + second_only);
    let (p1, p2) = (first / size, second / size);
    let (l1, u1) = Proportion::at_most(cells.both + cells.first_only, n).wilson(level);
    let (l2, u2) = Proportion::at_most(cells.both + cells.second_only, n).wilson(level);
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

/// Tango's score interval for the rate of the first minus the rate of the second; (-1, 1) without pairs.
///
/// The differences `d` that the score test does not reject: those with
/// `|b - c - n·d| <= z·sqrt(n(2q + d(1-d)))`, where `q` is the likelihood's estimate of `c/n` when the difference
/// is `d`: `q = (sqrt(B² - 4AC) - B) / 2A` with `A = 2n`, `B = -b - c + (2n - b + c)d`, `C = -c·d(1-d)`. Here `b` are the
/// pairs with the first only and `c` those with the second only. Tango (1998), Stat. Med. 17, 891-908.
pub fn tango(cells: PairedCells, level: Level) -> (f64, f64) {
    let n = cells.n();
    if n == 0 {
        return (-1.0, 1.0);
    }
    let (size, z) = (n as f64, level.z());
    let (only_first, only_second) = (cells.first_only as f64, cells.second_only as f64);
    let score = |difference: f64| {
        let square = 2.0 * size;
        let linear = -only_first - only_second + (square - only_first + only_second) * difference;
        let constant = -only_second * difference * (1.0 - difference);
        let root = (linear * linear - 4.0 * square * constant).max(0.0).sqrt();
        let share = (root - linear) / (2.0 * square);
        let variance = (size * (2.0 * share + difference * (1.0 - difference))).max(0.0);
        let distance = only_first - only_second - size * difference;
        if variance > 0.0 {
            distance / variance.sqrt()
        } else if distance > 0.0 {
            f64::INFINITY
        } else if distance < 0.0 {
            f64::NEG_INFINITY
        } else {
            0.0
        }
    };
    let estimate = cells.difference();
    let low = bisect(-1.0, estimate, |d| score(d) > z);
    let high = bisect(estimate, 1.0, |d| score(d) > -z);
    // At the very ends the score is not defined, and the bisection stops one bit before them.
    let at = |value: f64, end: f64| {
        if (value - end).abs() < 1e-12 {
            end
        } else {
            value
        }
    };
    (at(low, -1.0), at(high, 1.0))
}
