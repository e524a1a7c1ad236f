//! For machines.

use serde_json::{Value, json};

use super::Difference;

/// The difference as JSON: the fields of [`Difference`], with `same` and `only_descriptions` worked out.
pub fn render(difference: &Difference) -> Value {
    json!({
        "same": difference.is_empty(),
        "only_descriptions": !difference.beyond_texts(),
        "difference": difference,
    })
}
