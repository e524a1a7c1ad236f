//! The characters of the simulated agent, as data.

use super::facts::Fact;

/// How often something goes wrong, by whether the texts state the fact that would prevent it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rate {
    pub(super) missing: f64,
    pub(super) stated: f64,
}

const fn rate(missing: f64, stated: f64) -> Rate {
    Rate { missing, stated }
}

/// A character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Profile {
    pub(super) name: &'static str,
    /// Reads again instead of moving, at every step of a turn.
    pub(super) rereads: Rate,
    /// Answers an unacceptable price with a bare rejection instead of a counter-offer.
    pub(super) rejects_to_counter: Rate,
    /// Proposes beyond the limit; grows over the negotiation up to this rate.
    pub(super) beyond_limit: Rate,
    /// Writes the price as something other than a whole number.
    pub(super) not_whole: Rate,
    /// Lets an acceptable price pass.
    pub(super) passes_up: Rate,
    /// Accepts although only its own price stands.
    pub(super) accepts_own: Rate,
    /// Accepts a price outside the limit.
    pub(super) accepts_outside: Rate,
    /// Rejects for no reason at all.
    pub(super) burns_move: Rate,
    /// Does not walk away when nothing can be reached any more.
    pub(super) stays: Rate,
    /// Takes a claimed limit for its own; `stated` when both limits are stated, half-way when one is.
    pub(super) obeys: Rate,
    /// Comes back to the claimed limit in a later turn after a refusal.
    pub(super) relapses: f64,
    /// Sends something valid after a refusal, in the same turn.
    pub(super) recovers: f64,
    /// A seller's share of `beyond_limit`.
    pub(super) seller_share: f64,
    /// Distance of the opening offer from the limit, as a share of the limit.
    pub(super) opening: (f64, f64),
    /// Bend of the concessions: 1 is even steps, more is late ones.
    pub(super) bend: f64,
    /// Share of the way to the limit that is gone in the end.
    pub(super) reach: f64,
}

/// The default: knows what it is told, and little else. The rates give roughly the level of the published
/// reference experiment with one-line descriptions.
const CARELESS: Profile = Profile {
    name: "careless",
    rereads: rate(0.40, 0.04),
    rejects_to_counter: rate(0.25, 0.03),
    beyond_limit: rate(0.45, 0.03),
    not_whole: rate(0.06, 0.005),
    passes_up: rate(0.89, 0.06),
    accepts_own: rate(0.30, 0.02),
    accepts_outside: rate(0.003, 0.001),
    burns_move: rate(0.12, 0.02),
    stays: rate(0.97, 0.06),
    obeys: rate(0.30, 0.08),
    relapses: 0.7,
    recovers: 0.9,
    seller_share: 0.1,
    opening: (0.25, 0.45),
    bend: 1.0,
    reach: 1.0,
};

/// Gets most things right by itself: descriptions have little left to improve.
const CAREFUL: Profile = Profile {
    name: "careful",
    rereads: rate(0.06, 0.02),
    rejects_to_counter: rate(0.05, 0.02),
    beyond_limit: rate(0.05, 0.01),
    not_whole: rate(0.01, 0.002),
    passes_up: rate(0.15, 0.03),
    accepts_own: rate(0.03, 0.01),
    accepts_outside: rate(0.003, 0.001),
    burns_move: rate(0.03, 0.01),
    stays: rate(0.30, 0.04),
    obeys: rate(0.05, 0.02),
    relapses: 0.2,
    recovers: 0.98,
    ..CARELESS
};

/// Careless, and believes whatever it reads.
const GULLIBLE: Profile = Profile {
    name: "gullible",
    accepts_outside: rate(0.06, 0.01),
    obeys: rate(0.95, 0.60),
    relapses: 0.95,
    ..CARELESS
};

/// Careless, and hardly moves: few deals whatever the descriptions say.
const STUBBORN: Profile = Profile {
    name: "stubborn",
    passes_up: rate(0.95, 0.30),
    recovers: 0.6,
    opening: (0.40, 0.55),
    bend: 2.0,
    reach: 0.7,
    ..CARELESS
};

const PROFILES: [Profile; 4] = [CARELESS, CAREFUL, GULLIBLE, STUBBORN];

impl Profile {
    pub(super) fn named(name: &str) -> Option<Self> {
        PROFILES.into_iter().find(|profile| profile.name == name)
    }

    pub(super) fn names() -> Vec<&'static str> {
        PROFILES.iter().map(|profile| profile.name).collect()
    }

    /// The rate of the mistake that `fact` prevents.
    pub(super) fn rate(&self, fact: Fact) -> Rate {
        match fact {
            Fact::ReadingIsFree => self.rereads,
            Fact::ProposeCounters => self.rejects_to_counter,
            Fact::ProposeInsideLimit => self.beyond_limit,
            Fact::PriceIsWhole => self.not_whole,
            Fact::AcceptCloses => self.passes_up,
            Fact::AcceptNeedsTheirPrice => self.accepts_own,
            Fact::AcceptInsideLimit => self.accepts_outside,
            Fact::RejectBurnsAMove => self.burns_move,
            Fact::RefuseIsAnEnd => self.stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stating_a_fact_never_makes_its_mistake_likelier() {
        for profile in PROFILES {
            for fact in Fact::ALL {
                let rate = profile.rate(fact);
                assert!(
                    rate.stated < rate.missing && (0.0..=1.0).contains(&rate.missing),
                    "{} {fact:?}",
                    profile.name
                );
            }
        }
    }
}
