//! Pairs as if they were independent: what the exact test of `McNemar` finds.

use serde::Serialize;
use stats::{mcnemar_detectable, mcnemar_power};

use super::{Levels, PlanningError, Price, within};

/// Share of pairs that go the other way when nothing is said.
pub const REVERSE: f64 = 0.05;
/// Numbers of pairs that are looked at when none is given.
pub const PAIRS: [u64; 5] = [15, 30, 60, 120, 240];
/// Most pairs: the sum over all outcomes grows with their square.
pub const MOST: u64 = 5_000;

/// The question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Numbers of pairs.
    pub pairs: Vec<u64>,
    /// Share of pairs in which only the baseline has it.
    pub reverse: f64,
    /// A difference whose chance to be found is asked for.
    pub effect: Option<f64>,
    /// The levels.
    pub levels: Levels,
}

/// What a number of pairs finds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// Pairs.
    pub pairs: u64,
    /// Episodes: two for every pair.
    pub episodes: u64,
    /// Their cost.
    pub usd: Option<f64>,
    /// The smallest difference that is found; absent when none is.
    pub detectable: Option<f64>,
    /// Chance to find the difference that was asked about.
    pub power: Option<f64>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was asked.
    pub asked: Question,
    /// A row for each number of pairs.
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
        within("--reverse", "from 0 to 0.499", self.reverse, 0.0, 0.499)?;
        if let Some(effect) = self.effect {
            let most = 1.0 - 2.0 * self.reverse;
            let range = "above 0, and with twice --reverse at most 1";
            within("--effect", range, effect, f64::MIN_POSITIVE, most)?;
        }
        let rows = self
            .pairs
            .iter()
            .map(|pairs| self.row(*pairs, &price))
            .collect::<Result<_, _>>()?;
        Ok(Answer {
            asked: self,
            rows,
            price,
        })
    }

    fn row(&self, pairs: u64, price: &Price) -> Result<Row, PlanningError> {
        within("--n", "from 1 to 5000", pairs as f64, 1.0, MOST as f64)?;
        let Levels { alpha, power } = self.levels;
        let episodes = pairs.saturating_mul(2);
        let chance = |effect: f64| mcnemar_power(pairs, self.reverse + effect, self.reverse, alpha);
        Ok(Row {
            pairs,
            episodes,
            usd: price.of(episodes),
            detectable: mcnemar_detectable(pairs, self.reverse, alpha, power)?,
            power: self.effect.map(chance).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(pairs: &[u64], reverse: f64, effect: Option<f64>) -> Result<Answer, PlanningError> {
        let question = Question {
            pairs: pairs.to_vec(),
            reverse,
            effect,
            levels: Levels::new(0.05, 0.8)?,
        };
        question.answer(Price::unknown())
    }

    /// To within .0015: ours is the first thousandth that reaches the power, the table is rounded.
    #[test]
    fn the_published_table() {
        for (reverse, expected) in [
            (0.05, [0.572, 0.338, 0.201, 0.125, 0.079]),
            (0.10, [0.663, 0.395, 0.249, 0.157, 0.102]),
        ] {
            let found = ask(&PAIRS, reverse, None).unwrap();
            for (row, expected) in found.rows.iter().zip(expected) {
                assert!(
                    (row.detectable.unwrap() - expected).abs() < 0.0015,
                    "{row:?}"
                );
            }
        }
        let found = ask(&[60], 0.05, Some(0.2)).unwrap();
        let row = found.rows.first().unwrap();
        assert!((row.power.unwrap() - 0.797_296).abs() < 1e-6 && row.episodes == 120);
    }

    #[test]
    fn hostile_numbers_are_refused_or_answered() {
        for (pairs, reverse, effect) in [
            (0, 0.05, None),
            (MOST + 1, 0.05, None),
            (60, 0.5, None),
            (60, -0.1, None),
            (60, f64::NAN, None),
            (60, 0.05, Some(0.0)),
            (60, 0.05, Some(2.0)),
            (60, 0.05, Some(f64::NAN)),
        ] {
            assert!(
                ask(&[pairs], reverse, effect).is_err(),
                "{pairs} {reverse} {effect:?}"
            );
        }
        assert_eq!(
            ask(&[1], 0.0, None)
                .unwrap()
                .rows
                .first()
                .unwrap()
                .detectable,
            None
        );
        assert!(
            ask(&[MOST], 0.2, Some(0.1))
                .unwrap()
                .rows
                .first()
                .unwrap()
                .detectable
                .is_some()
        );
    }
}
