//! Files of other versions, damaged files, and what errors say.

use std::fs;

use arrow::datatypes::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::*;
use crate::store::table::{Kind, Table};
use crate::store::{StoreError, valid_experiment_name};

#[test]
fn columns_are_the_fields_of_the_structs() {
    fn names(value: &impl serde::Serialize) -> Vec<String> {
        let serde_json::Value::Object(map) = serde_json::to_value(value).unwrap() else {
            panic!()
        };
        map.keys().cloned().collect()
    }
    let record = record("e", "a");
    let found = [
        names(&record.episode),
        names(&record.calls[0]),
        names(&record.messages[0]),
        names(&record.scores[0]),
        names(&record.tools[0]),
    ];
    for (table, names) in Table::ALL.into_iter().zip(found) {
        let columns: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
        assert_eq!(columns, names, "{table:?}");
        for column in table.columns() {
            let moment =
                ["started_us", "ended_us", "first_seen_us", "last_seen_us"].contains(&column.name);
            assert_eq!(column.kind == Kind::Time, moment, "{}", column.name);
        }
    }
}

/// Rewrites the episodes part without some columns and with other file metadata.
fn rewrite(store: &Store, drop: &[&str], version: Option<&str>) {
    let name = files(store.root())
        .into_iter()
        .find(|file| file.starts_with("episodes"))
        .unwrap();
    let path = store.root().join(name);
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&path).unwrap())
        .unwrap()
        .build()
        .unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    let schema = batches[0].schema();
    let keep: Vec<usize> = (0..schema.fields().len())
        .filter(|index| !drop.contains(&schema.field(*index).name().as_str()))
        .collect();
    let fields: Vec<_> = keep
        .iter()
        .map(|index| schema.fields()[*index].clone())
        .collect();
    let pairs = version.map(|version| {
        vec![KeyValue::new(
            "whetstone.schema_version".to_owned(),
            version.to_owned(),
        )]
    });
    let properties = WriterProperties::builder()
        .set_key_value_metadata(pairs)
        .build();
    let file = fs::File::create(&path).unwrap();
    let mut writer =
        ArrowWriter::try_new(file, Schema::new(fields).into(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(&batch.project(&keep).unwrap()).unwrap();
    }
    writer.close().unwrap();
}

fn one_sealed() -> (tempfile::TempDir, Store) {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.append("e", &[record("e", "a")]).unwrap();
    (folder, store)
}

#[test]
fn an_older_file_reads_with_empty_columns() {
    let (_folder, store) = one_sealed();
    rewrite(
        &store,
        &[
            "quality",
            "started_us",
            "obeyed",
            "attributes",
            "experiment",
        ],
        Some("1"),
    );
    let mut expected = record("e", "a");
    expected.episode.quality = None;
    expected.episode.started_us = None;
    expected.episode.attributes = None;
    assert_eq!(all(&store), [expected]);
}

#[test]
fn a_newer_or_foreign_file_is_named() {
    let (_folder, store) = one_sealed();
    rewrite(&store, &[], Some("2"));
    let error = store.episodes(&Filter::default()).unwrap_err().to_string();
    assert!(
        error.contains("has schema version 2") && error.contains("update whetstone"),
        "{error}"
    );
    assert!(error.contains("part-"), "{error}");
    rewrite_ignoring_version(&store);
    let error = store.episodes(&Filter::default()).unwrap_err().to_string();
    assert!(error.contains("no column `status`"), "{error}");
}

fn rewrite_ignoring_version(store: &Store) {
    rewrite(store, &["status"], None);
}

#[test]
fn a_cut_parquet_file_is_named() {
    let (_folder, store) = one_sealed();
    let name = files(store.root())
        .into_iter()
        .find(|file| file.starts_with("calls"))
        .unwrap();
    let path = store.root().join(name);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let error = store.records(&Filter::default()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Parquet { path: found, .. } if *found == path),
        "{error}"
    );
    let problems = store.verify().unwrap().problems;
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].path, path);
}

