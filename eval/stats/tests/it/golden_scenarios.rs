//! Clusters, resampling, variance components, power.

use stats::{
    Level, ScenarioDesign, TwoByTwo, Variances, bootstrap_clusters, bootstrap_enumerated,
    can_reject, clustered_mean, clusters_needed, components, detectable_difference,
    difference_in_differences, fisher_detectable, fisher_power, icc_table, mcnemar_detectable,
    mcnemar_power, miller_sample_size, smallest_p,
};

use super::{digits, ends};

/// Rows of repeats: `111` is three successes.
fn rows(rows: &[&str]) -> Vec<Vec<f64>> {
    rows.iter()
        .map(|row| {
            row.chars()
                .map(|c| if c == '1' { 1.0 } else { 0.0 })
                .collect()
        })
        .collect()
}

#[test]
fn g16_g17_clustered_standard_errors() {
    // Cohort 25512084, prompt_inject and server_inject.
    let prompt = rows(&["111", "001", "000", "000"]);
    let server = rows(&["111", "111", "000", "000"]);
    let paired: Vec<Vec<f64>> = server
        .iter()
        .zip(&prompt)
        .map(|(s, p)| s.iter().zip(p).map(|(s, p)| s - p).collect())
        .collect();
    for (clusters, expected) in [
        (
            &prompt,
            [0.333_333, 0.142_134, 0.208_207, 0.204_124, 0.235_702],
        ),
        (&server, [0.5, 0.150_756, 0.253_760, 0.25, 0.288_675]),
        (
            &paired,
            [0.166_667, 0.112_367, 0.147_938, 0.144_338, 0.166_667],
        ),
    ] {
        let found = clustered_mean(clusters).unwrap();
        let values = [
            found.mean,
            found.se_independent,
            found.se_miller,
            found.se_cr0,
            found.se_robust,
        ];
        for (value, expected) in values.into_iter().zip(expected) {
            digits(value, expected, 6);
        }
    }
    ends(
        clustered_mean(&paired).unwrap().interval,
        (-0.363_741, 0.697_074),
    );
}

#[test]
fn g18_enumerated_bootstrap() {
    let third = 1.0 / 3.0;
    let four = bootstrap_enumerated(&[0.0, 2.0 * third, 0.0, 0.0], Level::P95).unwrap();
    assert_eq!(four.draws, 256);
    digits(four.sd, 0.144_338, 6);
    ends(four.interval, (0.0, 0.5));
    digits(four.at_or_below_zero, 0.316_406, 6);
    let five = bootstrap_enumerated(&[0.0, third, 2.0 * third, -third, 0.0], Level::P95).unwrap();
    assert_eq!(five.draws, 3_125);
    digits(five.mean, 0.133_333, 6);
    digits(five.sd, 0.152_023, 6);
    ends(five.interval, (-0.133_333, 0.466_667));
    digits(five.at_or_below_zero, 0.263_360, 6);
}

#[test]
fn a_drawn_bootstrap_comes_close_to_the_enumerated_one() {
    // One repeat a scenario: drawing repeats adds nothing.
    let means = [0.0, 1.0, 2.0, -1.0, 0.0];
    let exact = bootstrap_enumerated(&means, Level::P95).unwrap();
    let clusters: Vec<Vec<f64>> = means.iter().map(|mean| vec![*mean]).collect();
    let drawn = bootstrap_clusters(&clusters, 40_000, 3, Level::P95).unwrap();
    assert!(
        (drawn.sd / exact.sd - 1.0).abs() < 0.02,
        "{} {}",
        drawn.sd,
        exact.sd
    );
    assert!((drawn.at_or_below_zero - exact.at_or_below_zero).abs() < 0.015);
    ends(drawn.interval, exact.interval);
}

#[test]
fn counting_the_draws_of_equal_values_changes_nothing_but_the_time() {
    // The same values, told apart by less than matters, are drawn one by one.
    let counted: Vec<Vec<f64>> = (0..6)
        .map(|s| {
            (0..60)
                .map(|i| f64::from(u8::from((i * 7 + s) % 5 < 2 + s % 2)))
                .collect()
        })
        .collect();
    let plain: Vec<Vec<f64>> = counted
        .iter()
        .map(|cluster| {
            (1..)
                .zip(cluster)
                .map(|(i, v)| v + f64::from(i) * 1e-12)
                .collect()
        })
        .collect();
    let a = bootstrap_clusters(&counted, 20_000, 1, Level::P95).unwrap();
    let b = bootstrap_clusters(&plain, 20_000, 2, Level::P95).unwrap();
    assert!((a.sd / b.sd - 1.0).abs() < 0.03, "{} {}", a.sd, b.sd);
    assert!(
        (a.interval.0 - b.interval.0).abs() < 0.01,
        "{:?} {:?}",
        a.interval,
        b.interval
    );
}

#[test]
fn threads_do_not_change_the_bootstrap() {
    let clusters = rows(&["110", "011", "000", "111", "010", "001", "100", "101"]);
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let one = alone.install(|| bootstrap_clusters(&clusters, 3_000, 9, Level::P95).unwrap());
    assert_eq!(
        one,
        bootstrap_clusters(&clusters, 3_000, 9, Level::P95).unwrap()
    );
    assert_ne!(
        one,
        bootstrap_clusters(&clusters, 3_000, 10, Level::P95).unwrap()
    );
}

