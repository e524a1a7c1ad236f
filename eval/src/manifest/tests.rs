use market::scenario::Pack;

use super::*;
use crate::compare::Metric;
use crate::plan::Arm;

fn plan(experiment: &str) -> Plan {
    let arm = Arm {
        name: "baseline".to_owned(),
        toolset: market::contract::baseline(),
    };
    let mut plan = Plan::new(Pack::load("reference").unwrap(), vec![arm], "sim:careless");
    plan.experiment = experiment.to_owned();
    plan
}

fn agree(store: &Store, plan: &Plan) -> Result<Manifest, ManifestError> {
    Manifest::of(plan, true, Map::new()).agree(store)
}

#[test]
fn the_first_run_writes_it_and_the_next_one_may_only_add() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    let first = Plan {
        repeats: 1,
        conditions: vec![Condition::Server],
        ..plan("e")
    };
    let written = agree(&store, &first).unwrap();
    assert_eq!(Manifest::require(&store, "e").unwrap(), written);

    let second = Plan {
        repeats: 3,
        conditions: vec![Condition::Prompt],
        ..plan("e")
    };
    let merged = agree(&store, &second).unwrap();
    assert_eq!(merged.conditions, [Condition::Prompt, Condition::Server]);
    assert_eq!((merged.repeats, merged.planned_per_arm()), (3, 30));
    assert_eq!(merged.created, written.created);
    // Asking for less takes nothing away.
    assert_eq!(agree(&store, &first).unwrap().repeats, 3);
}

#[test]
fn other_settings_are_named_field_by_field() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    agree(&store, &plan("e")).unwrap();
    let mut other = Plan {
        seed: 9,
        temperature: None,
        ..plan("e")
    };
    other.arms[0]
        .toolset
        .set_text(&trajectory::ComponentId::tool("refuse"), "Leaves.");
    let text = agree(&store, &other).unwrap_err().to_string();
    for expected in [
        "seed: recorded 1, now 9",
        "temperature: recorded 0.7, now none",
        "toolsets.baseline",
        "--experiment",
    ] {
        assert!(text.contains(expected), "{expected} is not in: {text}");
    }
    assert!(!text.contains("max_moves"), "{text}");
    // The metric is judged by afterwards; it changes no episode, and the first statement stays.
    let metric = Plan {
        analysis: Analysis::of(Metric::Violation),
        ..plan("e")
    };
    assert_eq!(
        agree(&store, &metric).unwrap().analysis.primary_metric,
        Metric::CorrectStrict
    );
}

#[test]
fn experiments_that_no_run_recorded_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path()).unwrap();
    store
        .write_manifest("import-1", &json!({"kind": "import"}))
        .unwrap();
    assert!(matches!(
        agree(&store, &plan("import-1")),
        Err(ManifestError::Foreign(_))
    ));
    let text = Manifest::require(&store, "nothing")
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("`nothing`") && text.contains("import-1"),
        "{text}"
    );
}
