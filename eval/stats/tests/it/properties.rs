//! What holds for all data.

use proptest::prelude::*;
use stats::{
    Level, PairedCells, Stratum, adjust, bootstrap_clusters, clustered_mean, confidence_sequence,
    e_value, fisher_exact, mcnemar_exact, mcnemar_mid_p, newcombe_independent, newcombe_paired,
    sign_flip, smallest_p, stratified_permutation, tango,
};

use super::proportion;

/// `P(X = k)` for `X ~ Bin(n, p)`, by multiplication.
fn mass(k: u64, n: u64, p: f64) -> f64 {
    let mut value = (1.0 - p).powf(n as f64);
    if p >= 1.0 {
        return if k == n { 1.0 } else { 0.0 };
    }
    for i in 0..k {
        value *= (n - i) as f64 / (i + 1) as f64 * p / (1.0 - p);
    }
    value
}

/// Coverage of an interval at a true rate, over all outcomes of `n` trials.
fn coverage(n: u64, p: f64, interval: &[(f64, f64)]) -> f64 {
    interval
        .iter()
        .zip(0..)
        .filter(|((low, high), _)| *low <= p && p <= *high)
        .map(|(_, k)| mass(k, n, p))
        .sum()
}

#[test]
fn coverage_of_the_intervals_by_enumeration() {
    for n in 1..=30 {
        let of = |interval: fn(stats::Proportion, Level) -> (f64, f64)| -> Vec<(f64, f64)> {
            (0..=n)
                .map(|k| interval(proportion(k, n), Level::P95))
                .collect()
        };
        let exact = of(stats::Proportion::clopper_pearson);
        let wilson = of(stats::Proportion::wilson);
        let jeffreys = of(stats::Proportion::jeffreys);
        let sequence = of(confidence_sequence);
        let (mut mean_wilson, mut mean_jeffreys, mut steps) = (0.0, 0.0, 0.0);
        for step in 1..200 {
            let p = f64::from(step) / 200.0;
            assert!(coverage(n, p, &exact) >= 0.95 - 1e-9, "n {n}, p {p}");
            assert!(coverage(n, p, &sequence) >= 0.95 - 1e-9, "n {n}, p {p}");
            // The worst is .793, at one trial.
            assert!(coverage(n, p, &wilson) >= 0.79, "n {n}, p {p}");
            mean_wilson += coverage(n, p, &wilson);
            mean_jeffreys += coverage(n, p, &jeffreys);
            steps += 1.0;
        }
        if n < 5 {
            continue;
        }
        // On average over the true rate both are close to what they claim.
        assert!(
            (0.93..0.98).contains(&(mean_wilson / steps)),
            "n {n}: {}",
            mean_wilson / steps
        );
        assert!(
            (0.92..0.98).contains(&(mean_jeffreys / steps)),
            "n {n}: {}",
            mean_jeffreys / steps
        );
    }
}

#[test]
fn swapping_successes_and_failures_mirrors_every_interval() {
    for n in 1..=30 {
        for k in 0..=n {
            let (one, other) = (proportion(k, n), proportion(n - k, n));
            for interval in [
                stats::Proportion::wilson,
                stats::Proportion::wilson_corrected,
                stats::Proportion::clopper_pearson,
                stats::Proportion::jeffreys,
                confidence_sequence,
            ] {
                let (low, high) = interval(one, Level::P95);
                let (mirrored_low, mirrored_high) = interval(other, Level::P95);
                assert!((low + mirrored_high - 1.0).abs() < 1e-9, "{k}/{n}");
                assert!((high + mirrored_low - 1.0).abs() < 1e-9, "{k}/{n}");
                let rate = k as f64 / n as f64;
                assert!(
                    low <= rate + 1e-12 && rate <= high + 1e-12,
                    "{k}/{n}: {low} {high}"
                );
            }
        }
    }
}

#[test]
fn the_e_process_has_a_mean_of_one_under_the_null() {
    for m in 0..=40 {
        let mean: f64 = (0..=m)
            .map(|s| mass(s, m, 0.5) * e_value(proportion(s, m)).e)
            .sum();
        assert!((mean - 1.0).abs() < 1e-9, "{m}: {mean}");
    }
}

#[test]
fn looking_after_every_pair_rejects_at_most_one_time_in_twenty() {
    // Exact: the probability, over all sequences of 60 fair pairs, that the e-value ever reaches 20.
    let mut alive = vec![1.0];
    let mut rejected = 0.0;
    for m in 1..=60_u64 {
        let mut next = vec![0.0; alive.len() + 1];
        for (s, weight) in alive.iter().enumerate() {
            next[s] += weight / 2.0;
            next[s + 1] += weight / 2.0;
        }
        for (s, weight) in (0..).zip(next.iter_mut()) {
            if e_value(proportion(s, m)).e >= 20.0 {
                rejected += *weight;
                *weight = 0.0;
            }
        }
        alive = next;
    }
    assert!(rejected > 0.005 && rejected <= 0.05, "{rejected}");
}

