//! The commands, on a store on disk.

use std::path::Path;

use clap::Parser as _;
use optimizer::cli::{Cli, run};
use optimizer::version::META_KEY;
use serde_json::Value;
use tempfile::TempDir;
use trajectory::store::Store;
use trajectory::{EpisodeRecord, Exit, Toolset};

use crate::fixture::{careless, careless_episodes, market};

/// A store with the episodes, sealed.
fn store_of(records: &[EpisodeRecord]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&folder.path().join("store")).unwrap();
    store.append("exp", records).unwrap();
    folder
}

/// Runs a command; `STORE` and `DIR` in the arguments are the folders.
fn call(folder: &Path, arguments: &str) -> Result<(Exit, String), String> {
    let folder = folder.display().to_string();
    let arguments = arguments.split_whitespace().map(|word| {
        word.replace("STORE", &format!("{folder}/store"))
            .replace("DIR", &folder)
    });
    let cli = Cli::try_parse_from(std::iter::once("optimizer".to_owned()).chain(arguments))
        .map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    let exit = run(cli, &mut out).map_err(|error| format!("{error:#}"))?;
    Ok((exit, String::from_utf8(out).unwrap()))
}

#[test]
fn diagnose_prints_and_writes() {
    let folder = store_of(&careless_episodes());
    let (exit, text) = call(folder.path(), "diagnose --store STORE").unwrap();
    assert_eq!(exit, Exit::Done);
    assert!(
        text.contains("9 episodes") && text.contains("missed_acceptance"),
        "{text}"
    );
    let (_, json) = call(
        folder.path(),
        "diagnose --store STORE --experiment exp --json",
    )
    .unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["diagnoses"][0]["scope"]["episodes"], 9);
    let (_, nothing) = call(
        folder.path(),
        "diagnose --store STORE --condition server --format markdown --out DIR/d.md",
    )
    .unwrap();
    assert_eq!(nothing, "");
    let written = std::fs::read_to_string(folder.path().join("d.md")).unwrap();
    assert!(
        written.starts_with("# Diagnosis\n\n- 2 episodes"),
        "{written}"
    );
}

#[test]
fn diagnose_splits_toolsets_and_says_so() {
    let mut records = careless_episodes();
    for row in &mut records[0].tools {
        row.toolset_id = "ts_other".to_owned();
    }
    records[0].episode.toolset_seen = Some("ts_other".to_owned());
    let folder = store_of(&records);
    let (_, text) = call(folder.path(), "diagnose --store STORE").unwrap();
    assert!(
        text.starts_with("The episodes saw 2 different toolsets; each is diagnosed by itself"),
        "{text}"
    );
    let error = call(folder.path(), "propose --store STORE --out DIR/v2.json").unwrap_err();
    assert!(
        error.contains("2 different toolsets") && error.contains("--toolset"),
        "{error}"
    );
}

#[test]
fn propose_writes_a_version_and_its_reasons() {
    let folder = store_of(&careless_episodes());
    let (exit, text) = call(folder.path(), "propose --store STORE --out DIR/v2.json").unwrap();
    assert_eq!(exit, Exit::Done);
    assert!(
        text.contains("(unverified)")
            && text.contains("next:     whetstone eval compare --baseline"),
        "{text}"
    );
    let version =
        Toolset::parse(&std::fs::read_to_string(folder.path().join("v2.json")).unwrap()).unwrap();
    assert_eq!(version.structure(), careless().structure());
    assert_eq!(
        version.meta()[META_KEY]["parent"],
        Value::from(careless().id())
    );
    assert!(
        std::fs::read_to_string(folder.path().join("v2.md"))
            .unwrap()
            .starts_with("# Proposal")
    );
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "no temporary file stays: {left:?}");

    let error = call(folder.path(), "propose --store STORE --out DIR/v2.json").unwrap_err();
    assert!(
        error.contains("exists") && error.contains("--force"),
        "{error}"
    );
    let (_, json) = call(
        folder.path(),
        "propose --store STORE --out DIR/v2.json --force --json --max-edits 1",
    )
    .unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (
            json["proposed"].clone(),
            json["edits"].as_array().unwrap().len()
        ),
        (Value::from(true), 1)
    );
}

