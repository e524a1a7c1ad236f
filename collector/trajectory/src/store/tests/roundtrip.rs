//! Whatever goes in comes out the same, through the journal and through Parquet.

use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        Just(None),
        Just(Some(String::new())),
        Just(Some(
            "{\"a\": \"\\ud83d\", \"b\": 1e999}\u{0}\u{1b}[2J\r\n\u{2028}😀".to_owned()
        )),
        "\\PC{0,40}".prop_map(Some),
        any::<String>().prop_map(Some),
    ]
}

fn float() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(prop_oneof![
        any::<f64>().prop_filter("JSON has no NaN or infinity", |value| value.is_finite()),
        Just(0.0),
        Just(-1.0),
        Just(f64::MIN_POSITIVE),
    ])
}

fn capture() -> impl Strategy<Value = Capture> {
    prop_oneof![
        Just(Capture::Captured),
        Just(Capture::NotCaptured),
        Just(Capture::Truncated),
        Just(Capture::Invalid)
    ]
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Completed),
        Just(Status::AgentFault),
        Just(Status::InfraError),
        Just(Status::Cancelled)
    ]
}

prop_compose! {
    fn any_call()(
        texts in proptest::array::uniform6(text()),
        states in (capture(), capture()),
        flag in any::<Option<bool>>(),
        times in any::<(Option<i64>, Option<i64>)>(),
    ) -> Call {
        let [role, server, call_id, arguments, result, error] = texts;
        let mut row = call("e", "placeholder", 0);
        row.role = role;
        row.server = server;
        row.call_id = call_id;
        row.arguments = arguments;
        row.result = result;
        row.error_message = error;
        (row.arguments_state, row.result_state) = states;
        row.is_error = flag;
        (row.started_us, row.ended_us) = times;
        row
    }
}

prop_compose! {
    fn any_record()(
        id in prop_oneof!["[a-z]{1,8}", "\\PC{1,30}"],
        status in status(),
        texts in proptest::array::uniform5(text()),
        numbers in (any::<Option<i64>>(), any::<Option<i32>>(), any::<Option<bool>>()),
        floats in (float(), float()),
        calls in proptest::collection::vec(any_call(), 0..4),
        contents in proptest::collection::vec((text(), text(), any::<Option<i64>>()), 0..4),
        scores in proptest::collection::vec((float(), text()), 0..3),
        tools in any::<bool>(),
    ) -> EpisodeRecord {
        let template = record("e", &id);
        let mut episode = template.episode.clone();
        episode.status = status;
        let [scenario, outcome, error, metrics, attributes] = texts;
        episode.scenario = scenario;
        episode.outcome = outcome;
        episode.error = error;
        episode.metrics = metrics;
        episode.attributes = attributes;
        (episode.price, episode.turns, episode.obeyed) = numbers;
        (episode.quality, episode.cost_usd) = floats;
        if !tools {
            episode.toolset_seen = None;
        }
        EpisodeRecord {
            calls: calls.into_iter().zip(0..).map(|(call, sequence)| Call { episode_id: id.clone(), sequence, ..call }).collect(),
            messages: contents.into_iter().zip(0..).map(|((content, extra, tokens), sequence)| Message {
                sequence, content, extra, input_tokens: tokens, ..template.messages[0].clone()
            }).collect(),
            scores: scores.into_iter().map(|(value, comment)| Score {
                value, comment, ..template.scores[0].clone()
            }).collect(),
            tools: if tools { template.tools.clone() } else { Vec::new() },
            episode,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn journal_and_parquet_keep_every_record(records in proptest::collection::vec(any_record(), 1..4)) {
        let mut expected: Vec<EpisodeRecord> = Vec::new();
        for record in records {
            expected.retain(|known| known.episode.episode_id != record.episode.episode_id);
            expected.push(record);
        }
        expected.sort_by(|a, b| a.episode.episode_id.cmp(&b.episode.episode_id));

        let folder = folder();
        let store = Store::create(folder.path()).unwrap();
        for record in &expected {
            store.record(record).unwrap();
        }
        prop_assert_eq!(&all(&store), &expected);
        store.seal("e").unwrap();
        prop_assert_eq!(&all(&store), &expected);

        let other = super::folder();
        let direct = Store::create(other.path()).unwrap();
        direct.append("e", &expected).unwrap();
        prop_assert_eq!(&all(&direct), &expected);
    }
}

#[test]
fn many_and_heavy_rows_go_into_several_batches() {
    let folder = folder();
    let store = Store::create(folder.path()).unwrap();
    let mut heavy = record("e", "a");
    heavy.calls = (0..9000).map(|sequence| call("e", "a", sequence)).collect();
    heavy.calls[17].result = Some("x".repeat(70 << 20));
    store.append("e", std::slice::from_ref(&heavy)).unwrap();
    assert!(all(&store) == [heavy], "rows differ");
}
