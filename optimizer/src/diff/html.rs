//! As a page of its own, or as a part of another page: no script, nothing loaded from anywhere, everything
//! escaped.

use minijinja::{Environment, Value, context};

use super::{Difference, Tag};
use crate::visible;

/// Names end in `.html`, which switches escaping on.
const TEMPLATES: [(&str, &str); 2] = [
    (PAGE, include_str!("../../templates/diff.html")),
    (TEXTS, include_str!("../../templates/diff-texts.html")),
];
const PAGE: &str = "diff.html";
const TEXTS: &str = "diff-texts.html";

/// The difference as an HTML page.
pub fn render(difference: &Difference) -> Result<String, minijinja::Error> {
    fill(PAGE, difference, "h2")
}

/// The difference as a part of a page that has styles for `ins` and `del`; each text stands below a heading of
/// the fourth level.
pub fn fragment(difference: &Difference) -> Result<String, minijinja::Error> {
    fill(TEXTS, difference, "h4")
}

fn fill(
    template: &str,
    difference: &Difference,
    heading: &str,
) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    let texts: Vec<Value> = difference
        .texts
        .iter()
        .map(|change| {
            let words: Vec<Value> = change
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
    environment.get_template(template)?.render(context! {
        heading => heading,
        from => &difference.from,
        to => &difference.to,
        summary => difference.summary(),
        warnings => warnings,
        texts => texts,
    })
}
