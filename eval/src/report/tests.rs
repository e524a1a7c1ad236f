mod hostile;

use std::collections::BTreeSet;

use hostile::{HOSTILE, assert_harmless, hostile, made, page, records, values};

use super::*;
use crate::compare::{Request, compare};
use crate::summary::summarize;

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
        "<h2 id=\"tests",
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
    assert!(!limits.contains("not the one stated"), "only what applies");
}

#[test]
fn markdown_and_json_hold_the_same_evidence() {
    let (manifest, episodes, _) = hostile();
    let request = Request {
        manifest: &manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: None,
        analysis: None,
        noise_floor: false,
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
