//! The market as a server: routes, gates, start and stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::catalog::CatalogError;
use crate::config::MarketConfig;
use crate::gate::{self, Gate, MCP_PATH, METADATA_PATH};
use crate::handler::Handler;
use crate::registry::Registry;
use crate::{admin, token};

/// The market could not be started or went down.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    /// The address cannot be listened on.
    #[error("listening on {address}: choose another address with --bind")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The baseline cannot be served.
    #[error("the built-in toolset")]
    Catalog(#[from] CatalogError),
    /// No random numbers for the admin secret.
    #[error("the operating system gave no random numbers: {0}")]
    Random(#[from] rand::rngs::SysError),
    /// The server stopped with an error.
    #[error("the market stopped")]
    Serve(#[from] std::io::Error),
}

/// A running market. Dropping it stops the server without waiting.
#[derive(Debug)]
pub struct RunningMarket {
    address: SocketAddr,
    admin_secret: SecretString,
    stop: CancellationToken,
    grace: Duration,
    task: JoinHandle<std::io::Result<()>>,
}

impl RunningMarket {
    /// The address it really listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Base address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Address of the MCP endpoint.
    pub fn mcp_url(&self) -> String {
        format!("{}{MCP_PATH}", self.url())
    }

    /// Secret of the admin API.
    pub fn admin_secret(&self) -> &SecretString {
        &self.admin_secret
    }

    /// Stops it: no new requests; running ones get [`MarketConfig::shutdown_grace`] to end.
    ///
    /// # Errors
    /// The server had failed before.
    pub async fn shutdown(mut self) -> Result<(), MarketError> {
        self.stop.cancel();
        let grace = self.grace;
        if let Ok(ended) = tokio::time::timeout(grace, self.ended()).await {
            return ended;
        }
        // Somebody keeps half a request open; it is not waited for.
        self.task.abort();
        Ok(())
    }

    /// Waits until the server ends by itself or by [`RunningMarket::shutdown`].
    ///
    /// # Errors
    /// The server failed.
    pub async fn ended(&mut self) -> Result<(), MarketError> {
        match (&mut self.task).await {
            Ok(result) => Ok(result?),
            Err(join) => Err(std::io::Error::other(join).into()),
        }
    }
}

impl Drop for RunningMarket {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts a market and returns once it listens.
///
/// # Errors
/// The address is taken, or the system has no random numbers.
pub async fn start(config: MarketConfig) -> Result<RunningMarket, MarketError> {
    let admin_secret = match &config.admin_secret {
        Some(secret) => secret.clone(),
        None => token::mint("wa_")?,
    };
    let registry = Arc::new(Registry::new(&config)?);
    let stop = CancellationToken::new();
    let app = app(&config, &registry, &admin_secret, &stop);

    let bind = |source| MarketError::Bind {
        address: config.bind,
        source,
    };
    let listener = TcpListener::bind(config.bind).await.map_err(bind)?;
    let address = listener.local_addr().map_err(bind)?;
    // Without it a small second write waits for the delayed ACK of the first: 40 ms a call.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let stopped = stop.clone();
    let task = tokio::spawn(async move {
        axum::serve(listener, app)
            .with_graceful_shutdown(async move { stopped.cancelled().await })
            .await
    });
    Ok(RunningMarket {
        address,
        admin_secret,
        stop,
        grace: config.shutdown_grace,
        task,
    })
}

fn app(
    config: &MarketConfig,
    registry: &Arc<Registry>,
    admin_secret: &SecretString,
    stop: &CancellationToken,
) -> Router {
    let state = Gate {
        registry: Arc::clone(registry),
        admin: token::hash(admin_secret.expose_secret()),
        hosts: config.allowed_hosts.clone().into(),
        origins: config.allowed_origins.clone().into(),
        max_body_bytes: config.max_body_bytes,
        request_timeout: config.request_timeout,
        public_url: config
            .public_url
            .as_deref()
            .map(|url| url.trim_end_matches('/').into()),
    };
    let handler = Handler {
        registry: Arc::clone(registry),
    };
    // Stateless: what a caller may do hangs on its token alone, so there is no session to steal or to fill up.
    let http = StreamableHttpServerConfig::default()
        .with_allowed_hosts(config.allowed_hosts.clone())
        .with_allowed_origins(config.allowed_origins.clone())
        .enforce_origin_validation()
        .with_max_request_body_bytes(config.max_body_bytes)
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_cancellation_token(stop.child_token());
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        http,
    );
    let mcp = Router::new()
        .route_service(MCP_PATH, service)
        .layer(middleware::from_fn_with_state(state.clone(), gate::party));
    let admin = admin::router()
        .layer(DefaultBodyLimit::max(config.max_body_bytes))
        .layer(middleware::from_fn_with_state(state.clone(), gate::admin));
    Router::new()
        .route(METADATA_PATH, get(gate::metadata))
        .route(&format!("{METADATA_PATH}{MCP_PATH}"), get(gate::metadata))
        .merge(mcp)
        .merge(admin)
        .layer(middleware::from_fn_with_state(state.clone(), gate::origin))
        .with_state(state)
}
