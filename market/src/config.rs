//! What can be set about a market server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use secrecy::SecretString;

/// Settings of a market server. The default binds a free port on loopback.
#[derive(Debug, Clone)]
pub struct MarketConfig {
    /// Address to listen on; port 0 takes a free one.
    pub bind: SocketAddr,
    /// Secret of the admin API; a random one is made when absent.
    pub admin_secret: Option<SecretString>,
    /// Host names, without port, that requests may name. Loopback names by default.
    pub allowed_hosts: Vec<String>,
    /// Origins that browsers may come from; `http://localhost:*` and the like by default.
    pub allowed_origins: Vec<String>,
    /// Largest request body, bytes.
    pub max_body_bytes: usize,
    /// Negotiations that may be open at once.
    pub max_negotiations: usize,
    /// Toolset versions that may be registered.
    pub max_toolsets: usize,
    /// A negotiation that nobody touched for so long is dropped, with its tokens.
    pub idle_timeout: Duration,
    /// Tokens are good for so long from opening, however busy the negotiation is.
    pub token_lifetime: Duration,
    /// A negotiation that came to its end can be read for so long; then it is dropped.
    pub closed_retention: Duration,
    /// A request that is not answered by then is given up, for example because its body never arrives.
    pub request_timeout: Duration,
    /// On shutdown, requests in progress get so long to end.
    pub shutdown_grace: Duration,
    /// Address under which clients reach the market (`https://market.example`), where a proxy stands in front;
    /// without it the `Host` header of a request tells.
    pub public_url: Option<String>,
}

impl Default for MarketConfig {
    fn default() -> Self {
        Self {
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            admin_secret: None,
            allowed_hosts: ["localhost", "127.0.0.1", "::1"]
                .map(str::to_owned)
                .to_vec(),
            allowed_origins: ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]
                .map(str::to_owned)
                .to_vec(),
            max_body_bytes: 1 << 20,
            max_negotiations: 10_000,
            max_toolsets: 1_000,
            idle_timeout: Duration::from_secs(3600),
            token_lifetime: Duration::from_secs(24 * 3600),
            closed_retention: Duration::from_secs(900),
            request_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(5),
            public_url: None,
        }
    }
}
