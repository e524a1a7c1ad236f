//! Why a move is refused, and the sentence that tells the agent what to do instead.
//!
//! The sentences state the precondition plainly and hold no number of the scenario: agents act on them, and the
//! optimizer turns them into descriptions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A reason for refusing a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Another id than the one the token is bound to, existing or not.
    WrongNegotiation,
    /// Arguments that are missing, unknown or of the wrong type or range.
    InvalidArguments,
    /// The negotiation is over.
    Closed,
    /// It is the counterpart's turn.
    OutOfTurn,
    /// Accepting when the counterpart has named no price, whether or not the caller itself has.
    NothingToAccept,
    /// Rejecting when the counterpart has named no price.
    NothingToReject,
    /// Outside the caller's own limit, where the server enforces it.
    OutsideLimit,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 7] = [
        Self::WrongNegotiation,
        Self::InvalidArguments,
        Self::Closed,
        Self::OutOfTurn,
        Self::NothingToAccept,
        Self::NothingToReject,
        Self::OutsideLimit,
    ];

    /// The name as stored and as it stands in a result's `_meta`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WrongNegotiation => "wrong_negotiation",
            Self::InvalidArguments => "invalid_arguments",
            Self::Closed => "closed",
            Self::OutOfTurn => "out_of_turn",
            Self::NothingToAccept => "nothing_to_accept",
            Self::NothingToReject => "nothing_to_reject",
            Self::OutsideLimit => "outside_limit",
        }
    }

    /// What the agent is told. Invalid arguments get a sentence of their own for each case.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::WrongNegotiation => {
                "Your token does not open that negotiation, so nothing was done. Use the negotiation_id you were given."
            }
            Self::InvalidArguments => {
                "The arguments are not what this tool takes, so nothing was done."
            }
            Self::Closed => {
                "The negotiation is over, so the move was not made. No further move is possible."
            }
            Self::OutOfTurn => {
                "It is the counterpart's turn, so the move was not made. You can read with get_negotiation; wait for your turn to make a move."
            }
            Self::NothingToAccept => {
                "The counterpart has not named a price yet, so there is nothing to accept, and you cannot accept your own price. It is still your turn: name a price with propose."
            }
            Self::NothingToReject => {
                "The counterpart has not named a price yet, so there is nothing to reject. It is still your turn: name a price with propose."
            }
            Self::OutsideLimit => {
                "This price is outside your own limit, so the move was not made and no move was used. It is still your turn: name a price inside your limit, or walk away with refuse."
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
