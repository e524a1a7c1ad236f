//! SIGKILL anywhere, run again, and the experiment is exactly the one an uninterrupted run gives.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support;

const RUN: [&str; 12] = [
    "eval",
    "run",
    "--pack",
    "reference",
    "--conditions",
    "all",
    "--repeats",
    "3",
    "--model",
    "sim",
    "--experiment",
    "killed",
];

fn run_to_the_end(folder: &Path, store: &str) {
    let mut arguments = RUN.to_vec();
    arguments.extend(["--store", store]);
    support::whetstone_ok(folder, &arguments);
}

/// Files below a folder; missing folders count as empty.
fn count_files(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| {
            if entry.path().is_dir() {
                count_files(&entry.path())
            } else {
                1
            }
        })
        .sum()
}

/// Starts the run and kills it as soon as `enough` says so, or lets it end.
fn run_and_kill(folder: &Path, store: &str, enough: impl Fn(&Path) -> bool) {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("whetstone"))
        .current_dir(folder)
        .args(RUN)
        .args(["--store", store])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let started = Instant::now();
    let root = folder.join(store);
    while child.try_wait().expect("a child to ask").is_none() && !enough(&root) {
        assert!(
            started.elapsed() < Duration::from_secs(240),
            "the run does not get on"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    // On Unix this is SIGKILL. A run that has just ended is as good a point as any.
    let _ = child.kill();
    child.wait().expect("the child ends");
}

/// Says from the state of the store whether it is time to kill.
type Enough = Box<dyn Fn(&Path) -> bool>;

#[test]
fn a_run_killed_anywhere_completes_to_the_same_sixty_episodes() {
    let folder = tempfile::tempdir().unwrap();
    run_to_the_end(folder.path(), "whole");
    let whole = support::episode_ids(folder.path(), "whole");
    assert_eq!(whole.len(), 60);

    // Before anything, early, in the middle, late, and once the first sealed part appears.
    let journalled = |n: usize| move |root: &Path| count_files(&root.join("journal")) >= n;
    let points: Vec<(&str, Enough)> = vec![
        ("at-once", Box::new(|root: &Path| root.exists())),
        ("after-1", Box::new(journalled(1))),
        ("after-17", Box::new(journalled(17))),
        ("after-55", Box::new(journalled(55))),
        (
            "while-sealing",
            Box::new(|root: &Path| count_files(&root.join("calls")) >= 1),
        ),
    ];
    for (store, enough) in points {
        run_and_kill(folder.path(), store, enough);
        run_to_the_end(folder.path(), store);
        let ids = support::episode_ids(folder.path(), store);
        assert_eq!(ids, whole, "killed {store}");
    }

    // Several kills in one experiment.
    for n in [5, 20, 40] {
        run_and_kill(folder.path(), "thrice", journalled(n));
    }
    run_to_the_end(folder.path(), "thrice");
    assert_eq!(support::episode_ids(folder.path(), "thrice"), whole);

    // Simulated agents are deterministic, so the content is the same too, not only the ids.
    let facts = |store: &str| {
        let mut facts: Vec<String> = support::episodes(folder.path(), store)
            .iter()
            .map(|e| {
                format!(
                    "{} {} {} {}",
                    e["episode_id"], e["outcome"], e["price"], e["turns"]
                )
            })
            .collect();
        facts.sort();
        facts
    };
    assert_eq!(facts("thrice"), facts("whole"));
}

#[test]
fn a_finished_run_runs_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    run_to_the_end(folder.path(), "store");
    let before = support::episodes(folder.path(), "store");
    run_to_the_end(folder.path(), "store");
    assert_eq!(support::episodes(folder.path(), "store"), before);
}
