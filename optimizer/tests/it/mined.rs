//! The reflector without a model.

use agent::sim::{Fact, Facts};
use optimizer::guard::Limits;
use optimizer::proposal;
use optimizer::propose::{Options, Outcome, ProposeError, propose};
use optimizer::reflect::mined::Mined;
use optimizer::version::{META_KEY, version};
use serde_json::json;
use trajectory::{ComponentId, EpisodeRecord, Toolset};

use crate::fixture::{careless, careless_episodes, market};

async fn mined(records: &[EpisodeRecord], options: &Options) -> Outcome {
    propose(records, &careless(), &Mined, options)
        .await
        .unwrap()
}

#[tokio::test]
async fn careless_agents_teach_the_market_facts() {
    let outcome = mined(&careless_episodes(), &Options::default()).await;
    assert_eq!(
        outcome.rejected,
        [],
        "the miner's own sentences pass the guard"
    );
    let candidate = outcome.candidate.unwrap();
    assert_eq!(candidate.structure(), careless().structure());
    let texts: Vec<String> = candidate
        .components()
        .into_iter()
        .filter(|(id, text)| careless().text(id).as_deref() != Some(text))
        .map(|(id, text)| format!("{id}: {text}"))
        .collect();
    insta::assert_snapshot!("mined_texts", texts.join("\n"));
}

#[tokio::test]
async fn the_simulated_agents_understand_every_mined_fact() {
    assert_eq!(Facts::of_toolset(&careless()).stated(), []);
    let mut records = careless_episodes();
    let outcome = mined(&records, &Options::default()).await;
    let stated = Facts::of_toolset(&outcome.candidate.unwrap());
    for fact in Fact::ALL {
        // Nobody tried to accept its own price in these episodes, so nothing is said about it.
        assert_eq!(
            stated.has(fact),
            fact != Fact::AcceptNeedsTheirPrice,
            "{fact:?}"
        );
    }
    let answer = json!({"negotiation_id": "neg-1"});
    records.push(
        market("ep_own_price")
            .turn("buyer")
            .read()
            .refused("accept_proposal", &answer, "nothing_to_accept")
            .refused("reject_proposal", &answer, "nothing_to_reject")
            .refuse()
            .ends("no_deal"),
    );
    let outcome = mined(&records, &Options::default()).await;
    assert_eq!(outcome.rejected, []);
    assert_eq!(
        Facts::of_toolset(&outcome.candidate.unwrap()).stated(),
        Fact::ALL
    );
}

#[tokio::test]
async fn only_what_was_seen_is_said() {
    let records = [market("ep_a")
        .turn("buyer")
        .read()
        .read()
        .propose(80)
        .turn("seller")
        .read()
        .accept()
        .ends("deal")];
    let outcome = mined(&records, &Options::default()).await;
    let changed: Vec<String> = outcome
        .edits
        .iter()
        .map(|edit| edit.component().to_string())
        .collect();
    assert_eq!(changed, ["get_negotiation"]);
    assert!(
        outcome.edits[0]
            .answers
            .iter()
            .all(|id| outcome.diagnosis.finding(id).is_some())
    );
}

#[tokio::test]
async fn a_fact_the_record_contradicts_is_not_stated() {
    let costly = |id: &str| {
        market(id)
            .turn("buyer")
            .call(
                "get_negotiation",
                "{\"negotiation_id\":\"n\"}",
                r#"{"moves_left":8}"#,
                None,
            )
            .call(
                "get_negotiation",
                "{\"negotiation_id\":\"n\"}",
                r#"{"moves_left":7}"#,
                None,
            )
            .propose(80)
            .turn("seller")
            .accept()
            .ends("deal")
    };
    let outcome = mined(&[costly("a"), costly("b")], &Options::default()).await;
    assert!(
        outcome
            .edits
            .iter()
            .all(|edit| !edit.text.contains("does not use a move")),
        "{:?}",
        outcome.edits
    );
}

#[tokio::test]
async fn nothing_wrong_proposes_nothing() {
    let records = [market("ep_b")
        .turn("buyer")
        .read()
        .propose(80)
        .turn("seller")
        .read()
        .accept()
        .ends("deal")];
    let outcome = mined(&records, &Options::default()).await;
    assert!(outcome.candidate.is_none());
    assert_eq!(outcome.why_nothing(), "no failure was found in 1 episodes");
}

