//! Counts, several tests at once, reliability, evidence over time.

use stats::{
    Level, TwoByTwo, adjust, confidence_sequence, difference_of_rates, e_value, fewest_pairs,
    garwood, garwood_upper, overdispersed_ratio, overdispersion, pass_at_k, pass_hat_k,
    poisson_ratio, ratio_of_ratios, reliability, threshold,
};

use super::{digits, ends, proportion};

#[test]
fn g21_g22_several_tests() {
    // Benjamini & Hochberg (1995), section 4.
    let p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ];
    let found = adjust(&p).unwrap();
    let rejected = |adjusted: &[f64]| adjusted.iter().filter(|p| **p <= 0.05).count();
    assert_eq!(
        [&found.bonferroni, &found.holm, &found.bh].map(|adjusted| rejected(adjusted)),
        [3, 3, 4]
    );
    digits(found.bh[3], 0.035_625, 6);
    digits(found.bh[4], 0.060_300, 6);
    digits(found.holm[3], 0.114_000, 6);
    digits(found.holm[8], 0.321_300, 6);

    // Given in another order: the adjusted values keep the places of theirs.
    let small = adjust(&[0.04, 0.005, 0.13, 0.011, 0.02]).unwrap();
    for (place, holm, bh) in [
        (1, 0.025, 0.025),
        (3, 0.044, 0.0275),
        (4, 0.06, 0.033_333),
        (0, 0.08, 0.05),
        (2, 0.13, 0.13),
    ] {
        digits(small.holm[place], holm, 6);
        digits(small.bh[place], bh, 6);
    }
}

#[test]
fn g23_pass_hat_k() {
    for (n, c, expected) in [
        (
            8,
            5,
            &[0.625, 0.357_143, 0.178_571, 0.071_429, 0.017_857, 0.0][..],
        ),
        (15, 11, &[0.733_333, 0.523_810, 0.362_637, 0.241_758]),
    ] {
        for (k, value) in (1..).zip(expected) {
            digits(pass_hat_k(proportion(c, n), k).unwrap(), *value, 6);
        }
    }
    digits(pass_at_k(proportion(5, 8), 4).unwrap(), 1.0, 12);
    digits(pass_at_k(proportion(1, 4), 2).unwrap(), 0.5, 12);
    let mean = reliability(&[proportion(3, 3), proportion(1, 3), proportion(1, 1)], 2).unwrap();
    digits(mean.pass_hat_k, 0.5, 12);
    digits(mean.pass_at_k, 5.0 / 6.0, 12);
    assert_eq!((mean.scenarios, mean.too_few), (2, 1));
}

#[test]
fn g27_e_process() {
    for (m, s, expected) in [
        (12, 12, 315.076_923),
        (10, 8, 2.068_687),
        (17, 12, 1.176_758),
        (8, 8, 28.444_444),
        (7, 7, 16.0),
    ] {
        digits(e_value(proportion(s, m)).e, expected, 6);
    }
    digits(threshold(Level::P95), 20.0, 9);
    assert_eq!(fewest_pairs(Level::P95).unwrap(), 8);
    digits(e_value(proportion(0, 0)).e, 1.0, 12);
}

#[test]
fn g28_confidence_sequence() {
    ends(
        confidence_sequence(proportion(0, 15), Level::P95),
        (0.0, 0.319_246),
    );
    ends(
        confidence_sequence(proportion(9, 15), Level::P95),
        (0.247_033, 0.889_866),
    );
    ends(
        confidence_sequence(proportion(36, 60), Level::P95),
        (0.400_319, 0.779_150),
    );
    assert_eq!(
        confidence_sequence(proportion(0, 0), Level::P95),
        (0.0, 1.0)
    );
}

#[test]
fn g29_poisson_ratio() {
    for (a, b, p, ratio, interval) in [
        (26, 16, 0.164_149, 1.625, (0.839_478, 3.242_312)),
        (19, 8, 0.052_239, 2.375, (0.992_772, 6.271_323)),
        (45, 21, 0.004_272, 2.142_857, (1.250_265, 3.787_017)),
    ] {
        let found = poisson_ratio(a, 15.0, b, 15.0, Level::P95).unwrap();
        digits(found.p, p, 6);
        digits(found.ratio.unwrap(), ratio, 6);
        ends(found.interval, interval);
    }
    // Twice the exposure of the second halves its rate.
    let uneven = poisson_ratio(26, 15.0, 16, 30.0, Level::P95).unwrap();
    digits(uneven.ratio.unwrap(), 3.25, 9);
    let nothing = poisson_ratio(0, 15.0, 0, 15.0, Level::P95).unwrap();
    assert_eq!((nothing.ratio, nothing.p), (None, 1.0));
    assert_eq!(nothing.interval, (0.0, f64::INFINITY));
}

#[test]
fn g30_garwood() {
    ends(garwood(26, Level::P95), (16.984_063, 38.096_024));
    digits(garwood(0, Level::P95).1, 3.688_879, 6);
    digits(garwood_upper(0, Level::P95), 2.995_732, 6);
}

#[test]
fn clustered_attempts_lose_their_significance() {
    // Section 4 of the specification: with overdispersion 2 the p values become .28, .15, .079 and .041.
    for (a, b, p) in [
        (26, 16, 0.28),
        (19, 8, 0.15),
        (45, 24, 0.079),
        (45, 21, 0.041),
    ] {
        let found = overdispersed_ratio((a, 15.0), (b, 15.0), 2.0, Level::P95).unwrap();
        assert!((found.p - p).abs() < 0.006, "{a} {b}: {}", found.p);
        let more = overdispersed_ratio((a, 15.0), (b, 15.0), 3.0, Level::P95).unwrap();
        assert!(more.p > 0.09, "{a} {b}: {}", more.p);
    }
    // Two counts of 0 and 10 where the mean is 5: far more than Poisson.
    digits(
        overdispersion(&[vec![0.0, 10.0]]).unwrap().unwrap(),
        10.0,
        12,
    );
    assert_eq!(overdispersion(&[vec![0.0, 0.0], vec![3.0]]).unwrap(), None);
}

#[test]
fn the_published_interactions() {
    // Attempts 16, 8, 26, 19 in prompt, server, prompt_inject, server_inject.
    let counts = TwoByTwo {
        prompt: 16.0,
        server: 8.0,
        prompt_inject: 26.0,
        server_inject: 19.0,
    };
    let found = ratio_of_ratios(counts, 1.0, Level::P95).unwrap();
    digits(found.ratio, 0.68, 2);
    digits(found.interval.0, 0.24, 2);
    digits(found.interval.1, 1.93, 2);
    digits(found.p, 0.47, 2);
    // Correct 9, 8, 11, 9 of 15.
    let cells = [9, 8, 11, 9].map(|k| proportion(k, 15));
    let (difference, interval) = difference_of_rates(cells, Level::P95).unwrap();
    digits(difference, 0.067, 3);
    digits(interval.0, -0.42, 2);
    digits(interval.1, 0.55, 2);
}
