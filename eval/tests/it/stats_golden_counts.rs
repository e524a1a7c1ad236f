//! The other half of the golden figures: several tests, reliability, beliefs, evidence over time, counts.

use super::stats_golden::check;

#[test]
fn g21_g22_several_tests() {
    let published =
        ".0001 .0004 .0019 .0095 .0201 .0278 .0298 .0344 .0459 .3240 .4262 .5719 .6528 .7590 1";
    for method in ["holm", "bh"] {
        check(&[
            (
                &format!("{method} {published}"),
                &[
                    ("/rejected_bonferroni", 3.0),
                    ("/rejected_holm", 3.0),
                    ("/rejected_bh", 4.0),
                    ("/bh/3", 0.035_625),
                    ("/bh/4", 0.060_300),
                    ("/holm/3", 0.114_000),
                    ("/holm/8", 0.321_300),
                ],
            ),
            (
                &format!("{method} .005 .011 .02 .04 .13"),
                &[
                    ("/holm/0", 0.025),
                    ("/holm/1", 0.044),
                    ("/holm/2", 0.06),
                    ("/holm/3", 0.08),
                    ("/holm/4", 0.13),
                    ("/bh/0", 0.025),
                    ("/bh/1", 0.0275),
                    ("/bh/2", 0.033_333),
                    ("/bh/3", 0.05),
                    ("/bh/4", 0.13),
                ],
            ),
        ]);
    }
}

#[test]
fn g23_reliability() {
    let five_of_eight = [0.625, 0.357_143, 0.178_571, 0.071_429, 0.017_857, 0.0];
    let eleven_of_fifteen = [0.733_333, 0.523_810, 0.362_637, 0.241_758];
    for (scenario, expected) in [
        ("5/8", &five_of_eight[..]),
        ("11/15", &eleven_of_fifteen[..]),
    ] {
        for (k, value) in (1..).zip(expected) {
            let command = format!("passk {scenario} -k {k}");
            check(&[(&command, &[("/pass_hat_k", *value)])]);
        }
    }
}

#[test]
fn g25_to_g28_beliefs_and_evidence_over_time() {
    for (rates, higher) in [
        ("9/15 11/15", 0.771_103),
        ("0/15 1/15", 0.758_065),
        ("8/15 9/15", 0.638_803),
    ] {
        let command = format!("bayes {rates}");
        check(&[(&command, &[("/probability_second_higher", higher)])]);
    }
    for (b, c, higher) in [(12, 5, 0.951_874), (5, 0, 0.984_375), (2, 0, 0.875)] {
        let command = format!("paired --b {b} --c {c}");
        check(&[(&command, &[("/probability_first_higher", higher)])]);
    }
    for (pairs, e) in [
        ("12/12", 315.076_923),
        ("8/10", 2.068_687),
        ("12/17", 1.176_758),
        ("8/8", 28.444_444),
        ("7/7", 16.0),
    ] {
        let command = format!("eprocess {pairs}");
        check(&[(&command, &[("/e_value", e)])]);
    }
    for (pairs, low, high) in [
        ("0/15", 0.0, 0.319_246),
        ("9/15", 0.247_033, 0.889_866),
        ("36/60", 0.400_319, 0.779_150),
    ] {
        let command = format!("eprocess {pairs}");
        let figures = [
            ("/confidence_sequence/0", low),
            ("/confidence_sequence/1", high),
        ];
        check(&[(&command, &figures)]);
    }
}

#[test]
fn g29_g30_counts() {
    for (counts, p, ratio, low, high) in [
        ("26 16", 0.164_149, 1.625, 0.839_478, 3.242_312),
        ("19 8", 0.052_239, 2.375, 0.992_772, 6.271_323),
        ("45 21", 0.004_272, 2.142_857, 1.250_265, 3.787_017),
    ] {
        let figures = [
            ("/p", p),
            ("/ratio", ratio),
            ("/interval/0", low),
            ("/interval/1", high),
        ];
        check(&[
            (&format!("poisson {counts}"), &figures),
            (&format!("poisson {counts} --exposure 15 15"), &figures),
        ]);
    }
    check(&[
        (
            "poisson 26 0",
            &[
                ("/garwood_first/0", 16.984_063),
                ("/garwood_first/1", 38.096_024),
                ("/garwood_second/0", 0.0),
                ("/garwood_second/1", 3.688_879),
            ],
        ),
        // 90 % two-sided is 95 % one-sided.
        (
            "poisson 0 0 --level 0.9",
            &[("/garwood_first/1", 2.995_732)],
        ),
    ]);
}
