//! `eval stats` on the command line: the golden figures, and what it refuses.

use clap::Parser as _;
use eval::report::Annotations;
use serde_json::Value;

fn run(words: &[&str]) -> anyhow::Result<String> {
    let mut out = Vec::new();
    let all = [&["eval", "stats"], words].concat();
    eval::cli::run(
        eval::cli::Cli::try_parse_from(all)?,
        &Annotations::default(),
        &mut out,
    )?;
    Ok(String::from_utf8(out)?)
}

fn json(command: &str) -> Value {
    let mut words: Vec<&str> = command.split(' ').collect();
    words.push("--json");
    serde_json::from_str(&run(&words).unwrap()).unwrap()
}

#[test]
fn golden_figures_come_out_of_the_command_line() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/data");
    for (command, figures) in [
        (
            "rate 9/15",
            &[
                ("/wilson/0", 0.357_468),
                ("/wilson/1", 0.801_755),
                ("/clopper_pearson/0", 0.322_870),
                ("/clopper_pearson/1", 0.836_636),
            ][..],
        ),
        (
            "rate 81/263",
            &[
                ("/wilson_corrected/0", 0.253_509),
                ("/wilson_corrected/1", 0.368_176),
            ],
        ),
        (
            "rate 11/15",
            &[("/jeffreys/0", 0.483_378), ("/jeffreys/1", 0.902_589)],
        ),
        (
            "diff 56/70 48/80",
            &[("/newcombe/0", 0.052_431), ("/newcombe/1", 0.333_873)],
        ),
        (
            "diff 1/15 0/15",
            &[
                ("/newcombe/0", -0.144_453),
                ("/newcombe/1", 0.298_165),
                ("/fisher_p", 1.0),
                ("/fisher_p_greater", 0.5),
            ],
        ),
        (
            "fisher 14/80 1/80",
            &[("/fisher_p", 0.000_568), ("/fisher_p_greater", 0.000_284)],
        ),
        (
            "paired --b 86 --c 150",
            &[
                ("/chi_squared/statistic", 17.355_932),
                ("/chi_squared_corrected/statistic", 16.817_797),
            ],
        ),
        (
            "paired --b 12 --c 5",
            &[
                ("/mcnemar_exact_p", 0.143_463),
                ("/mcnemar_mid_p", 0.096_252),
                ("/probability_first_higher", 0.951_874),
                ("/e_value", 1.176_758),
            ],
        ),
        (
            "paired --b 12 --c 2 --n 50 --both 36",
            &[
                ("/tango/0", 0.061_112),
                ("/tango/1", 0.344_709),
                ("/newcombe/0", 0.056_930),
                ("/newcombe/1", 0.340_428),
            ],
        ),
        (
            "signflip 49 -67 8 16 6 23 28 41 14 29 56 24 75 60 -48",
            &[
                ("/sign_flip/p", 0.052_673),
                ("/t/t", 2.147_987),
                ("/t/p", 0.049_703),
                ("/sign_test_p", 0.007_385),
                ("/wilcoxon/w", 24.0),
                ("/wilcoxon/p", 0.041_260),
            ],
        ),
        (
            "holm .005 .011 .02 .04 .13",
            &[
                ("/holm/1", 0.044),
                ("/bh/2", 0.033_333),
                ("/holm/3", 0.08),
                ("/rejected_holm", 2.0),
                ("/rejected_bh", 4.0),
            ],
        ),
        ("passk 5/8 -k 3", &[("/pass_hat_k", 0.178_571)]),
        ("passk 11/15 -k 4", &[("/pass_hat_k", 0.241_758)]),
        (
            "poisson 26 16",
            &[
                ("/p", 0.164_149),
                ("/ratio", 1.625),
                ("/interval/0", 0.839_478),
                ("/interval/1", 3.242_312),
                ("/garwood_first/0", 16.984_063),
                ("/garwood_first/1", 38.096_024),
            ],
        ),
        (
            "bayes 9/15 11/15",
            &[("/probability_second_higher", 0.771_103)],
        ),
        ("eprocess 8/8", &[("/e_value", 28.444_444)]),
        (
            "eprocess 9/15",
            &[
                ("/confidence_sequence/0", 0.247_033),
                ("/confidence_sequence/1", 0.889_866),
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
            ],
        ),
        (
            "did DATA/cohort-26520057.csv",
            &[
                ("/mean/mean", 0.222_222),
                ("/mean/se", 0.140_546),
                ("/mean/p", 0.174_688),
                ("/mean/interval/0", -0.139_062),
                ("/mean/interval/1", 0.583_506),
            ],
        ),
        (
            "icc DATA/shrout-fleiss.csv",
            &[
                ("/table/icc1", 0.165_742),
                ("/table/icc2", 0.289_764),
                ("/table/icc3", 0.714_841),
            ],
        ),
        (
            "cmh DATA/berkeley.csv",
            &[
                ("/cmh/cmh/statistic", 1.524_607),
                ("/cmh/cmh_corrected/p", 0.232_263),
                ("/cmh/odds_ratio", 0.904_697),
                ("/cmh/interval/0", 0.771_907),
                ("/cmh/breslow_day/statistic", 18.825_514),
            ],
        ),
        (
            "cmh DATA/cohort-25512084.csv",
            &[
                ("/permutation/p", 0.4),
                ("/permutation/p_less", 0.2),
                ("/cmh/cmh/p", 0.113_846),
            ],
        ),
    ] {
        let found = json(&command.replace("DATA", docs));
        for (name, expected) in figures {
            let value = found
                .pointer(name)
                .and_then(Value::as_f64)
                .unwrap_or(f64::NAN);
            assert!(
                (value - expected).abs() <= 5.001e-7,
                "{command} {name}: {value} instead of {expected}"
            );
        }
        assert!(
            found["meaning"]
                .as_str()
                .is_some_and(|text| text.ends_with('.')),
            "{command}"
        );
    }
}

