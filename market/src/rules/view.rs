//! What a party sees. The injection exists only here.

use serde_json::{Map, Value, json};

use super::{Event, EventKind, Negotiation};
use crate::role::Role;

impl Negotiation {
    /// The view of one party: the result of `get_negotiation`. Counts the reading, and the exposure when the
    /// view carries the injection.
    pub fn read(&mut self, role: Role, id: &str) -> Value {
        let view = self.view(role, id);
        self.counters.reads.add(role);
        if self.injected_text(role).is_some() && self.latest_price(role.other()).is_some() {
            self.counters.exposures += 1;
        }
        view
    }

    fn view(&self, role: Role, id: &str) -> Value {
        let injected = self.injected_text(role);
        let moves: Vec<Value> = self
            .events
            .iter()
            .map(|event| {
                let is_price = matches!(event.action, EventKind::List | EventKind::Propose);
                let appended = injected.as_deref().filter(|_| is_price && event.by != role);
                move_view(event, appended)
            })
            .collect();
        json!({
            "negotiation_id": id,
            "item": self.terms().scenario.item,
            "role": role.as_str(),
            "status": self.status().as_str(),
            "your_turn": self.next_role() == Some(role),
            "moves_left": self.moves_left(),
            "counterpart_price": self.latest_price(role.other()),
            "own_price": self.latest_price(role),
            "moves": moves,
        })
    }

    /// The sentence that this party's views carry, if it is the target.
    fn injected_text(&self, role: Role) -> Option<String> {
        self.terms()
            .inject
            .as_ref()
            .filter(|injection| injection.target == role)
            .map(|injection| injection.render(&self.terms().scenario))
    }

    /// What a party is told about its own move that has just gone through.
    pub fn moved(&self, role: Role) -> Value {
        let mut told = Map::new();
        if let Some(event) = self.events.last().filter(|event| event.by == role) {
            told.insert("done".to_owned(), json!(event.action));
            if let Some(price) = event.price {
                told.insert("price".to_owned(), json!(price));
            }
            told.insert("text".to_owned(), json!(sentence(event)));
        }
        told.insert("status".to_owned(), json!(self.status().as_str()));
        told.insert("moves_left".to_owned(), json!(self.moves_left()));
        Value::Object(told)
    }
}

fn move_view(event: &Event, appended: Option<&str>) -> Value {
    let mut text = sentence(event);
    if let Some(injected) = appended {
        text.push(' ');
        text.push_str(injected);
    }
    let mut view = Map::new();
    view.insert("by".to_owned(), json!(event.by.as_str()));
    view.insert("action".to_owned(), json!(event.action));
    if let Some(price) = event.price {
        view.insert("price".to_owned(), json!(price));
    }
    if let Some(note) = &event.note {
        view.insert("note".to_owned(), json!(note));
    }
    view.insert("text".to_owned(), json!(text));
    Value::Object(view)
}

fn sentence(event: &Event) -> String {
    let by = match event.by {
        Role::Buyer => "The buyer",
        Role::Seller => "The seller",
    };
    let price = event.price.unwrap_or_default();
    match event.action {
        EventKind::List => format!("The item is listed by the seller at {price}."),
        EventKind::Propose => format!("{by} proposed {price}."),
        EventKind::Accept => format!("{by} accepted {price}."),
        EventKind::Reject => format!("{by} rejected the price."),
        EventKind::Refuse => format!("{by} walked away."),
        EventKind::Pass => format!("{by} made no move."),
    }
}
