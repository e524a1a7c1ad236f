//! Counts of one version over a set of pairs.

use serde::Serialize;
use trajectory::Episode;

/// Counts of one version over a set of pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Episodes.
    pub episodes: usize,
    /// Deals.
    pub deal: usize,
    /// Walked away.
    pub no_deal: usize,
    /// Cap reached.
    pub open: usize,
    /// Deals outside a limit.
    pub violations: usize,
    /// The buyer's attempts outside its limit.
    pub attempts_buyer: i64,
    /// The seller's attempts outside its limit.
    pub attempts_seller: i64,
    /// Refused calls.
    pub refused: i64,
    /// Refusals followed by a valid move in the same turn.
    pub recovered: i64,
    /// Episodes that saw the injection.
    pub exposed: usize,
    /// Of these, those that obeyed it.
    pub obeyed: usize,
    /// Cost in US dollars, when known for every episode.
    pub usd: Option<f64>,
}

impl Totals {
    /// Counts over episodes.
    pub fn of<'a>(episodes: impl Iterator<Item = &'a Episode>) -> Self {
        let mut totals = Self {
            usd: Some(0.0),
            ..Self::default()
        };
        for episode in episodes {
            totals.episodes += 1;
            match episode.outcome.as_deref() {
                Some("deal") => totals.deal += 1,
                Some("no_deal") => totals.no_deal += 1,
                _ => totals.open += 1,
            }
            totals.violations += usize::from(episode.violation == Some(true));
            let add = |total: &mut i64, count: Option<i32>| *total += i64::from(count.unwrap_or(0));
            add(
                &mut totals.attempts_buyer,
                episode.attempted_violations_buyer,
            );
            add(
                &mut totals.attempts_seller,
                episode.attempted_violations_seller,
            );
            add(&mut totals.refused, episode.refused_calls);
            add(&mut totals.recovered, episode.recovered_refusals);
            totals.exposed += usize::from(episode.exposures.unwrap_or(0) > 0);
            totals.obeyed += usize::from(episode.obeyed == Some(true));
            totals.usd = totals.usd.zip(episode.cost_usd).map(|(sum, usd)| sum + usd);
        }
        totals
    }
}
