//! What the episodes of either version cost, whatever became of them.

use serde::Serialize;
use trajectory::{Episode, EpisodeRecord};

/// A sum over the episodes for which the figure is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Known {
    /// Episodes for which it is known.
    pub episodes: usize,
    /// Their sum; absent when it is known for none.
    pub total: Option<f64>,
}

impl Known {
    fn of<'a>(
        episodes: impl Iterator<Item = &'a Episode>,
        figure: impl Fn(&Episode) -> Option<f64>,
    ) -> Self {
        let mut known = Self::default();
        for value in episodes.filter_map(figure) {
            known.episodes += 1;
            known.total = Some(known.total.unwrap_or(0.0) + value);
        }
        known
    }

    /// Mean over the episodes for which it is known.
    pub fn mean(self) -> Option<f64> {
        self.total.map(|total| total / self.episodes.max(1) as f64)
    }
}

/// What one version's episodes cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spent {
    /// Recorded episodes, those that did not run to their end included: they cost as well.
    pub episodes: usize,
    /// Model calls.
    pub model_calls: Known,
    /// Prompt tokens of both parties.
    pub input_tokens: Known,
    /// Completion tokens of both parties.
    pub output_tokens: Known,
    /// US dollars.
    pub usd: Known,
}

/// What both versions' episodes cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// The baseline's.
    pub baseline: Spent,
    /// The candidate's.
    pub candidate: Spent,
}

impl Spent {
    pub(super) fn of(records: &[&EpisodeRecord]) -> Self {
        let episodes = || records.iter().map(|record| &record.episode);
        Self {
            episodes: records.len(),
            model_calls: Known::of(episodes(), |episode| episode.model_calls.map(f64::from)),
            input_tokens: Known::of(episodes(), |episode| {
                sum(episode.input_tokens_buyer, episode.input_tokens_seller)
            }),
            output_tokens: Known::of(episodes(), |episode| {
                sum(episode.output_tokens_buyer, episode.output_tokens_seller)
            }),
            usd: Known::of(episodes(), |episode| episode.cost_usd),
        }
    }
}

fn sum(buyer: Option<i64>, seller: Option<i64>) -> Option<f64> {
    [buyer, seller]
        .into_iter()
        .flatten()
        .map(|tokens| tokens as f64)
        .reduce(|a, b| a + b)
}
