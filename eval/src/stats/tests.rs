//! Golden values (computed with `SciPy` and statsmodels, or published) and general properties.

use proptest::prelude::*;

use super::*;

fn close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() < 6e-7,
        "{what}: {found} instead of {expected}"
    );
}

#[test]
fn wilson_gives_the_published_intervals() {
    // The first four are the reference experiment's, the others Newcombe's (1998a) table.
    for (k, n, low, high) in [
        (0, 15, 0.0, 0.203_883),
        (1, 15, 0.011_867, 0.298_165),
        (9, 15, 0.357_468, 0.801_755),
        (11, 15, 0.480_496, 0.891_025),
        (81, 263, 0.255_289, 0.366_210),
        (15, 148, 0.062_386, 0.160_487),
        (0, 20, 0.0, 0.161_125),
        (1, 29, 0.006_113, 0.171_755),
    ] {
        let found = wilson(k, n);
        close(found.0, low, &format!("low end of {k}/{n}"));
        close(found.1, high, &format!("high end of {k}/{n}"));
    }
    assert_eq!(wilson(0, 0), (0.0, 1.0));
}

#[test]
fn mcnemar_gives_scipys_values() {
    for (b, c, exact, mid) in [
        (12, 5, 0.143_463, 0.096_252),
        (5, 0, 0.0625, 0.03125),
        (6, 0, 0.03125, 0.015_625),
        (8, 1, 0.039_063, 0.021_484),
        (0, 2, 0.5, 0.25),
        (1, 0, 1.0, 0.5),
        (0, 0, 1.0, 1.0),
        (3, 3, 1.0, 1.0),
    ] {
        close(mcnemar_exact(b, c), exact, &format!("exact p of {b}, {c}"));
        close(mcnemar_mid_p(b, c), mid, &format!("mid-p of {b}, {c}"));
    }
    // Agresti's approval data and a published example, to more digits than the absolute tolerance above.
    let relative = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 2e-6, "{found} {expected}");
    };
    relative(mcnemar_exact(86, 150), 3.71594e-05);
    relative(mcnemar_mid_p(86, 150), 2.89339e-05);
    relative(mcnemar_exact(59, 121), 4.43445e-06);
}

#[test]
fn newcombe_gives_the_published_paired_intervals() {
    for (cells, low, high) in [
        ((36, 12, 2, 0), 0.056_930, 0.340_428),
        ((24, 12, 5, 19), -0.018_490, 0.244_359),
    ] {
        let (both, first_only, second_only, neither) = cells;
        let found = newcombe_paired(PairedCells {
            both,
            first_only,
            second_only,
            neither,
        });
        close(found.0, low, "low end");
        close(found.1, high, "high end");
    }
    close(
        PairedCells {
            both: 36,
            first_only: 12,
            second_only: 2,
            neither: 0,
        }
        .difference(),
        0.2,
        "difference",
    );
    assert_eq!(newcombe_paired(PairedCells::default()), (-1.0, 1.0));
}

#[test]
fn sign_flip_gives_fishers_result_for_darwins_maize() {
    let eighths = [
        49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0,
    ];
    let found = sign_flip(&eighths, 0);
    close(found.p, 1726.0 / 32768.0, "two-sided");
    close(found.p_greater, 863.0 / 32768.0, "one-sided");
    assert_eq!((found.method, found.k), (SignFlipMethod::Exact, 15));
}

#[test]
fn sign_flip_gives_the_small_cases() {
    let third = 1.0 / 3.0;
    close(
        sign_flip(&[0.0, 2.0 * third, 0.0, 0.0], 0).p,
        1.0,
        "one difference",
    );
    close(
        sign_flip(&[0.0, third, 2.0 * third, -third, 0.0], 0).p,
        0.75,
        "three differences",
    );
    close(
        sign_flip(&[2.0 * third, 0.0, 0.0, 2.0 * third, 0.0, 0.0], 0).p,
        0.5,
        "two differences",
    );
    close(
        sign_flip(&[0.2; 5], 0).p,
        0.0625,
        "five of one sign, the least that five can give",
    );
    close(sign_flip(&[], 0).p, 1.0, "nothing");
    close(smallest_p(5), 0.0625, "smallest of five");
}

#[test]
fn clustered_means_give_the_cohort_values() {
    let rows = |text: &str| -> Vec<Vec<f64>> {
        text.split(' ')
            .map(|row| {
                row.chars()
                    .map(|c| if c == '1' { 1.0 } else { 0.0 })
                    .collect()
            })
            .collect()
    };
    let found = clustered_mean(&rows("111 001 000 000")).unwrap();
    for (found, expected) in [
        (found.mean, 0.333_333),
        (found.se_independent, 0.142_134),
        (found.se_miller, 0.208_207),
        (found.se_robust, 0.235_702),
    ] {
        close(found, expected, "prompt_inject");
    }
    let found = clustered_mean(&rows("111 111 000 000")).unwrap();
    close(found.se_independent, 0.150_756, "server_inject");
    close(found.se_miller, 0.253_760, "server_inject");
    close(found.se_robust, 0.288_675, "server_inject");
    let found = clustered_mean(&rows("000 110 000 000")).unwrap();
    close(found.mean, 0.166_667, "difference");
    close(found.se_robust, 0.166_667, "difference");
    close(found.interval.0, -0.363_741, "difference");
    close(found.interval.1, 0.697_074, "difference");
    assert!(clustered_mean(&[vec![1.0], Vec::new()]).is_none());
}

