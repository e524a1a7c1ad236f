//! Content made to break things.

use collector::import::ImportOptions;
use proptest::prelude::*;

use super::{Place, fixture, named};

#[test]
fn hostile_rows_import_and_the_broken_ones_are_named() {
    let place = Place::new();
    let summary = place
        .import(&[fixture("hostile.jsonl")], &named("hostile"))
        .unwrap();
    let rejected: Vec<(usize, &str)> = summary
        .rejected
        .iter()
        .map(|row| (row.line, row.reason.split(':').next().unwrap_or_default()))
        .collect();
    assert_eq!(
        rejected,
        [
            (13, "not a JSON object"),
            (14, "no known shape (keys id, startTime, type)"),
            (15, "row 1"),
            (15, "row 2"),
            (16, "an observation without `id`"),
            (17, "the row is cut off"),
        ]
    );
    assert_eq!(
        (summary.traces, summary.observations, summary.calls),
        (1, 12, 11)
    );
    let records = place.records();
    let find = |start: &str| {
        records[0]
            .calls
            .iter()
            .find(|call| call.tool.starts_with(start))
            .unwrap()
    };
    let arguments = |start: &str| find(start).arguments.as_deref().unwrap();
    assert_eq!(
        arguments("huge"),
        r#"{"n": 123456789012345678901234567890, "e": 1e999, "neg": -0.0}"#
    );
    assert_eq!(
        arguments("python"),
        r#"{"q":"it's","n":null,"ok":true,"nested":{"t":[1,2]}}"#
    );
    assert_eq!(find("python").result.as_deref(), Some("['a', 'b']"));
    assert_eq!(
        (arguments("double"), find("double").result.as_deref()),
        (r#"{"a": 1}"#, Some("plain"))
    );
    assert_eq!(arguments("lone"), "{\"q\":\"\u{fffd}\"}");
    assert_eq!(find("lone").result.as_deref(), Some("\u{fffd}"));
    assert!(arguments("deep").starts_with("[[["));
    // Texts are kept as they came; only terminals are protected from them.
    assert!(find("ansi").tool.contains('\u{1b}'));
}

#[test]
fn nothing_acts_on_the_terminal() {
    let place = Place::new();
    place
        .import(&[fixture("hostile.jsonl")], &named("hostile"))
        .unwrap();
    let import = place
        .run(&[
            "import",
            fixture("hostile.jsonl").to_str().unwrap(),
            "-e",
            "again",
        ])
        .unwrap()
        .1;
    let shown = place
        .run(&["show", "trace-h", "-e", "hostile", "--full"])
        .unwrap()
        .1;
    let listed = place.run(&["ls"]).unwrap().1;
    let json = place
        .run(&["show", "trace-h", "-e", "hostile", "--json"])
        .unwrap()
        .1;
    for text in [import, shown.clone(), listed, json.clone()] {
        let acting: Vec<char> = text
            .chars()
            .filter(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
            .collect();
        assert_eq!(acting, [], "{text}");
    }
    assert!(
        shown.contains("\\u{1b}]52;c;ZXZpbA==") || shown.contains("\\u001b]52"),
        "{shown}"
    );
    assert!(shown.contains("\\u{9b}2J\\u{202e}txt.exe"), "{shown}");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["episode"]["episode_id"], "trace-h");
}

/// Imports bytes as a file without writing: whatever they are, it ends with a summary or an error.
fn is_taken(bytes: &[u8]) {
    let place = Place::new();
    let file = place.file("fuzz", bytes);
    let options = ImportOptions {
        dry_run: true,
        ..named("fuzz")
    };
    let _ = place.import(&[file], &options);
}

/// Imports bytes for good and looks at what came of it.
fn survives(bytes: &[u8]) {
    let place = Place::new();
    let file = place.file("fuzz", bytes);
    if place.import(&[file], &named("fuzz")).is_ok() {
        for record in &place.records() {
            let (_, text) = place.run(&["show", &record.episode.episode_id]).unwrap();
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
        }
        assert_eq!(place.run(&["verify"]).unwrap().0, trajectory::Exit::Done);
    }
}

const WORDS: &[&str] = &[
    "tool",
    "assistant",
    "user",
    "function",
    "tool_call",
    "tool_use",
    "text",
    "error",
    "{'a': 1}",
    "[{",
    "['x', (1,)]",
    "true",
];

const KEYS: &[&str] = &[
    "role",
    "content",
    "type",
    "name",
    "id",
    "function",
    "arguments",
    "tool_calls",
    "parts",
    "messages",
    "input",
    "output",
    "tools",
    "choices",
    "message",
    "kwargs",
    "lc",
    "tool_call_id",
    "attributes",
    "gen_ai.tool.name",
    "call_id",
    "response",
    "result",
    "isError",
    "status",
    "error",
    "parameters",
    "functionCall",
    "contents",
    "config",
    "output_tools",
];

/// JSON of any shape under the keys that importers look at.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(|number| serde_json::json!(number)),
        any::<String>().prop_map(Into::into),
        proptest::sample::select(WORDS).prop_map(Into::into),
    ];
    let key = prop_oneof![
        4 => proptest::sample::select(KEYS).prop_map(str::to_owned),
        1 => "[a-z.0-9]{1,12}",
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
            proptest::collection::vec((key.clone(), inner.clone()), 0..6)
                .prop_map(|pairs| { serde_json::Value::Object(pairs.into_iter().collect()) }),
            // JSON inside JSON strings.
            inner.prop_map(|value| serde_json::json!(value.to_string())),
        ]
    })
}

