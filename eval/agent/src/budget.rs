//! What a run may use, reserved before every request so that it is never overrun.

use std::sync::Mutex;

use crate::model::Usage;

/// Limits of a run; an absent limit is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BudgetLimits {
    /// Requests to the provider, retries included.
    pub calls: Option<u64>,
    /// Prompt and completion tokens together.
    pub tokens: Option<u64>,
    /// Money, in US dollars.
    pub usd: Option<f64>,
}

impl BudgetLimits {
    /// Whether there is any limit.
    pub fn is_unlimited(&self) -> bool {
        self.calls.is_none() && self.tokens.is_none() && self.usd.is_none()
    }
}

/// Prices of a model, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A million prompt tokens.
    pub input_usd_per_million: f64,
    /// A million completion tokens.
    pub output_usd_per_million: f64,
}

impl Prices {
    /// Cost of `usage`; `None` when the provider counted only one side or nothing.
    pub fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        Some(self.cost(usage.input_tokens? as f64, usage.output_tokens? as f64))
    }

    fn cost(&self, input_tokens: f64, output_tokens: f64) -> f64 {
        (input_tokens * self.input_usd_per_million + output_tokens * self.output_usd_per_million)
            / 1e6
    }
}

/// A request was not sent because it might have overrun the budget.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the budget of {limit} {unit} does not allow another request: {spent} used, the next one may take up to {wanted}; raise the budget and run the same command again to continue"
)]
pub struct BudgetExhausted {
    /// `calls`, `tokens` or `US dollars`.
    pub unit: &'static str,
    /// The limit.
    pub limit: String,
    /// Used and reserved so far.
    pub spent: String,
    /// What the request might have used.
    pub wanted: String,
}

/// The most one request can use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Claim {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

#[derive(Debug, Default)]
struct Spent {
    calls: u64,
    tokens: u64,
    usd: f64,
}

/// Counts what a run uses against its limits; shared by all requests of a model.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: BudgetLimits,
    prices: Option<Prices>,
    spent: Mutex<Spent>,
}

/// Tokens and money set aside for one request.
#[derive(Debug)]
#[must_use = "a reservation that is not settled stays reserved"]
pub(crate) struct Reservation {
    tokens: u64,
    usd: f64,
}

fn exhausted(unit: &'static str, limit: String, spent: String, wanted: String) -> BudgetExhausted {
    BudgetExhausted {
        unit,
        limit,
        spent,
        wanted,
    }
}

impl Budget {
    pub(crate) fn new(limits: BudgetLimits, prices: Option<Prices>) -> Self {
        Self {
            limits,
            prices,
            spent: Mutex::new(Spent::default()),
        }
    }

    /// Sets aside the most the next request can use, or refuses it.
    pub(crate) fn reserve(&self, claim: Claim) -> Result<Reservation, BudgetExhausted> {
        let tokens = claim.input_tokens.saturating_add(claim.output_tokens);
        let usd = self.prices.map_or(0.0, |p| {
            p.cost(claim.input_tokens as f64, claim.output_tokens as f64)
        });
        let mut spent = self.lock();
        if let Some(limit) = self.limits.calls
            && spent.calls >= limit
        {
            return Err(exhausted(
                "calls",
                limit.to_string(),
                spent.calls.to_string(),
                "1".to_owned(),
            ));
        }
        if let Some(limit) = self.limits.tokens
            && spent.tokens.saturating_add(tokens) > limit
        {
            return Err(exhausted(
                "tokens",
                limit.to_string(),
                spent.tokens.to_string(),
                tokens.to_string(),
            ));
        }
        if let Some(limit) = self.limits.usd
            && spent.usd + usd > limit
        {
            let money = |amount: f64| format!("{amount:.4}");
            return Err(exhausted(
                "US dollars",
                money(limit),
                money(spent.usd),
                money(usd),
            ));
        }
        spent.calls += 1;
        spent.tokens = spent.tokens.saturating_add(tokens);
        spent.usd += usd;
        Ok(Reservation { tokens, usd })
    }

