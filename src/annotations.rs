//! What the optimizer can tell a report about its episodes and versions. `eval` does not know the optimizer, so
//! the two meet here.

use eval::report::{Annotations, FailureClass, HtmlFragment};
use optimizer::classes::Kind;
use optimizer::diagnosis;
use optimizer::diff::{Difference, html};
use trajectory::{EpisodeRecord, Toolset};

/// Failure classes and word differences by the optimizer.
pub fn annotations() -> Annotations {
    Annotations {
        failures,
        difference,
    }
}

fn failures(records: &[&EpisodeRecord], toolset: Option<&Toolset>) -> Vec<FailureClass> {
    // The seed only orders blamed components, which a report does not show.
    diagnosis::diagnose(records, toolset, 0)
        .modes
        .into_iter()
        .map(|mode| {
            let mut episodes: Vec<String> = mode
                .findings
                .into_iter()
                .map(|finding| finding.episode_id)
                .collect();
            episodes.sort();
            episodes.dedup();
            FailureClass {
                class: mode.class.as_str().to_owned(),
                meaning: mode.meaning.to_owned(),
                waste: mode.kind == Kind::Waste,
                at_risk: usize::try_from(mode.episodes.n).unwrap_or(usize::MAX),
                episodes,
            }
        })
        .collect()
}

fn difference(before: &Toolset, after: &Toolset) -> Option<HtmlFragment> {
    let difference = Difference::between(before, after);
    if difference.is_empty() {
        return None;
    }
    html::fragment(&difference)
        .ok()
        .map(HtmlFragment::from_escaped)
}