#[test]
fn g24_shrout_and_fleiss() {
    let table = [
        [9.0, 2.0, 5.0, 8.0],
        [6.0, 1.0, 3.0, 2.0],
        [8.0, 4.0, 6.0, 8.0],
        [7.0, 1.0, 2.0, 6.0],
        [10.0, 5.0, 6.0, 9.0],
        [6.0, 2.0, 4.0, 7.0],
    ]
    .map(|row| row.to_vec());
    let found = icc_table(&table).unwrap();
    for (value, expected) in [
        (found.rows, 11.241_667),
        (found.within, 6.263_889),
        (found.error, 1.019_444),
        (found.icc1, 0.165_742),
        (found.icc2, 0.289_764),
        (found.icc3, 0.714_841),
    ] {
        digits(value, expected, 6);
    }
    let one_way = components(&table).unwrap();
    digits(one_way.icc, 0.165_742, 6);
    digits(one_way.repeats, 4.0, 12);
}

#[test]
fn fifteen_episodes_are_worth_about_eight() {
    // Five scenarios, three repeats that nearly always agree.
    let found = components(&rows(&["111", "110", "000", "001", "111"])).unwrap();
    assert!(found.icc > 0.4 && found.effective_n < 9.0, "{found:?}");
    digits(found.effective_n * found.design_effect, 15.0, 9);
}

#[test]
fn g31_difference_in_differences() {
    // Cohort 26520057: differences of differences .6667, 0, 0, .6667, 0, 0.
    let cell = |difference: f64| TwoByTwo {
        prompt: 0.0,
        server: 0.0,
        prompt_inject: difference,
        server_inject: 0.0,
    };
    let scenarios = [2.0 / 3.0, 0.0, 0.0, 2.0 / 3.0, 0.0, 0.0].map(cell);
    let found = difference_in_differences(&scenarios, Level::P95, 1).unwrap();
    digits(found.mean.mean, 0.222_222, 6);
    digits(found.mean.se, 0.140_546, 6);
    digits(found.mean.t.unwrap(), 1.581_139, 6);
    digits(found.mean.p.unwrap(), 0.174_688, 6);
    ends(found.mean.interval, (-0.139_062, 0.583_506));
    digits(found.sign_flip.p, 0.5, 12);
}

#[test]
fn g32_power() {
    digits(fisher_power(60, 0.8, 0.6, 0.05).unwrap(), 0.600_244, 6);
    digits(mcnemar_power(60, 0.25, 0.05, 0.05).unwrap(), 0.797_296, 6);
    digits(mcnemar_power(15, 0.25, 0.05, 0.05).unwrap(), 0.088_086, 6);
}

#[test]
fn g33_millers_sample_size() {
    let size = |variance: f64, repeats: f64| {
        miller_sample_size(
            Variances {
                between: 1.0 / 9.0,
                first: variance,
                first_repeats: repeats,
                second: variance,
                second_repeats: repeats,
            },
            0.03,
            0.05,
            0.8,
        )
        .unwrap()
    };
    digits(size(0.0, 1.0), 968.997, 3);
    digits(size(1.0 / 6.0, 1.0), 3_875.990, 3);
    digits(size(1.0 / 6.0, 10.0), 1_259.697, 3);
}

#[test]
fn the_table_of_detectable_differences() {
    // Section 1 of the specification: success .5, ICC .45, correlation .7.
    let design = ScenarioDesign {
        variance: 0.25,
        icc: 0.45,
        correlation: 0.7,
    };
    for (scenarios, repeats, expected) in [
        (5, 3, 0.66),
        (5, 12, 0.50),
        (12, 3, 0.35),
        (20, 3, 0.26),
        (40, 3, 0.18),
        (40, 5, 0.16),
        (60, 3, 0.15),
    ] {
        digits(
            design
                .detectable_by_t(scenarios, repeats, 0.05, 0.8)
                .unwrap(),
            expected,
            2,
        );
    }
    // Ours is the first thousandth that reaches the power; the table is rounded.
    let close = |found: Result<Option<f64>, stats::StatsError>, expected: f64| {
        let found = found.unwrap().unwrap();
        assert!(
            (found - expected).abs() < 0.0015,
            "{found} instead of {expected}"
        );
    };
    assert_eq!(design.detectable(5, 12, 0.05, 0.8), None);
    let needed = design.scenarios_needed(0.18, 3, 0.05, 0.8).unwrap();
    assert!((40..=42).contains(&needed), "{needed}");
    for (n, expected) in [(15, 0.572), (30, 0.338), (60, 0.201)] {
        close(mcnemar_detectable(n, 0.05, 0.05, 0.8), expected);
    }
    assert_eq!(fisher_detectable(15, 0.6, true, 0.05, 0.8).unwrap(), None);
    for (n, upward, expected) in [(30, true, 0.323), (15, false, 0.520), (30, false, 0.379)] {
        close(fisher_detectable(n, 0.6, upward, 0.05, 0.8), expected);
    }
}

#[test]
fn five_scenarios_can_never_reject() {
    digits(smallest_p(5), 0.0625, 12);
    assert!(!can_reject(5, 0.05) && can_reject(6, 0.05) && can_reject(1_000_000, 0.05));
    let fewest = [0.05, 0.0625, 0.01, 0.001].map(stats::fewest_clusters);
    assert_eq!(fewest, [6, 5, 8, 11]);
    // Six scenarios at least, whatever the spread.
    assert_eq!(clusters_needed(0.0, 0.1, 0.05), Some(6));
    let needed = clusters_needed(0.4, 0.15, 0.05).unwrap();
    assert!(detectable_difference(0.4, needed, 0.05).unwrap() <= 0.15);
    assert!(detectable_difference(0.4, needed - 1, 0.05).unwrap() > 0.15);
    assert_eq!(
        (
            clusters_needed(0.4, 0.0, 0.05),
            clusters_needed(f64::NAN, 0.1, 0.05)
        ),
        (None, None)
    );
}
