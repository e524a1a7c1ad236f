//! The report page as a user gets it: one file that leads from the verdict down to every tool call.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support;

const PACK: &str = r#"[
    {"id": "a<script>\"'", "item": "{{ 7 * 7 }}", "reserve": 30, "budget": 50},
    {"id": "b", "item": "lamp", "reserve": 60, "budget": 40}
]"#;

/// Every value of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    page.split(&format!(" {attribute}=\""))
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// Plays a small comparison and gives the page's text.
fn compared(folder: &Path) -> String {
    let mut candidate = trajectory::Toolset::parse(&support::whetstone_ok(
        folder,
        &["market", "tools", "--json"],
    ))
    .unwrap();
    candidate.set_text(
        &trajectory::ComponentId::tool("refuse"),
        "Walks away. The right end when no price inside your limit can be reached.",
    );
    std::fs::write(folder.join("v2.json"), candidate.to_value().to_string()).unwrap();
    std::fs::write(folder.join("pack.json"), PACK).unwrap();
    support::whetstone_ok(
        folder,
        &[
            "eval",
            "compare",
            "--candidate",
            "v2.json",
            "--pack",
            "pack.json",
            "--repeats",
            "1",
            "--model",
            "sim",
            "--experiment",
            "small",
            "--store",
            "store",
            "--report",
            "page.html",
        ],
    );
    std::fs::read_to_string(folder.join("page.html")).unwrap()
}

#[test]
fn the_page_leads_from_the_verdict_to_every_call_and_loads_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let page = compared(folder.path());

    for foreign in [
        "http:",
        "https:",
        "<script",
        "javascript:",
        "src=",
        "@import",
        "url(",
    ] {
        assert!(!page.contains(foreign), "the page has {foreign}");
    }
    let ids = values(&page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id is there twice");
    for link in values(&page, "href") {
        let target = link.strip_prefix('#').expect("links stay on the page");
        assert!(unique.contains(target), "{link} leads nowhere");
    }
    let episodes = support::episode_ids(folder.path(), "store");
    assert_eq!(episodes.len(), 16);
    for episode in &episodes {
        assert!(unique.contains(episode.as_str()), "{episode} is missing");
    }

    let mut rest = page.as_str();
    for section in [
        "conditions",
        "effects",
        "tests",
        "scenarios",
        "distributions",
        "attempts",
        "injection",
        "failures",
        "cost",
        "texts",
        "episodes",
        "limits",
        "basis",
    ] {
        let heading = format!("<h2 id=\"{section}\">");
        rest = rest
            .split_once(&heading)
            .unwrap_or_else(|| panic!("{section} is not in its place"))
            .1;
    }
    assert!(page.contains("<ins>"), "the words that differ are marked");
    assert!(page.contains("rejected_instead_of_countering"));
    assert!(page.contains("buyer calls</span> <code><b>get_negotiation</b></code>"));
    assert!(page.contains("simulated agents; says nothing about any language model"));
}

#[test]
fn markdown_and_json_come_from_the_same_evidence_and_transcripts_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let whole = compared(folder.path());
    let report = |more: &[&str]| {
        let words = [&["eval", "report", "--store", "store"], more].concat();
        support::whetstone_ok(folder.path(), &words)
    };
    let json: serde_json::Value =
        serde_json::from_str(&report(&["--format", "json"])).expect("JSON");
    assert_eq!(json["experiment"], "small");
    assert_eq!(json["evidence"]["episodes"].as_array().unwrap().len(), 8);
    assert!(json["evidence"]["cost"]["baseline"]["usd"]["total"].is_null());
    let limits = json["evidence"]["limits"].as_array().unwrap();
    let markdown = report(&["--format", "md"]);
    assert!(markdown.contains("## Failure classes, in episodes"));
    assert!(markdown.contains("| USD | baseline | unknown | unknown | 0 of 8 |"));
    assert_eq!(
        markdown
            .split("## What this does not show")
            .nth(1)
            .unwrap()
            .matches("\n- ")
            .count(),
        limits.len()
    );
    let without = report(&["--transcripts", "none"]);
    assert!(without.len() < whole.len());
    assert!(without.contains("0 of 16 transcripts are on this page"));
    assert!(without.contains("whetstone collector show ep_"));
}
