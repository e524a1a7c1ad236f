//! A comparison in which every text that comes from outside is hostile.

use market::scenario::{Pack, Scenario};
use trajectory::{Call, Capture, Episode, EpisodeRecord, Message, Status};

use super::super::*;
use crate::compare::{Request, compare};
use crate::manifest::Manifest;
use crate::plan::{Arm, Plan};

pub(super) const HOSTILE: &str =
    "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}\u{200f}";

/// A plan, its manifest and its episodes.
pub(super) fn hostile() -> (Manifest, Vec<Episode>, Plan) {
    let scenarios = (0..6)
        .map(|i| Scenario {
            id: format!("{i}{HOSTILE}"),
            item: HOSTILE.to_owned(),
            reserve: 1,
            budget: 9,
        })
        .collect();
    let mut candidate = market::contract::baseline();
    candidate.set_text(
        &trajectory::ComponentId::tool("propose"),
        &format!("{HOSTILE}\nsecond line"),
    );
    let arms = vec![
        Arm {
            name: "baseline".to_owned(),
            toolset: market::contract::baseline(),
        },
        Arm {
            name: "candidate".to_owned(),
            toolset: candidate,
        },
    ];
    let plan = Plan {
        experiment: "e".to_owned(),
        repeats: 1,
        ..Plan::new(
            Pack {
                name: HOSTILE.to_owned(),
                scenarios,
            },
            arms,
            HOSTILE,
        )
    };
    let labels = [("candidate".to_owned(), HOSTILE.into())]
        .into_iter()
        .collect();
    let manifest = Manifest::of(&plan, true, labels);
    let episodes = plan
        .episodes()
        .into_iter()
        .map(|spec| {
            let arm = &plan.arms[spec.arm];
            let mut episode = Episode::new("e", &spec.episode_id, "market");
            episode.scenario = Some(plan.pack.scenarios[spec.scenario].id.clone());
            episode.condition = Some(spec.condition.as_str().to_owned());
            episode.arm = Some(arm.name.clone());
            episode.repeat = Some(0);
            episode.toolset_seen = Some(arm.toolset.id());
            episode.outcome = Some(HOSTILE.to_owned());
            episode.correct_strict = Some(spec.arm == 1);
            episode.status = Status::Completed;
            episode
        })
        .collect();
    (manifest, episodes, plan)
}

pub(super) fn assert_harmless(page: &str) {
    assert!(
        !page.contains("<script") && !page.contains("<img"),
        "markup got through"
    );
    assert!(
        !page.contains('\u{202e}'),
        "hidden direction change got through"
    );
    for outside in ["http://", "https://", "src=", "@import", "url(", "<link"] {
        let stripped = page
            .replace("http://www.w3.org/", "")
            .replace("img src=x", "");
        assert!(
            !stripped.contains(outside),
            "the page loads something: {outside}"
        );
    }
}

/// The hostile episodes as records: with calls and messages in which everything is hostile.
pub(super) fn records(episodes: &[Episode]) -> Vec<EpisodeRecord> {
    episodes
        .iter()
        .map(|episode| {
            let mut call = call(episode, 0, "propose");
            call.result = Some(format!("{HOSTILE} ]]> {{{{ 7 * 7 }}}}"));
            call.is_error = Some(true);
            call.error_class = Some(HOSTILE.to_owned());
            call.error_message = Some(format!("sentence {HOSTILE}"));
            let mut odd = episode.clone();
            odd.attempted_violations_buyer = Some(2);
            odd.attempted_violations_seller = Some(1);
            odd.tool_calls = Some(if odd.correct_strict == Some(true) {
                4
            } else {
                9
            });
            odd.turns = Some(3);
            odd.exposures = Some(i32::from(odd.condition.as_deref() == Some("prompt_inject")));
            EpisodeRecord {
                messages: vec![message(episode, "assistant", HOSTILE)],
                calls: vec![call],
                episode: odd,
                scores: Vec::new(),
                tools: Vec::new(),
            }
        })
        .collect()
}

fn call(episode: &Episode, sequence: i32, tool: &str) -> Call {
    Call {
        experiment: episode.experiment.clone(),
        episode_id: episode.episode_id.clone(),
        sequence,
        turn: Some(sequence),
        role: Some("buyer".to_owned()),
        tool: tool.to_owned(),
        server: None,
        call_id: Some(format!("call{sequence}")),
        arguments: Some(format!("{{\"note\":\"{HOSTILE}\"}}")),
        arguments_state: Capture::Captured,
        result: Some("done".to_owned()),
        result_state: Capture::Captured,
        is_error: Some(false),
        error_class: None,
        error_message: None,
        started_us: None,
        ended_us: None,
    }
}

fn message(episode: &Episode, role: &str, content: &str) -> Message {
    Message {
        experiment: episode.experiment.clone(),
        episode_id: episode.episode_id.clone(),
        sequence: 0,
        turn: Some(0),
        party: Some("buyer".to_owned()),
        role: role.to_owned(),
        content: Some(content.to_owned()),
        tool_calls: None,
        model: None,
        input_tokens: None,
        output_tokens: None,
        latency_us: None,
        finish_reason: None,
        extra: None,
    }
}

/// A made report: evidence and page.
pub(super) fn made(annotations: &Annotations, transcripts: Transcripts) -> (Evidence, String) {
    let (manifest, mut episodes, plan) = hostile();
    // An id that no plan makes, to be sure that none gets into an attribute.
    episodes[0].episode_id = format!("ep_\" onmouseover=\"{HOSTILE}");
    let records = records(&episodes);
    let episodes: Vec<Episode> = records
        .iter()
        .map(|record| record.episode.clone())
        .collect();
    let toolsets = (&plan.arms[0].toolset, &plan.arms[1].toolset);
    let request = Request {
        manifest: &manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: Some(toolsets),
        analysis: None,
        noise_floor: false,
    };
    let compared = compare(&episodes, &request).unwrap();
    let material = Material {
        comparison: &compared,
        records: &records,
        toolsets: (Some(toolsets.0), Some(toolsets.1)),
    };
    let evidence = Evidence::of(material, annotations);
    let page = comparison(material, &evidence, annotations, transcripts).unwrap();
    (evidence, page)
}

pub(super) fn page(annotations: &Annotations) -> String {
    made(annotations, Transcripts::All).1
}

/// Every value of an attribute, by the attribute's name.
pub(super) fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\""))
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect()
}
