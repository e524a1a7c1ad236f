//! What is decided before any protocol is spoken: Host and Origin, bearer tokens, the admin secret.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::HttpBody as _;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::registry::Registry;
use crate::token::{self, TokenHash};

/// Path of the MCP endpoint.
pub(crate) const MCP_PATH: &str = "/mcp";
/// Path of the RFC 9728 document for the endpoint.
pub(crate) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// What the gates need to know.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) registry: Arc<Registry>,
    pub(crate) admin: TokenHash,
    pub(crate) hosts: Arc<[String]>,
    pub(crate) origins: Arc<[String]>,
    pub(crate) max_body_bytes: usize,
    pub(crate) request_timeout: Duration,
    pub(crate) public_url: Option<Arc<str>>,
}

impl Gate {
    /// The market's address as the sender of these headers knows it. The host was checked by [`origin`].
    fn base(&self, headers: &HeaderMap) -> String {
        self.public_url.as_deref().map_or_else(
            || {
                let host = headers
                    .get(header::HOST)
                    .and_then(|host| host.to_str().ok());
                format!("http://{}", host.unwrap_or("localhost"))
            },
            str::to_owned,
        )
    }

    /// 401 with the challenge of RFC 6750 and the pointer of RFC 9728.
    fn unauthorized(&self, headers: &HeaderMap, had_token: bool) -> Response {
        let base = self.base(headers);
        let mut challenge = format!("Bearer resource_metadata=\"{base}{METADATA_PATH}{MCP_PATH}\"");
        if had_token {
            challenge.push_str(", error=\"invalid_token\"");
        }
        let told = if had_token {
            "the bearer token is malformed, unknown or expired"
        } else {
            "a bearer token is needed: send the header `Authorization: Bearer <token>` with the token of your party"
        };
        let mut response = problem(StatusCode::UNAUTHORIZED, told);
        if let Ok(value) = HeaderValue::from_str(&challenge) {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, value);
        }
        response
    }

    /// Why a request is not for this market, if it is not.
    fn foreign(&self, request: &Request) -> Option<&'static str> {
        let headers = request.headers();
        let host = headers
            .get(header::HOST)
            .map(|value| value.to_str().unwrap_or_default());
        let Some(host) = host.or_else(|| request.uri().host()) else {
            return Some("the request names no host");
        };
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Some("the request names more than one host");
        }
        if !self
            .hosts
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(without_port(host)))
        {
            return Some(
                "the Host header names a host this market does not serve; allow it with --allowed-host",
            );
        }
        let origin = headers.get(header::ORIGIN)?.to_str().unwrap_or_default();
        if self
            .origins
            .iter()
            .any(|allowed| origin_matches(allowed, origin))
        {
            return None;
        }
        Some(
            "the Origin header names a page this market does not serve; allow it with --allowed-origin",
        )
    }

    /// Passes a request on that has shown its right to be here, unless its body is announced too big: the rest
    /// counts while it reads, which takes as long as the sender likes.
    async fn admit(&self, request: Request, next: Next) -> Response {
        let announced = request
            .headers()
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok());
        if announced
            .and_then(|length| length.parse::<u64>().ok())
            .is_some_and(|length| length > self.max_body_bytes as u64)
        {
            let told = format!(
                "the request body is larger than {} bytes",
                self.max_body_bytes
            );
            return self.turn_away(request, problem(StatusCode::PAYLOAD_TOO_LARGE, &told));
        }
        match tokio::time::timeout(self.request_timeout, next.run(request)).await {
            Ok(response) => response,
            Err(_) => problem(
                StatusCode::REQUEST_TIMEOUT,
                "the request did not arrive in time",
            ),
        }
    }
}

impl Gate {
    /// Refuses a request without waiting for its body. What still comes of it is thrown away, up to a bound: closing
    /// on a client that is still sending would cost it the answer.
    fn turn_away(&self, request: Request, answer: Response) -> Response {
        let mut body = request.into_body();
        if !body.is_end_stream() {
            let patience = self.request_timeout;
            tokio::spawn(async move {
                let drain = async {
                    let mut thrown_away = 0;
                    while thrown_away < MAX_THROWN_AWAY
                        && let Some(Ok(frame)) =
                            poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
                    {
                        thrown_away += frame.data_ref().map_or(0, axum::body::Bytes::len);
                    }
                };
                // A sender that takes too long loses its connection.
                let _ = tokio::time::timeout(patience, drain).await;
            });
        }
        answer
    }
}