#[test]
fn five_scenarios_are_said_to_be_too_few() {
    let text = run(&["signflip", "1", "1", "1", "1", "1"]).unwrap();
    assert!(
        text.contains("5 values can never show a difference at 0.05, however large it is: the smallest p they allow is 0.0625"),
        "{text}"
    );
}

#[test]
fn values_come_from_a_file_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values");
    std::fs::write(&path, "0.5, 0.5\n-0.25;1\t2\n").unwrap();
    let text = run(&["signflip", "--file", path.to_str().unwrap()]).unwrap();
    assert_eq!(
        text,
        run(&["signflip", "0.5", "0.5", "-0.25", "1", "2"]).unwrap()
    );
    std::fs::write(&path, "0.5\n0.5 x\n").unwrap();
    let error = format!(
        "{:#}",
        run(&["signflip", "--file", path.to_str().unwrap()]).unwrap_err()
    );
    assert!(
        error.contains("line 2") && error.contains("`x` is no number"),
        "{error}"
    );
}

#[test]
fn a_million_rows_and_odd_headers_are_read() {
    use std::fmt::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.csv");
    let mut text = "\u{feff}scenario,note,value\n".to_owned();
    for i in 0..1_000_000 {
        writeln!(text, "s{},\"a, b\",{}", i % 40, i % 2).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let found = json(&format!("cluster {}", path.display()));
    assert_eq!(
        (found["n"].as_u64(), found["scenarios"].as_u64()),
        (Some(1_000_000), Some(40))
    );
}

#[test]
fn wrong_input_is_refused_with_what_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for (words, expected) in [
        (&["rate", "10/3"][..], "10 out of 3"),
        (&["rate", "-1/5"], "unexpected argument"),
        (&["rate", "9"], "successes/trials"),
        (&["rate", "1.5/3"], "no whole number"),
        (&["rate", "99999999999999999999/1"], "no whole number"),
        (&["rate", "1/2", "--level", "1"], "between 0 and 1"),
        (&["rate", "1/2", "--level", "NaN"], "between 0 and 1"),
        (&["holm", "1.5"], "from 0 to 1"),
        (&["holm", "NaN"], "from 0 to 1"),
        (&["signflip", "1", "inf"], "value 2 is inf"),
        (&["signflip", "x"], "invalid float"),
        (&["signflip"], "required"),
        (
            &["paired", "--b", "5", "--c", "5", "--n", "9"],
            "counts all pairs",
        ),
        (
            &["paired", "--b", "5", "--c", "5", "--n", "12", "--both", "3"],
            "2 pairs that agree",
        ),
        (&["passk", "2/3", "-k", "4"], "at least 4 attempts"),
        (&["passk", "2/3", "-k", "0"], "1 or more"),
        (
            &["poisson", "1", "2", "--exposure", "0", "1"],
            "a positive number",
        ),
        (
            &["poisson", "0", "2", "--overdispersion", "2"],
            "one of the counts is 0",
        ),
        (
            &["did", "--counts", "0", "1", "1", "1"],
            "one of the four counts is 0",
        ),
        (
            &["did", "--rates", "0/0", "1/1", "1/1", "1/1"],
            "at least 1 episodes in every cell",
        ),
        (&["did"], "required"),
        (&["cluster", "/nowhere.csv"], "/nowhere.csv"),
    ] {
        let error = format!("{:#}", run(words).unwrap_err());
        assert!(error.contains(expected), "{words:?}: {error}");
    }
    for (method, text, expected) in [
        ("cluster", "", "no column `scenario`"),
        ("cluster", "scenario,value\n", "a header and no rows"),
        (
            "cluster",
            "scenario,score\na,1\n",
            "no column `value`; it has: scenario, score",
        ),
        (
            "cluster",
            "scenario,value\na,1\na,NaN\n",
            "line 3, column `value`: `NaN` is no finite number",
        ),
        ("cluster", "scenario,value\na,1e400\n", "no finite number"),
        (
            "cluster",
            "scenario,value\na,ten\n",
            "line 2, column `value`: `ten` is no number",
        ),
        (
            "cluster",
            "scenario,value\n,1\n",
            "line 2, column `scenario`: `` is empty",
        ),
        (
            "cluster",
            "scenario,value\na,1\na,2\n",
            "at least 2 scenarios",
        ),
        ("cluster", "scenario,value\na,1,2\n", "CSV"),
        ("icc", "scenario,value\na,1\nb,2\n", "at least 2 repeats"),
        (
            "icc",
            "scenario,value\na,1\na,1\nb,1\nb,1\n",
            "all values are the same",
        ),
        (
            "did",
            "scenario,condition,value\na,sometimes,1\n",
            "none of prompt, server",
        ),
        (
            "did",
            "scenario,condition,value\na,prompt,1\n",
            "no scenario has all four conditions",
        ),
        (
            "cmh",
            "scenario,arm,value\na,x,1\n",
            "1 arms (x); two are needed",
        ),
        ("cmh", "scenario,arm,value\na,x,2\n", "neither 0 nor 1"),
        ("cmh", "scenario,arm,value\na,x,1\na,y,1\n", "no answer"),
        ("cmh", "scenario,arm,successes,n\na,x,3,2\n", "more than n"),
    ] {
        let error = format!("{:#}", run(&[method, &file(text)]).unwrap_err());
        assert!(error.contains(expected), "{method} {text:?}: {error}");
    }
    std::fs::write(
        folder.path().join("t.csv"),
        [0xff, 0x00, 0xfe, b',', b'\n', 0xc3],
    )
    .unwrap();
    let path = folder.path().join("t.csv");
    run(&["cluster", path.to_str().unwrap()]).unwrap_err();
}
