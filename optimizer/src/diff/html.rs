//! As a page of its own: no script, nothing loaded from anywhere, everything escaped.

use minijinja::{Environment, context};

use super::{Difference, Tag};
use crate::visible;

/// The template's name ends in `.html`, which switches escaping on.
const NAME: &str = "diff.html";
const TEMPLATE: &str = include_str!("../../templates/diff.html");

/// The difference as an HTML page.
pub fn render(difference: &Difference) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.add_template(NAME, TEMPLATE)?;
    let texts: Vec<minijinja::Value> = difference
        .texts
        .iter()
        .map(|change| {
            let words: Vec<minijinja::Value> = change
                .words
                .iter()
                .map(|segment| {
                    let tag = match segment.tag {
                        Tag::Same => "same",
                        Tag::Removed => "removed",
                        Tag::Added => "added",
                    };
                    context! { tag => tag, text => visible::block(&segment.text) }
                })
                .collect();
            context! { component => visible::line(&change.component, 200), words => words }
        })
        .collect();
    let warnings: Vec<String> = difference
        .warnings()
        .iter()
        .map(|warning| visible::line(warning, 300))
        .collect();
    environment.get_template(NAME)?.render(context! {
        from => &difference.from,
        to => &difference.to,
        summary => difference.summary(),
        warnings => warnings,
        texts => texts,
    })
}
