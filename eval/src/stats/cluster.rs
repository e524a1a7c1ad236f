//! The mean of correlated observations that come in clusters (episodes of one scenario).

use serde::Serialize;

use super::t_quantile;

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
    /// Cluster-robust standard error with the factor K/(K-1): CR1, Liang & Zeger (1986), Biometrika 73, 13-22.
    pub se_robust: f64,
    /// 95 % interval from `se_robust` and t with K - 1 degrees of freedom; approximate for few clusters.
    pub interval: (f64, f64),
}

/// Mean over all observations of all clusters; `None` below two clusters with observations.
pub fn clustered_mean(clusters: &[Vec<f64>]) -> Option<ClusteredMean> {
    let filled: Vec<&Vec<f64>> = clusters
        .iter()
        .filter(|cluster| !cluster.is_empty())
        .collect();
    let count = filled.len();
    let n: usize = filled.iter().map(|cluster| cluster.len()).sum();
    if count < 2 {
        return None;
    }
    let size = n as f64;
    let mean = filled
        .iter()
        .flat_map(|cluster| cluster.iter())
        .sum::<f64>()
        / size;
    let mut squares = 0.0;
    let mut cluster_squares = 0.0;
    for cluster in &filled {
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
    let se_robust = (cluster_squares / (size * size) * k / (k - 1.0)).sqrt();
    let half = t_quantile(0.975, k - 1.0)? * se_robust;
    Some(ClusteredMean {
        mean,
        n,
        clusters: count,
        se_independent: independent_variance.sqrt(),
        se_miller: (independent_variance + between).max(0.0).sqrt(),
        se_robust,
        interval: (mean - half, mean + half),
    })
}
