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

/// Where the book's tables are.
pub(super) const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/data");

pub(super) fn json(command: &str) -> Value {
    let mut words: Vec<&str> = command.split(' ').collect();
    words.push("--json");
    serde_json::from_str(&run(&words).unwrap()).unwrap()
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
        error.contains("line 2") && error.contains("`x` is no finite number"),
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
    let mut wrong = Vec::new();
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
        (&["signflip", "1", "inf"], "must be a finite number"),
        (&["signflip", "x"], "`x` is no number"),
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
        (&["passk", "2/3", "-k", "0"], "0 is not in 1.."),
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
        if !error.contains(expected) {
            wrong.push(format!("{words:?}: {error}"));
        }
    }
    for (method, text, expected) in [
        (
            "cluster",
            "",
            "the table is empty; its first line must name the columns",
        ),
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
        if !error.contains(expected) {
            wrong.push(format!("{method} {text:?}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    std::fs::write(
        folder.path().join("t.csv"),
        [0xff, 0x00, 0xfe, b',', b'\n', 0xc3],
    )
    .unwrap();
    let path = folder.path().join("t.csv");
    run(&["cluster", path.to_str().unwrap()]).unwrap_err();
}
