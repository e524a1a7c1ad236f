//! Empty, constant, tied, one-scenario, unbalanced and NaN data: a clear statement, never a panic or a silent number.

use stats::{
    Level, Proportion, StatsError, TwoByTwo, adjust, bootstrap_clusters, bootstrap_enumerated,
    clustered_mean, cochran_mantel_haenszel, components, difference_in_differences, fisher_power,
    icc_table, mcnemar_power, one_sample, overdispersed_ratio, overdispersion, pass_hat_k,
    poisson_ratio, ratio_of_ratios, reliability, sign_flip, sign_test, signed_rank,
};

use super::proportion;

#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T, StatsError>, words: &str) {
    let text = result.unwrap_err().to_string();
    assert!(text.contains(words), "`{words}` is not in `{text}`");
}

#[test]
fn nan_and_infinity_are_refused_by_position() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let values = [1.0, 2.0, bad];
        let clusters = [vec![1.0, 0.0], vec![bad, 1.0]];
        says(sign_flip(&values, 1), "value 3 is");
        says(sign_test(&values), "value 3 is");
        says(signed_rank(&values), "value 3 is");
        says(one_sample(&values, Level::P95), "value 3 is");
        says(bootstrap_enumerated(&values, Level::P95), "value 3 is");
        says(clustered_mean(&clusters), "value 1 is");
        says(components(&clusters), "value 1 is");
        says(icc_table(&clusters), "value 1 is");
        says(overdispersion(&clusters), "value 1 is");
        says(
            bootstrap_clusters(&clusters, 10, 1, Level::P95),
            "value 1 is",
        );
        let cell = TwoByTwo {
            prompt: bad,
            server: 0.0,
            prompt_inject: 0.0,
            server_inject: 0.0,
        };
        says(
            difference_in_differences(&[cell, cell], Level::P95, 1),
            "value 1 is",
        );
        says(ratio_of_ratios(cell, 1.0, Level::P95), "is");
        says(Level::new(bad), "between 0 and 1");
        says(adjust(&[0.5, bad]), "from 0 to 1");
        says(
            poisson_ratio(1, bad, 1, 1.0, Level::P95),
            "a positive number",
        );
        says(
            overdispersed_ratio((1, 1.0), (1, 1.0), bad, Level::P95),
            "0 or more",
        );
        says(fisher_power(10, bad, 0.5, 0.05), "from 0 to 1");
        says(mcnemar_power(10, bad, 0.5, 0.05), "from 0 to 1");
    }
}

#[test]
fn nothing_and_too_little_are_said() {
    says(Proportion::new(4, 3), "4 out of 3");
    says(
        one_sample(&[], Level::P95),
        "needs at least 2 values, there are 0",
    );
    says(one_sample(&[1.0], Level::P95), "there is 1");
    says(clustered_mean(&[]), "at least 2 scenarios");
    says(clustered_mean(&[vec![1.0, 0.0], vec![]]), "there is 1");
    says(
        bootstrap_enumerated(&[], Level::P95),
        "at least 1 scenarios",
    );
    says(
        bootstrap_clusters(&[vec![]], 10, 1, Level::P95),
        "at least 1 scenarios",
    );
    says(
        bootstrap_clusters(&[vec![1.0]], 0, 1, Level::P95),
        "at least 1 resamples",
    );
    says(components(&[vec![1.0, 2.0]]), "at least 2 scenarios");
    says(
        components(&[vec![1.0], vec![2.0]]),
        "at least 2 repeats of a scenario",
    );
    says(pass_hat_k(proportion(2, 3), 4), "at least 4 attempts");
    says(pass_hat_k(proportion(2, 3), 0), "1 or more");
    says(reliability(&[], 1), "at least 1 attempts");
    says(reliability(&[proportion(1, 2)], 3), "at least 3 attempts");
    says(cochran_mantel_haenszel(&[], Level::P95), "no answer");
    says(bootstrap_enumerated(&[0.0; 8], Level::P95), "resample");
    says(signed_rank(&[1.0; 1001]), "at most a thousand");
    let found = sign_flip(&[], 1).unwrap();
    assert_eq!((found.p, found.k, found.smallest_p), (1.0, 0, 1.0));
    assert_eq!(adjust(&[]).unwrap().holm, Vec::<f64>::new());
}

#[test]
fn constant_data_get_no_invented_certainty() {
    let same = [vec![1.0, 1.0], vec![1.0, 1.0], vec![1.0, 1.0]];
    says(components(&same), "all values are the same");
    let mean = clustered_mean(&same).unwrap();
    assert_eq!((mean.mean, mean.se_robust, mean.p), (1.0, 0.0, None));
    let t = one_sample(&[0.0, 0.0, 0.0], Level::P95).unwrap();
    assert_eq!((t.t, t.p, t.interval), (None, None, (0.0, 0.0)));
    super::digits(sign_flip(&[0.0; 9], 1).unwrap().p, 1.0, 12);
    super::digits(sign_flip(&[0.0; 30], 1).unwrap().p, 1.0, 12);
    super::digits(signed_rank(&[0.0; 9]).unwrap().p, 1.0, 12);
    // Ties: six equal differences are the floor of the test.
    super::digits(sign_flip(&[0.5; 6], 1).unwrap().p, 0.03125, 12);
    let flat = bootstrap_clusters(&same, 50, 1, Level::P95).unwrap();
    assert_eq!((flat.sd, flat.interval), (0.0, (1.0, 1.0)));
}

#[test]
fn unequal_numbers_of_repeats_are_used_or_refused_but_never_cut() {
    let uneven = [vec![1.0, 0.0, 1.0], vec![0.0], vec![0.0, 0.0]];
    assert_eq!(clustered_mean(&uneven).unwrap().n, 6);
    let found = components(&uneven).unwrap();
    // (6 - 14/6) / 2
    super::digits(found.repeats, 11.0 / 6.0, 9);
    says(icc_table(&uneven), "equally many");
}