#[test]
fn t_quantiles_are_scipys() {
    close(t_quantile(0.975, 3.0).unwrap(), 3.182_446_305, "t(3)");
    close(t_quantile(0.975, 4.0).unwrap(), 2.776_445_105, "t(4)");
    assert_eq!(t_quantile(0.975, 0.0), None);
    assert_eq!(t_quantile(1.0, 3.0), None);
    // (2.776445 + 0.940965) / sqrt(5).
    close(
        detectable_difference(1.0, 5).unwrap(),
        1.662_476,
        "detectable difference",
    );
    assert_eq!(detectable_difference(1.0, 1), None);
}

#[test]
fn monte_carlo_is_near_the_truth_and_the_same_on_any_number_of_threads() {
    // 21 differences of which 9 carry everything: the rest are zero, so enumeration of the 9 is the truth.
    let mut differences = vec![0.0; 12];
    differences.extend([0.3, 0.1, -0.2, 0.4, 0.25, -0.05, 0.15, 0.35, 0.2]);
    let truth = sign_flip(&differences[12..], 0);
    let pool = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    };
    let one = pool(1).install(|| sign_flip(&differences, 7));
    let three = pool(3).install(|| sign_flip(&differences, 7));
    assert_eq!(one, three);
    assert_eq!(one.method, SignFlipMethod::MonteCarlo);
    assert!((one.p - truth.p).abs() < 0.005, "{} {}", one.p, truth.p);
    assert_ne!(one.p.to_bits(), sign_flip(&differences, 8).p.to_bits());
}

#[test]
fn mcnemar_keeps_its_level() {
    // For every number of discordant pairs, the chance of p <= .05 under the null is at most .05.
    for n in 1..=60_u64 {
        let rejected: f64 = (0..=n)
            .filter(|b| mcnemar_exact(*b, n - b) <= 0.05)
            .map(|b| binomial::mass(b, n))
            .sum();
        assert!(rejected <= 0.05, "{n}: {rejected}");
    }
}

proptest! {
    #[test]
    fn wilson_brackets_the_rate_and_is_symmetric((n, k) in (1_u64..2000).prop_flat_map(|n| (Just(n), 0..=n))) {
        let (low, high) = wilson(k, n);
        let rate = k as f64 / n as f64;
        prop_assert!(0.0 <= low && low <= rate && rate <= high && high <= 1.0);
        let (mirrored_low, mirrored_high) = wilson(n - k, n);
        prop_assert!((low - (1.0 - mirrored_high)).abs() < 1e-9 && (high - (1.0 - mirrored_low)).abs() < 1e-9);
    }

    #[test]
    fn newcombe_brackets_the_difference_and_is_antisymmetric(both in 0_u64..50, b in 0_u64..50, c in 0_u64..50, neither in 0_u64..50) {
        let cells = PairedCells { both, first_only: b, second_only: c, neither };
        let swapped = PairedCells { first_only: c, second_only: b, ..cells };
        let (low, high) = newcombe_paired(cells);
        prop_assert!(low <= cells.difference() + 1e-9 && cells.difference() <= high + 1e-9);
        let (other_low, other_high) = newcombe_paired(swapped);
        if cells.n() > 0 {
            prop_assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9);
        }
    }

    #[test]
    fn mcnemar_is_a_symmetric_probability(b in 0_u64..300, c in 0_u64..300) {
        let p = mcnemar_exact(b, c);
        prop_assert!(p > 0.0 && p <= 1.0 && mcnemar_mid_p(b, c) <= p);
        prop_assert!((p - mcnemar_exact(c, b)).abs() < 1e-12);
    }

    #[test]
    fn sign_flip_is_fair(mut differences in proptest::collection::vec(-3_i32..=3, 0..10)) {
        let thirds = |list: &[i32]| list.iter().map(|d| f64::from(*d) / 3.0).collect::<Vec<_>>();
        let found = sign_flip(&thirds(&differences), 0);
        prop_assert!(found.p >= found.smallest_p - 1e-12 && found.p <= 1.0);
        let mirrored: Vec<i32> = differences.iter().map(|d| -d).collect();
        prop_assert_eq!(found.p.to_bits(), sign_flip(&thirds(&mirrored), 0).p.to_bits());
        differences.reverse();
        prop_assert_eq!(found.p.to_bits(), sign_flip(&thirds(&differences), 0).p.to_bits());
        if differences.iter().all(|d| *d == 0) {
            prop_assert!((found.p - 1.0).abs() < 1e-12);
        }
    }
}
