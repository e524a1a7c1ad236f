//! What readers see: statuses, filters, tools, replacements.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::store::StoreError;

#[test]
fn the_same_id_replaces_while_unsealed() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store
        .record(&with_status(record("e", "a"), Status::InfraError))
        .unwrap();
    store.record(&record("e", "a")).unwrap();
    assert_eq!(all(&store), [record("e", "a")]);
}

#[test]
fn sealed_and_journalled_episodes_are_seen_as_one() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.record(&record("e", "b")).unwrap();
    assert_eq!(store.seal("e").unwrap().episodes, 1);
    assert_eq!(store.seal("e").unwrap().episodes, 0);
    store
        .record(&with_status(record("e", "a"), Status::InfraError))
        .unwrap();
    store.record(&record("f", "a")).unwrap();
    let expected = BTreeMap::from([
        ("a".to_owned(), Status::InfraError),
        ("b".to_owned(), Status::Completed),
    ]);
    assert_eq!(store.recorded("e").unwrap(), expected);
    assert_eq!(store.recorded("none").unwrap(), BTreeMap::new());
    let order: Vec<_> = store
        .episodes(&Filter::default())
        .unwrap()
        .into_iter()
        .map(|e| (e.experiment, e.episode_id))
        .collect();
    let wanted = [("e", "a"), ("e", "b"), ("f", "a")].map(|(e, id)| (e.to_owned(), id.to_owned()));
    assert_eq!(order, wanted);
    assert_eq!(store.experiments().unwrap(), ["e", "f"]);
}

#[test]
fn removing_reaches_journals_and_parts() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store
        .append("e", &[record("e", "a"), record("e", "b"), record("e", "c")])
        .unwrap();
    store.record(&record("e", "d")).unwrap();
    store.record(&record("e", "e")).unwrap();
    let ids = ["a", "d", "unknown"].map(str::to_owned);
    store.remove("e", &BTreeSet::from(ids)).unwrap();
    assert_eq!(
        all(&store),
        [record("e", "b"), record("e", "c"), record("e", "e")]
    );
    let rest: BTreeSet<String> = store.recorded("e").unwrap().into_keys().collect();
    store.remove("e", &rest).unwrap();
    assert_eq!(all(&store), []);
    let left: Vec<String> = files(folder.path())
        .into_iter()
        .filter(|file| file.ends_with(".parquet"))
        .collect();
    assert_eq!(left, ["tools/experiment=e/part-tools.parquet"]);
}

#[test]
fn appending_skips_what_is_there() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.record(&record("e", "a")).unwrap();
    let records = [record("e", "a"), record("e", "b"), record("e", "b")];
    let report = store.append("e", &records).unwrap();
    assert_eq!((report.added, report.skipped), (1, 2));
    let report = store.append("e", &records).unwrap();
    assert_eq!((report.added, report.skipped), (0, 3));
    assert_eq!(all(&store).len(), 2);
    assert!(matches!(
        store.append("f", &records),
        Err(StoreError::Inconsistent { .. })
    ));
}

#[test]
fn filters_and_prefixes_select() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    let mut other = record("e", "ep_22");
    other.episode.arm = Some("candidate".to_owned());
    store
        .append("e", &[record("e", "ep_1"), record("e", "ep_12"), other])
        .unwrap();
    let ids = |filter: Filter| -> Result<Vec<String>, StoreError> {
        let records = store.records(&filter)?;
        let episodes = store.episodes(&filter)?;
        assert_eq!(
            records
                .iter()
                .map(|record| &record.episode)
                .collect::<Vec<_>>(),
            episodes.iter().collect::<Vec<_>>()
        );
        let calls: Vec<Call> = records
            .iter()
            .flat_map(|record| record.calls.clone())
            .collect();
        assert_eq!(store.calls(&filter)?, calls);
        Ok(episodes
            .into_iter()
            .map(|episode| episode.episode_id)
            .collect())
    };
    let prefix = |text: &str| Filter {
        episode: Some(text.to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(prefix("ep_2")).unwrap(), ["ep_22"]);
    assert_eq!(
        ids(prefix("ep_1")).unwrap(),
        ["ep_1"],
        "an exact id wins over a prefix"
    );
    assert_eq!(ids(prefix("zz")).unwrap(), [""; 0]);
    assert!(matches!(
        ids(prefix("ep_")),
        Err(StoreError::AmbiguousEpisode { count: 3, .. })
    ));
    let arm = Filter {
        arm: Some("candidate".to_owned()),
        ..Filter::default()
    };
    assert_eq!(ids(arm).unwrap(), ["ep_22"]);
    assert_eq!(ids(Filter::experiment("none")).unwrap(), [""; 0]);
}

#[test]
fn tools_are_kept_once_and_rebuilt() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.append("e", &[record("e", "a")]).unwrap();
    let mut later = record("e", "b");
    later.tools = tool_rows("e", 9);
    store.record(&later).unwrap();
    store.seal("e").unwrap();
    let mut expected = tool_rows("e", 5);
    for row in &mut expected {
        row.last_seen_us = Some(9);
    }
    assert_eq!(store.tools(&Filter::experiment("e")).unwrap(), expected);
    let by_arm = Filter {
        arm: Some("none".to_owned()),
        ..Filter::default()
    };
    assert_eq!(store.tools(&by_arm).unwrap(), []);
    assert_eq!(
        store.toolset(&toolset().id()).unwrap().unwrap().to_value(),
        toolset().to_value()
    );
    assert!(store.toolset("ts_unknown").unwrap().is_none());

    let mut partial = record("f", "a");
    partial.tools.truncate(1);
    partial.tools[0].toolset_id = "ts_other".to_owned();
    store.record(&partial).unwrap();
    assert!(matches!(
        store.toolset("ts_other"),
        Err(StoreError::IncompleteToolset { tools: 1, .. })
    ));
}

#[test]
fn manifests_are_replaced_whole() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    assert_eq!(store.manifest("e").unwrap(), None);
    store.write_manifest("e", &json!({"plan": 1})).unwrap();
    store.write_manifest("e", &json!({"plan": 2})).unwrap();
    assert_eq!(store.manifest("e").unwrap(), Some(json!({"plan": 2})));
    assert_eq!(store.experiments().unwrap(), ["e"]);
    std::fs::write(folder.path().join("experiments/e.json"), "{").unwrap();
    assert!(matches!(store.manifest("e"), Err(StoreError::Json { .. })));
}
