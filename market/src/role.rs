//! The two parties of a negotiation.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A party.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Pays; its limit is the budget.
    Buyer,
    /// Sells; its limit is the reserve.
    Seller,
}

impl Role {
    /// The name as it stands in prompts, views and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Buyer => "buyer",
            Self::Seller => "seller",
        }
    }

    /// The counterpart.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Buyer => Self::Seller,
            Self::Seller => Self::Buyer,
        }
    }

    /// Whether `price` lies inside `limit` for this party: not above it for the buyer, not below it for the
    /// seller.
    pub fn inside(self, limit: i64, price: i64) -> bool {
        match self {
            Self::Buyer => price <= limit,
            Self::Seller => price >= limit,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
