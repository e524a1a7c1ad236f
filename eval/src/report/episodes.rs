//! The episodes on the page: an index per condition, and below it every episode with its transcript.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Value, context};
use trajectory::{Episode, EpisodeRecord};

use super::evidence::{Ended, Evidence, Played, outcome};
use super::markup::{anchor, argument};
use super::transcript::transcript;
use super::{Material, Transcripts};
use crate::figures::{self, one_line};

/// Transcripts are left out before a page grows beyond this many bytes.
pub(super) const LARGEST: usize = 32 * 1024 * 1024;

/// Which transcripts are on the page.
pub(super) struct Shown {
    by_episode: BTreeMap<String, String>,
    /// What is missing, and how it is seen.
    pub(super) note: Option<String>,
    left_out: BTreeSet<String>,
}

/// Renders the transcripts that were asked for, up to `largest` bytes, those of pairs that differ first.
pub(super) fn choose(
    records: &[EpisodeRecord],
    evidence: &Evidence,
    wanted: Transcripts,
    largest: usize,
) -> Shown {
    let by_id: BTreeMap<&str, &EpisodeRecord> = records
        .iter()
        .map(|record| (record.episode.episode_id.as_str(), record))
        .collect();
    let ids = |differs: bool| {
        evidence
            .episodes
            .iter()
            .filter(move |played| played.differs == differs)
            .flat_map(|played| [&played.baseline, &played.candidate])
            .flatten()
            .map(|ended| ended.episode.as_str())
    };
    let mut shown = Shown {
        by_episode: BTreeMap::new(),
        note: None,
        left_out: BTreeSet::new(),
    };
    let (mut bytes, mut full) = (0, false);
    for (id, asked_for) in ids(true)
        .map(|id| (id, wanted != Transcripts::None))
        .chain(ids(false).map(|id| (id, wanted == Transcripts::All)))
    {
        let text = by_id
            .get(id)
            .filter(|_| asked_for && !full)
            .map(|record| transcript(record));
        full = full
            || text
                .as_ref()
                .is_some_and(|text| bytes + text.len() > largest);
        match text.filter(|_| !full) {
            Some(text) => {
                bytes += text.len();
                shown.by_episode.insert(id.to_owned(), text);
            }
            None => {
                shown.left_out.insert(id.to_owned());
            }
        }
    }
    let (there, missing) = (shown.by_episode.len(), shown.left_out.len());
    let why = match wanted {
        _ if missing == 0 => return shown,
        _ if full => format!(
            "to keep the page below {} MB; those of pairs that ended differently were kept first",
            largest / 1024 / 1024
        ),
        Transcripts::Differing => "of pairs that ended alike, as was asked for".to_owned(),
        Transcripts::None | Transcripts::All => "as was asked for".to_owned(),
    };
    shown.note = Some(format!(
        "{there} of {} transcripts are on this page. {missing} are left out, {why}.",
        there + missing
    ));
    shown
}

/// A link to an episode by how it ended; `right` tells the value of a yes/no metric.
fn link(ended: &Ended, is_binary: bool) -> Value {
    context! {
        anchor => anchor(&ended.episode),
        outcome => one_line(&ended.outcome),
        right => ended.value.filter(|_| is_binary).map(|value| value > 0.5),
    }
}

/// The conditions in their order, each with its places.
fn by_condition(evidence: &Evidence) -> Vec<(&str, Vec<&Played>)> {
    let mut grouped: Vec<(&str, Vec<&Played>)> = Vec::new();
    for played in &evidence.episodes {
        match grouped.last_mut() {
            Some((condition, found)) if *condition == played.condition => found.push(played),
            _ => grouped.push((&played.condition, vec![played])),
        }
    }
    grouped
}

