//! Paired outcomes and differences.

use stats::{
    Level, PairedCells, SignFlipMethod, mcnemar_chi_squared, mcnemar_exact, mcnemar_mid_p,
    newcombe_paired, one_sample, sign_flip, sign_test, signed_rank, tango,
};

use super::{digits, ends, proportion};

/// Equal to `expected` in its six given figures.
#[track_caller]
fn figures(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 5e-6,
        "{found} instead of {expected}"
    );
}

fn cells(both: u64, first_only: u64, second_only: u64, neither: u64) -> PairedCells {
    PairedCells {
        both,
        first_only,
        second_only,
        neither,
    }
}

#[test]
fn g09_g10_mcnemar_of_published_tables() {
    // Agresti (2002), Categorical Data Analysis, table 10.1: approval of the prime minister.
    let plain = mcnemar_chi_squared(86, 150, false).unwrap();
    digits(plain.statistic, 17.355_932, 6);
    figures(plain.p, 3.09929e-05);
    let corrected = mcnemar_chi_squared(86, 150, true).unwrap();
    digits(corrected.statistic, 16.817_797, 6);
    figures(corrected.p, 4.11456e-05);
    figures(mcnemar_exact(86, 150), 3.71594e-05);
    figures(mcnemar_mid_p(86, 150), 2.89339e-05);

    let corrected = mcnemar_chi_squared(59, 121, true).unwrap();
    digits(corrected.statistic, 20.672_222, 6);
    figures(corrected.p, 5.45009e-06);
    figures(mcnemar_exact(59, 121), 4.43445e-06);
    assert_eq!(mcnemar_chi_squared(0, 0, false), None);
}

#[test]
fn g11_mcnemar_of_few_pairs() {
    for (b, c, exact, mid) in [
        (12, 5, 0.143_463, 0.096_252),
        (5, 0, 0.0625, 0.03125),
        (6, 0, 0.03125, 0.015_625),
        (8, 1, 0.039_063, 0.021_484),
        (0, 2, 0.5, 0.25),
        (1, 0, 1.0, 0.5),
        (0, 0, 1.0, 1.0),
    ] {
        digits(mcnemar_exact(b, c), exact, 6);
        digits(mcnemar_mid_p(b, c), mid, 6);
    }
}

#[test]
fn g12_newcombe_paired() {
    digits(cells(36, 12, 2, 0).difference(), 0.2, 12);
    ends(
        newcombe_paired(cells(36, 12, 2, 0), Level::P95),
        (0.056_930, 0.340_428),
    );
    ends(
        newcombe_paired(cells(24, 12, 5, 19), Level::P95),
        (-0.018_490, 0.244_359),
    );
    assert_eq!(
        newcombe_paired(PairedCells::default(), Level::P95),
        (-1.0, 1.0)
    );
}

#[test]
fn g13_tango() {
    for (b, c, n, expected) in [
        (12, 2, 50, (0.061_112, 0.344_709)),
        (12, 5, 60, (-0.019_466, 0.254_022)),
        (97, 0, 100, (0.897_123, 0.989_745)),
    ] {
        ends(tango(cells(0, b, c, n - b - c), Level::P95), expected);
        // How the agreeing pairs divide does not matter.
        ends(tango(cells(n - b - c, b, c, 0), Level::P95), expected);
    }
    assert_eq!(tango(PairedCells::default(), Level::P95), (-1.0, 1.0));
}

/// Heights of cross- minus self-fertilised maize in eighths of an inch: Darwin (1876), as in Fisher (1935).
const MAIZE: [f64; 15] = [
    49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0,
];

#[test]
fn g14_darwins_maize() {
    digits(MAIZE.iter().sum(), 314.0, 9);
    let found = sign_flip(&MAIZE, 1).unwrap();
    assert_eq!(found.method, SignFlipMethod::Exact);
    digits(found.p * 32_768.0, 1_726.0, 6);
    digits(found.p_greater * 32_768.0, 863.0, 6);
    digits(found.p, 0.052_673, 6);
    let t = one_sample(&MAIZE, Level::P95).unwrap();
    digits(t.t.unwrap(), 2.147_987, 6);
    digits(t.p.unwrap(), 0.049_703, 6);
    let (share, p) = sign_test(&MAIZE).unwrap();
    assert_eq!(share, proportion(13, 15));
    digits(p, 0.007_385, 6);
    let rank = signed_rank(&MAIZE).unwrap();
    digits(rank.w, 24.0, 9);
    digits(rank.p, 0.041_260, 6);
}

#[test]
fn g15_sign_flip_of_few_scenarios() {
    let third = 1.0 / 3.0;
    for (differences, p) in [
        (vec![0.0, 2.0 * third, 0.0, 0.0], 1.0),
        (vec![0.0, third, 2.0 * third, -third, 0.0], 0.75),
        (vec![2.0 * third, 0.0, 0.0, 2.0 * third, 0.0, 0.0], 0.5),
    ] {
        digits(sign_flip(&differences, 1).unwrap().p, p, 12);
    }
}

#[test]
fn beyond_twenty_the_sign_flip_is_drawn_and_close_to_exact() {
    // Twenty-one differences of which one is 0: the exact p is that of the twenty others.
    let twenty: Vec<f64> = (0..20)
        .map(|i| if i % 3 == 0 { -1.0 } else { 1.5 })
        .collect();
    let exact = sign_flip(&twenty, 1).unwrap();
    let mut more = twenty.clone();
    more.push(0.0);
    let drawn = sign_flip(&more, 1).unwrap();
    assert_eq!(drawn.method, SignFlipMethod::MonteCarlo);
    let error = (exact.p * (1.0 - exact.p) / stats::MONTE_CARLO_DRAWS as f64).sqrt();
    assert!(
        (drawn.p - exact.p).abs() < 5.0 * error,
        "{} {}",
        drawn.p,
        exact.p
    );
    assert_eq!(drawn, sign_flip(&more, 1).unwrap());
}
