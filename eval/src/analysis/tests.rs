use super::*;

fn written(text: &str) -> Result<Analysis, AnalysisError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    std::fs::write(&path, text).unwrap();
    read(&path)
}

#[test]
fn a_plan_is_read_and_what_it_leaves_out_keeps_its_default() {
    assert_eq!(written("{}").unwrap(), Analysis::of(Metric::CorrectStrict));
    let plan = written(
        r#"{"metric": "violation", "contrast": "pooled", "conditions": ["prompt_inject", "server_inject"],
            "alpha": 0.01, "margin": 0.02, "guards": ["tokens=25%", "obeyed=0"], "min_coverage": 0.8, "stopping": "sequential"}"#,
    )
    .unwrap();
    assert_eq!(plan.primary_metric, Metric::Violation);
    assert_eq!(plan.contrast, PrimaryContrast::Pooled);
    assert_eq!(plan.guards.len(), 2);
    assert!(plan.covers(Condition::ServerInject) && !plan.covers(Condition::Server));
    assert!(plan.test.contains("e-process"), "{}", plan.test);
}

#[test]
fn a_wrong_plan_is_refused_with_what_is_wrong() {
    for (text, words) in [
        ("[]", "is no analysis plan"),
        ("{\"metrik\": 1}", "unknown field `metrik`"),
        ("{\"metric\": \"beauty\"}", "unknown variant `beauty`"),
        ("{\"alpha\": 0}", "alpha must be above 0.00009"),
        ("{\"alpha\": 1}", "below 0.5"),
        ("{\"margin\": -1}", "margin must be above 0"),
        (
            "{\"stopping\": \"sequential\", \"contrast\": \"per_condition\"}",
            "has one test",
        ),
        ("{\"min_coverage\": 2}", "min_coverage"),
        ("{\"guards\": [\"violation\"]}", "METRIC=MARGIN"),
        (
            "{\"guards\": [\"correct_strict=1\"]}",
            "more of it is better",
        ),
        ("{\"guards\": [\"violation=-1\"]}", "0 or more"),
        ("{\"guards\": [\"tokens=many\"]}", "0 or more"),
        ("{\"conditions\": [\"sometimes\"]}", "sometimes"),
    ] {
        let error = written(text).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let error = read(std::path::Path::new("/nowhere/plan.json")).unwrap_err();
    assert!(error.to_string().contains("/nowhere/plan.json"));
}

#[test]
fn every_change_of_the_analysis_changes_its_hash_and_is_named() {
    let stated = Analysis::of(Metric::CorrectStrict);
    assert_eq!(stated.differences(&stated), Vec::<String>::new());
    let mut other = stated.clone();
    other.alpha = 0.1;
    other.primary_metric = Metric::Tokens;
    other.stop(Stopping::Sequential);
    assert_ne!(stated.hash(), other.hash());
    assert_eq!(
        stated.differences(&other),
        [
            "primary_metric: stated \"correct_strict\", now \"tokens\"",
            "alpha: stated 0.05, now 0.1",
            "stopping: stated \"fixed\", now \"sequential\"",
        ]
    );
    let size = |repeats| PlannedSize {
        scenarios: 5,
        repeats,
        conditions: vec![Condition::Prompt],
    };
    let (mut three, mut five) = (stated.clone(), stated);
    (three.size, five.size) = (Some(size(3)), Some(size(5)));
    assert_eq!(three.differences(&five), ["repeats: stated 3, now 5"]);
}

#[test]
fn guards_read_as_they_are_written() {
    for text in ["violation=0.05", "tokens=10%", "obeyed=0"] {
        assert_eq!(text.parse::<GuardRule>().unwrap().to_string(), text);
    }
}