#[tokio::test]
async fn a_text_that_says_it_already_is_left_alone() {
    let outcome = mined(&careless_episodes(), &Options::default()).await;
    let candidate = outcome.candidate.unwrap();
    let mut records = careless_episodes();
    for record in &mut records {
        record.episode.toolset_seen = Some(candidate.id());
        record.tools = crate::fixture::rows("exp", &candidate);
    }
    let again = propose(&records, &candidate, &Mined, &Options::default())
        .await
        .unwrap();
    assert!(again.candidate.is_none(), "{:?}", again.edits);
    assert_eq!(
        again.why_nothing(),
        "`mined` found nothing to say that the texts do not say already"
    );
}

#[tokio::test]
async fn edits_are_limited_to_the_most_blamed() {
    let all = mined(&careless_episodes(), &Options::default()).await;
    let limits = Limits {
        edits: 2,
        ..Limits::default()
    };
    let two = mined(
        &careless_episodes(),
        &Options {
            limits,
            ..Options::default()
        },
    )
    .await;
    assert_eq!(two.edits, all.edits[..2]);
    assert_eq!(
        two.edits[0].component().to_string(),
        all.diagnosis.blamed[0].component
    );
}

#[tokio::test]
async fn toolsets_are_not_mixed_up() {
    let mut records = careless_episodes();
    let other = Toolset::from_value(json!([{"name": "get_negotiation"}])).unwrap();
    let error = propose(&records, &other, &Mined, &Options::default())
        .await
        .unwrap_err();
    assert!(
        matches!(error, ProposeError::OtherToolset { .. }),
        "{error}"
    );
    records[0].episode.toolset_seen = Some("ts_other".to_owned());
    let error = propose(&records, &careless(), &Mined, &Options::default())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("2 different toolsets"),
        "{error}"
    );
    let error = propose(&[], &careless(), &Mined, &Options::default())
        .await
        .unwrap_err();
    assert!(matches!(error, ProposeError::NoEpisodes));
}

#[tokio::test]
async fn the_version_file_says_where_it_comes_from() {
    let outcome = mined(&careless_episodes(), &Options::default()).await;
    let candidate = outcome.candidate.clone().unwrap();
    let version = version(&candidate, &outcome, &careless(), 1_764_500_000_000_000);
    assert_eq!(
        Toolset::parse(&version.to_pretty()).unwrap(),
        version,
        "the file reads back"
    );
    let meta = &version.meta()[META_KEY];
    assert_eq!(meta["id"], json!(version.id()));
    assert_eq!(meta["parent"], json!(careless().id()));
    assert_eq!(meta["status"], "unverified");
    assert_eq!(meta["author"], "mined");
    assert_eq!(meta["created"], "2025-11-30T10:53:20Z");
    assert_eq!(meta["statistics"]["episodes"], 9);
    assert!(
        meta["statistics"]["effect"].is_null(),
        "no effect is claimed"
    );
    assert_eq!(meta["patch"].as_array().unwrap().len(), outcome.edits.len());
    let first = &meta["patch"][0]["evidence"][0];
    assert!(first["episode"].is_string() && first["failure"].is_string());
}

#[test]
fn a_stale_hash_of_the_server_is_not_carried_over() {
    let mut value = careless().to_value();
    value["tools"][0]["_meta"] = json!({"whetstone/toolset": "ts_old", "other": 1});
    value["tools"][1]["_meta"] = json!({"whetstone/toolset": "ts_old"});
    let served = Toolset::from_value(value).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let outcome = runtime
        .block_on(propose(
            &careless_episodes(),
            &served,
            &Mined,
            &Options::default(),
        ))
        .unwrap();
    let version = version(outcome.candidate.as_ref().unwrap(), &outcome, &served, 0);
    assert_eq!(version.tools()[0].raw()["_meta"], json!({"other": 1}));
    assert!(!version.tools()[1].raw().contains_key("_meta"));
}

#[tokio::test]
async fn the_proposal_shows_changes_evidence_and_costs() {
    let outcome = mined(&careless_episodes(), &Options::default()).await;
    let version = version(
        outcome.candidate.as_ref().unwrap(),
        &outcome,
        &careless(),
        0,
    );
    let text = proposal::render(&outcome, &careless(), &version, 0);
    for part in [
        "Status: **unverified**",
        "**Closes the deal at the counterpart's latest price;",
        "`ep_polls_0` turn",
        "Nothing was rejected",
        "No model was asked",
        "## Diagnosis",
        "### `never_closed`",
    ] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert_eq!(
        outcome
            .candidate
            .unwrap()
            .text(&ComponentId::tool("refuse"))
            .unwrap()
            .matches('.')
            .count(),
        2
    );
}
