//! The diagnosis: what it counts, what it rests on, how it reads.

use optimizer::classes::Class;
use optimizer::diagnosis::{Diagnosis, diagnose, recorded_toolset, split};
use trajectory::{EpisodeRecord, Status};

use crate::fixture::{careless, careless_episodes, market};

fn diagnosed(records: &[EpisodeRecord]) -> Diagnosis {
    let records: Vec<&EpisodeRecord> = records.iter().collect();
    diagnose(&records, Some(&careless()), 1)
}

fn mode(diagnosis: &Diagnosis, class: Class) -> &optimizer::diagnosis::FailureMode {
    diagnosis
        .modes
        .iter()
        .find(|mode| mode.class == class)
        .unwrap_or_else(|| panic!("no {class}"))
}

#[test]
fn rates_count_episodes_where_the_failure_could_happen() {
    let diagnosis = diagnosed(&careless_episodes());
    let never_closed = &mode(&diagnosis, Class::NeverClosed).episodes;
    assert_eq!((never_closed.count, never_closed.n), (6, 9));
    // Wilson's interval for 6 of 9.
    assert!(
        (never_closed.low - 0.354).abs() < 0.001 && (never_closed.high - 0.879).abs() < 0.001,
        "{never_closed:?}"
    );
    // Two of the nine could not have been deals.
    let missed = &mode(&diagnosis, Class::MissedAcceptance).episodes;
    assert_eq!((missed.count, missed.n), (4, 7));
    // The server stops in `server`; the record of the market's other condition shows a refusal too.
    let refused = mode(&diagnosis, Class::RefusedByLimit);
    assert_eq!((refused.episodes.count, refused.episodes.n), (4, 4));
    assert_eq!(refused.findings.len(), 4);
}

#[test]
fn failures_come_before_waste_and_frequent_before_rare() {
    let diagnosis = diagnosed(&careless_episodes());
    let kinds: Vec<_> = diagnosis.modes.iter().map(|mode| mode.kind).collect();
    let mut sorted = kinds.clone();
    sorted.sort();
    assert_eq!(kinds, sorted);
    assert_eq!(diagnosis.modes[0].class, Class::RefusedByLimit, "4 of 4");
}

#[test]
fn infrastructure_errors_are_left_out_and_counted() {
    let mut records = careless_episodes();
    records[0].episode.status = Status::InfraError;
    records[1].episode.status = Status::Cancelled;
    let diagnosis = diagnosed(&records);
    assert_eq!(diagnosis.scope.episodes, 7);
    assert_eq!(diagnosis.scope.excluded.get("infra_error"), Some(&1));
    assert!(
        diagnosis
            .findings()
            .all(|finding| finding.episode_id != "ep_polls_0")
    );
    assert!(diagnosis.to_text(3).contains("1 cancelled, 1 infra_error"));
}

#[test]
fn a_failure_stands_beside_a_success_of_its_scenario() {
    let diagnosis = diagnosed(&careless_episodes());
    let contrast = mode(&diagnosis, Class::MissedAcceptance)
        .contrast
        .clone()
        .unwrap();
    assert_eq!(contrast.success_episode, "ep_good");
    assert!(contrast.same_condition && contrast.success_correct);
    // Nobody closed the laptop negotiations, so `refuse` has nothing to be contrasted with there.
    let only_laptops: Vec<EpisodeRecord> = careless_episodes()
        .into_iter()
        .filter(|r| r.episode.scenario.as_deref() == Some("laptop"))
        .collect();
    assert!(
        mode(&diagnosed(&only_laptops), Class::NeverClosed)
            .contrast
            .is_none()
    );
}

#[test]
fn simulated_episodes_are_named_in_the_first_line() {
    let mut records = careless_episodes();
    assert_eq!(diagnosed(&records).simulation_note(), None);
    records[0].episode.simulated = true;
    assert!(
        diagnosed(&records)
            .to_text(1)
            .starts_with("** 1 of 9 episodes are of simulated agents")
    );
    for record in &mut records {
        record.episode.simulated = true;
    }
    let diagnosis = diagnosed(&records);
    assert!(
        diagnosis
            .to_text(1)
            .starts_with("** simulated agents; says nothing about any language model **")
    );
    assert!(
        diagnosis
            .to_markdown(1)
            .contains("simulated agents; says nothing about any language model")
    );
}

#[test]
fn episodes_of_several_toolsets_are_split() {
    let mut records = careless_episodes();
    records[0].episode.toolset_seen = Some("ts_other".to_owned());
    let groups = split(&records);
    assert_eq!(
        groups
            .iter()
            .map(|group| group.records.len())
            .collect::<Vec<_>>(),
        [8, 1]
    );
    assert_eq!(recorded_toolset(&records[1]).unwrap().id(), careless().id());
    assert_eq!(
        recorded_toolset(&records[0]),
        None,
        "rows of another version are not this one's"
    );
}

#[test]
fn the_order_of_episodes_changes_nothing() {
    let mut records = careless_episodes();
    let text = |records: &[EpisodeRecord]| {
        let diagnosis = diagnosed(records);
        let mut findings: Vec<String> = diagnosis
            .findings()
            .map(|finding| finding.id.clone())
            .collect();
        findings.sort();
        (
            findings,
            diagnosis
                .blamed
                .iter()
                .map(|b| (b.component.clone(), b.votes))
                .collect::<Vec<_>>(),
        )
    };
    let before = text(&records);
    records.reverse();
    assert_eq!(text(&records), before);
}

#[test]
fn it_reads_like_this() {
    let records = [
        market("ep_a").turn("buyer").read().reject().ends("open"),
        market("ep_b")
            .turn("buyer")
            .read()
            .propose(80)
            .turn("seller")
            .read()
            .accept()
            .ends("deal"),
    ];
    insta::assert_snapshot!("diagnosis_text", diagnosed(&records).to_text(2));
    insta::assert_snapshot!("diagnosis_markdown", diagnosed(&records).to_markdown(2));
}

#[test]
fn nothing_wrong_is_said_plainly() {
    let records = [market("ep_b")
        .turn("buyer")
        .read()
        .propose(80)
        .turn("seller")
        .read()
        .accept()
        .ends("deal")];
    assert!(
        diagnosed(&records)
            .to_text(2)
            .contains("no failure of a known class was found")
    );
}
