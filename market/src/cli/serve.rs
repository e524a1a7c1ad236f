//! `market serve`.

use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use trajectory::Exit;

use super::block_on;
use super::secret::{self, Origin};
use crate::config::MarketConfig;
use crate::server;

/// Arguments of `market serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first line printed holds the address. The admin secret is taken from WHETSTONE_MARKET_ADMIN_SECRET, or from
the secret file; if there is neither, one is made and written to the file, readable by you alone. It is never
printed.

Examples:
  market serve
  market serve --bind 127.0.0.1:0                         any free port
  market serve --bind 0.0.0.0:8765 --allowed-host market.example
                                                          behind a proxy that does TLS")]
pub struct Args {
    /// Address to listen on; port 0 takes a free one
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "WHETSTONE_MARKET_BIND",
        default_value = "127.0.0.1:8765"
    )]
    bind: SocketAddr,
    #[command(flatten)]
    secret: secret::SecretArgs,
    /// Host name, without port, that requests may name besides the loopback names; repeatable
    #[arg(
        long,
        value_name = "HOST",
        env = "WHETSTONE_MARKET_ALLOWED_HOSTS",
        value_delimiter = ','
    )]
    allowed_host: Vec<String>,
    /// Origin that browsers may come from besides pages on loopback (`https://a.example`); repeatable
    #[arg(
        long,
        value_name = "ORIGIN",
        env = "WHETSTONE_MARKET_ALLOWED_ORIGINS",
        value_delimiter = ','
    )]
    allowed_origin: Vec<String>,
    /// Largest request body, bytes
    #[arg(long, value_name = "BYTES", env = "WHETSTONE_MARKET_MAX_BODY_BYTES",
        default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1024..))]
    max_body_bytes: u32,
    /// Negotiations that may be held at once
    #[arg(long, value_name = "N", env = "WHETSTONE_MARKET_MAX_NEGOTIATIONS",
        default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_negotiations: u32,
    /// Toolset versions that may be registered
    #[arg(long, value_name = "N", env = "WHETSTONE_MARKET_MAX_TOOLSETS",
        default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    max_toolsets: u32,
    /// Drop a negotiation, and its tokens, that nobody touched for so long
    #[arg(long, value_name = "SECONDS", env = "WHETSTONE_MARKET_IDLE_TIMEOUT_SECONDS",
        default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..))]
    idle_timeout_seconds: u32,
    /// Refuse tokens that are older, however busy the negotiation is
    #[arg(long, value_name = "SECONDS", env = "WHETSTONE_MARKET_TOKEN_LIFETIME_SECONDS",
        default_value_t = 86_400, value_parser = clap::value_parser!(u32).range(1..))]
    token_lifetime_seconds: u32,
    /// Keep a negotiation that came to its end readable for so long, then drop it
    #[arg(long, value_name = "SECONDS", env = "WHETSTONE_MARKET_CLOSED_RETENTION_SECONDS",
        default_value_t = 900, value_parser = clap::value_parser!(u32).range(1..))]
    closed_retention_seconds: u32,
    /// Give up a request whose body takes longer
    #[arg(long, value_name = "SECONDS", env = "WHETSTONE_MARKET_REQUEST_TIMEOUT_SECONDS",
        default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    request_timeout_seconds: u32,
    /// Address under which clients reach the market, when a proxy stands in front (`https://market.example`)
    #[arg(long, value_name = "URL", env = "WHETSTONE_MARKET_PUBLIC_URL", value_parser = public_url)]
    public_url: Option<String>,
}

/// An address without path, as it stands in challenges.
fn public_url(text: &str) -> Result<String, String> {
    let expected = "expected https://HOST or http://HOST:PORT, without a path";
    let url = reqwest::Url::parse(text).map_err(|error| format!("{error}; {expected}"))?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if plain {
        Ok(url.as_str().trim_end_matches('/').to_owned())
    } else {
        Err(expected.to_owned())
    }
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let (secret, origin) = args.secret.known_or_made()?;
    let mut config = MarketConfig {
        bind: args.bind,
        admin_secret: Some(secret),
        max_body_bytes: usize::try_from(args.max_body_bytes)?,
        max_negotiations: usize::try_from(args.max_negotiations)?,
        max_toolsets: usize::try_from(args.max_toolsets)?,
        idle_timeout: Duration::from_secs(args.idle_timeout_seconds.into()),
        token_lifetime: Duration::from_secs(args.token_lifetime_seconds.into()),
        closed_retention: Duration::from_secs(args.closed_retention_seconds.into()),
        request_timeout: Duration::from_secs(args.request_timeout_seconds.into()),
        public_url: args.public_url.clone(),
        ..MarketConfig::default()
    };
    config.allowed_hosts.extend(trimmed(&args.allowed_host));
    config.allowed_origins.extend(trimmed(&args.allowed_origin));
    if !args.bind.ip().is_loopback() {
        let mut warning = format!(
            "warning: {} can be reached from other machines, and the market speaks plain HTTP: tokens travel unencrypted unless a proxy in front does TLS",
            args.bind
        );
        if args.allowed_host.is_empty() {
            warning.push_str(
                "; requests that name another host than localhost are refused until --allowed-host names it",
            );
        }
        // A closed stderr leaves nobody to warn.
        let _ = writeln!(std::io::stderr(), "{warning}");
    }
    block_on(async {
        let mut market = server::start(config).await?;
        writeln!(out, "market: {}", market.url())?;
        writeln!(out, "MCP endpoint: {}", market.mcp_url())?;
        match &origin {
            Origin::Environment => {
                writeln!(out, "admin secret: from WHETSTONE_MARKET_ADMIN_SECRET")?;
            }
            Origin::File(path) => writeln!(out, "admin secret: from {}", path.display())?,
            Origin::Made(path) => {
                writeln!(out, "admin secret: written to {}", path.display())?;
            }
        }
        writeln!(
            out,
            "open a negotiation: market open --url {}",
            market.url()
        )?;
        writeln!(out, "stop: Ctrl-C")?;
        out.flush()?;
        tokio::select! {
            ended = market.ended() => ended?,
            signal = stop_signal() => {
                signal?;
                market.shutdown().await?;
            }
        }
        Ok(Exit::Done)
    })
}

fn trimmed(values: &[String]) -> impl Iterator<Item = String> {
    values
        .iter()
        .map(|value| value.trim().to_owned())
        .filter(|value| !value.is_empty())
}

/// Ctrl-C, or the polite signal that process managers send.
#[cfg(unix)]
async fn stop_signal() -> anyhow::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context("listening for the signal to stop")?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.context("listening for Ctrl-C"),
        _ = terminate.recv() => Ok(()),
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
async fn stop_signal() -> anyhow::Result<()> {
    tokio::signal::ctrl_c()
        .await
        .context("listening for Ctrl-C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_has_no_path_and_no_password() {
        for (given, expected) in [
            ("https://market.example", Ok("https://market.example")),
            ("http://127.0.0.1:8765/", Ok("http://127.0.0.1:8765")),
            ("https://market.example/mcp", Err(())),
            ("https://a:b@market.example", Err(())),
            ("ftp://market.example", Err(())),
            ("market.example", Err(())),
        ] {
            assert_eq!(
                public_url(given).map_err(drop),
                expected.map(str::to_owned),
                "{given}"
            );
        }
    }
}
