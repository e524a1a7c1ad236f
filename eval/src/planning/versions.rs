//! Versions on the same scenarios: how many scenarios, how many repeats.
//!
//! The variance of a scenario's difference has two parts. One lies between scenarios and stays however often
//! they are repeated; the other lies between repeats and shrinks with them. More scenarios shrink both.

use serde::Serialize;
use stats::{ScenarioDesign, can_reject};

use super::{FEW_SCENARIOS, Levels, PlanningError, Price, Recorded, within};
use crate::compare::Metric;

/// Numbers of repeats that are compared with each other.
pub const REPEATS: [u64; 5] = [1, 2, 3, 5, 8];
/// Intraclass correlation when nothing nearer is known: the published cohorts have .40 to .53.
pub const ICC: f64 = 0.45;
/// Correlation of the versions' scenario effects when nothing nearer is known.
pub const CORRELATION: f64 = 0.7;
/// Most versions: more would share the level so thinly that drawn signs cannot reach it.
pub const MOST_ARMS: u64 = 10;
/// Most scenarios that are looked at.
pub const MOST_SCENARIOS: u64 = 1_000_000;

/// The question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// What is measured.
    pub metric: Metric,
    /// Rate of a yes/no metric, mean of a count, when known.
    pub mean: Option<f64>,
    /// Variance, and how it is shared.
    pub design: ScenarioDesign,
    /// Conditions that are pooled.
    pub conditions: u64,
    /// Versions, the baseline among them.
    pub arms: u64,
    /// The levels.
    pub levels: Levels,
    /// The change to be found, as a share or in the metric's own unit.
    pub effect: Option<f64>,
    /// The scenarios there are.
    pub scenarios: Option<u64>,
    /// Repeats of every scenario in every condition.
    pub repeats: u64,
    /// Recorded episodes that mean and variance were taken from.
    pub recorded: Option<Recorded>,
    /// What was neither given nor recorded, each with what was taken instead.
    pub assumed: Vec<String>,
}

/// What so many repeats need to find the change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Needed {
    /// Repeats of every scenario in every condition.
    pub repeats: u64,
    /// Scenarios; absent when a million do not do.
    pub scenarios: Option<u64>,
    /// Episodes of all versions.
    pub episodes: Option<u64>,
    /// Their cost.
    pub usd: Option<f64>,
    /// Whether no other number of repeats takes fewer episodes.
    pub cheapest: bool,
    /// Whether the scenarios there are do; absent when their number was not given.
    pub fits: Option<bool>,
}

/// What a number of scenarios and repeats can show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Judged {
    /// Scenarios.
    pub scenarios: u64,
    /// Repeats of every scenario in every condition.
    pub repeats: u64,
    /// Episodes of all versions.
    pub episodes: u64,
    /// Their cost.
    pub usd: Option<f64>,
    /// The smallest change that is found; absent when no test can reject.
    pub detectable: Option<f64>,
    /// Whether the metric can change so much at all.
    pub possible: bool,
    /// Chance to find the change that was asked about.
    pub power: Option<f64>,
    /// Whether that is enough.
    pub enough: Option<bool>,
    /// The smallest two-sided p these scenarios can give.
    pub smallest_p: f64,
}

/// Why more scenarios beat more repeats, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Why {
    /// Scenarios.
    pub scenarios: u64,
    /// Repeats of every scenario in every condition.
    pub repeats: u64,
    /// Variance of a scenario's difference that lies between scenarios.
    pub between: f64,
    /// The part that lies between repeats, after so many of them.
    pub within: f64,
    /// What is found as it is.
    pub detectable: f64,
    /// What is found with repeats without end.
    pub detectable_endless_repeats: f64,
    /// What is found with twice the repeats.
    pub detectable_twice_repeats: f64,
    /// What is found with twice the scenarios.
    pub detectable_twice_scenarios: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// What was asked.
    pub asked: Question,
    /// Level of each comparison with the baseline: alpha over their number (Bonferroni).
    pub alpha_each: f64,
    /// The fewest scenarios on which a test can reject at that level.
    pub fewest_scenarios: u64,
    /// What several numbers of repeats need; empty without a change to be found.
    pub needed: Vec<Needed>,
    /// What the given scenarios can show.
    pub judged: Option<Judged>,
    /// Why more scenarios beat more repeats; absent when no test can reject.
    pub why: Option<Why>,
    /// What an episode costs.
    pub price: Price,
}

impl Question {
    /// Answers it.
    ///
    /// # Errors
    /// A number is outside its range, or the change is larger than the metric can change.
    pub fn answer(self, price: Price) -> Result<Answer, PlanningError> {
        self.check()?;
        let needed = self.needed(&price);
        let judged = self
            .scenarios
            .map(|scenarios| self.judged(scenarios, &price));
        let scenarios = self.scenarios.or_else(|| {
            let same = |row: &&Needed| row.repeats == self.repeats;
            needed.iter().find(same).and_then(|row| row.scenarios)
        });
        Ok(Answer {
            alpha_each: self.alpha_each(),
            fewest_scenarios: self.fewest_scenarios(),
            why: scenarios.and_then(|scenarios| self.why(scenarios)),
            needed,
            judged,
            asked: self,
            price,
        })
    }

