//! The confidence level of an interval.

use crate::StatsError;
use crate::error::inside_unit;
use crate::special;

/// A confidence level strictly between 0 and 1, two-sided.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Level(f64);

impl Level {
    /// 95 %.
    pub const P95: Self = Self(0.95);
    /// 90 %: its ends are the one-sided 95 % bounds.
    pub const P90: Self = Self(0.90);

    /// A level.
    ///
    /// # Errors
    /// It is not between 0 and 1.
    pub fn new(level: f64) -> Result<Self, StatsError> {
        inside_unit("a confidence level", level).map(Self)
    }

    /// As a share, such as 0.95.
    pub fn get(self) -> f64 {
        self.0
    }

    /// What is left outside, both sides together.
    pub fn alpha(self) -> f64 {
        1.0 - self.0
    }

    /// The quantile of the standard normal distribution that leaves half of [`Level::alpha`] above it.
    pub fn z(self) -> f64 {
        special::normal_quantile(1.0 - self.alpha() / 2.0)
    }
}