/// Bytes of a refused body that are read and thrown away.
const MAX_THROWN_AWAY: usize = 64 << 20;

/// An error as the market tells it outside the protocol.
pub(crate) fn problem(status: StatusCode, told: &str) -> Response {
    (status, Json(json!({"error": told}))).into_response()
}

/// The RFC 9728 document. No authorization server stands behind the market: tokens are given out when a
/// negotiation is opened.
pub(crate) async fn metadata(State(gate): State<Gate>, headers: HeaderMap) -> Json<Value> {
    Json(json!({
        "resource": format!("{}{MCP_PATH}", gate.base(&headers)),
        "bearer_methods_supported": ["header"],
        "resource_name": "Whetstone market",
    }))
}

/// The token of an `Authorization: Bearer …` header; `Some(Err)` when there is a header of another form.
fn bearer(headers: &HeaderMap) -> Option<Result<&str, ()>> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return Some(Err(()));
    }
    let token = value.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    Some(token.filter(|token| !token.is_empty()).ok_or(()))
}

/// Lets party tokens through to the MCP endpoint, with the principal they stand for.
pub(crate) async fn party(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let principal = match bearer(request.headers()) {
        None => {
            let answer = gate.unauthorized(request.headers(), false);
            return gate.turn_away(request, answer);
        }
        Some(Err(())) => None,
        Some(Ok(token)) => gate.registry.principal(token),
    };
    let Some(principal) = principal else {
        let answer = gate.unauthorized(request.headers(), true);
        return gate.turn_away(request, answer);
    };
    request.extensions_mut().insert(principal);
    // The token has done its work; what is behind the gate has no use for it.
    request.headers_mut().remove(header::AUTHORIZATION);
    gate.admit(request, next).await
}

/// Lets the admin secret through to the admin API.
pub(crate) async fn admin(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    match bearer(request.headers()) {
        Some(Ok(secret)) if token::same(&token::hash(secret), &gate.admin) => {
            gate.admit(request, next).await
        }
        found => {
            let answer = gate.unauthorized(request.headers(), found.is_some());
            gate.turn_away(request, answer)
        }
    }
}

/// Refuses requests that name another host (DNS rebinding) or come from a foreign page.
pub(crate) async fn origin(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    match gate.foreign(&request) {
        None => next.run(request).await,
        Some(told) => {
            let answer = problem(StatusCode::FORBIDDEN, told);
            gate.turn_away(request, answer)
        }
    }
}

fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.rsplit_once(':')
        .filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit()))
        .map_or(host, |(h, _)| h)
}

/// `http://localhost:*` allows every port; anything else is compared whole.
fn origin_matches(allowed: &str, origin: &str) -> bool {
    match allowed.strip_suffix(":*") {
        Some(stem) => origin.strip_prefix(stem).is_some_and(|rest| {
            rest.is_empty()
                || rest.strip_prefix(':').is_some_and(|port| {
                    !port.is_empty() && port.chars().all(|c| c.is_ascii_digit())
                })
        }),
        None => allowed == origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_origins_are_compared_whole() {
        for (host, bare) in [
            ("a:1", "a"),
            ("[::1]:80", "::1"),
            ("a", "a"),
            ("a:b", "a:b"),
        ] {
            assert_eq!(without_port(host), bare);
        }
        for (allowed, origin, matches) in [
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "http://localhost.evil.example", false),
            (
                "http://localhost:*",
                "http://localhost:3000.evil.example",
                false,
            ),
            ("http://localhost:*", "http://localhost:", false),
            ("https://a.example", "https://a.example", true),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "null", false),
        ] {
            assert_eq!(
                origin_matches(allowed, origin),
                matches,
                "{allowed} {origin}"
            );
        }
    }

    #[test]
    fn only_one_bearer_token_of_the_right_form_counts() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            bearer(&headers).map(|token| token.map(str::to_owned))
        };
        assert_eq!(read(&[]), None);
        assert_eq!(read(&["Bearer abc"]), Some(Ok("abc".to_owned())));
        assert_eq!(read(&["bearer abc"]), Some(Ok("abc".to_owned())));
        for wrong in [
            &["Basic abc"][..],
            &["Bearer"],
            &["Bearer "],
            &["abc"],
            &["Bearer a", "Bearer b"],
        ] {
            assert_eq!(read(wrong), Some(Err(())), "{wrong:?}");
        }
    }
}
