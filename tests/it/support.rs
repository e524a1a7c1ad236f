//! Running the binaries and reading what they print.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// A command with an environment that no setting of the developer's shell reaches.
pub(crate) fn command(binary: &str) -> Command {
    let mut command = Command::cargo_bin(binary).expect("the binary is built with the tests");
    for (name, _) in std::env::vars() {
        if name.starts_with("WHETSTONE_") || name.starts_with("OPENAI_") {
            command.env_remove(name);
        }
    }
    command
        .env("NO_COLOR", "1")
        .timeout(std::time::Duration::from_secs(300));
    command
}

/// Runs `whetstone` in `folder` and returns everything it gave.
pub(crate) fn whetstone(folder: &Path, arguments: &[&str]) -> Output {
    command("whetstone")
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the binary starts")
}

/// As [`whetstone`], with success required; gives stdout.
pub(crate) fn whetstone_ok(folder: &Path, arguments: &[&str]) -> String {
    let output = whetstone(folder, arguments);
    assert!(
        output.status.success(),
        "whetstone {arguments:?} ended with {:?}\n--- stdout\n{}\n--- stderr\n{}",
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The episodes of a store, by the command people use.
pub(crate) fn episodes(folder: &Path, store: &str) -> Vec<Value> {
    let listed = whetstone_ok(folder, &["collector", "ls", "--store", store, "--json"]);
    let value: Value = serde_json::from_str(&listed).expect("`ls --json` prints JSON");
    value
        .as_array()
        .cloned()
        .or_else(|| value.get("episodes").and_then(Value::as_array).cloned())
        .expect("a list of episodes")
}

/// The ids of [`episodes`], sorted.
pub(crate) fn episode_ids(folder: &Path, store: &str) -> Vec<String> {
    let mut ids: Vec<String> = episodes(folder, store)
        .iter()
        .map(|episode| episode["episode_id"].as_str().expect("an id").to_owned())
        .collect();
    ids.sort();
    ids
}
