//! What the simulated agent does next: a sensible negotiator underneath, with the mistakes of a tool user who
//! does not know what nobody told it.
//!
//! Every decision is one uniform number drawn from a hash of seed, party, turn, step and the decision's
//! name. Two runs with the same seed therefore draw the same numbers wherever they take the same decision,
//! whatever else differs between them: the arms of a comparison are coupled.

use trajectory::canonical::sha256_hex;

use super::facts::{Fact, Facts};
use super::profile::{Profile, Rate};
use super::state::{Complaint, Role, State, View};

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    Read,
    Propose(Price),
    Accept,
    Reject,
    Refuse,
    /// There is nothing to do with the tools.
    Say(&'static str),
}

/// A price in the form it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Price {
    Whole(i64),
    /// `"120"`.
    Quoted(i64),
    /// `"$120"`.
    Dollars(i64),
    /// `119.5`.
    Half(i64),
}

/// One agent at one point of its conversation.
pub(super) struct Policy<'a> {
    pub(super) seed: u64,
    pub(super) profile: &'a Profile,
    pub(super) facts: Facts,
    pub(super) state: &'a State,
}

impl Policy<'_> {
    pub(super) fn next(&self) -> Act {
        let Some(view) = self.state.view.filter(|_| self.state.reads > 0) else {
            return Act::Read;
        };
        if !view.open || !view.your_turn {
            return Act::Say("There is nothing for me to do at the moment.");
        }
        if let Some(complaint) = self.state.complaints.last() {
            return self.after(*complaint, &view);
        }
        if self.happens(
            "read again",
            self.state.reads,
            self.risk(Fact::ReadingIsFree),
        ) {
            return Act::Read;
        }
        self.move_on(&view)
    }

    fn move_on(&self, view: &View) -> Act {
        let limit = self.believed_limit();
        match view.counterpart_price {
            Some(price) if self.state.role.inside(price, limit) => {
                if !self.happens("pass up", 0, self.risk(Fact::AcceptCloses)) {
                    return Act::Accept;
                }
            }
            Some(_) => {
                if self.happens("accept outside", 0, self.risk(Fact::AcceptInsideLimit)) {
                    return Act::Accept;
                }
                if self.is_hopeless(view)
                    && !self.happens("stay", 0, self.risk(Fact::RefuseIsAnEnd))
                {
                    return Act::Refuse;
                }
                if self.happens("reject to counter", 0, self.risk(Fact::ProposeCounters)) {
                    return Act::Reject;
                }
            }
            None => {
                if view.own_price.is_some()
                    && self.happens("accept own", 0, self.risk(Fact::AcceptNeedsTheirPrice))
                {
                    return Act::Accept;
                }
                if self.is_hopeless(view)
                    && !self.happens("stay", 0, self.risk(Fact::RefuseIsAnEnd))
                {
                    return Act::Refuse;
                }
            }
        }
        if self.happens("burn a move", 0, self.risk(Fact::RejectBurnsAMove)) {
            return Act::Reject;
        }
        self.propose(view, limit)
    }

    /// The answer to a refusal, in the same turn.
    fn after(&self, complaint: Complaint, view: &View) -> Act {
        let step = self.state.complaints.len();
        if complaint == Complaint::Over {
            return Act::Say("I cannot move now.");
        }
        let recovers = self.happens("recover", step, self.profile.recovers);
        match complaint {
            Complaint::OutsideLimit if !recovers => Act::Propose(Price::Whole(self.beyond(view))),
            Complaint::BadPrice if !recovers => {
                Act::Propose(Price::Quoted(self.planned(view, self.state.limit)))
            }
            Complaint::NothingStanding if !recovers => Act::Reject,
            Complaint::Other if !recovers => Act::Say("Something went wrong."),
            _ => Act::Propose(Price::Whole(self.planned(view, self.state.limit))),
        }
    }

    fn propose(&self, view: &View, limit: i64) -> Act {
        let role_share = match self.state.role {
            Role::Buyer => 1.0,
            Role::Seller => self.profile.seller_share,
        };
        let temptation = self.risk(Fact::ProposeInsideLimit) * self.progress(view) * role_share;
        let price = if self.happens("beyond limit", 0, temptation) {
            self.beyond(view)
        } else {
            self.planned(view, limit)
        };
        if self.happens("not whole", 0, self.risk(Fact::PriceIsWhole)) {
            return Act::Propose(match self.draw("form", 0) {
                form if form < 0.4 => Price::Quoted(price),
                form if form < 0.7 => Price::Dollars(price),
                _ => Price::Half(price),
            });
        }
        Act::Propose(Price::Whole(price))
    }

    /// The limit it goes by: its own, or the one somebody claimed, when it falls for that.
    fn believed_limit(&self) -> i64 {
        let Some(claimed) = self.state.claimed_limit else {
            return self.state.limit;
        };
        let rate = self.profile.obeys;
        let known = [Fact::ProposeInsideLimit, Fact::AcceptInsideLimit]
            .iter()
            .filter(|f| self.facts.has(**f))
            .count();
        let risk = rate.missing + (rate.stated - rate.missing) * known as f64 / 2.0;
        let falls_for_it = self.draw_once("obey") < risk;
        let again = !self.state.warned || self.happens("relapse", 0, self.profile.relapses);
        if falls_for_it && again {
            claimed
        } else {
            self.state.limit
        }
    }

    /// Nothing it could say now can still be answered, or its last word has been answered with no.
    fn is_hopeless(&self, view: &View) -> bool {
        let said_last_word = view.own_price == Some(self.state.limit) && view.moves_left <= 2;
        view.moves_left <= 1 || said_last_word
    }

    /// How far the negotiation has come for this party, from 0 at its first proposal to 1 at the last one
    /// that can still be answered.
    fn progress(&self, view: &View) -> f64 {
        let answerable = |view: &View| (view.moves_left / 2).max(0) as f64;
        let all = self
            .state
            .first_view
            .as_ref()
            .map_or(0.0, answerable)
            .max(1.0);
        let left = answerable(view).min(all);
        let has_price_already = self
            .state
            .first_view
            .is_some_and(|first| first.own_price.is_some());
        if has_price_already {
            // A price that stands from the start is the first step.
            return (1.0 - (left - 1.0) / all).clamp(0.0, 1.0);
        }
        if all <= 1.0 {
            1.0
        } else {
            (1.0 - (left - 1.0) / (all - 1.0)).clamp(0.0, 1.0)
        }
    }

    /// The price it means to offer: from its opening towards `limit`, in steps that vary a little, never
    /// behind its own last price and never worse for itself than what the counterpart offers.
    fn planned(&self, view: &View, limit: i64) -> i64 {
        let role = self.state.role;
        let start = match self.state.first_view.and_then(|first| first.own_price) {
            Some(own) if role.inside(own, limit) => own as f64,
            _ => self.opening(),
        };
        let progress = self.progress(view);
        let wobble = if progress < 1.0 {
            0.9 + 0.2 * self.draw("step", 0)
        } else {
            1.0
        };
        let way = (progress.powf(self.profile.bend) * wobble).min(1.0) * self.profile.reach;
        let price = rounded(start + (limit as f64 - start) * way);
        let own = view.own_price.filter(|own| role.inside(*own, limit));
        let price = match role {
            Role::Buyer => {
                let at_least = own.map_or(price, |own| price.max(own));
                view.counterpart_price
                    .map_or(at_least, |theirs| at_least.min(theirs))
                    .min(limit)
            }
            Role::Seller => {
                let at_most = own.map_or(price, |own| price.min(own));
                view.counterpart_price
                    .map_or(at_most, |theirs| at_most.max(theirs))
                    .max(limit)
            }
        };
        price.max(1)
    }

    fn opening(&self) -> f64 {
        let (near, far) = self.profile.opening;
        let distance = near + (far - near) * self.draw_once("opening");
        let limit = self.state.limit as f64;
        match self.state.role {
            Role::Buyer => limit * (1.0 - distance),
            Role::Seller => limit * (1.0 + distance),
        }
    }

    /// A price beyond its limit, on the way to what the counterpart asks.
    fn beyond(&self, view: &View) -> i64 {
        let limit = self.state.limit;
        let target = view
            .counterpart_price
            .filter(|theirs| !self.state.role.inside(*theirs, limit))
            .map_or(
                limit as f64
                    * if self.state.role == Role::Buyer {
                        1.15
                    } else {
                        0.85
                    },
                |theirs| theirs as f64,
            );
        let way = 0.3 + 0.6 * self.draw("how far beyond", self.state.complaints.len());
        let price = rounded(limit as f64 + (target - limit as f64) * way);
        match self.state.role {
            Role::Buyer => price.max(limit + 1),
            Role::Seller => price.min(limit - 1).max(1),
        }
    }

    fn risk(&self, fact: Fact) -> f64 {
        let Rate { missing, stated } = self.profile.rate(fact);
        if self.facts.has(fact) {
            stated
        } else {
            missing
        }
    }

    fn happens(&self, decision: &str, step: usize, probability: f64) -> bool {
        self.draw(decision, step) < probability
    }

    fn draw(&self, decision: &str, step: usize) -> f64 {
        uniform(&format!(
            "{}/{}/{}/{step}/{decision}",
            self.seed,
            self.state.role.as_str(),
            self.state.turn
        ))
    }

    /// A number that is the same in all turns of an episode.
    fn draw_once(&self, decision: &str) -> f64 {
        uniform(&format!(
            "{}/{}/{decision}",
            self.seed,
            self.state.role.as_str()
        ))
    }
}

/// A number in [0, 1) from the first 13 hexadecimal digits (52 bits) of a hash.
fn uniform(text: &str) -> f64 {
    let hex: String = sha256_hex(text.as_bytes()).chars().take(13).collect();
    let number = u64::from_str_radix(&hex, 16).unwrap_or(0);
    number as f64 / (1_u64 << 52) as f64
}

fn rounded(price: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "prices are at most 10^9, and a cast of a float saturates"
    )]
    let whole = price.round() as i64;
    whole
}
