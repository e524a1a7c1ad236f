//! What an episode costs.

use serde::Serialize;

use super::{PlanningError, within};
use crate::run::{GUIDE_INPUT, GUIDE_OUTPUT};

/// Cost of an episode, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// US dollars per episode; absent when nothing is known about prices.
    pub usd_per_episode: Option<f64>,
    /// Where it comes from, or why it is absent.
    pub basis: String,
}

/// No price and no number of tokens for anything sensible is above this.
const MOST: f64 = 1e9;
const RANGE: &str = "from 0 to 1000000000";

impl Price {
    /// No price is known.
    pub fn unknown() -> Self {
        Self {
            usd_per_episode: None,
            basis: "no price given (--price-input and --price-output, or --usd-per-episode); simulated agents cost nothing"
                .to_owned(),
        }
    }

    /// A price per episode.
    ///
    /// # Errors
    /// It is no sensible price.
    pub fn per_episode(usd: f64) -> Result<Self, PlanningError> {
        Ok(Self {
            usd_per_episode: Some(within("--usd-per-episode", RANGE, usd, 0.0, MOST)?),
            basis: "as given".to_owned(),
        })
    }

    /// Prices of a million tokens, with the tokens an episode takes: those given, else those of `recorded` episodes, else
    /// those of the published experiment.
    ///
    /// # Errors
    /// One of the numbers is no sensible price or number of tokens.
    pub fn per_million(
        (input_usd, output_usd): (f64, f64),
        given: (Option<f64>, Option<f64>),
        recorded: Option<(f64, f64)>,
    ) -> Result<Self, PlanningError> {
        for (flag, value) in [
            ("--price-input", Some(input_usd)),
            ("--price-output", Some(output_usd)),
            ("--tokens-input", given.0),
            ("--tokens-output", given.1),
        ] {
            within(flag, RANGE, value.unwrap_or(0.0), 0.0, MOST)?;
        }
        let (input, output) = recorded.unwrap_or((GUIDE_INPUT, GUIDE_OUTPUT));
        let source = match (given, recorded) {
            ((Some(_), Some(_)), _) => "as given",
            (_, Some(_)) => "mean of the recorded episodes",
            (_, None) => "as in the published experiment with gpt-4o-mini",
        };
        let (input, output) = (given.0.unwrap_or(input), given.1.unwrap_or(output));
        Ok(Self {
            usd_per_episode: Some((input * input_usd + output * output_usd) / 1e6),
            basis: format!("{input:.0} input and {output:.0} output tokens an episode, {source}"),
        })
    }

    /// The mean cost of recorded episodes.
    pub fn recorded(usd: f64) -> Self {
        Self {
            usd_per_episode: Some(usd),
            basis: "mean cost of the recorded episodes".to_owned(),
        }
    }

    /// Cost of so many episodes.
    pub fn of(&self, episodes: u64) -> Option<f64> {
        self.usd_per_episode.map(|usd| usd * episodes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_from_the_flags_the_record_or_the_guide() {
        let usd = |given, recorded| {
            let price = Price::per_million((0.15, 0.6), given, recorded).unwrap();
            (price.usd_per_episode.unwrap() * 1e6, price.basis)
        };
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
        let (found, basis) = usd((None, None), None);
        close(found, 4290.0);
        assert!(
            basis.contains("19000") && basis.contains("published"),
            "{basis}"
        );
        let (found, basis) = usd((None, None), Some((1000.0, 100.0)));
        close(found, 210.0);
        assert!(basis.contains("recorded"), "{basis}");
        let (found, basis) = usd((Some(2000.0), Some(0.0)), Some((1000.0, 100.0)));
        close(found, 300.0);
        assert!(basis.contains("as given"), "{basis}");
    }

    #[test]
    fn senseless_prices_are_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert!(Price::per_episode(bad).is_err(), "{bad}");
            let million = |price, tokens| Price::per_million((price, 1.0), (None, tokens), None);
            assert!(million(bad, None).is_err(), "{bad}");
            assert!(million(1.0, Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(Price::unknown().of(10), None);
    }
}