#[test]
fn paired_intervals_cover_about_what_they_claim() {
    // All tables of 12 pairs, at a few true shares of the four kinds.
    let n = 12_u64;
    for (both, first, second) in [
        (0.4, 0.2, 0.1),
        (0.7, 0.1, 0.1),
        (0.2, 0.5, 0.05),
        (0.25, 0.25, 0.25),
    ] {
        let neither: f64 = 1.0 - both - first - second;
        let truth = first - second;
        let (mut by_newcombe, mut by_tango) = (0.0, 0.0);
        for a in 0..=n {
            for b in 0..=n - a {
                for c in 0..=n - a - b {
                    let cells = PairedCells {
                        both: a,
                        first_only: b,
                        second_only: c,
                        neither: n - a - b - c,
                    };
                    let weight = mass(a, n, both)
                        * mass(b, n - a, first / (1.0 - both))
                        * mass(c, n - a - b, (second / (second + neither)).min(1.0));
                    let covers = |(low, high): (f64, f64)| low <= truth && truth <= high;
                    by_newcombe += if covers(newcombe_paired(cells, Level::P95)) {
                        weight
                    } else {
                        0.0
                    };
                    by_tango += if covers(tango(cells, Level::P95)) {
                        weight
                    } else {
                        0.0
                    };
                }
            }
        }
        assert!(by_newcombe > 0.92, "{by_newcombe}");
        assert!(by_tango > 0.92, "{by_tango}");
    }
}

fn values() -> impl Strategy<Value = f64> {
    // Few values, so that ties, zeros and constants are common.
    prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(1.0 / 3.0), -5.0..5.0]
}

proptest! {
    #[test]
    fn a_permutation_p_is_never_below_its_floor(differences in prop::collection::vec(values(), 0..12)) {
        let found = sign_flip(&differences, 1).unwrap();
        prop_assert!(found.p >= smallest_p(differences.len()) - 1e-12 && found.p <= 1.0);
        prop_assert!(found.p_greater >= 0.5_f64.powf(differences.len() as f64) - 1e-12);
        // Mirrored data mirror the one-sided tests.
        let mirrored: Vec<f64> = differences.iter().map(|d| -d).collect();
        let other = sign_flip(&mirrored, 1).unwrap();
        prop_assert_eq!((found.p, found.p_greater), (other.p, other.p_less));
    }

    #[test]
    fn the_order_of_rows_does_not_matter(mut clusters in prop::collection::vec(prop::collection::vec(values(), 0..5), 0..9)) {
        let means = |clusters: &[Vec<f64>]| -> Vec<f64> { clusters.iter().filter_map(|c| stats::mean(c)).collect() };
        let before = (sign_flip(&means(&clusters), 1).unwrap(), clustered_mean(&clusters));
        clusters.reverse();
        let after = (sign_flip(&means(&clusters), 1).unwrap(), clustered_mean(&clusters));
        prop_assert_eq!(before.0, after.0);
        match (before.1, after.1) {
            (Ok(a), Ok(b)) => prop_assert!((a.mean - b.mean).abs() < 1e-9 && (a.se_robust - b.se_robust).abs() < 1e-9),
            (a, b) => prop_assert_eq!(a.is_err(), b.is_err()),
        }
    }

    #[test]
    fn holm_is_never_below_bh_nor_above_bonferroni(p in prop::collection::vec(0.0..=1.0_f64, 0..20)) {
        let found = adjust(&p).unwrap();
        for (((p, bonferroni), holm), bh) in p.iter().zip(&found.bonferroni).zip(&found.holm).zip(&found.bh) {
            prop_assert!(*holm >= bh - 1e-12);
            prop_assert!(*bonferroni >= holm - 1e-12);
            prop_assert!(*bh >= p - 1e-12 && *bonferroni <= 1.0);
        }
    }

    #[test]
    fn a_bootstrap_interval_lies_around_the_mean(clusters in prop::collection::vec(prop::collection::vec(values(), 1..6), 1..9), seed in 0..1000_u64) {
        let found = bootstrap_clusters(&clusters, 400, seed, Level::P95).unwrap();
        let all: Vec<f64> = clusters.iter().flatten().copied().collect();
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        prop_assert!(found.interval.0 <= found.interval.1);
        prop_assert!(found.interval.0 >= low - 1e-9 && found.interval.1 <= high + 1e-9);
        prop_assert!(found.mean >= low - 1e-9 && found.mean <= high + 1e-9);
    }

    #[test]
    fn p_values_and_intervals_stay_in_range(b in 0..2000_u64, c in 0..2000_u64, rest in 0..2000_u64) {
        for p in [mcnemar_exact(b, c), mcnemar_mid_p(b, c), e_value(proportion(b, b + c)).p] {
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
        }
        prop_assert!(mcnemar_mid_p(b, c) <= mcnemar_exact(b, c) + 1e-12);
        let cells = PairedCells { both: rest, first_only: b, second_only: c, neither: rest / 2 };
        for (low, high) in [newcombe_paired(cells, Level::P95), tango(cells, Level::P95)] {
            prop_assert!(low <= cells.difference() + 1e-9 && cells.difference() <= high + 1e-9);
            prop_assert!(low >= -1.0 && high <= 1.0);
        }
        let (low, high) = newcombe_independent(proportion(b, b + c), proportion(c, c + rest), Level::P95);
        prop_assert!(low <= high && low >= -1.0 && high <= 1.0);
    }

    #[test]
    fn within_one_stratum_the_permutation_is_fishers_one_sided_test(a in 0..12_u64, b in 0..12_u64, c in 0..12_u64, d in 0..12_u64) {
        let (first, second) = (proportion(a, a + b), proportion(c, c + d));
        let fisher = fisher_exact(first, second);
        let found = stratified_permutation(&[Stratum { first, second }]);
        prop_assert!((fisher.p_greater - found.p_greater).abs() < 1e-9);
        prop_assert!((fisher.p_less - found.p_less).abs() < 1e-9);
    }
}
