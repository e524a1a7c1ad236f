//! Kill points: each test stops the work after its n-th step, for every n, and looks at what a reader and
//! the next writer make of the disk.

use std::collections::BTreeSet;
use std::io;

use super::*;
use crate::store::table::Table;
use crate::store::{StoreError, durable, part, seal};

/// A hook that lets `steps` steps through and then fails, as if the process had died.
fn dies_after(steps: usize) -> impl FnMut(&str) -> Result<(), StoreError> {
    let mut left = steps;
    move |_| {
        if left == 0 {
            let source = io::Error::other("killed");
            return Err(StoreError::Io {
                action: "go on with",
                path: "test".into(),
                source,
            });
        }
        left -= 1;
        Ok(())
    }
}

/// All rows of a table, whoever wrote them: what an outside program sees.
fn raw_ids(store: &Store, table: Table) -> Vec<String> {
    let mut ids = Vec::new();
    for path in crate::store::read::parts(&store.partition(table, "e")).unwrap() {
        ids.extend(
            part::read_texts(&path, ["episode_id"])
                .unwrap()
                .into_iter()
                .map(|[id]| id),
        );
    }
    ids.sort_unstable();
    ids
}

fn expect_outside_view(store: &Store, records: &[EpisodeRecord]) {
    let ids: Vec<String> = records
        .iter()
        .map(|record| record.episode.episode_id.clone())
        .collect();
    let twice: Vec<String> = ids.iter().flat_map(|id| [id.clone(), id.clone()]).collect();
    assert_eq!(raw_ids(store, Table::Episodes), ids);
    assert_eq!(raw_ids(store, Table::Scores), ids);
    assert_eq!(raw_ids(store, Table::Calls), twice);
    assert_eq!(raw_ids(store, Table::Messages), twice);
}

#[test]
fn a_killed_seal_loses_and_doubles_nothing() {
    let records = vec![record("e", "a"), record("e", "b"), record("e", "c")];
    let mut steps = 0;
    loop {
        let folder = folder();
        let store = Store::create(folder.path()).unwrap();
        for record in &records {
            store.record(record).unwrap();
        }
        let result = seal::seal(&store, "e", &mut dies_after(steps));
        assert_eq!(all(&store), records, "readers after {steps} steps");
        assert_eq!(store.recorded("e").unwrap().len(), 3);

        // The next process opens, records one more, and seals.
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(all(&store), records, "recovered after {steps} steps");
        let more = record("e", "d");
        store.record(&more).unwrap();
        store.seal("e").unwrap();
        let mut expected = records.clone();
        expected.push(more);
        assert_eq!(all(&store), expected, "sealed after {steps} steps");
        expect_outside_view(&store, &expected);
        assert_eq!(store.verify().unwrap().problems, []);
        if result.is_ok() {
            break;
        }
        steps += 1;
    }
    // Tools, calls, messages, scores, episodes, and three journals.
    assert_eq!(steps, 8);
}

#[test]
fn a_killed_append_is_completed_by_the_next() {
    let records = vec![record("e", "a"), record("e", "b")];
    let mut steps = 0;
    loop {
        let folder = folder();
        let store = Store::create(folder.path()).unwrap();
        let result = seal::append(&store, "e", &records, &mut dies_after(steps));
        assert!(
            matches!(all(&store).len(), 0 | 2),
            "all or nothing after {steps} steps"
        );

        // The next import brings more, so its part has another name.
        let mut more = records.clone();
        more.push(record("e", "c"));
        let store = Store::open(folder.path()).unwrap();
        store.append("e", &more).unwrap();
        assert_eq!(all(&store), more);
        expect_outside_view(&store, &more);
        assert_eq!(store.verify().unwrap().problems, []);
        if result.is_ok() {
            break;
        }
        steps += 1;
    }
    assert_eq!(steps, 5);
}

#[test]
fn a_killed_removal_is_finished_by_the_next_and_keeps_the_others() {
    let ids = BTreeSet::from(["a".to_owned()]);
    let mut steps = 0;
    loop {
        let folder = folder();
        let store = Store::create(folder.path()).unwrap();
        store
            .append("e", &[record("e", "a"), record("e", "b")])
            .unwrap();
        let result = seal::remove(&store, "e", &ids, &mut dies_after(steps));
        let store = Store::open(folder.path()).unwrap();
        let kept = store
            .records(&Filter {
                episode: Some("b".to_owned()),
                ..Filter::default()
            })
            .unwrap();
        assert_eq!(kept, [record("e", "b")]);
        store.remove("e", &ids).unwrap();
        assert_eq!(all(&store), [record("e", "b")]);
        store.record(&record("e", "a")).unwrap();
        store.seal("e").unwrap();
        let both = [record("e", "a"), record("e", "b")];
        assert_eq!(all(&store), both);
        expect_outside_view(&store, &both);
        if result.is_ok() {
            break;
        }
        steps += 1;
    }
    assert_eq!(steps, 4);
}

#[test]
fn unfinished_files_are_swept_and_not_read() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.append("e", &[record("e", "a")]).unwrap();
    store.record(&record("e", "b")).unwrap();
    for place in [
        "journal/e/.whetstone-x.tmp",
        "episodes/experiment=e/.whetstone-y.tmp",
    ] {
        std::fs::write(folder.path().join(place), "cut off").unwrap();
    }
    assert_eq!(all(&store).len(), 2);
    assert_eq!(store.verify().unwrap().problems.len(), 2);
    let store = Store::open(folder.path()).unwrap();
    assert_eq!(all(&store).len(), 2);
    assert!(
        !files(folder.path())
            .iter()
            .any(|file| durable::is_temporary(file.as_ref()))
    );
}

#[test]
fn rows_of_an_uncommitted_part_are_kept_while_nothing_else_has_them() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.append("e", &[record("e", "a")]).unwrap();
    let episodes = files(folder.path())
        .into_iter()
        .find(|file| file.starts_with("episodes"))
        .unwrap();
    std::fs::remove_file(folder.path().join(&episodes)).unwrap();
    store.append("e", &[record("e", "b")]).unwrap();
    assert_eq!(all(&store), [record("e", "b")]);
    let problems = store.verify().unwrap().problems;
    assert_eq!(problems.len(), 3, "{problems:?}");
    store.append("e", &[record("e", "a")]).unwrap();
    assert_eq!(all(&store).len(), 2);
    assert_eq!(store.verify().unwrap().problems, []);
}

#[test]
fn writers_in_parallel_lose_nothing() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = Store::open(folder.path()).unwrap();
            scope.spawn(move || {
                for number in 0..10 {
                    store
                        .record(&record("e", &format!("w{writer}-{number}")))
                        .unwrap();
                }
            });
        }
        let store = store.clone();
        scope.spawn(move || {
            for _ in 0..5 {
                store.seal("e").unwrap();
                let ids: Vec<_> = all(&store)
                    .into_iter()
                    .map(|record| record.episode.episode_id)
                    .collect();
                assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
            }
        });
    });
    store.seal("e").unwrap();
    assert_eq!(all(&store).len(), 40);
    assert_eq!(store.verify().unwrap().problems, []);
}
