//! Tokens and secrets where they do not belong; hosts and pages that are foreign; bodies that are too big.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use anyhow::Context as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::probe::{ACCEPT, Probe, Reply, bearer, list, terms};
use super::{Check, Seen, attempt};

const CHALLENGE: &str = "HTTP 401 with WWW-Authenticate: Bearer";

pub(super) async fn run(probe: &Probe) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, header) in [
        ("a header that is no bearer token", "Basic YTpi"),
        ("an empty bearer token", "Bearer "),
        (
            "an unknown token",
            "Bearer wb_0000000000000000000000000000000000000000000000000000000000000000",
        ),
    ] {
        let attack = async {
            let reply = probe
                .post(&[("authorization", header.to_owned())], &list())
                .await?;
            Ok((reply.describe(), reply.is_challenge()))
        };
        checks.push(attempt(name, CHALLENGE, attack).await);
    }
    checks.push(
        attempt(
            "the token of a closed negotiation",
            CHALLENGE,
            closed_token(probe),
        )
        .await,
    );
    checks.push(
        attempt("the admin secret at the MCP endpoint", CHALLENGE, async {
            let reply = probe.post(&[bearer(&probe.secret)], &list()).await?;
            Ok((reply.describe(), reply.is_challenge()))
        })
        .await,
    );
    checks.push(
        attempt(
            "a party's token at the admin API",
            "HTTP 401 for opening, reading, passing, closing and registering",
            party_at_admin(probe),
        )
        .await,
    );
    checks.push(
        attempt(
            "the challenge leads to the resource's metadata",
            "a document that names the MCP endpoint",
            metadata(probe),
        )
        .await,
    );
    for (name, header, value) in [
        ("a foreign Host header", "host", "evil.example"),
        ("a foreign Origin header", "origin", "http://evil.example"),
    ] {
        let attack = async {
            let game = probe.open(&terms()).await?;
            let headers = [(header, value.to_owned()), bearer(&game.buyer_token)];
            let reply = probe.post(&headers, &list()).await?;
            Ok((reply.describe(), reply.status == 403))
        };
        checks.push(attempt(name, "HTTP 403 in spite of a good token", attack).await);
    }
    checks.push(
        attempt(
            "a body of 10 MB",
            "HTTP 413, nothing changed",
            big_body(probe),
        )
        .await,
    );
    checks
}

async fn closed_token(probe: &Probe) -> anyhow::Result<Seen> {
    let game = probe.open(&terms()).await?;
    let headers = [bearer(&game.buyer_token)];
    let before = probe.post(&headers, &list()).await?;
    probe.admin.close(&game.negotiation_id).await?;
    let after = probe.post(&headers, &list()).await?;
    Ok((
        format!("HTTP {} before, then {}", before.status, after.describe()),
        before.status == 200 && after.is_challenge(),
    ))
}

async fn party_at_admin(probe: &Probe) -> anyhow::Result<Seen> {
    let game = probe.open(&terms()).await?;
    let before = probe.state(&game.negotiation_id).await?;
    let one = format!("/admin/negotiations/{}", game.negotiation_id);
    let mut seen = Vec::new();
    for (method, path) in [
        (reqwest::Method::POST, "/admin/negotiations".to_owned()),
        (reqwest::Method::POST, "/admin/toolsets".to_owned()),
        (reqwest::Method::GET, one.clone()),
        (reqwest::Method::POST, format!("{one}/pass")),
        (reqwest::Method::DELETE, one),
    ] {
        let request = probe
            .http
            .request(method, format!("{}{path}", probe.base))
            .bearer_auth(game.buyer_token.expose_secret())
            .json(&json!({"role": "buyer"}));
        seen.push(Reply::read(request).await?.status.to_string());
    }
    let unharmed = before == probe.state(&game.negotiation_id).await?;
    let held = unharmed && seen.iter().all(|status| status == "401");
    Ok((format!("HTTP {}", seen.join(", ")), held))
}

async fn metadata(probe: &Probe) -> anyhow::Result<Seen> {
    let reply = probe.post(&[], &list()).await?;
    let challenge = reply.challenge.context("no challenge")?;
    let url = challenge
        .split_once("resource_metadata=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(url, _)| url.to_owned())
        .context("no resource_metadata in the challenge")?;
    let document = Reply::read(probe.http.get(&url)).await?;
    let resource = document.body.get("resource").and_then(|r| r.as_str());
    Ok((
        format!(
            "HTTP {}, resource {}",
            document.status,
            resource.unwrap_or("missing")
        ),
        document.status == 200 && resource.is_some_and(|r| r.ends_with(crate::gate::MCP_PATH)),
    ))
}

async fn big_body(probe: &Probe) -> anyhow::Result<Seen> {
    let game = probe.open(&terms()).await?;
    let before = probe.state(&game.negotiation_id).await?;
    let url = reqwest::Url::parse(&probe.admin.mcp_url())?;
    let status = if url.scheme() == "http" {
        let token = game.buyer_token.clone();
        tokio::task::spawn_blocking(move || send_big(&url, &token))
            .await
            .context("the sender")??
    } else {
        let padding = json!({"padding": " ".repeat(10 << 20)});
        probe
            .post(&[bearer(&game.buyer_token)], &padding)
            .await?
            .status
    };
    let unharmed = before == probe.state(&game.negotiation_id).await?;
    Ok((format!("HTTP {status}"), status == 413 && unharmed))
}

/// Sends 10 MB over a bare connection. A server that answers early closes on the rest, and HTTP clients then
/// report the broken pipe and not the answer.
fn send_big(url: &reqwest::Url, token: &SecretString) -> anyhow::Result<u16> {
    let host = url.host_str().context("the address names no host")?;
    let port = url.port_or_known_default().unwrap_or(80);
    let address = (host.trim_matches(['[', ']']), port)
        .to_socket_addrs()?
        .next()
        .context("the host has no address")?;
    let patience = Duration::from_secs(20);
    let mut stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let body = vec![b' '; 10 << 20];
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {host}:{port}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\naccept: {ACCEPT}\r\ncontent-length: {}\r\n\r\n",
        url.path(),
        token.expose_secret(),
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    let _ = stream.write_all(&body);
    let mut answer = [0_u8; 64];
    let read = stream.read(&mut answer).context("no answer")?;
    String::from_utf8_lossy(answer.get(..read).unwrap_or_default())
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse().ok())
        .context("an answer that is not HTTP")
}