#[test]
fn nothing_to_propose_is_exit_3_and_no_file() {
    let folder = store_of(&[market("ep")
        .turn("buyer")
        .read()
        .propose(80)
        .turn("seller")
        .read()
        .accept()
        .ends("deal")]);
    let (exit, text) = call(folder.path(), "propose --store STORE --out DIR/v2.json").unwrap();
    assert_eq!(exit, Exit::NoImprovement);
    assert!(
        text.contains("nothing proposed: no failure was found")
            && text.contains("no file was written"),
        "{text}"
    );
    assert!(!folder.path().join("v2.json").exists() && !folder.path().join("v2.md").exists());
    let (exit, json) = call(
        folder.path(),
        "propose --store STORE --out DIR/v2.json --json",
    )
    .unwrap();
    assert_eq!(exit, Exit::NoImprovement);
    assert_eq!(
        serde_json::from_str::<Value>(&json).unwrap()["proposed"],
        false
    );
}

#[test]
fn a_toolset_can_be_given_when_it_was_not_recorded() {
    let mut records = careless_episodes();
    for record in &mut records {
        record.tools.clear();
        record.episode.toolset_seen = None;
    }
    let folder = store_of(&records);
    let error = call(folder.path(), "propose --store STORE --out DIR/v2.json").unwrap_err();
    assert!(error.contains("--toolset FILE"), "{error}");
    std::fs::write(folder.path().join("tools.json"), careless().to_pretty()).unwrap();
    let (exit, _) = call(
        folder.path(),
        "propose --store STORE --out DIR/v2.json --toolset DIR/tools.json",
    )
    .unwrap();
    assert_eq!(exit, Exit::Done);
}

#[test]
fn errors_say_what_there_is() {
    let folder = store_of(&careless_episodes());
    let check = |arguments: &str, parts: &[&str]| {
        let error = call(folder.path(), arguments).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "`{part}` is missing in: {error}");
        }
    };
    check("diagnose --store DIR/none", &["none", "--store"]);
    check(
        "diagnose --store STORE --experiment other",
        &["no experiment `other`", "exp"],
    );
    check("diagnose --store STORE --arm none", &["--arm"]);
    check(
        "propose --store STORE --out DIR/v2.json --reflector model",
        &["--model"],
    );
    check(
        "propose --store STORE --out DIR/v2.json --reflector model --model sim",
        &["--reflector mined"],
    );
    check("propose --store STORE --out DIR/x.md", &["same file"]);
    check("diff nonsense baseline --store STORE", &["neither a file"]);
    check(
        "diff ts_0000 baseline --store STORE",
        &["no toolset `ts_0000`"],
    );
}

#[test]
fn diff_takes_files_ids_and_the_baseline() {
    let folder = store_of(&careless_episodes());
    call(folder.path(), "propose --store STORE --out DIR/v2.json").unwrap();
    let id = careless().id();
    let (exit, text) = call(
        folder.path(),
        &format!("diff {id} DIR/v2.json --store STORE --color never"),
    )
    .unwrap();
    assert_eq!(
        exit,
        Exit::Done,
        "a difference is no failure unless asked for"
    );
    assert!(
        text.contains("nothing but descriptions") && text.contains("{+"),
        "{text}"
    );
    let (exit, _) = call(
        folder.path(),
        &format!("diff {id} DIR/v2.json --store STORE --exit-code"),
    )
    .unwrap();
    assert_eq!(exit, Exit::Failed);
    let (exit, text) = call(
        folder.path(),
        "diff baseline baseline --store STORE --exit-code --color never",
    )
    .unwrap();
    assert_eq!(exit, Exit::Done);
    assert!(text.starts_with("no difference"));
    for (format, part) in [
        ("unified", "@@"),
        ("json", "\"only_descriptions\": true"),
        ("markdown", "**"),
        ("html", "<ins>"),
    ] {
        let (_, text) = call(
            folder.path(),
            &format!("diff {id} DIR/v2.json --store STORE --format {format}"),
        )
        .unwrap();
        assert!(text.contains(part), "{format}: {text}");
    }
}

#[test]
fn help_has_examples() {
    for command in ["", "diagnose ", "propose ", "diff "] {
        let help = call(Path::new("."), &format!("{command}--help")).unwrap_err();
        assert!(help.contains("Examples:"), "{command}: {help}");
    }
    let help = call(Path::new("."), "propose --help").unwrap_err();
    assert!(help.contains("unverified"), "{help}");
}
