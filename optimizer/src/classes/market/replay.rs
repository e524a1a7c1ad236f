//! The state of a negotiation at each recorded call: which prices stood, and whose limit applied.

use serde_json::{Map, Value};
use trajectory::{Call, EpisodeRecord};

use super::{ACCEPT, PRICE, PROPOSE, READ, REFUSE, REJECT, Turns};
use crate::classes::generic;

/// One call with the state before it.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) call: &'a Call,
    pub(super) role: &'a str,
    /// The counterpart's latest price when the call was made.
    pub(super) counterpart: Option<i64>,
    /// The caller's limit.
    pub(super) limit: Option<i64>,
    /// The price the call stands for: the one proposed, or the one accepted.
    pub(super) price: Option<i64>,
    /// Whether only the limit stood between the call and its effect: it went through, or was refused for the limit.
    pub(super) possible: bool,
    /// Whether the call was a move that went through.
    pub(super) moved: bool,
    /// Whether the negotiation had been read by this party before.
    pub(super) has_read: bool,
}

impl Step<'_> {
    /// Whether the price the call stands for is outside the caller's limit.
    pub(super) fn is_outside(&self) -> bool {
        self.price
            .zip(self.limit)
            .is_some_and(|(price, limit)| is_outside(self.role, price, limit))
    }
}

/// An episode, call by call.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    pub(super) steps: Vec<Step<'a>>,
    /// `Episode::attributes`, parsed.
    pub(super) attributes: Map<String, Value>,
}

/// Whether a price is outside a party's limit.
pub(super) fn is_outside(role: &str, price: i64, limit: i64) -> bool {
    if role == "buyer" {
        price > limit
    } else {
        price < limit
    }
}

/// Prices the market takes end here.
const LARGEST_PRICE: f64 = 1e9;

/// A whole price. JSON writes it as `120` or as `120.0`; `"120"` is a text.
fn whole(price: &Value) -> Option<i64> {
    let price = price.as_f64()?;
    if price.fract().abs() > f64::EPSILON || !(1.0..=LARGEST_PRICE).contains(&price) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number up to 10^9")]
    let price = price as i64;
    Some(price)
}

impl<'a> Replay<'a> {
    pub(super) fn of(record: &'a EpisodeRecord) -> Self {
        let episode = &record.episode;
        let attributes = episode
            .attributes
            .as_deref()
            .and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok())
            .unwrap_or_default();
        let listed = attributes
            .get("opening")
            .and_then(Value::as_str)
            .is_none_or(|o| o == "listing");
        let mut prices = Prices {
            buyer: None,
            seller: attributes
                .get("listing_price")
                .and_then(Value::as_i64)
                .filter(|_| listed),
        };
        let mut has_read = [false, false];
        let mut steps = Vec::with_capacity(record.calls.len());
        for call in &record.calls {
            let Some(role) = call.role.as_deref() else {
                continue;
            };
            let buyer = role == "buyer";
            let limit = if buyer {
                episode.budget
            } else {
                episode.reserve
            };
            let counterpart = prices.of(!buyer);
            let price = match call.tool.as_str() {
                PROPOSE => generic::parsed_arguments(call).and_then(|a| whole(a.get(PRICE)?)),
                ACCEPT => counterpart,
                _ => None,
            };
            let is_move = matches!(call.tool.as_str(), PROPOSE | ACCEPT | REJECT | REFUSE);
            let moved = is_move && !generic::failed(call);
            let possible = moved || call.error_class.as_deref() == Some("outside_limit");
            steps.push(Step {
                call,
                role,
                counterpart,
                limit,
                price,
                possible,
                moved,
                has_read: has_read[usize::from(buyer)],
            });
            if call.tool == READ && !generic::failed(call) {
                has_read[usize::from(buyer)] = true;
                prices.learn(call, buyer);
            } else if let (true, true, Some(price)) = (moved, call.tool == PROPOSE, price) {
                prices.set(buyer, price);
            }
        }
        Self { steps, attributes }
    }

    /// Steps by turn and role, in order.
    pub(super) fn turns(&self) -> Turns<'_, 'a> {
        let mut turns = Turns::new();
        for step in &self.steps {
            if let Some(turn) = step.call.turn {
                turns.entry((turn, step.role)).or_default().push(step);
            }
        }
        turns
    }
}

/// The latest price of each party.
#[derive(Debug)]
struct Prices {
    buyer: Option<i64>,
    seller: Option<i64>,
}

impl Prices {
    fn of(&self, buyer: bool) -> Option<i64> {
        if buyer { self.buyer } else { self.seller }
    }

    fn set(&mut self, buyer: bool, price: i64) {
        if buyer {
            self.buyer = Some(price);
        } else {
            self.seller = Some(price);
        }
    }

    /// What the server showed a reader is the truth, whatever was reckoned before.
    fn learn(&mut self, call: &Call, buyer: bool) {
        let Some(Value::Object(view)) = call
            .result
            .as_deref()
            .and_then(|t| serde_json::from_str(t).ok())
        else {
            return;
        };
        for (key, whose) in [("counterpart_price", !buyer), ("own_price", buyer)] {
            if let Some(price) = view.get(key).and_then(Value::as_i64) {
                self.set(whose, price);
            }
        }
    }
}
