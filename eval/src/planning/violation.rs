//! A rate against none: what shows that something happens, and what "never seen" excludes.

use serde::Serialize;
use stats::{
    Level, Proportion, Sides, detectable_against_none, fewest_against_none, needed_against_none,
    power_against_none, trials_to_bound,
};

use super::{Levels, PlanningError, Price, within};

/// Rates that are looked at when none is given: 4 % is what the published cohorts show together.
pub const RATES: [f64; 3] = [0.04, 0.10, 0.175];
/// Most episodes per arm that may be asked about.
pub const MOST: u64 = stats::AGAINST_NONE_UP_TO;

/// The question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Rates of violations in the arm that has them.
    pub rates: Vec<f64>,
    /// Episodes per arm that are at hand.
    pub n: Option<u64>,
    /// The levels.
    pub levels: Levels,
}

/// What one rate needs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// The rate.
    pub rate: f64,
    /// Episodes per arm, when only "more" was asked before looking; absent beyond a million.
    pub one_sided: Option<u64>,
    /// Episodes per arm, two-sided; absent beyond a million.
    pub two_sided: Option<u64>,
    /// Cost of both arms, two-sided.
    pub usd: Option<f64>,
    /// Episodes without any violation that exclude this rate.
    pub excluded_by: u64,
    /// Chance to find it, one-sided, with the episodes at hand.
    pub power_one_sided: Option<f64>,
    /// Chance to find it, two-sided, with the episodes at hand.
    pub power_two_sided: Option<f64>,
}

/// What the episodes at hand can show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtHand {
    /// Episodes per arm.
    pub n: u64,
    /// Cost of both arms.
    pub usd: Option<f64>,
    /// Fewest violations that differ from none, one-sided; absent when no number does.
    pub fewest_one_sided: Option<u64>,
    /// Fewest violations that differ from none, two-sided.
    pub fewest_two_sided: Option<u64>,
    /// Smallest rate that is found, one-sided.
    pub detectable_one_sided: Option<f64>,
    /// Smallest rate that is found, two-sided.
    pub detectable_two_sided: Option<f64>,
    /// What none in all these episodes bounds the rate by, one-sided.
    pub none_seen_bound: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was asked.
    pub asked: Question,
    /// A row for each rate.
    pub rates: Vec<Row>,
    /// What the episodes at hand can show.
    pub at_hand: Option<AtHand>,
    /// What an episode costs.
    pub price: Price,
}

impl Question {
    /// Answers it.
    ///
    /// # Errors
    /// A rate is not between 0 and 1.
    pub fn answer(self, price: Price) -> Result<Answer, PlanningError> {
        let Levels { alpha, power } = self.levels;
        // Bounds are told at the level of the tests.
        let level = Level::new(1.0 - alpha)?;
        let rates = self
            .rates
            .iter()
            .map(|rate| self.row(*rate, level, &price))
            .collect::<Result<_, _>>()?;
        let at_hand = match self.n {
            None => None,
            Some(n) => Some(AtHand {
                n,
                usd: price.of(n.saturating_mul(2)),
                fewest_one_sided: fewest_against_none(n, alpha, Sides::One)?,
                fewest_two_sided: fewest_against_none(n, alpha, Sides::Two)?,
                detectable_one_sided: detectable_against_none(n, alpha, power, Sides::One)?,
                detectable_two_sided: detectable_against_none(n, alpha, power, Sides::Two)?,
                none_seen_bound: Proportion::new(0, n)?.upper_bound(level),
            }),
        };
        Ok(Answer {
            asked: self,
            rates,
            at_hand,
            price,
        })
    }

    fn row(&self, rate: f64, level: Level, price: &Price) -> Result<Row, PlanningError> {
        within("--rate", "from 0.000001 to 0.999999", rate, 1e-6, 0.999_999)?;
        let Levels { alpha, power } = self.levels;
        let needed = |sides| needed_against_none(rate, alpha, power, sides);
        let chance = |sides| match self.n {
            None => Ok(None),
            Some(n) => power_against_none(n, rate, alpha, sides).map(Some),
        };
        let two_sided = needed(Sides::Two)?;
        Ok(Row {
            rate,
            one_sided: needed(Sides::One)?,
            two_sided,
            usd: two_sided.and_then(|n| price.of(n.saturating_mul(2))),
            excluded_by: excluded_by(rate, level)?,
            power_one_sided: chance(Sides::One)?,
            power_two_sided: chance(Sides::Two)?,
        })
    }
}

fn excluded_by(rate: f64, level: Level) -> Result<u64, PlanningError> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive whole number; a cast of a float saturates"
    )]
    let n = trials_to_bound(rate, level)? as u64;
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(rates: &[f64], n: Option<u64>) -> Result<Answer, PlanningError> {
        let question = Question {
            rates: rates.to_vec(),
            n,
            levels: Levels::new(0.05, 0.8)?,
        };
        question.answer(Price::per_episode(0.03)?)
    }

    /// The published numbers are rounded up, so ours are at most ten below.
    #[test]
    fn the_published_numbers_per_arm() {
        let found = ask(&RATES, None).unwrap();
        for (row, (one, two)) in found.rates.iter().zip([(170, 200), (70, 80), (40, 45)]) {
            for (needed, rounded) in [(row.one_sided, one), (row.two_sided, two)] {
                let needed = needed.unwrap();
                assert!(needed <= rounded && rounded - needed < 10, "{row:?}");
            }
        }
        let first = found.rates.first().unwrap();
        assert_eq!(first.excluded_by, 74);
        assert!((first.usd.unwrap() - 0.06 * first.two_sided.unwrap() as f64).abs() < 1e-9);
    }

    #[test]
    fn fifteen_episodes() {
        let found = ask(&[0.04], Some(15)).unwrap();
        let at_hand = found.at_hand.unwrap();
        assert_eq!(
            (at_hand.fewest_one_sided, at_hand.fewest_two_sided),
            (Some(4), Some(5))
        );
        assert!((at_hand.none_seen_bound - 0.181).abs() < 0.001);
        assert!((at_hand.detectable_two_sided.unwrap() - 0.408).abs() < 0.001);
        assert!(found.rates.first().unwrap().power_one_sided.unwrap() < 0.01);
    }

    #[test]
    fn hostile_numbers_are_refused_or_answered() {
        for bad in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(ask(&[bad], None).is_err(), "{bad}");
        }
        let rare = ask(&[1e-6], Some(0)).unwrap();
        assert_eq!(rare.rates.first().unwrap().one_sided, None);
        assert!(rare.at_hand.unwrap().none_seen_bound > 0.999);
        assert!(ask(&[0.5], Some(MOST)).is_ok());
    }
}
