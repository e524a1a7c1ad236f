//! The rules of a negotiation: a pure engine without I/O, clock or tokens.
//!
//! Everything the server decides about a move is decided here, in one order: is the negotiation open, whose
//! turn is it, is the move possible, is it inside the limit. A refusal leaves the state untouched but for the
//! counters.

pub mod refusal;
pub mod view;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::injection::{Injection, Kind};
use crate::role::Role;
use crate::scenario::Scenario;
pub use refusal::Refusal;

/// How a negotiation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// The market lists the item at [`Scenario::listing_price`] as the seller's price; the buyer moves first.
    #[default]
    Listing,
    /// No price stands; the buyer moves first.
    Buyer,
    /// No price stands; the seller moves first.
    Seller,
}

impl Opening {
    /// The name as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Buyer => "buyer",
            Self::Seller => "seller",
        }
    }
}

/// What is fixed when a negotiation is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// Item and limits.
    pub scenario: Scenario,
    /// Whether moves outside the caller's own limit are refused.
    pub enforce: bool,
    /// What the target's view carries.
    pub inject: Option<Injection>,
    /// How it begins.
    pub opening: Opening,
    /// Moves and passes after which it ends as `open`.
    pub max_moves: u32,
    /// Whether moves may carry a note to the counterpart.
    pub notes: bool,
}

/// Where a negotiation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not agreed and not given up; also the outcome when the cap is reached.
    Open,
    /// Agreed.
    Deal,
    /// One party walked away.
    NoDeal,
}

impl Status {
    /// The name as it stands in views and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Deal => "deal",
            Self::NoDeal => "no_deal",
        }
    }
}

/// A move as a party asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Name a price.
    Propose(i64),
    /// Agree to the counterpart's latest price.
    Accept,
    /// Decline the counterpart's latest price without naming one.
    Reject,
    /// Walk away.
    Refuse,
}

/// What happened, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Who.
    pub by: Role,
    /// What.
    pub action: EventKind,
    /// The price named or agreed to.
    pub price: Option<i64>,
    /// Note to the counterpart.
    pub note: Option<String>,
}

/// Kinds of [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The market's listing, in the seller's name; state, not a move.
    List,
    /// A price.
    Propose,
    /// Agreement.
    Accept,
    /// A price declined.
    Reject,
    /// Walking away.
    Refuse,
    /// A turn without a move, passed by the runner.
    Pass,
}

/// A count for each party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerRole {
    /// The buyer's.
    pub buyer: u32,
    /// The seller's.
    pub seller: u32,
}

impl PerRole {
    fn add(&mut self, role: Role) {
        match role {
            Role::Buyer => self.buyer += 1,
            Role::Seller => self.seller += 1,
        }
    }

    /// One party's count.
    pub fn of(self, role: Role) -> u32 {
        match role {
            Role::Buyer => self.buyer,
            Role::Seller => self.seller,
        }
    }
}

/// What the server counts while a negotiation runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Prices named or accepted outside the caller's own limit, executed or not.
    pub attempted_violations: PerRole,
    /// Refused moves by reason.
    pub refused: BTreeMap<Refusal, u32>,
    /// Refusals followed by a valid move of the same party in the same turn.
    pub recovered_refusals: u32,
    /// Moves that went through.
    pub turns: u32,
    /// Turns passed by the runner.
    pub passes: u32,
    /// Views read.
    pub reads: PerRole,
    /// Views of the target that carried the injection.
    pub exposures: u32,
}

/// A negotiation in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiation {
    terms: Terms,
    status: Status,
    turn: Role,
    events: Vec<Event>,
    price: Option<i64>,
    counters: Counters,
    refusals_this_turn: u32,
}

impl Negotiation {
    /// Begins one.
    pub fn new(terms: Terms) -> Self {
        let events = match terms.opening {
            Opening::Listing => vec![Event {
                by: Role::Seller,
                action: EventKind::List,
                price: Some(terms.scenario.listing_price()),
                note: None,
            }],
            Opening::Buyer | Opening::Seller => Vec::new(),
        };
        let turn = match terms.opening {
            Opening::Listing | Opening::Buyer => Role::Buyer,
            Opening::Seller => Role::Seller,
        };
        Self {
            terms,
            status: Status::Open,
            turn,
            events,
            price: None,
            counters: Counters::default(),
            refusals_this_turn: 0,
        }
    }

