//! A toolset version ready to be served: checked, converted, with its id on every tool.

use rmcp::model::Tool;
use serde_json::{Map, Value, json};
use trajectory::Toolset;

use crate::contract::{self, ContractError};

/// Key of a tool's `_meta` that holds the id of its version.
pub const TOOLSET_META: &str = "whetstone/toolset";

/// A version as rmcp serves it.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) id: String,
    pub(crate) notes: bool,
    pub(crate) tools: Vec<Tool>,
}

/// A version that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// Not a version of the market's tools.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// Not a list of tools in the protocol's sense.
    #[error("the toolset is not a valid list of MCP tools")]
    Protocol(#[from] serde_json::Error),
}

impl Catalog {
    pub(crate) fn new(toolset: &Toolset) -> Result<Self, CatalogError> {
        let notes = contract::check(toolset)?;
        let id = toolset.id();
        let mut tools = Vec::with_capacity(toolset.tools().len());
        for tool in toolset.tools() {
            let mut raw: Map<String, Value> = tool.raw().clone();
            raw.insert("_meta".to_owned(), json!({TOOLSET_META: id}));
            tools.push(serde_json::from_value(Value::Object(raw))?);
        }
        Ok(Self { id, notes, tools })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_receives_has_the_versions_id() {
        for toolset in [
            contract::baseline(),
            contract::with_notes(&contract::baseline()),
        ] {
            let catalog = Catalog::new(&toolset).unwrap();
            let received =
                Toolset::from_value(serde_json::to_value(&catalog.tools).unwrap()).unwrap();
            assert_eq!(received.id(), toolset.id());
            assert_eq!(
                catalog.tools[0].meta.as_ref().unwrap().0[TOOLSET_META],
                json!(toolset.id())
            );
        }
    }
}
