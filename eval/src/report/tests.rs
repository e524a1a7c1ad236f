use std::collections::BTreeSet;

use market::scenario::{Pack, Scenario};
use trajectory::{Call, Capture, Episode, EpisodeRecord, Message, Status};

use super::*;
use crate::compare::{Request, compare};
use crate::manifest::Manifest;
use crate::plan::{Arm, Plan};
use crate::summary::summarize;

const HOSTILE: &str =
    "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}\u{200f}";

/// A comparison in which every text that comes from outside is hostile.
fn hostile() -> (Manifest, Vec<Episode>, Plan) {
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

fn assert_harmless(page: &str) {
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
fn records(episodes: &[Episode]) -> Vec<EpisodeRecord> {
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
fn made(annotations: &Annotations, transcripts: Transcripts) -> (Evidence, String) {
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
        metric: None,
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

fn page(annotations: &Annotations) -> String {
    made(annotations, Transcripts::All).1
}

/// Every value of an attribute, by the attribute's name.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\""))
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect()
}

#[test]
fn a_page_escapes_everything_and_loads_nothing() {
    let page = page(&Annotations::default());
    assert_harmless(&page);
    assert!(page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("\\u{202e}"), "what was hidden is shown");
    assert!(
        page.contains("]]&gt; {{ 7 * 7 }}"),
        "braces are no template"
    );
    for expected in [
        "simulated",
        "improved",
        "<svg",
        "server_inject",
        "second line",
        "sentence ",
        "prefers-color-scheme: dark",
        "@media print",
    ] {
        assert!(page.contains(expected), "no {expected}");
    }
}

#[test]
fn every_link_leads_to_one_place_and_ids_are_harmless() {
    let page = page(&Annotations::default());
    let ids = values(&page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id is there twice");
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    assert!(ids.iter().all(|id| id.chars().all(harmless)), "{ids:?}");
    let links = values(&page, "href");
    assert!(links.len() > 50);
    for link in links {
        let target = link.strip_prefix('#').expect("links stay on the page");
        assert!(unique.contains(target), "{link} leads nowhere");
    }
    assert!(!page.contains(" onmouseover=\""), "an attribute got in");
}

#[test]
fn sections_stand_in_their_order_and_every_episode_is_there() {
    let (evidence, page) = made(&Annotations::default(), Transcripts::All);
    let mut rest = page.as_str();
    for section in [
        "class=\"verdict",
        "<nav",
        "<h2 id=\"conditions",
        "<h2 id=\"effects",
        "<h2 id=\"scenarios",
        "<h2 id=\"distributions",
        "<h2 id=\"attempts",
        "<h2 id=\"injection",
        "<h2 id=\"failures",
        "<h2 id=\"cost",
        "<h2 id=\"texts",
        "<h2 id=\"episodes",
        "<h2 id=\"limits",
        "<h2 id=\"basis",
    ] {
        rest = rest
            .split_once(section)
            .unwrap_or_else(|| panic!("no {section} in its place"))
            .1;
    }
    let ids: BTreeSet<&str> = values(&page, "id").into_iter().collect();
    assert_eq!(evidence.episodes.len(), 24);
    for played in &evidence.episodes {
        for ended in [&played.baseline, &played.candidate] {
            let anchor = markup::anchor(&ended.as_ref().unwrap().episode);
            assert!(ids.contains(anchor.as_str()), "{anchor} is missing");
        }
    }
}

#[test]
fn tables_can_be_reached_by_keyboard_and_plots_tell_their_numbers() {
    let page = page(&Annotations::default());
    assert_eq!(
        page.matches("class=\"wide\"").count(),
        page.matches("class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=")
            .count()
    );
    let plots = page.matches("<svg").count();
    assert!(plots >= 6, "{plots}");
    for part in ["role=\"img\"", "<title id=", "<desc id="] {
        assert_eq!(page.matches(part).count(), plots, "{part}");
    }
    assert!(
        page.contains("prompt: 0 % → 100 %, +100 ["),
        "effects are told in words"
    );
    assert!(page.contains("buyer, baseline: 12"), "so are the bars");
    assert!(page.contains("class=\"skip\" href=\"#main\""));
}

#[test]
fn what_the_caller_finds_is_shown() {
    let annotations = Annotations {
        difference: |_, _| {
            Some(HtmlFragment::from_escaped(
                "<p>was <del>bad</del> <ins>good</ins></p>".to_owned(),
            ))
        },
        failures: |records, toolset| {
            let first = &records[0].episode;
            vec![FailureClass {
                class: format!("class{HOSTILE}"),
                meaning: toolset.map_or_else(String::new, trajectory::Toolset::id),
                waste: true,
                at_risk: records.len(),
                episodes: vec![first.episode_id.clone()],
            }]
        },
    };
    let page = page(&annotations);
    assert!(page.contains("was <del>bad</del> <ins>good</ins>"));
    assert!(page.contains("1 of 24") && page.contains("waste"));
    assert_harmless(&page);
}

#[test]
fn transcripts_can_be_left_out_and_the_page_says_so() {
    let (evidence, all) = made(&Annotations::default(), Transcripts::All);
    let (_, none) = made(&Annotations::default(), Transcripts::None);
    assert!(all.contains("class=\"call failed\"") && !all.contains("are left out"));
    assert!(!none.contains("class=\"call"));
    assert!(none.contains("0 of 48 transcripts are on this page"));
    assert!(none.contains("whetstone collector show ep_"));
    let (_, episodes, _) = hostile();
    let records = records(&episodes);
    let one = transcript::transcript(&records[0]).len();
    let shown = episodes::choose(&records, &evidence, Transcripts::All, one * 5);
    let note = shown.note.unwrap();
    assert!(note.contains("to keep the page below"), "{note}");
}

#[test]
fn evidence_counts_what_the_episodes_hold() {
    let (evidence, _) = made(&Annotations::default(), Transcripts::None);
    assert_eq!(evidence.scenarios.len(), 6);
    assert!(evidence.scenarios.iter().all(|row| row.difference > 0.99));
    assert_eq!(evidence.attempts.len(), 4);
    assert_eq!(evidence.attempts[0].baseline.buyer, 12);
    let exposed: Vec<usize> = evidence
        .injection
        .iter()
        .map(|row| row.baseline.exposed)
        .collect();
    assert_eq!(exposed, [6, 0]);
    let calls = &evidence.distributions[0];
    assert_eq!(
        (calls.baseline[0].value, calls.baseline[0].episodes),
        (9, 24)
    );
    assert_eq!(calls.candidate[0].value, 4);
    assert_eq!(evidence.cost.baseline.usd.total, None);
    let limits = evidence.limits.join("\n");
    for expected in [
        "simulated",
        "6 scenarios",
        "played once",
        "12 episodes of",
        "Tokens are not",
    ] {
        assert!(limits.contains(expected), "no {expected}:\n{limits}");
    }
    assert!(!limits.contains("chosen after"), "only what applies");
}

#[test]
fn markdown_and_json_hold_the_same_evidence() {
    let (manifest, episodes, _) = hostile();
    let request = Request {
        manifest: &manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: None,
        metric: None,
    };
    let compared = compare(&episodes, &request).unwrap();
    let (evidence, _) = made(&Annotations::default(), Transcripts::None);
    let text = markdown(&compared, &evidence);
    assert!(!text.contains("<script") && !text.contains('\u{202e}'));
    assert!(
        text.contains("| prompt | 6 | 12 -&gt; 12 | 6 -&gt; 6 |"),
        "{text}"
    );
    assert!(text.contains("| USD | baseline | unknown | unknown | 0 of 24 |"));
    let json = serde_json::to_value(&evidence).unwrap();
    assert_eq!(json["attempts"][0]["candidate"]["seller"], 6);
    assert_eq!(
        json["limits"].as_array().unwrap().len(),
        evidence.limits.len()
    );
}

#[test]
fn plots_stay_inside_their_frames() {
    let page = page(&Annotations::default());
    for svg in page.split("<svg").skip(1) {
        let svg = svg.split("</svg>").next().unwrap();
        for attribute in ["x", "x1", "x2", "cx"] {
            for number in values(svg, attribute) {
                let number: f64 = number.parse().unwrap();
                assert!(
                    (-0.1..=360.1).contains(&number),
                    "{attribute} {number}: {svg}"
                );
            }
        }
    }
}

#[test]
fn an_experiment_with_one_arm_has_a_page_too() {
    let (mut manifest, episodes, _) = hostile();
    manifest.arms.truncate(1);
    let page = summary(&summarize(&episodes, &manifest)).unwrap();
    assert_harmless(&page);
    assert!(page.contains("correct strict") && page.contains("simulated"));
}
