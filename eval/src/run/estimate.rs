//! What a run will take, told before it starts.

use agent::Usage;
use agent::budget::Prices;
use serde::Serialize;
use trajectory::Episode;

use crate::plan::Plan;

/// Prompt tokens of an episode of the published experiment (gpt-4o-mini, 8 moves), for want of anything nearer.
pub(crate) const GUIDE_INPUT: f64 = 19_000.0;
/// Completion tokens of such an episode.
pub(crate) const GUIDE_OUTPUT: f64 = 2_400.0;
/// Model calls of a turn: one reading, one move.
const GUIDE_CALLS_PER_TURN: u64 = 2;

/// What is left to do, and what it is likely to take.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Episodes of the plan.
    pub episodes: usize,
    /// Of these, recorded already.
    pub recorded: usize,
    /// Episodes to be played.
    pub to_play: usize,
    /// Model calls if every turn is one reading and one move.
    pub model_calls: u64,
    /// Model calls if every turn uses all it may.
    pub model_calls_at_most: u64,
    /// Prompt tokens; absent for simulated agents.
    pub input_tokens: Option<u64>,
    /// Completion tokens; absent for simulated agents.
    pub output_tokens: Option<u64>,
    /// Cost, when prices are known.
    pub usd: Option<f64>,
    /// What tokens are estimated from.
    pub basis: &'static str,
}

/// Estimates what playing `to_play` of the plan's episodes takes; `recorded` are episodes of the same
/// experiment, which tell more than any guide.
pub fn estimate(
    plan: &Plan,
    to_play: usize,
    recorded: &[Episode],
    simulated: bool,
    prices: Option<&Prices>,
) -> Estimate {
    let episodes = plan.episodes().len();
    let count = to_play as u64;
    let turns = u64::from(plan.max_moves);
    let (per_episode, basis) = if simulated {
        (None, "simulated agents use no tokens")
    } else if let Some(seen) = mean_tokens(recorded) {
        (Some(seen), "mean of the experiment's recorded episodes")
    } else {
        (
            Some((GUIDE_INPUT, GUIDE_OUTPUT)),
            "about 19,000 input and 2,400 output tokens an episode, as in the published experiment",
        )
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive estimate; a cast of a float saturates"
    )]
    let total = |tokens: f64| (tokens * count as f64).round() as u64;
    let input_tokens = per_episode.map(|(input, _)| total(input));
    let output_tokens = per_episode.map(|(_, output)| total(output));
    let tokens = Usage {
        input_tokens: input_tokens.and_then(|n| i64::try_from(n).ok()),
        output_tokens: output_tokens.and_then(|n| i64::try_from(n).ok()),
    };
    Estimate {
        episodes,
        recorded: episodes.saturating_sub(to_play),
        to_play,
        model_calls: count
            .saturating_mul(turns)
            .saturating_mul(GUIDE_CALLS_PER_TURN),
        model_calls_at_most: count
            .saturating_mul(turns)
            .saturating_mul(u64::from(plan.max_calls_per_turn)),
        input_tokens,
        output_tokens,
        usd: prices.and_then(|prices| prices.cost_usd(&tokens)),
        basis,
    }
}

/// Mean prompt and completion tokens of the episodes that have them.
pub(crate) fn mean_tokens(recorded: &[Episode]) -> Option<(f64, f64)> {
    let seen: Vec<(i64, i64)> = recorded
        .iter()
        .filter_map(|e| {
            let input = e
                .input_tokens_buyer?
                .saturating_add(e.input_tokens_seller.unwrap_or(0));
            let output = e
                .output_tokens_buyer?
                .saturating_add(e.output_tokens_seller.unwrap_or(0));
            Some((input, output))
        })
        .collect();
    let n = seen.len() as f64;
    (!seen.is_empty()).then(|| {
        let (input, output) = seen.iter().fold((0.0, 0.0), |sum, (i, o)| {
            (sum.0 + *i as f64, sum.1 + *o as f64)
        });
        (input / n, output / n)
    })
}

#[cfg(test)]
mod tests {
    use market::scenario::Pack;

    use super::*;
    use crate::plan::Arm;

    fn plan() -> Plan {
        let arm = Arm {
            name: "baseline".to_owned(),
            toolset: market::contract::baseline(),
        };
        Plan::new(Pack::load("reference").unwrap(), vec![arm], "gpt")
    }

    #[test]
    fn the_guide_is_used_until_there_are_episodes() {
        let prices = Prices {
            input_usd_per_million: 0.15,
            output_usd_per_million: 0.6,
        };
        let found = estimate(&plan(), 60, &[], false, Some(&prices));
        assert_eq!(
            (
                found.episodes,
                found.recorded,
                found.model_calls,
                found.model_calls_at_most
            ),
            (60, 0, 960, 2880)
        );
        assert_eq!(
            (found.input_tokens, found.output_tokens),
            (Some(1_140_000), Some(144_000))
        );
        assert!((found.usd.unwrap() - 0.2574).abs() < 1e-9);

        let mut seen = Episode::new("e", "ep", "market");
        (seen.input_tokens_buyer, seen.output_tokens_buyer) = (Some(100), Some(10));
        (seen.input_tokens_seller, seen.output_tokens_seller) = (Some(50), None);
        let found = estimate(
            &plan(),
            10,
            &[seen, Episode::new("e", "ep2", "market")],
            false,
            None,
        );
        assert_eq!(
            (found.recorded, found.input_tokens, found.output_tokens),
            (50, Some(1500), Some(100))
        );
        assert!(found.basis.contains("recorded"));
    }

    #[test]
    fn simulated_agents_cost_nothing() {
        let found = estimate(&plan(), 60, &[], true, None);
        assert_eq!((found.input_tokens, found.usd), (None, None));
    }
}