    fn check(&self) -> Result<(), PlanningError> {
        let design = self.design;
        within("--icc", "from 0 to 1", design.icc, 0.0, 1.0)?;
        within(
            "--correlation",
            "from -1 to 1",
            design.correlation,
            -1.0,
            1.0,
        )?;
        if let Some(effect) = self.effect {
            let range = "the size of a change, above 0, at most 1000000000000";
            within("--effect", range, effect, f64::MIN_POSITIVE, 1e12)?;
            if let Some(base) = self.mean.filter(|_| self.metric.is_binary())
                && effect > base.max(1.0 - base)
            {
                let rise = 1.0 - base;
                return Err(PlanningError::Change { base, effect, rise });
            }
        }
        if design.difference_variance(u64::MAX) <= 0.0 && design.icc >= 1.0 {
            return Err(PlanningError::NothingVaries);
        }
        Ok(())
    }

    /// The level of one comparison, when every other version is compared with the baseline.
    fn alpha_each(&self) -> f64 {
        self.levels.alpha / self.arms.saturating_sub(1).max(1) as f64
    }

    fn fewest_scenarios(&self) -> u64 {
        // 2/2^K is below every level that is allowed long before 64.
        (1..64)
            .find(|k| can_reject(*k, self.alpha_each()))
            .unwrap_or(64)
    }

    /// Episodes of one scenario in one version: pooled conditions are further repeats of it.
    fn of_each(&self, repeats: u64) -> u64 {
        repeats.saturating_mul(self.conditions)
    }

    fn episodes(&self, scenarios: u64, repeats: u64) -> u64 {
        self.of_each(repeats)
            .saturating_mul(scenarios)
            .saturating_mul(self.arms)
    }

    fn detectable(&self, scenarios: u64, repeats: u64) -> Option<f64> {
        self.design.detectable(
            scenarios,
            self.of_each(repeats),
            self.alpha_each(),
            self.levels.power,
        )
    }

    fn needed(&self, price: &Price) -> Vec<Needed> {
        let Some(effect) = self.effect else {
            return Vec::new();
        };
        let mut all = REPEATS.to_vec();
        all.push(self.repeats);
        all.sort_unstable();
        all.dedup();
        let mut rows: Vec<Needed> = all
            .into_iter()
            .map(|repeats| {
                let scenarios = self.design.scenarios_needed(
                    effect,
                    self.of_each(repeats),
                    self.alpha_each(),
                    self.levels.power,
                );
                let episodes = scenarios.map(|scenarios| self.episodes(scenarios, repeats));
                Needed {
                    repeats,
                    scenarios,
                    episodes,
                    usd: episodes.and_then(|episodes| price.of(episodes)),
                    cheapest: false,
                    fits: self
                        .scenarios
                        .map(|there| scenarios.is_some_and(|needed| needed <= there)),
                }
            })
            .collect();
        let least = rows.iter().filter_map(|row| row.episodes).min();
        for row in &mut rows {
            row.cheapest = row.episodes.is_some() && row.episodes == least;
        }
        rows
    }

    fn judged(&self, scenarios: u64, price: &Price) -> Judged {
        let detectable = self.detectable(scenarios, self.repeats);
        let episodes = self.episodes(scenarios, self.repeats);
        let power = self.effect.map(|effect| {
            let each = self.of_each(self.repeats);
            self.design
                .power(effect, scenarios, each, self.alpha_each())
        });
        Judged {
            scenarios,
            repeats: self.repeats,
            episodes,
            usd: price.of(episodes),
            detectable,
            possible: detectable.is_some_and(|change| change <= self.most()),
            power,
            enough: power.map(|power| power >= self.levels.power),
            smallest_p: stats::smallest_p(usize::try_from(scenarios).unwrap_or(usize::MAX)),
        }
    }

    /// The most the metric can change by.
    fn most(&self) -> f64 {
        match self.mean {
            Some(base) if self.metric.is_binary() => base.max(1.0 - base),
            _ => f64::INFINITY,
        }
    }

    fn why(&self, scenarios: u64) -> Option<Why> {
        let between = self.design.difference_variance(u64::MAX);
        let all = self.design.difference_variance(self.of_each(self.repeats));
        Some(Why {
            scenarios,
            repeats: self.repeats,
            between,
            within: all - between,
            detectable: self.detectable(scenarios, self.repeats)?,
            detectable_endless_repeats: self.design.detectable_with_endless_repeats(
                scenarios,
                self.alpha_each(),
                self.levels.power,
            )?,
            detectable_twice_repeats: self.detectable(scenarios, self.repeats.saturating_mul(2))?,
            detectable_twice_scenarios: self
                .detectable(scenarios.saturating_mul(2), self.repeats)?,
        })
    }
}

impl Answer {
    /// Whether any of the numbers of scenarios in it is below [`FEW_SCENARIOS`].
    pub fn has_few_scenarios(&self) -> bool {
        let rows = self.needed.iter().filter_map(|row| row.scenarios);
        rows.chain(self.judged.map(|judged| judged.scenarios))
            .any(|scenarios| scenarios < FEW_SCENARIOS)
    }
}

#[cfg(test)]
mod tests;
