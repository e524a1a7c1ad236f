//! Differences, in every form.

use optimizer::diff::text::Colour;
use optimizer::diff::{Difference, Tag, html, json, markdown, text, unified, words};
use proptest::prelude::*;
use serde_json::json;
use trajectory::{ComponentId, Toolset};

use crate::fixture::careless;

fn rewritten() -> Toolset {
    let mut toolset = careless();
    toolset.set_text(
        &ComponentId::tool("accept_proposal"),
        "Accepts the counterpart's latest proposal. Closes the deal.",
    );
    toolset.set_text(
        &ComponentId::parameter("propose", "price"),
        "The price, a whole number.",
    );
    toolset
}

#[test]
fn every_form_shows_the_words() {
    let difference = Difference::between(&careless(), &rewritten());
    assert!(!difference.beyond_texts());
    insta::assert_snapshot!("diff_text", text::render(&difference, Colour::None));
    insta::assert_snapshot!("diff_unified", unified::render(&difference));
    insta::assert_snapshot!("diff_markdown", markdown::render(&difference));
    insta::assert_snapshot!("diff_html", html::render(&difference).unwrap());
    let json = json::render(&difference);
    assert_eq!(json["only_descriptions"], true);
    assert_eq!(
        json["difference"]["texts"][0]["component"],
        "propose(price)"
    );
}

#[test]
fn colours_are_escape_sequences_and_absent_otherwise() {
    let difference = Difference::between(&careless(), &rewritten());
    assert!(text::render(&difference, Colour::Ansi).contains("\u{1b}[32m"));
    assert!(!text::render(&difference, Colour::None).contains('\u{1b}'));
}

#[test]
fn equal_versions_say_so() {
    let difference = Difference::between(&careless(), &careless());
    assert!(difference.is_empty());
    assert_eq!(
        text::render(&difference, Colour::None),
        format!("no difference ({})\n", careless().id())
    );
    assert_eq!(json::render(&difference)["same"], true);
}

#[test]
fn anything_but_a_description_is_named() {
    let mut value = careless().to_value();
    let tools = value["tools"].as_array_mut().unwrap();
    tools[1]["inputSchema"]["required"] = json!(["price"]);
    tools[1]["annotations"] = json!({"readOnlyHint": true});
    tools.swap(2, 3);
    tools.pop();
    tools.push(json!({"name": "extra"}));
    let difference = Difference::between(&careless(), &Toolset::from_value(value).unwrap());
    assert!(difference.beyond_texts());
    assert_eq!(
        difference.warnings(),
        [
            "tool removed: refuse",
            "tool added: extra",
            "the tools stand in another order",
            "not a description: propose: inputSchema.required differs",
            "not a description: propose: annotations is new",
        ]
    );
    for shown in [
        text::render(&difference, Colour::None),
        unified::render(&difference),
        markdown::render(&difference),
        html::render(&difference).unwrap(),
    ] {
        assert!(
            shown.contains("MORE THAN DESCRIPTIONS")
                && shown.contains("inputSchema.required differs"),
            "{shown}"
        );
    }
}

#[test]
fn hostile_texts_are_shown_and_do_nothing() {
    let mut hostile = careless();
    hostile.set_text(
        &ComponentId::tool("refuse"),
        "<script>alert(1)</script> \u{1b}[2J \u{200b} [link](http://x) <img src=x onerror=y> | {{ 7*7 }}",
    );
    let difference = Difference::between(&careless(), &hostile);
    let page = html::render(&difference).unwrap();
    assert!(
        !page.contains("<script") && !page.contains("<img"),
        "{page}"
    );
    assert!(page.contains("&lt;script&gt;") && page.contains("{{ 7*7 }}"));
    let shown = text::render(&difference, Colour::None);
    assert!(
        !shown.contains('\u{1b}') && shown.contains("\\u{1b}[2J \\u{200b}"),
        "{shown}"
    );
    let document = markdown::render(&difference);
    assert!(
        !document.contains("<script") && !document.contains("[link](http"),
        "{document}"
    );
    assert!(!unified::render(&difference).contains('\u{1b}'));
}

proptest! {
    /// The words kept and removed are the old text, those kept and added the new one.
    #[test]
    fn the_words_add_up(old in "[a-c \n.]{0,40}", new in "[a-c \n.]{0,40}") {
        let segments = words(&old, &new);
        let without = |tag: Tag| segments.iter().filter(|s| s.tag != tag).map(|s| s.text.as_str()).collect::<String>();
        prop_assert_eq!(without(Tag::Added), old);
        prop_assert_eq!(without(Tag::Removed), new);
    }
}
