//! `eval stats --json` gives the digits of the published examples and of `SciPy`; numbers as in the crate's own tests.

use super::stats_command::json;
use serde_json::Value;

/// Commands with the figures that must come out, by JSON pointer.
pub(super) type Cases<'a> = &'a [(&'a str, &'a [(&'a str, f64)])];

/// Given to six decimals; small p values to six figures.
pub(super) fn check(cases: Cases<'_>) {
    for (command, figures) in cases {
        let found = json(&command.replace("DATA", super::stats_command::DATA));
        for (name, expected) in *figures {
            let value = found.pointer(name).and_then(Value::as_f64).unwrap();
            let tolerance = if expected.abs() < 1e-4 && *expected != 0.0 {
                expected.abs() * 5e-6
            } else {
                5.001e-7
            };
            assert!(
                (value - expected).abs() <= tolerance,
                "{command} {name}: {value} instead of {expected}"
            );
        }
        let meaning = found["meaning"].as_str().unwrap();
        assert!(meaning.ends_with('.'), "{command}: {meaning}");
    }
}

/// A method's interval for several rates.
fn intervals(name: &str, cases: &[(&str, f64, f64)]) {
    for (rate, low, high) in cases {
        let (a, b) = (format!("/{name}/0"), format!("/{name}/1"));
        check(&[(&format!("rate {rate}"), &[(&a, *low), (&b, *high)])]);
    }
}

#[test]
fn g01_to_g05_intervals_of_a_rate() {
    intervals(
        "wilson",
        &[
            ("0/15", 0.0, 0.203_883),
            ("1/15", 0.011_867, 0.298_165),
            ("9/15", 0.357_468, 0.801_755),
            ("11/15", 0.480_496, 0.891_025),
            ("81/263", 0.255_289, 0.366_210),
            ("15/148", 0.062_386, 0.160_487),
            ("0/20", 0.0, 0.161_125),
            ("1/29", 0.006_113, 0.171_755),
        ],
    );
    intervals(
        "wilson_corrected",
        &[
            ("81/263", 0.253_509, 0.368_176),
            ("1/15", 0.003_490, 0.339_669),
        ],
    );
    intervals(
        "clopper_pearson",
        &[
            ("0/15", 0.0, 0.218_019),
            ("1/15", 0.001_686, 0.319_485),
            ("9/15", 0.322_870, 0.836_636),
            ("81/263", 0.252_737, 0.367_622),
            ("7/174", 0.016_325, 0.081_130),
            ("0/174", 0.0, 0.020_977),
        ],
    );
    intervals(
        "jeffreys",
        &[
            ("0/15", 0.0, 0.151_817),
            ("1/15", 0.007_290, 0.271_751),
            ("11/15", 0.483_378, 0.902_589),
            ("15/15", 0.848_183, 1.0),
        ],
    );
    // Both bounds are 1 - .05^(1/15) from the end.
    check(&[
        ("rate 0/15", &[("/upper_bound", 0.181_036)]),
        ("rate 15/15", &[("/lower_bound", 0.818_964)]),
    ]);
}

#[test]
fn g06_to_g08_two_independent_rates() {
    for (rates, low, high) in [
        ("56/70 48/80", 0.052_431, 0.333_873),
        ("9/10 3/10", 0.170_523, 0.809_018),
        ("6/7 2/7", 0.058_228, 0.806_250),
        ("5/56 0/29", -0.038_137, 0.192_560),
        ("1/15 0/15", -0.144_453, 0.298_165),
        ("11/15 9/15", -0.190_135, 0.422_623),
    ] {
        let command = format!("diff {rates}");
        check(&[(&command, &[("/newcombe/0", low), ("/newcombe/1", high)])]);
    }
    for (rates, two_sided, greater) in [
        ("3/4 1/4", 0.485_714, 0.242_857),
        ("8/10 1/6", 0.034_965, 0.024_476),
        ("1/15 0/15", 1.0, 0.5),
        ("14/80 1/80", 0.000_568, 0.000_284),
    ] {
        let figures = [("/fisher_p", two_sided), ("/fisher_p_greater", greater)];
        check(&[
            (&format!("fisher {rates}"), &figures),
            (&format!("diff {rates}"), &figures),
        ]);
    }
}

#[test]
fn g09_to_g13_pairs() {
    for (b, c, exact, mid_p) in [
        (86, 150, 3.715_94e-05, 2.893_39e-05),
        (12, 5, 0.143_463, 0.096_252),
        (5, 0, 0.0625, 0.031_25),
        (6, 0, 0.031_25, 0.015_625),
        (8, 1, 0.039_063, 0.021_484),
        (0, 2, 0.5, 0.25),
        (1, 0, 1.0, 0.5),
    ] {
        let command = format!("paired --b {b} --c {c}");
        let figures = [("/mcnemar_exact_p", exact), ("/mcnemar_mid_p", mid_p)];
        check(&[(&command, &figures)]);
    }
    check(&[
        (
            "paired --b 86 --c 150",
            &[
                ("/chi_squared/statistic", 17.355_932),
                ("/chi_squared/p", 3.099_29e-05),
                ("/chi_squared_corrected/statistic", 16.817_797),
                ("/chi_squared_corrected/p", 4.114_56e-05),
            ],
        ),
        (
            "paired --b 59 --c 121",
            &[
                ("/chi_squared_corrected/statistic", 20.672_222),
                ("/chi_squared_corrected/p", 5.450_09e-06),
                ("/mcnemar_exact_p", 4.434_45e-06),
            ],
        ),
        (
            "paired --b 12 --c 2 --both 36 --neither 0",
            &[
                ("/difference", 0.2),
                ("/newcombe/0", 0.056_930),
                ("/newcombe/1", 0.340_428),
                ("/tango/0", 0.061_112),
                ("/tango/1", 0.344_709),
            ],
        ),
        (
            "paired --b 12 --c 5 --n 60 --neither 19",
            &[
                ("/newcombe/0", -0.018_490),
                ("/newcombe/1", 0.244_359),
                ("/tango/0", -0.019_466),
                ("/tango/1", 0.254_022),
            ],
        ),
        (
            "paired --b 97 --c 0 --n 100",
            &[("/tango/0", 0.897_123), ("/tango/1", 0.989_745)],
        ),
    ]);
}

#[test]
fn g14_g15_sign_flip() {
    check(&[
        (
            "signflip 49 -67 8 16 6 23 28 41 14 29 56 24 75 60 -48",
            &[
                ("/sign_flip/p", 1726.0 / 32768.0),
                ("/sign_flip/p_greater", 863.0 / 32768.0),
                ("/t/t", 2.147_987),
                ("/t/p", 0.049_703),
                ("/sign_test_p", 0.007_385),
                ("/wilcoxon/w", 24.0),
                ("/wilcoxon/p", 0.041_260),
            ],
        ),
        ("signflip 0 0.6666667 0 0", &[("/sign_flip/p", 1.0)]),
        (
            "signflip 0 0.3333333 0.6666667 -0.3333333 0",
            &[("/sign_flip/p", 0.75)],
        ),
        (
            "signflip 0.6666667 0 0 0.6666667 0 0",
            &[("/sign_flip/p", 0.5)],
        ),
    ]);
}

#[test]
fn g16_to_g20_g24_g31_tables() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, rows: &[(&str, &[f64])]| {
        let path = folder.path().join(name);
        let lines = rows
            .iter()
            .flat_map(|(scenario, values)| values.iter().map(move |v| format!("{scenario},{v}\n")));
        let text: String = std::iter::once("scenario,value\n".to_owned())
            .chain(lines)
            .collect();
        std::fs::write(&path, text).unwrap();
        format!("cluster {}", path.display())
    };
    let (yes, no) = (&[1.0; 3][..], &[0.0; 3][..]);
    let third = &[0.0, 0.0, 1.0][..];
    let prompt = write("p", &[("1", yes), ("2", third), ("3", no), ("4", no)]);
    let server = write("s", &[("1", yes), ("2", yes), ("3", no), ("4", no)]);
    let means: Vec<(&str, &[f64])> = vec![
        ("1", &[0.0]),
        ("2", &[1.0 / 3.0]),
        ("3", &[2.0 / 3.0]),
        ("4", &[-1.0 / 3.0]),
        ("5", &[0.0]),
    ];
    let five = write("d", &means);
    check(&[
        (
            &prompt,
            &[
                ("/mean", 0.333_333),
                ("/se_independent", 0.142_134),
                ("/se_miller", 0.208_207),
                ("/se_cr0", 0.204_124),
                ("/se_cr1", 0.235_702),
            ],
        ),
        (
            &server,
            &[
                ("/mean", 0.5),
                ("/se_independent", 0.150_756),
                ("/se_miller", 0.253_760),
                ("/se_cr0", 0.25),
                ("/se_cr1", 0.288_675),
            ],
        ),
        (
            "cluster DATA/cohort-25512084-differences.csv",
            &[
                ("/mean", 0.166_667),
                ("/se_independent", 0.112_367),
                ("/se_miller", 0.147_938),
                ("/se_cr0", 0.144_338),
                ("/se_cr1", 0.166_667),
                ("/interval/0", -0.363_741),
                ("/interval/1", 0.697_074),
                ("/bootstrap_enumerated/sd", 0.144_338),
                ("/bootstrap_enumerated/interval/0", 0.0),
                ("/bootstrap_enumerated/interval/1", 0.5),
                ("/bootstrap_enumerated/at_or_below_zero", 0.316_406),
                ("/bootstrap_enumerated/draws", 256.0),
            ],
        ),
        (
            &five,
            &[
                ("/mean", 0.133_333),
                ("/bootstrap_enumerated/sd", 0.152_023),
                ("/bootstrap_enumerated/interval/0", -0.133_333),
                ("/bootstrap_enumerated/interval/1", 0.466_667),
                ("/bootstrap_enumerated/at_or_below_zero", 0.263_360),
                ("/bootstrap_enumerated/draws", 3_125.0),
            ],
        ),
        (
            "cmh DATA/cohort-25512084.csv",
            &[
                ("/permutation/p", 0.4),
                ("/permutation/p_less", 0.2),
                ("/cmh/cmh/statistic", 2.5),
                ("/cmh/cmh/p", 0.113_846),
            ],
        ),
        (
            "cmh DATA/berkeley.csv",
            &[
                ("/cmh/cmh/statistic", 1.524_607),
                ("/cmh/cmh/p", 0.216_924),
                ("/cmh/cmh_corrected/statistic", 1.426_946),
                ("/cmh/cmh_corrected/p", 0.232_263),
                ("/cmh/odds_ratio", 0.904_697),
                ("/cmh/interval/0", 0.771_907),
                ("/cmh/interval/1", 1.060_330),
                ("/cmh/breslow_day/statistic", 18.825_514),
                ("/cmh/breslow_day/p", 0.002_071),
            ],
        ),
        (
            "icc DATA/shrout-fleiss.csv",
            &[
                ("/components/between", 11.241_667),
                ("/components/within", 6.263_889),
                ("/table/error", 1.019_444),
                ("/table/icc1", 0.165_742),
                ("/table/icc2", 0.289_764),
                ("/table/icc3", 0.714_841),
            ],
        ),
        (
            "did DATA/cohort-26520057.csv",
            &[
                ("/mean/mean", 0.222_222),
                ("/mean/se", 0.140_546),
                ("/mean/t", 1.581_139),
                ("/mean/p", 0.174_688),
                ("/mean/interval/0", -0.139_062),
                ("/mean/interval/1", 0.583_506),
                ("/sign_flip/p", 0.5),
            ],
        ),
    ]);
}
