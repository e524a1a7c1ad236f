//! The MCP side: five tools whose descriptions are data.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CustomRequest, CustomResult, ErrorCode, Implementation, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use crate::registry::{Answer, Principal, Registry};
use crate::rules::Refusal;

/// Key of a refused result's `_meta` that holds the reason.
pub const REFUSAL_META: &str = "whetstone/refusal";

/// One handler serves every request; who is calling comes with each of them.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) registry: Arc<Registry>,
}

impl Handler {
    /// The gate puts the principal into every request that reaches this handler.
    fn principal(context: &RequestContext<RoleServer>) -> Result<Principal, ErrorData> {
        context
            .extensions
            .get::<http::request::Parts>()
            .and_then(|parts| parts.extensions.get::<Principal>())
            .cloned()
            .ok_or_else(|| ErrorData::internal_error("the request has no principal", None))
    }
}

fn refused(reason: Refusal, sentence: String) -> CallToolResult {
    let meta = Map::from_iter([(REFUSAL_META.to_owned(), json!(reason.as_str()))]);
    CallToolResult::error(vec![ContentBlock::text(sentence)]).with_meta(Some(MetaObject(meta)))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(
            Implementation::new("whetstone-market", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let who = Self::principal(&context)?;
        Ok(ListToolsResult::with_all_items(who.catalog.tools.clone())
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let who = Self::principal(&context)?;
        let arguments = request.arguments.unwrap_or_default();
        match self.registry.call(&who, &request.name, &arguments) {
            Answer::Done(value) => Ok(CallToolResult::structured(value).into()),
            Answer::Refused { reason, sentence } => Ok(refused(reason, sentence).into()),
            Answer::UnknownTool => {
                let name: String = request
                    .name
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(80)
                    .collect();
                Err(ErrorData::invalid_params(
                    format!("unknown tool `{name}`"),
                    None,
                ))
            }
        }
    }

    /// Malformed parameters of a known method arrive here; without this they would be "method not found", and
    /// HTTP 404 in the newest protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "tools/call" => {
                let who = Self::principal(&context)?;
                let tool = request
                    .params
                    .as_ref()
                    .and_then(|params| params.get("name"))
                    .and_then(Value::as_str);
                self.registry.malformed(&who, tool.unwrap_or_default());
                let mut result = json!({
                    "content": [{"type": "text", "text": "`arguments` must be a JSON object, and `name` a text. Nothing was done and no move was used; send the call again."}],
                    "isError": true,
                    "_meta": {REFUSAL_META: Refusal::InvalidArguments.as_str()},
                });
                if context
                    .protocol_version()
                    .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
                {
                    result["resultType"] = json!("complete");
                }
                Ok(CustomResult(result))
            }
            "tools/list" => Err(ErrorData::invalid_params(
                "malformed params of tools/list",
                None,
            )),
            method => {
                let method: String = method
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(80)
                    .collect();
                Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
            }
        }
    }
}
