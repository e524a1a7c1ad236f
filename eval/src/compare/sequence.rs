//! Evidence that may be looked at after every pair.
//!
//! If the versions do not differ in any scenario, the sign of every pair that differs is a fair coin, whatever came
//! before. The e-process bets against that coin; it reaches 1/alpha with a probability of at most alpha, however often
//! one looks, so a run may stop as soon as it does.

use std::collections::BTreeMap;

use serde::Serialize;
use trajectory::{Episode, Status};

use super::metric::Metric;
use super::pairs::{self, Recorded};
use crate::analysis::Analysis;
use crate::stats::{Level, Proportion, confidence_sequence, ln_e_value};

/// The e-process over the pairs in the order in which they ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sequence {
    /// Pairs that count.
    pub pairs: u64,
    /// Pairs in which the versions differ.
    pub discordant: u64,
    /// Of these, pairs in which the candidate is the better one.
    pub candidate_better: u64,
    /// The e-value now.
    pub e: f64,
    /// The largest so far: what counts, since one may stop at it.
    pub largest_e: f64,
    /// `min(1, 1/largest_e)`: a p value that is valid at any time.
    pub p: f64,
    /// The e-value that rejects.
    pub threshold: f64,
    /// After how many pairs it was first reached.
    pub reached_after: Option<u64>,
    /// Whether the candidate was the better one then.
    pub candidate_ahead: Option<bool>,
    /// Share of discordant pairs in which the candidate is the better one, with an interval that is valid at any time.
    pub share: (f64, f64),
}

impl Sequence {
    /// No pairs yet.
    pub fn new(alpha: f64) -> Self {
        Self {
            pairs: 0,
            discordant: 0,
            candidate_better: 0,
            e: 1.0,
            largest_e: 1.0,
            p: 1.0,
            threshold: 1.0 / alpha,
            reached_after: None,
            candidate_ahead: None,
            share: (0.0, 1.0),
        }
    }

    /// Adds a pair: what the candidate gains over the baseline, counted so that more is better.
    pub fn add(&mut self, gain: f64) {
        self.pairs += 1;
        if gain == 0.0 || !gain.is_finite() {
            return;
        }
        self.discordant += 1;
        self.candidate_better += u64::from(gain > 0.0);
        let trials = Proportion::at_most(self.candidate_better, self.discordant);
        self.e = ln_e_value(trials).exp();
        self.largest_e = self.largest_e.max(self.e);
        self.p = self.largest_e.recip().min(1.0);
        // Rounding must not ask for one pair more.
        if self.reached_after.is_none() && self.e >= self.threshold * (1.0 - 1e-12) {
            self.reached_after = Some(self.pairs);
            self.candidate_ahead = Some(self.candidate_better * 2 > self.discordant);
        }
    }

    /// Whether the evidence suffices.
    pub fn is_decided(&self) -> bool {
        self.reached_after.is_some()
    }

    fn finish(mut self, alpha: f64) -> Self {
        if let Ok(level) = Level::new(1.0 - alpha) {
            let trials = Proportion::at_most(self.candidate_better, self.discordant);
            self.share = confidence_sequence(trials, level);
        }
        self
    }
}

/// The sequence of recorded pairs, in the order in which they were complete.
pub(super) fn sequence(metric: Metric, analysis: &Analysis, recorded: &Recorded<'_>) -> Sequence {
    let mut ended: Vec<(Option<i64>, f64)> = pairs::complete(recorded)
        .iter()
        .filter(|pair| analysis.covers(pair.condition))
        .filter_map(|pair| {
            let gain = gain(metric, pair.baseline, pair.candidate)?;
            Some((pair.baseline.ended_us.max(pair.candidate.ended_us), gain))
        })
        .collect();
    // Pairs that ended in the same microsecond keep the order of their keys.
    ended.sort_by_key(|(when, _)| *when);
    let mut sequence = Sequence::new(analysis.alpha);
    for (_, gain) in ended {
        sequence.add(gain);
    }
    sequence.finish(analysis.alpha)
}

fn gain(metric: Metric, baseline: &Episode, candidate: &Episode) -> Option<f64> {
    let difference = metric.of(candidate)? - metric.of(baseline)?;
    Some(if metric.higher_is_better() {
        difference
    } else {
        -difference
    })
}

/// Watches a run and says when it may stop.
#[derive(Debug)]
pub struct Watch {
    metric: Metric,
    analysis: Analysis,
    baseline: String,
    candidate: String,
    waiting: BTreeMap<(String, String, i32), Episode>,
    sequence: Sequence,
}

impl Watch {
    /// Watches these two arms.
    pub fn new(analysis: &Analysis, baseline: &str, candidate: &str) -> Self {
        Self {
            metric: analysis.primary_metric,
            sequence: Sequence::new(analysis.alpha),
            analysis: analysis.clone(),
            baseline: baseline.to_owned(),
            candidate: candidate.to_owned(),
            waiting: BTreeMap::new(),
        }
    }

    /// Takes an episode that was recorded; true once the evidence suffices.
    pub fn saw(&mut self, episode: &Episode) -> bool {
        let arm = episode.arm.as_deref();
        let known = arm == Some(&self.baseline) || arm == Some(&self.candidate);
        let Some((scenario, condition, repeat)) = pairs::key(episode).filter(|_| known) else {
            return self.sequence.is_decided();
        };
        if episode.status != Status::Completed || !self.analysis.covers(condition) {
            return self.sequence.is_decided();
        }
        let key = (scenario.to_owned(), condition.as_str().to_owned(), repeat);
        match self.waiting.remove(&key) {
            Some(partner) if partner.arm != episode.arm => {
                let (before, after) = if arm == Some(&self.baseline) {
                    (episode, &partner)
                } else {
                    (&partner, episode)
                };
                if let Some(gain) = gain(self.metric, before, after) {
                    self.sequence.add(gain);
                }
            }
            _ => {
                self.waiting.insert(key, episode.clone());
            }
        }
        self.sequence.is_decided()
    }
}
