//! A store as a killed run leaves it, at several points, and runs that continue it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use eval::plan::Plan;
use eval::run::{Observer, RunError, RunOptions, run};
use market::Condition;
use trajectory::{Episode, Status};

use crate::support::{copy, episodes, facts, options, plan, store};

#[tokio::test(flavor = "multi_thread")]
async fn stores_copied_in_the_middle_are_completed_to_the_same_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, snapshots) = (folder.path().join("whole"), folder.path().to_path_buf());
    let count = Arc::new(Mutex::new(0));
    let points = [1, 4, 7, 8];
    let (root, counted) = (whole.clone(), Arc::clone(&count));
    // The copy is what a kill at that moment leaves behind: journals, and nothing sealed.
    let observer: Observer = Arc::new(move |_: &Episode| {
        let mut count = counted.lock().unwrap();
        *count += 1;
        if points.contains(&*count) {
            copy(&root, &snapshots.join(format!("after-{count}")));
        }
    });
    let plan = plan("resumed");
    run(
        &plan,
        &store(&whole),
        &RunOptions {
            observer: Some(observer),
            ..options()
        },
    )
    .await
    .unwrap();
    let expected: Vec<String> = episodes(&store(&whole), "resumed")
        .iter()
        .map(facts)
        .collect();
    assert_eq!(expected.len(), 8);

    for point in points {
        let store = store(&folder.path().join(format!("after-{point}")));
        assert_eq!(episodes(&store, "resumed").len(), point);
        // A write that was cut off is no record.
        let journal: PathBuf = store.root().join("journal").join("resumed");
        std::fs::write(journal.join(".half-written.tmp"), "{\"episode\":").unwrap();
        let done = run(&plan, &store, &options()).await.unwrap();
        assert_eq!((done.already_recorded, done.played), (point, 8 - point));
        assert_eq!(
            episodes(&store, "resumed")
                .iter()
                .map(facts)
                .collect::<Vec<_>>(),
            expected,
            "after {point}"
        );
        let done = run(&plan, &store, &options()).await.unwrap();
        assert_eq!((done.already_recorded, done.played), (8, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repeats_and_conditions_may_be_added_and_nothing_else_changed() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let small = Plan {
        conditions: vec![Condition::Server],
        ..plan("grown")
    };
    run(&small, &store, &options()).await.unwrap();
    let before: BTreeSet<String> = episodes(&store, "grown").iter().map(facts).collect();
    assert_eq!(before.len(), 2);
    let large = Plan {
        repeats: 2,
        ..plan("grown")
    };
    let done = run(&large, &store, &options()).await.unwrap();
    assert_eq!(
        (done.planned, done.already_recorded, done.played),
        (16, 2, 14)
    );
    let after: BTreeSet<String> = episodes(&store, "grown").iter().map(facts).collect();
    assert!(before.is_subset(&after));

    let other = Plan {
        seed: 2,
        max_moves: 4,
        ..plan("grown")
    };
    let error = run(&other, &store, &options()).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("seed: recorded 1, now 2") && text.contains("max_moves"),
        "{text}"
    );
    assert_eq!(episodes(&store, "grown").len(), 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn infrastructure_errors_are_kept_until_they_are_retried() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let plan = plan("retried");
    run(&plan, &store, &options()).await.unwrap();
    // Two of them had failed.
    let mut records = store
        .records(&trajectory::store::Filter::experiment("retried"))
        .unwrap();
    records.truncate(2);
    let ids: BTreeSet<String> = records
        .iter()
        .map(|r| r.episode.episode_id.clone())
        .collect();
    store.remove("retried", &ids).unwrap();
    for mut record in records {
        record.episode.status = Status::InfraError;
        record.episode.error = Some("no answer".to_owned());
        store.record(&record).unwrap();
    }
    let done = run(&plan, &store, &options()).await.unwrap();
    assert_eq!((done.played, done.infra_errors), (0, 2));
    let done = run(
        &plan,
        &store,
        &RunOptions {
            retry_errors: true,
            ..options()
        },
    )
    .await
    .unwrap();
    assert_eq!(
        (done.already_recorded, done.played, done.infra_errors),
        (6, 2, 0)
    );
    assert!(
        episodes(&store, "retried")
            .iter()
            .all(|e| e.status == Status::Completed)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_market_that_is_not_there_ends_the_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let market = eval::run::MarketPlace::At {
        url: "http://127.0.0.1:9".to_owned(),
        secret: "s".to_owned().into(),
    };
    let error = run(
        &plan("nowhere"),
        &store,
        &RunOptions {
            market,
            ..options()
        },
    )
    .await
    .unwrap_err();
    assert!(matches!(error, RunError::Admin(_)), "{error}");
    assert!(error.to_string().contains("127.0.0.1:9"), "{error}");
    assert_eq!(episodes(&store, "nowhere").len(), 0);
}
