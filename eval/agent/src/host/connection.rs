//! One party's connection to the MCP server.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ErrorData,
    Implementation, JsonObject,
};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceError, ServiceExt};
use secrecy::{ExposeSecret, SecretString};
use trajectory::Toolset;

use super::{HostError, PartyConfig, convert};
use crate::causes::in_one_line;

/// An answer of the server to a tool call, whether the tool liked it or not.
pub(super) enum Answer {
    Result(CallToolResult),
    /// A JSON-RPC error: the server is there, and did not take the request.
    Refused(ErrorData),
}

pub(super) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    party: String,
    url: String,
    token: SecretString,
    timeout: Duration,
}

impl Connection {
    pub(super) async fn open(config: &PartyConfig) -> Result<Self, HostError> {
        let failed = |message: String| HostError::Transport {
            party: config.party.clone(),
            doing: "connecting".to_owned(),
            message: without_secret(&message, &config.token),
            url: config.mcp_url.clone(),
        };
        let transport = StreamableHttpClientTransport::with_client(
            config.http.clone(),
            StreamableHttpClientTransportConfig::with_uri(config.mcp_url.as_str())
                .auth_header(config.token.expose_secret()),
        );
        let client = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("whetstone", env!("CARGO_PKG_VERSION")),
        );
        let service = match tokio::time::timeout(config.call_timeout, client.serve(transport)).await
        {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(failed(in_one_line(&error))),
            Err(_) => return Err(failed(no_answer(config.call_timeout))),
        };
        Ok(Self {
            service,
            party: config.party.clone(),
            url: config.mcp_url.clone(),
            token: config.token.clone(),
            timeout: config.call_timeout,
        })
    }

    pub(super) async fn list_tools(&self) -> Result<Toolset, HostError> {
        let doing = "listing the tools";
        let tools = match tokio::time::timeout(self.timeout, self.service.list_all_tools()).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(error)) => return Err(self.failed(doing, &in_one_line(&error))),
            Err(_) => return Err(self.failed(doing, &no_answer(self.timeout))),
        };
        convert::toolset(&tools).map_err(|message| HostError::Tools {
            url: self.url.clone(),
            message,
        })
    }

    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<Answer, HostError> {
        let doing = format!("calling `{tool}`");
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match tokio::time::timeout(self.timeout, self.service.call_tool(params)).await {
            Ok(Ok(result)) => Ok(Answer::Result(result)),
            Ok(Err(ServiceError::McpError(error))) => Ok(Answer::Refused(error)),
            Ok(Err(error)) => Err(self.failed(&doing, &in_one_line(&error))),
            Err(_) => Err(self.failed(&doing, &no_answer(self.timeout))),
        }
    }

    pub(super) async fn close(mut self) {
        // Nothing is left to be saved on the way out, so a server that does not let go is left behind.
        let _ = self
            .service
            .close_with_timeout(Duration::from_secs(5))
            .await;
    }

    #[cfg(test)]
    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    fn failed(&self, doing: &str, message: &str) -> HostError {
        HostError::Transport {
            party: self.party.clone(),
            doing: doing.to_owned(),
            message: without_secret(message, &self.token),
            url: self.url.clone(),
        }
    }
}

fn no_answer(timeout: Duration) -> String {
    format!("no answer within {} s", timeout.as_secs_f64())
}

fn without_secret(text: &str, secret: &SecretString) -> String {
    let secret = secret.expose_secret();
    if secret.is_empty() {
        text.to_owned()
    } else {
        text.replace(secret, "[token]")
    }
}