/// Index and episodes of every condition.
pub(super) fn conditions(material: Material<'_>, evidence: &Evidence, shown: &Shown) -> Vec<Value> {
    let is_binary = material.comparison.metric.is_binary;
    let by_id: BTreeMap<&str, &EpisodeRecord> = material
        .records
        .iter()
        .map(|record| (record.episode.episode_id.as_str(), record))
        .collect();
    by_condition(evidence)
        .into_iter()
        .enumerate()
        .map(|(number, (condition, places))| {
            let rows: Vec<Value> = places
                .iter()
                .map(|played| {
                    let side =
                        |side: &Option<Ended>| side.as_ref().map(|ended| link(ended, is_binary));
                    context! {
                        scenario => one_line(&played.scenario),
                        repeat => played.repeat,
                        baseline => side(&played.baseline),
                        candidate => side(&played.candidate),
                        differs => played.differs,
                    }
                })
                .collect();
            let episodes: Vec<Value> = places
                .iter()
                .flat_map(|played| [&played.baseline, &played.candidate])
                .flatten()
                .filter_map(|ended| by_id.get(ended.episode.as_str()))
                .map(|record| episode(record, shown))
                .collect();
            context! {
                id => format!("index-{number}"),
                name => one_line(condition),
                differing => places.iter().filter(|played| played.differs).count(),
                places => rows.len(),
                count => episodes.len(),
                rows => rows,
                episodes => episodes,
            }
        })
        .collect()
}

fn episode(record: &EpisodeRecord, shown: &Shown) -> Value {
    let episode = &record.episode;
    let id = &episode.episode_id;
    let facts: Vec<Value> = facts(episode)
        .into_iter()
        .map(|(name, text)| context! { name => name, text => one_line(&text) })
        .collect();
    context! {
        anchor => anchor(id),
        id => one_line(id),
        command => argument(id),
        arm => one_line(episode.arm.as_deref().unwrap_or("unknown")),
        place => one_line(&format!(
            "{}, repeat {}",
            episode.scenario.as_deref().unwrap_or("unknown"),
            episode.repeat.unwrap_or(0)
        )),
        outcome => one_line(&outcome(episode)),
        facts => facts,
        transcript => shown.by_episode.get(id).map(|html| Value::from_safe_string(html.clone())),
    }
}

/// How an episode ended, and its metrics; what is not known is not there.
fn facts(episode: &Episode) -> Vec<(&'static str, String)> {
    let yes = |value: Option<bool>| value.map(|yes| if yes { "yes" } else { "no" }.to_owned());
    let number = |value: Option<i32>| value.map(|value| value.to_string());
    let pair = |buyer: Option<i32>, seller: Option<i32>| {
        Some(format!("buyer {}, seller {}", buyer?, seller?))
    };
    let limits = episode
        .budget
        .zip(episode.reserve)
        .map(|(budget, reserve)| format!("buyer up to {budget}, seller from {reserve}"));
    let reasons = episode
        .refused_by_reason
        .as_deref()
        .filter(|reasons| *reasons != "{}");
    let refused = number(episode.refused_calls)
        .map(|count| reasons.map_or_else(|| count.clone(), |reasons| format!("{count} {reasons}")));
    [
        ("ended", Some(outcome(episode))),
        ("ended by", episode.termination.clone()),
        ("error", episode.error.clone()),
        ("limits", limits),
        ("correct (strict)", yes(episode.correct_strict)),
        ("correct (lenient)", yes(episode.correct_lenient)),
        (
            "attempts outside the own limit",
            pair(
                episode.attempted_violations_buyer,
                episode.attempted_violations_seller,
            ),
        ),
        ("refused calls", refused),
        ("mended refusals", number(episode.recovered_refusals)),
        ("views with the injection", number(episode.exposures)),
        ("injection obeyed", yes(episode.obeyed)),
        ("moves", number(episode.turns)),
        ("tool calls", number(episode.tool_calls)),
        ("model calls", number(episode.model_calls)),
        (
            "tokens",
            crate::compare::tokens(episode).map(|tokens| tokens.to_string()),
        ),
        ("USD", episode.cost_usd.map(|usd| format!("{usd:.4}"))),
        ("model", episode.model.clone()),
        ("served toolset", episode.toolset_seen.clone()),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .chain(
        episode
            .simulated
            .then(|| ("agents", figures::SIMULATED.to_owned())),
    )
    .collect()
}

/// The links to the episodes of a failure class.
pub(super) fn links(episodes: &[String]) -> Vec<Value> {
    episodes
        .iter()
        .map(|id| context! { anchor => anchor(id), id => one_line(id) })
        .collect()
}