#[test]
fn damaged_journals_are_reported_and_kept() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.record(&record("e", "good")).unwrap();
    store.record(&record("e", "template")).unwrap();
    let place = |name: &str| folder.path().join("journal/e").join(name);
    let text = fs::read_to_string(place("template.jsonl")).unwrap();
    fs::remove_file(place("template.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len();
    let cases: [(&str, String, usize); 6] = [
        ("empty", String::new(), 1),
        (
            "cut-line",
            text[..text.len() / 2].to_owned(),
            text[..text.len() / 2].lines().count(),
        ),
        (
            "no-end",
            format!("{}\n", lines[..last - 1].join("\n")),
            last,
        ),
        (
            "miscounted",
            format!("{}\n{}\n", lines[0], lines[last - 1]),
            2,
        ),
        ("headless", format!("{}\n", lines[1..].join("\n")), 1),
        ("doubled", format!("{text}{}\n", lines[1]), last + 1),
    ];
    for (name, text, _) in &cases {
        fs::write(place(&format!("{name}.jsonl")), text).unwrap();
    }
    fs::write(place("binary.jsonl"), [0xff, 0xfe, 0, b'\n', 0x80]).unwrap();
    let report = store.seal("e").unwrap();
    assert_eq!((report.episodes, report.damaged.len()), (1, 7));
    for (name, _, line) in &cases {
        let found = report
            .damaged
            .iter()
            .find(|damaged| damaged.path == place(&format!("{name}.jsonl")))
            .unwrap();
        assert_eq!(found.line, *line, "{name}: {}", found.reason);
        assert!(found.path.exists());
    }
    assert_eq!(all(&store), [record("e", "good")]);
    assert_eq!(store.verify().unwrap().problems.len(), 7);
}

#[test]
fn a_newer_journal_is_named() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    store.record(&record("e", "a")).unwrap();
    let path = folder.path().join("journal/e/a.jsonl");
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("\"schema_version\":1", "\"schema_version\":9");
    fs::write(&path, text).unwrap();
    let error = store.recorded("e").unwrap_err().to_string();
    assert!(
        error.contains("a.jsonl") && error.contains("version 9"),
        "{error}"
    );
}

#[test]
fn errors_say_where_and_what_next() {
    let folder = folder();
    let missing = folder.path().join("none");
    assert!(
        Store::open(&missing)
            .unwrap_err()
            .to_string()
            .contains("--store")
    );
    fs::write(&missing, "a file").unwrap();
    let error = Store::create(&missing).unwrap_err().to_string();
    assert!(
        error.contains("none") && error.contains("a file is in the way"),
        "{error}"
    );
    let store = Store::create(folder.path()).unwrap();
    assert!(matches!(
        store.recorded("../x"),
        Err(StoreError::InvalidExperiment { .. })
    ));
    let mut stray = record("e", "a");
    stray.calls[0].episode_id = "b".to_owned();
    let error = store.record(&stray).unwrap_err().to_string();
    assert_eq!(error, "episode `a` has a call of another episode");
    store.append("e", &[record("e", "a")]).unwrap();
    assert!(matches!(
        store.record(&record("e", "a")),
        Err(StoreError::AlreadySealed { .. })
    ));
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = StoreError::parquet(
        "write",
        &missing,
        parquet::errors::ParquetError::External(Box::new(full)),
    );
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[test]
fn experiment_names_are_safe_path_components() {
    for good in ["a", "reference-2026.11_x", "0"] {
        assert!(valid_experiment_name(good), "{good}");
    }
    let long = "x".repeat(101);
    for bad in [
        "",
        ".",
        "..",
        ".hidden",
        "-x",
        "a/b",
        "a b",
        "ä",
        "a=b",
        "a\n",
        long.as_str(),
    ] {
        assert!(!valid_experiment_name(bad), "{bad}");
    }
}
