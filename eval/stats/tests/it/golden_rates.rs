//! Rates, differences of rates, tables: values of `SciPy` 1.17.1 and statsmodels 0.15.0, or published ones.

use stats::{
    Level, Stratum, cochran_mantel_haenszel, fisher_exact, newcombe_independent,
    probability_paired_higher, probability_second_higher, stratified_permutation, trials_to_bound,
};

use super::{digits, ends, proportion};

#[test]
fn g01_g02_wilson() {
    for (k, n, expected) in [
        (0, 15, (0.0, 0.203_883)),
        (1, 15, (0.011_867, 0.298_165)),
        (9, 15, (0.357_468, 0.801_755)),
        (11, 15, (0.480_496, 0.891_025)),
        // Newcombe (1998a), table I.
        (81, 263, (0.255_289, 0.366_210)),
        (15, 148, (0.062_386, 0.160_487)),
        (0, 20, (0.0, 0.161_125)),
        (1, 29, (0.006_113, 0.171_755)),
    ] {
        ends(proportion(k, n).wilson(Level::P95), expected);
        ends(stats::wilson(k, n), expected);
    }
    assert_eq!(proportion(0, 0).wilson(Level::P95), (0.0, 1.0));
}

#[test]
fn g03_wilson_with_continuity_correction() {
    ends(
        proportion(81, 263).wilson_corrected(Level::P95),
        (0.253_509, 0.368_176),
    );
    ends(
        proportion(1, 15).wilson_corrected(Level::P95),
        (0.003_490, 0.339_669),
    );
}

#[test]
fn g04_clopper_pearson() {
    for (k, n, expected) in [
        (0, 15, (0.0, 0.218_019)),
        (1, 15, (0.001_686, 0.319_485)),
        (9, 15, (0.322_870, 0.836_636)),
        (81, 263, (0.252_737, 0.367_622)),
        (7, 174, (0.016_325, 0.081_130)),
        (0, 174, (0.0, 0.020_977)),
    ] {
        ends(proportion(k, n).clopper_pearson(Level::P95), expected);
    }
}

#[test]
fn the_one_sided_bound_of_nothing_seen() {
    for n in [1_u64, 15, 60, 174] {
        let exact = 1.0 - 0.05_f64.powf(1.0 / n as f64);
        digits(proportion(0, n).upper_bound(Level::P95), exact, 12);
    }
    digits(proportion(4, 4).upper_bound(Level::P95), 1.0, 12);
    // 59 is the published "rule": no event in 59 trials excludes 5 %.
    digits(trials_to_bound(0.05, Level::P95).unwrap(), 59.0, 9);
}

#[test]
fn g05_jeffreys() {
    for (k, expected) in [
        (0, (0.0, 0.151_817)),
        (1, (0.007_290, 0.271_751)),
        (11, (0.483_378, 0.902_589)),
        (15, (0.848_183, 1.0)),
    ] {
        ends(proportion(k, 15).jeffreys(Level::P95), expected);
    }
}

#[test]
fn g06_g07_newcombe_for_independent_rates() {
    for ((k1, n1), (k2, n2), expected) in [
        ((56, 70), (48, 80), (0.052_431, 0.333_873)),
        ((9, 10), (3, 10), (0.170_523, 0.809_018)),
        ((6, 7), (2, 7), (0.058_228, 0.806_250)),
        ((5, 56), (0, 29), (-0.038_137, 0.192_560)),
        ((1, 15), (0, 15), (-0.144_453, 0.298_165)),
        ((11, 15), (9, 15), (-0.190_135, 0.422_623)),
    ] {
        ends(
            newcombe_independent(proportion(k1, n1), proportion(k2, n2), Level::P95),
            expected,
        );
    }
}

#[test]
fn g08_fisher() {
    for ((a, b), (c, d), two_sided, greater) in [
        ((3, 1), (1, 3), 0.485_714, 0.242_857),
        ((8, 2), (1, 5), 0.034_965, 0.024_476),
        ((1, 14), (0, 15), 1.0, 0.5),
        ((14, 66), (1, 79), 0.000_568, 0.000_284),
    ] {
        let found = fisher_exact(proportion(a, a + b), proportion(c, c + d));
        digits(found.p, two_sided, 6);
        digits(found.p_greater, greater, 6);
    }
}

#[test]
fn g19_stratified_permutation() {
    // Cohort 25512084: three repeats, only the second scenario differs (1 of 3 against 3 of 3).
    let same = |k| Stratum {
        first: proportion(k, 3),
        second: proportion(k, 3),
    };
    let strata = [
        same(3),
        Stratum {
            first: proportion(3, 3),
            second: proportion(1, 3),
        },
        same(0),
        same(0),
    ];
    let exact = stratified_permutation(&strata);
    digits(exact.p_greater, 0.2, 12);
    digits(exact.p, 0.4, 12);
    let test = cochran_mantel_haenszel(&strata, Level::P95).unwrap();
    digits(test.cmh.statistic, 2.5, 12);
    digits(test.cmh.p, 0.113_846, 6);
    assert_eq!(test.informative, 1);
    assert_eq!(
        test.odds_ratio, None,
        "an odds ratio with a zero is no number"
    );
}

#[test]
fn g20_berkeley() {
    // Admissions of men and women in six departments: Bickel, Hammel & O'Connell (1975), Science 187, 398-404.
    let strata = [
        ((512, 313), (89, 19)),
        ((353, 207), (17, 8)),
        ((120, 205), (202, 391)),
        ((138, 279), (131, 244)),
        ((53, 138), (94, 299)),
        ((22, 351), (24, 317)),
    ]
    .map(|((a, b), (c, d))| Stratum {
        first: proportion(a, a + b),
        second: proportion(c, c + d),
    });
    let test = cochran_mantel_haenszel(&strata, Level::P95).unwrap();
    digits(test.cmh.statistic, 1.524_607, 6);
    digits(test.cmh.p, 0.216_924, 6);
    digits(test.cmh_corrected.statistic, 1.426_946, 6);
    digits(test.cmh_corrected.p, 0.232_263, 6);
    digits(test.odds_ratio.unwrap(), 0.904_697, 6);
    ends(test.interval.unwrap(), (0.771_907, 1.060_330));
    let constancy = test.breslow_day.unwrap();
    digits(constancy.statistic, 18.825_514, 6);
    digits(constancy.p, 0.002_071, 6);
}

#[test]
fn g25_g26_probabilities_in_plain_language() {
    for ((a, m), (b, n), expected) in [
        ((9, 15), (11, 15), 0.771_103),
        ((0, 15), (1, 15), 0.758_065),
        ((8, 15), (9, 15), 0.638_803),
    ] {
        digits(
            probability_second_higher(proportion(a, m), proportion(b, n)),
            expected,
            6,
        );
    }
    for (b, c, expected) in [(12, 5, 0.951_874), (5, 0, 0.984_375), (2, 0, 0.875)] {
        digits(probability_paired_higher(b, c), expected, 6);
    }
}
