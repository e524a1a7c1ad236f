//! What the optimizer can tell a report about its episodes and versions. `eval` does not know the optimizer, so
//! the two meet here.

use std::collections::BTreeSet;

use eval::report::{Annotations, FailureClass, HtmlFragment};
use optimizer::classes::{self, Class, Kind};
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
    let diagnosis = diagnosis::diagnose(records, toolset, 0);
    let at_risk = |class: Class| {
        records
            .iter()
            .filter(|record| classes::says_something(record) && class.at_risk(record))
            .count()
    };
    Class::ALL
        .into_iter()
        .map(|class| {
            let mode = diagnosis.modes.iter().find(|mode| mode.class == class);
            let findings = mode.map_or(&[][..], |mode| &mode.findings);
            let episodes: BTreeSet<&str> = findings
                .iter()
                .map(|finding| finding.episode_id.as_str())
                .collect();
            FailureClass {
                class: class.as_str().to_owned(),
                meaning: class.meaning().to_owned(),
                waste: class.kind() == Kind::Waste,
                at_risk: mode.map_or_else(
                    || at_risk(class),
                    |mode| usize::try_from(mode.episodes.n).unwrap_or(usize::MAX),
                ),
                episodes: episodes.into_iter().map(str::to_owned).collect(),
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