    /// Replaces what was set aside by what was used. Sides the provider did not count stay as reserved.
    pub(crate) fn settle(&self, reservation: &Reservation, claim: Claim, usage: &Usage) {
        let used = |counted: Option<i64>, claimed: u64| {
            counted.map_or(claimed, |n| u64::try_from(n).unwrap_or(0))
        };
        let input = used(usage.input_tokens, claim.input_tokens);
        let output = used(usage.output_tokens, claim.output_tokens);
        let usd = self
            .prices
            .map_or(0.0, |p| p.cost(input as f64, output as f64));
        let mut spent = self.lock();
        spent.tokens = spent
            .tokens
            .saturating_sub(reservation.tokens)
            .saturating_add(input.saturating_add(output));
        spent.usd += usd - reservation.usd;
    }

    /// Gives back tokens and money of a request that the provider refused; the call itself stays counted.
    pub(crate) fn release(&self, reservation: &Reservation) {
        let mut spent = self.lock();
        spent.tokens = spent.tokens.saturating_sub(reservation.tokens);
        spent.usd -= reservation.usd;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spent> {
        // Plain numbers: they are whole even when another thread died holding the lock.
        self.spent
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(input_tokens: u64, output_tokens: u64) -> Claim {
        Claim {
            input_tokens,
            output_tokens,
        }
    }

    #[test]
    fn a_limit_of_calls_allows_exactly_that_many() {
        let budget = Budget::new(
            BudgetLimits {
                calls: Some(2),
                ..BudgetLimits::default()
            },
            None,
        );
        let _one = budget.reserve(claim(1, 1)).unwrap();
        let two = budget.reserve(claim(1, 1)).unwrap();
        budget.release(&two);
        let error = budget.reserve(claim(1, 1)).unwrap_err();
        assert_eq!(error.unit, "calls");
        assert!(error.to_string().contains("2 used"), "{error}");
    }

    #[test]
    fn tokens_are_reserved_settled_and_released() {
        let budget = Budget::new(
            BudgetLimits {
                tokens: Some(100),
                ..BudgetLimits::default()
            },
            None,
        );
        let first = budget.reserve(claim(40, 40)).unwrap();
        assert_eq!(budget.reserve(claim(20, 10)).unwrap_err().unit, "tokens");
        budget.settle(
            &first,
            claim(40, 40),
            &Usage {
                input_tokens: Some(15),
                output_tokens: Some(5),
            },
        );
        let second = budget.reserve(claim(40, 40)).unwrap();
        assert_eq!(budget.reserve(claim(0, 1)).unwrap_err().spent, "100");
        budget.release(&second);
        // A provider that counts nothing is held to the reservation.
        let third = budget.reserve(claim(40, 40)).unwrap();
        budget.settle(&third, claim(40, 40), &Usage::default());
        assert!(budget.reserve(claim(1, 0)).is_err());
    }

    #[test]
    fn money_is_counted_with_the_prices() {
        let prices = Prices {
            input_usd_per_million: 1.0,
            output_usd_per_million: 10.0,
        };
        let budget = Budget::new(
            BudgetLimits {
                usd: Some(1.0),
                ..BudgetLimits::default()
            },
            Some(prices),
        );
        let first = budget.reserve(claim(500_000, 40_000)).unwrap();
        assert_eq!(
            budget.reserve(claim(500_000, 40_000)).unwrap_err().unit,
            "US dollars"
        );
        let usage = Usage {
            input_tokens: Some(100_000),
            output_tokens: Some(0),
        };
        budget.settle(&first, claim(500_000, 40_000), &usage);
        let _second = budget.reserve(claim(500_000, 40_000)).unwrap();
        assert!((prices.cost_usd(&usage).unwrap() - 0.1).abs() < 1e-9);
        assert_eq!(prices.cost_usd(&Usage::default()), None);
    }

    #[test]
    fn many_threads_never_overrun() {
        let budget = Budget::new(
            BudgetLimits {
                calls: Some(50),
                tokens: Some(300),
                usd: None,
            },
            None,
        );
        let granted: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        (0..20)
                            .filter(|_| budget.reserve(claim(7, 3)).is_ok())
                            .count()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(granted, 30);
    }
}
