//! Numbers as large as they get: an answer or a refusal, in bounded time.

use stats::{
    EXACT_UP_TO, Level, MONTE_CARLO_DRAWS, Proportion, RESAMPLES, Stratum, affordable_resamples,
    clustered_mean, components, fisher_exact, monte_carlo_draws, one_sample, poisson_ratio,
    sign_flip, stratified_permutation,
};

use super::{digits, proportion};

#[test]
fn counts_do_not_overflow() {
    let all = Proportion::at_most(u64::MAX, u64::MAX);
    let none = Proportion::at_most(0, u64::MAX);
    // One possible table only.
    digits(fisher_exact(all, all).p, 1.0, 12);
    digits(fisher_exact(none, none).p, 1.0, 12);
    digits(
        poisson_ratio(u64::MAX, 1.0, u64::MAX, 1.0, Level::P95)
            .unwrap()
            .ratio
            .unwrap(),
        1.0,
        12,
    );
    Proportion::new(1, u64::MAX).unwrap_err();
    let same = Stratum {
        first: all,
        second: all,
    };
    digits(stratified_permutation(&[same, same]).p, 1.0, 12);
}

#[test]
fn small_tails_keep_their_digits() {
    // P(X >= 1000) of Bin(1001, 1/2) is 1002/2^1001; twice that is the p.
    let p = poisson_ratio(1000, 1.0, 1, 1.0, Level::P95).unwrap().p;
    let expected = 1002.0 * 0.5_f64.powi(1000);
    assert!((p / expected - 1.0).abs() < 1e-9, "{p}");
    let huge = poisson_ratio(1, 1e308, 2, 1e308, Level::P95).unwrap();
    digits(huge.p, 1.0, 12);
    poisson_ratio(1, 1e308, 2, 1e-308, Level::P95).unwrap_err();
}

#[test]
fn values_too_large_to_be_squared_are_refused() {
    let huge = [1e308, 1e308, -1e308];
    let text = sign_flip(&huge, 1).unwrap_err().to_string();
    assert!(text.contains("1e150") && text.contains("1e308"), "{text}");
    one_sample(&huge, Level::P95).unwrap_err();
    let clusters = [vec![1e308], vec![1e308, 0.0]];
    clustered_mean(&clusters).unwrap_err();
    components(&clusters).unwrap_err();
    let large = one_sample(&[1e149, 2e149, 3e149], Level::P95).unwrap();
    assert!(large.se.is_finite() && large.p.is_some());
}

#[test]
fn large_strata_agree_with_fishers_test() {
    // With one stratum the permutation test is Fisher's one-sided; here the ends are trimmed.
    let stratum = Stratum {
        first: proportion(6_100, 12_000),
        second: proportion(5_900, 12_000),
    };
    let exact = fisher_exact(stratum.first, stratum.second);
    let found = stratified_permutation(&[stratum]);
    digits(found.p_greater, exact.p_greater, 9);
    digits(found.p_less, exact.p_less, 9);
    // Forty strata are done at once; the normal approximation puts 800 above the expectation at 3.27 deviations.
    let stratum = Stratum {
        first: proportion(6_020, 12_000),
        second: proportion(5_980, 12_000),
    };
    let many = stratified_permutation(&[stratum; 40]);
    assert!((many.p_greater / 5.4e-4 - 1.0).abs() < 0.05, "{many:?}");
    digits(many.expected, 240_000.0, 6);
}

#[test]
fn the_number_of_draws_is_bounded() {
    assert_eq!(monte_carlo_draws(EXACT_UP_TO + 1), MONTE_CARLO_DRAWS);
    assert_eq!(monte_carlo_draws(10_000), MONTE_CARLO_DRAWS);
    assert_eq!(monte_carlo_draws(1_000_000), 1_000);
    assert_eq!(monte_carlo_draws(usize::MAX), 1_000);
    let values: Vec<f64> = (0..100_000).map(|i| f64::from(i % 7) - 3.0).collect();
    let found = sign_flip(&values, 1).unwrap();
    digits(found.smallest_p, 1.0 / 10_001.0, 12);

    assert_eq!(affordable_resamples(&[vec![1.0, 0.0, 1.0]]), RESAMPLES);
    let yes_and_no: Vec<f64> = (0..1_000_000).map(|i| f64::from(i % 2)).collect();
    assert_eq!(affordable_resamples(&[yes_and_no]), RESAMPLES);
    let different: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    assert!(affordable_resamples(&[different]) < 1_001);
}
