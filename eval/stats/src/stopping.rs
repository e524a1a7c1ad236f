//! When a sequential run stops: the e-process of discordant pairs under a given share of wins.

use serde::Serialize;

use crate::eprocess::{ln_e_value, threshold};
use crate::{Level, Proportion, StatsError};

/// Pairs up to which a run can be followed.
pub const STOPPING_UP_TO: u64 = 5_000;

/// What happens to a run that looks after every discordant pair and stops at the first e-value that rejects.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stopping {
    /// Share of discordant pairs that the candidate wins.
    pub win_share: f64,
    /// Pairs at which the run ends in any case.
    pub most_pairs: u64,
    /// Expected pairs, a run that never stops counted with `most_pairs`.
    pub expected_pairs: f64,
    /// Pairs by which half of all runs have stopped; absent when fewer ever do.
    pub median_pairs: Option<u64>,
    /// Chance to stop with more wins than losses.
    pub stops_for: f64,
    /// Chance to stop with more losses than wins.
    pub stops_against: f64,
    /// Chance to reach `most_pairs` undecided.
    pub undecided: f64,
}

/// Follows all paths of a run exactly: the chance of every number of wins that has not stopped yet, pair by pair.
///
/// The mass of `S` wins after `m` pairs is `win_share·mass(m-1, S-1) + (1-win_share)·mass(m-1, S)` over the states that went
/// on; a state stops where [`crate::e_value`] reaches `1/alpha`. Ville (1939): with a share of 1/2 a run stops with a
/// chance of at most alpha, however long it is.
///
/// # Errors
/// The share is not from 0 to 1, or `most_pairs` is 0 or above [`STOPPING_UP_TO`].
pub fn stopping(win_share: f64, level: Level, most_pairs: u64) -> Result<Stopping, StatsError> {
    if !(0.0..=1.0).contains(&win_share) {
        return Err(StatsError::Range {
            what: "the share of wins",
            range: "from 0 to 1",
            value: win_share,
        });
    }
    if !(1..=STOPPING_UP_TO).contains(&most_pairs) {
        return Err(StatsError::Range {
            what: "the number of pairs",
            range: "from 1 to 5000",
            value: most_pairs as f64,
        });
    }
    let limit = threshold(level).ln();
    let (mut running, mut expected, mut median) = (vec![(0_u64, 1.0_f64)], 0.0, None);
    let (mut stops_for, mut stops_against) = (0.0, 0.0);
    for m in 1..=most_pairs {
        expected += mass_of(&running);
        let mut next = Vec::with_capacity(running.len() + 1);
        for (wins, mass) in after_one_more(&running, win_share) {
            if ln_e_value(Proportion::at_most(wins, m)) < limit {
                next.push((wins, mass));
            } else if 2 * wins > m {
                stops_for += mass;
            } else {
                stops_against += mass;
            }
        }
        running = next;
        if median.is_none() && stops_for + stops_against >= 0.5 {
            median = Some(m);
        }
        if running.is_empty() {
            break;
        }
    }
    Ok(Stopping {
        win_share,
        most_pairs,
        expected_pairs: expected,
        median_pairs: median,
        stops_for,
        stops_against,
        undecided: mass_of(&running),
    })
}

/// The sum of no masses is -0, which would be shown.
fn mass_of(running: &[(u64, f64)]) -> f64 {
    running.iter().fold(0.0, |sum, state| sum + state.1)
}

/// Numbers of wins after another pair, with their chances. The states that go on are neighbours, because the e-value
/// only grows away from the even split.
fn after_one_more(running: &[(u64, f64)], win_share: f64) -> Vec<(u64, f64)> {
    let mut next: Vec<(u64, f64)> = Vec::with_capacity(running.len() + 1);
    for (wins, mass) in running {
        let lost = mass * (1.0 - win_share);
        match next.last_mut() {
            Some((same, sum)) if same == wins => *sum += lost,
            _ => next.push((*wins, lost)),
        }
        next.push((wins + 1, mass * win_share));
    }
    // Shares of 0 and 1 leave states that cannot be reached.
    next.retain(|state| state.1 > 0.0);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::close;

    #[test]
    fn straight_wins_stop_at_the_eighth() {
        let found = stopping(1.0, Level::P95, 100).unwrap();
        close(found.expected_pairs, 8.0, 1e-12);
        assert_eq!((found.median_pairs, found.stops_for), (Some(8), 1.0));
        let found = stopping(0.0, Level::P95, 100).unwrap();
        assert_eq!((found.stops_against, found.undecided), (1.0, 0.0));
        assert!(found.undecided.is_sign_positive());
        let short = stopping(1.0, Level::P95, 7).unwrap();
        assert_eq!((short.undecided, short.median_pairs), (1.0, None));
        close(short.expected_pairs, 7.0, 1e-12);
    }

    /// By hand: with ten pairs at most, only 8 of 8 or 0 of 8 stops by the eighth; 9 of 10 gives e = 9.3.
    #[test]
    fn a_short_run_by_hand() {
        let found = stopping(0.5, Level::P95, 10).unwrap();
        close(found.stops_for, 0.5_f64.powi(8), 1e-12);
        close(found.expected_pairs, 10.0 - 4.0 * 0.5_f64.powi(8), 1e-12);
    }

    /// All 2^16 paths, one after the other.
    #[test]
    fn it_agrees_with_all_paths() {
        let (share, most) = (0.8_f64, 16_u64);
        let (mut expected, mut stops_for) = (0.0, 0.0);
        for path in 0..1_u64 << most {
            let all_wins = u64::from(path.count_ones());
            let mass = share.powf(all_wins as f64) * (1.0 - share).powf((most - all_wins) as f64);
            let wins = |m: u64| u64::from((path & ((1 << m) - 1)).count_ones());
            let stop =
                (1..=most).find(|m| crate::e_value(Proportion::at_most(wins(*m), *m)).e >= 20.0);
            expected += mass * stop.unwrap_or(most) as f64;
            if stop.is_some_and(|m| 2 * wins(m) > m) {
                stops_for += mass;
            }
        }
        let found = stopping(share, Level::P95, most).unwrap();
        close(found.expected_pairs, expected, 1e-9);
        close(found.stops_for, stops_for, 1e-9);
    }

    #[test]
    fn a_fair_coin_stops_with_alpha_at_most() {
        let found = stopping(0.5, Level::P95, STOPPING_UP_TO).unwrap();
        assert!(found.stops_for + found.stops_against < 0.05, "{found:?}");
        close(found.stops_for, found.stops_against, 1e-9);
        close(
            found.stops_for + found.stops_against + found.undecided,
            1.0,
            1e-9,
        );
        for bad in [(-0.1, 10), (f64::NAN, 10), (0.5, 0), (0.5, 5_001)] {
            assert!(stopping(bad.0, Level::P95, bad.1).is_err(), "{bad:?}");
        }
    }
}