    /// What was fixed at the start.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The agreed price of a deal.
    pub fn price(&self) -> Option<i64> {
        self.price
    }

    /// Everything that happened, the listing included.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What was counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Moves and passes that are left.
    pub fn moves_left(&self) -> u32 {
        self.terms
            .max_moves
            .saturating_sub(self.counters.turns + self.counters.passes)
    }

    /// Whose turn it is; `None` once closed or at the cap.
    pub fn next_role(&self) -> Option<Role> {
        (self.status == Status::Open && self.moves_left() > 0).then_some(self.turn)
    }

    /// The limit that a party's token carries: the scenario's, or the claimed one under the control whose
    /// notice is true.
    pub fn limit(&self, role: Role) -> i64 {
        let own = self.terms.scenario.limit(role);
        match &self.terms.inject {
            Some(injection) if injection.kind == Kind::True && injection.target == role => {
                injection.claimed(&self.terms.scenario).unwrap_or(own)
            }
            _ => own,
        }
    }

    /// A party's latest price.
    pub fn latest_price(&self, by: Role) -> Option<i64> {
        self.events
            .iter()
            .rev()
            .find(|event| {
                event.by == by && matches!(event.action, EventKind::List | EventKind::Propose)
            })
            .and_then(|event| event.price)
    }

    /// Makes a move, or refuses it and leaves everything but the counters as it was.
    ///
    /// # Errors
    /// The reason, which is also counted.
    pub fn act(&mut self, role: Role, action: Action, note: Option<String>) -> Result<(), Refusal> {
        match self.check(role, action) {
            Ok(price) => {
                self.apply(role, action, price, note);
                Ok(())
            }
            Err(refusal) => {
                self.count_refusal(role, refusal);
                Err(refusal)
            }
        }
    }

    /// Counts a refusal decided before the rules were asked (wrong id, bad arguments).
    pub fn count_refusal(&mut self, role: Role, refusal: Refusal) {
        *self.counters.refused.entry(refusal).or_default() += 1;
        if self.next_role() == Some(role) {
            self.refusals_this_turn += 1;
        }
    }

    /// Decides a move; gives the price it stands for. Counts attempts outside the limit, executed or not.
    fn check(&mut self, role: Role, action: Action) -> Result<Option<i64>, Refusal> {
        let Some(turn) = self.next_role() else {
            return Err(Refusal::Closed);
        };
        if turn != role {
            return Err(Refusal::OutOfTurn);
        }
        let offered = self.latest_price(role.other());
        let price = match action {
            Action::Propose(price) => Some(price),
            // Only the counterpart's price is looked at, so nobody can accept their own.
            Action::Accept => Some(offered.ok_or(Refusal::NothingToAccept)?),
            Action::Reject if offered.is_none() => return Err(Refusal::NothingToReject),
            Action::Reject | Action::Refuse => None,
        };
        if price.is_some_and(|price| !role.inside(self.limit(role), price)) {
            self.counters.attempted_violations.add(role);
            if self.terms.enforce {
                return Err(Refusal::OutsideLimit);
            }
        }
        Ok(price)
    }

    fn apply(&mut self, role: Role, action: Action, price: Option<i64>, note: Option<String>) {
        let kind = match action {
            Action::Propose(_) => EventKind::Propose,
            Action::Accept => EventKind::Accept,
            Action::Reject => EventKind::Reject,
            Action::Refuse => EventKind::Refuse,
        };
        self.events.push(Event {
            by: role,
            action: kind,
            price,
            note,
        });
        match action {
            Action::Accept => {
                self.status = Status::Deal;
                self.price = price;
            }
            Action::Refuse => self.status = Status::NoDeal,
            Action::Propose(_) | Action::Reject => {}
        }
        self.counters.turns += 1;
        self.counters.recovered_refusals += self.refusals_this_turn;
        self.end_turn();
    }

    /// Passes the turn of a party that made no move; false when it is not its turn.
    pub fn pass(&mut self, role: Role) -> bool {
        if self.next_role() != Some(role) {
            return false;
        }
        self.events.push(Event {
            by: role,
            action: EventKind::Pass,
            price: None,
            note: None,
        });
        self.counters.passes += 1;
        self.end_turn();
        true
    }

    fn end_turn(&mut self) {
        self.turn = self.turn.other();
        self.refusals_this_turn = 0;
    }
}

#[cfg(test)]
mod tests;
