//! A run that looks after every pair and stops when the evidence is there.

use serde::Serialize;
use stats::{Level, STOPPING_UP_TO, Stopping, fewest_pairs, stopping};

use super::{Levels, PlanningError, Price, within};

/// Shares of wins that are looked at when none is given.
pub const WIN_SHARES: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Discordant pairs at which a run ends when nothing else is said.
pub const MOST_PAIRS: u64 = 1_000;
/// The most that may be said.
pub const MOST: u64 = STOPPING_UP_TO;

/// The question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Shares of the discordant pairs that the candidate wins.
    pub win_shares: Vec<f64>,
    /// Discordant pairs at which the run ends in any case.
    pub most_pairs: u64,
    /// Share of all pairs that are discordant; what turns pairs into episodes.
    pub discordant: Option<f64>,
    /// The levels; only alpha is used.
    pub levels: Levels,
}

/// When a run stops under one share of wins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// When, in discordant pairs.
    #[serde(flatten)]
    pub stopping: Stopping,
    /// Expected episodes: two for every pair, discordant or not.
    pub expected_episodes: Option<f64>,
    /// Their cost.
    pub usd: Option<f64>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was asked.
    pub asked: Question,
    /// The e-value that stops a run.
    pub threshold: f64,
    /// The fewest pairs, all won, that stop it.
    pub fewest_pairs: u64,
    /// A row for each share of wins.
    pub rows: Vec<Row>,
    /// What an episode costs.
    pub price: Price,
}

impl Question {
    /// Answers it.
    ///
    /// # Errors
    /// A number is outside its range.
    pub fn answer(self, price: Price) -> Result<Answer, PlanningError> {
        let most = self.most_pairs as f64;
        within("--pairs", "from 1 to 5000", most, 1.0, MOST as f64)?;
        if let Some(share) = self.discordant {
            within("--discordant", "from 0.000001 to 1", share, 1e-6, 1.0)?;
        }
        let level = Level::new(1.0 - self.levels.alpha)?;
        let rows = self
            .win_shares
            .iter()
            .map(|share| self.row(*share, level, &price))
            .collect::<Result<_, _>>()?;
        Ok(Answer {
            threshold: 1.0 / self.levels.alpha,
            fewest_pairs: fewest_pairs(level)?,
            asked: self,
            rows,
            price,
        })
    }

    fn row(&self, share: f64, level: Level, price: &Price) -> Result<Row, PlanningError> {
        within("--win-share", "from 0 to 1", share, 0.0, 1.0)?;
        let stopping = stopping(share, level, self.most_pairs)?;
        let episodes = self
            .discordant
            .map(|discordant| 2.0 * stopping.expected_pairs / discordant);
        Ok(Row {
            stopping,
            expected_episodes: episodes,
            usd: price
                .usd_per_episode
                .zip(episodes)
                .map(|(usd, episodes)| usd * episodes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(share: f64, pairs: u64, discordant: Option<f64>) -> Result<Answer, PlanningError> {
        let question = Question {
            win_shares: vec![share],
            most_pairs: pairs,
            discordant,
            levels: Levels::new(0.05, 0.8)?,
        };
        question.answer(Price::per_episode(0.5)?)
    }

    #[test]
    fn eight_straight_wins() {
        let found = ask(1.0, 100, Some(0.25)).unwrap();
        let row = found.rows.first().unwrap();
        assert_eq!(found.fewest_pairs, 8);
        assert!((row.stopping.expected_pairs - 8.0).abs() < 1e-9);
        assert!((row.expected_episodes.unwrap() - 64.0).abs() < 1e-9);
        assert!((row.usd.unwrap() - 32.0).abs() < 1e-9);
    }

    #[test]
    fn hostile_numbers_are_refused() {
        for (share, pairs, discordant) in [
            (-0.1, 10, None),
            (f64::NAN, 10, None),
            (2.0, 10, None),
            (0.7, 0, None),
            (0.7, u64::MAX, None),
            (0.7, 10, Some(0.0)),
            (0.7, 10, Some(f64::NAN)),
        ] {
            assert!(
                ask(share, pairs, discordant).is_err(),
                "{share} {pairs} {discordant:?}"
            );
        }
    }
}
