use super::*;
use std::collections::{BTreeMap, BTreeSet};

fn problem(text: &str) -> String {
    Pack::parse("p", "p.json", text).unwrap_err().to_string()
}

#[test]
fn the_reference_pack_is_the_published_one() {
    let pack = Pack::load("reference").unwrap();
    let limits: Vec<_> = pack
        .scenarios
        .iter()
        .map(|s| (s.reserve, s.budget))
        .collect();
    assert_eq!(
        limits,
        [(40, 120), (90, 110), (63, 127), (110, 100), (300, 150)]
    );
    assert_eq!(pack.scenarios[3].listing_price(), 130);
    assert_eq!(pack.scenarios[3].raised_limit(), 140);
}

#[test]
fn bargain_40_has_eight_of_each_gap_and_every_price_scale() {
    let pack = Pack::load("bargain-40").unwrap();
    let mut groups: BTreeMap<&str, Vec<&Scenario>> = BTreeMap::new();
    for s in &pack.scenarios {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let relative = s.spread() as f64 / s.reserve.max(s.budget) as f64;
        let group = match relative {
            r if r >= 0.25 => "wide",
            r if r > 0.0 => "narrow",
            r if r > -0.12 && r < 0.0 => "slightly infeasible",
            r if r < 0.0 => "clearly infeasible",
            _ => "zero",
        };
        groups.entry(group).or_default().push(s);
    }
    assert_eq!(groups.len(), 5);
    for (group, members) in &groups {
        assert_eq!(members.len(), 8, "{group}");
        let low = members.iter().map(|s| s.budget).min().unwrap();
        let high = members.iter().map(|s| s.budget).max().unwrap();
        assert!(low < 50 && high > 5_000, "{group} spans {low} to {high}");
    }
    let items: BTreeSet<_> = pack.scenarios.iter().map(|s| s.item.as_str()).collect();
    let limits: BTreeSet<_> = pack
        .scenarios
        .iter()
        .map(|s| (s.reserve, s.budget))
        .collect();
    assert_eq!((items.len(), limits.len()), (40, 40));
    let least = pack
        .scenarios
        .iter()
        .flat_map(|s| [s.reserve, s.budget])
        .min()
        .unwrap();
    let most = pack
        .scenarios
        .iter()
        .flat_map(|s| [s.reserve, s.budget])
        .max()
        .unwrap();
    assert!(least <= 5 && most >= 50_000, "{least} to {most}");
}

#[test]
fn errors_name_file_index_and_field() {
    let good = r#"{"id":"a","item":"pen","reserve":1,"budget":2}"#;
    for (bad, expected) in [
        (
            r#"{"item":"pen","reserve":1,"budget":2}"#,
            "field `id`: missing",
        ),
        (
            r#"{"id":"b","item":"","reserve":1,"budget":2}"#,
            "field `item`: must not be empty",
        ),
        (
            r#"{"id":"b","item":"pen","reserve":1.5,"budget":2}"#,
            "field `reserve`: 1.5 is out of range",
        ),
        (
            r#"{"id":"b","item":"pen","reserve":1,"budget":-2}"#,
            "field `budget`: -2 is out of range",
        ),
        (
            r#"{"id":"b","item":"pen","reserve":1,"budget":1e30}"#,
            "field `budget`",
        ),
        (
            r#"{"id":"b","item":"pen","reserve":"1","budget":2}"#,
            "found a text",
        ),
        (
            r#"{"id":"b","item":"p\u0007en","reserve":1,"budget":2}"#,
            "control character",
        ),
        (
            r#"{"id":"a","item":"pen","reserve":1,"budget":2}"#,
            "also the id of scenario 0",
        ),
        ("7", "field `id`: missing"),
    ] {
        let text = problem(&format!("[{good},{bad}]"));
        assert!(
            text.starts_with("`p.json`, scenario 1, ") && text.contains(expected),
            "{text}"
        );
    }
    assert!(problem("[]").contains("no scenarios"));
    assert!(problem("{").contains("not JSON"));
    assert!(
        Pack::load("nothing")
            .unwrap_err()
            .to_string()
            .contains("reference, bargain-40")
    );
}

#[test]
fn the_hash_ignores_what_does_not_matter() {
    let a = Pack::parse(
        "a",
        "a",
        r#"[{"id":1,"item":"pen","reserve":1,"budget":2,"note":"x"}]"#,
    )
    .unwrap();
    let b = Pack::parse(
        "b",
        "b",
        r#"{"scenarios":[{"budget":2,"reserve":1,"item":"pen","id":"1"}]}"#,
    )
    .unwrap();
    let c = Pack::parse(
        "c",
        "c",
        r#"[{"id":"1","item":"pen","reserve":1,"budget":3}]"#,
    )
    .unwrap();
    assert_eq!(a.hash(), b.hash());
    assert_ne!(a.hash(), c.hash());
}