prop_compose! {
    fn row()(
        id in prop_oneof!["[ab]", "\\PC{0,5}"],
        parent in proptest::option::of("[ab]"),
        kind in prop_oneof!["GENERATION", "TOOL", "SPAN", "AGENT", "EVENT", "\\PC{0,5}"],
        name in prop_oneof!["execute_tool x", "tool.y", "chat", "\\PC{0,8}"],
        input in value(), output in value(), metadata in value(), parameters in value(), calls in value(), times in any::<(i64, Option<u32>)>(),
    ) -> serde_json::Value {
        serde_json::json!({
            "id": id, "traceId": "tttt", "parentObservationId": parent, "type": kind, "name": name, "startTime": times.0, "endTime": times.1,
            "input": input, "output": output, "metadata": metadata, "modelParameters": parameters, "toolCalls": calls, "toolCallNames": calls,
            "toolDefinitions": calls, "score": calls, "usageDetails": parameters, "totalCost": parameters, "tags": calls,
        })
    }
}

fn text_of(rows: &[serde_json::Value], download: bool) -> String {
    if download {
        serde_json::json!({"trace": {"id": "tttt", "scores": rows}, "observations": rows})
            .to_string()
    } else {
        rows.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        is_taken(&bytes);
    }

    #[test]
    fn any_text(text in "[\\[\\]{}\":,\\\\a-z0-9 \n]{0,200}") {
        is_taken(text.as_bytes());
    }

    #[test]
    fn any_rows(rows in proptest::collection::vec(row(), 1..5), download in any::<bool>()) {
        is_taken(text_of(&rows, download).as_bytes());
    }

    #[test]
    fn any_damage_to_a_good_file(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = std::fs::read(fixture("observations.jsonl")).unwrap();
        let index = at.index(bytes.len());
        bytes[index] = byte;
        bytes.truncate(cut.index(bytes.len()) + 1);
        is_taken(&bytes);
    }
}

proptest! {
    // Each case writes a store and waits for the disk.
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_leave_a_sound_store(rows in proptest::collection::vec(row(), 1..5), download in any::<bool>()) {
        survives(text_of(&rows, download).as_bytes());
    }
}
