//! The mean of correlated observations that come in clusters (episodes of one scenario).

use serde::Serialize;

use crate::error::finite;
use crate::special::{t_quantile, t_two_sided};
use crate::{Level, StatsError};

/// A mean with standard errors that take clusters into account.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClusteredMean {
    /// Mean over all observations.
    pub mean: f64,
    /// Observations.
    pub n: usize,
    /// Clusters.
    pub clusters: usize,
    /// Standard error as if all observations were independent.
    pub se_independent: f64,
    /// `SE² = SE_independent² + (1/n²)·Σ_c Σ_{i≠j} e_i e_j`: Miller (2024), arXiv 2411.00640.
    pub se_miller: f64,
    /// Cluster-robust standard error without a factor for few clusters: CR0.
    pub se_cr0: f64,
    /// Cluster-robust standard error with the factor K/(K-1): CR1, Liang & Zeger (1986), Biometrika 73, 13-22.
    pub se_robust: f64,
    /// 95 % interval from `se_robust` and t with K - 1 degrees of freedom; approximate for few clusters.
    pub interval: (f64, f64),
    /// Two-sided p of `mean / se_robust` by the same t; absent when nothing varies.
    pub p: Option<f64>,
}

impl ClusteredMean {
    /// The interval at another level.
    pub fn interval_at(&self, level: Level) -> (f64, f64) {
        let degrees = self.clusters as f64 - 1.0;
        let quantile = t_quantile(1.0 - level.alpha() / 2.0, degrees).unwrap_or(f64::INFINITY);
        // Without any spread the interval is a point, whatever the quantile.
        let half = if self.se_robust > 0.0 {
            quantile * self.se_robust
        } else {
            0.0
        };
        (self.mean - half, self.mean + half)
    }
}

/// Mean over all observations of all clusters; clusters without observations are passed over.
///
/// # Errors
/// A value is not finite, or there are fewer than two clusters with observations.
pub fn clustered_mean(clusters: &[Vec<f64>]) -> Result<ClusteredMean, StatsError> {
    for cluster in clusters {
        finite(cluster)?;
    }
    let filled = || clusters.iter().filter(|cluster| !cluster.is_empty());
    let count = filled().count();
    if count < 2 {
        return Err(StatsError::TooFew {
            method: "a cluster-robust standard error",
            what: "scenarios",
            needed: 2,
            found: count,
        });
    }
    let n: usize = filled().map(Vec::len).sum();
    let size = n as f64;
    let mean = filled().flatten().sum::<f64>() / size;
    let mut squares = 0.0;
    let mut cluster_squares = 0.0;
    for cluster in filled() {
        let errors: f64 = cluster.iter().map(|value| value - mean).sum();
        squares += cluster
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        cluster_squares += errors * errors;
    }
    let independent_variance = squares / (size - 1.0) / size;
    let between = (cluster_squares - squares) / (size * size);
    let k = count as f64;
    let se_cr0 = cluster_squares.sqrt() / size;
    let se_robust = se_cr0 * (k / (k - 1.0)).sqrt();
    let mut found = ClusteredMean {
        mean,
        n,
        clusters: count,
        se_independent: independent_variance.sqrt(),
        se_miller: (independent_variance + between).max(0.0).sqrt(),
        se_cr0,
        se_robust,
        interval: (mean, mean),
        p: (se_robust > 0.0)
            .then(|| t_two_sided(mean / se_robust, k - 1.0))
            .flatten(),
    };
    found.interval = found.interval_at(Level::P95);
    Ok(found)
}
