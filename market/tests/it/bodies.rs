//! Bodies that are too big, unfinished, or not JSON.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{World, terms};

/// Sends `head` and then `body` as far as it is taken, and gives the status line that comes back.
async fn status_line(address: std::net::SocketAddr, head: String, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connects");
    stream.write_all(head.as_bytes()).await.expect("sends");
    // A server that has already answered may close on the rest.
    let _ = stream.write_all(body).await;
    let mut answer = vec![0_u8; 64];
    let read = stream.read(&mut answer).await.expect("an answer");
    String::from_utf8_lossy(&answer[..read])
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn a_body_of_ten_megabytes_is_413_and_the_state_is_unharmed() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = world.state(&game).await;
    let secret = world.admin_secret();
    let ten = 10 * 1024 * 1024;
    for (path, token) in [
        ("/mcp", &game.buyer.token),
        ("/admin/negotiations", &secret),
        ("/admin/toolsets", &secret),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {ten}\r\n\r\n",
            world.market.address()
        );
        // Announced, and not sent: the answer does not wait for it.
        let line = status_line(world.market.address(), head, b"{").await;
        assert!(line.contains("413"), "{path}: {line}");
    }
    // Not announced: chunks that add up.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        world.market.address(),
        game.buyer.token
    );
    let mut body = Vec::new();
    // One byte more than the limit, and then nothing: the server must not wait for the end.
    body.extend_from_slice(format!("{:x}\r\n", (1 << 20) + 1).as_bytes());
    body.resize(body.len() + (1 << 20) + 1, b' ');
    let line = status_line(world.market.address(), head, &body).await;
    assert!(line.contains("413"), "{line}");

    // A client that writes all of it before it reads gets the answer and not a broken pipe.
    let body = vec![b' '; ten];
    let token = format!("authorization: Bearer {}\r\n", game.buyer.token);
    let page = format!("{token}origin: http://evil.example\r\n");
    for (headers, status) in [("", "401"), (token.as_str(), "413"), (page.as_str(), "403")] {
        let address = world.market.address();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\n{headers}content-type: application/json\r\ncontent-length: {ten}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(address).await.expect("connects");
        stream.write_all(head.as_bytes()).await.expect("sends");
        stream.write_all(&body).await.expect("the rest is taken");
        let mut answer = [0_u8; 12];
        stream.read_exact(&mut answer).await.expect("an answer");
        assert!(
            answer.ends_with(status.as_bytes()),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    assert_eq!(world.state(&game).await, before);
    game.buyer.proposed(50).await;
}

#[tokio::test]
async fn a_body_that_never_arrives_is_given_up_and_two_hosts_are_one_too_many() {
    let config = market::MarketConfig {
        request_timeout: std::time::Duration::from_millis(20),
        ..Default::default()
    };
    let world = World::with(config).await;
    let game = world.open(terms()).await;
    let address = world.market.address();
    let head = |more: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\n{more}authorization: Bearer {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n",
            game.buyer.token
        )
    };
    let line = status_line(address, head(""), b"{").await;
    assert!(line.contains("408"), "{line}");
    let line = status_line(address, head("host: evil.example\r\n"), b"{").await;
    assert!(line.contains("403") || line.contains("400"), "{line}");
}

#[tokio::test]
async fn bodies_that_are_no_requests_are_client_errors() {
    let world = World::new().await;
    let game = world.open(terms()).await;
    let before = world.state(&game).await;
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    for body in [
        "",
        "{",
        "null",
        "[]",
        "\u{0}",
        "\"tools/call\"",
        "{\"jsonrpc\":\"2.0\"}",
        deep.as_str(),
    ] {
        let request = game.buyer.post(&json!(null)).body(body.to_owned());
        let status = request.send().await.expect("an answer").status();
        assert!(status.is_client_error(), "{status} for {body:.40}");
        let url = format!("{}/admin/negotiations", world.market.url());
        let admin = world
            .http
            .post(url)
            .bearer_auth(world.admin_secret())
            .header("content-type", "application/json");
        let status = admin
            .body(body.to_owned())
            .send()
            .await
            .expect("an answer")
            .status();
        assert!(status.is_client_error(), "{status} for {body:.40}");
    }
    assert_eq!(world.state(&game).await, before);
    game.buyer.proposed(50).await;
}

#[tokio::test]
async fn a_client_that_stops_in_the_middle_does_not_hold_up_the_end() {
    let config = market::MarketConfig {
        shutdown_grace: std::time::Duration::from_millis(20),
        ..Default::default()
    };
    let world = World::with(config).await;
    let mut stream = TcpStream::connect(world.market.address())
        .await
        .expect("connects");
    stream
        .write_all(b"POST /mcp HTTP/1.1\r\nhost: loc")
        .await
        .expect("sends");
    // A second connection shows that the server has seen the first one's turn come.
    world.open(terms()).await;
    let stopped =
        tokio::time::timeout(std::time::Duration::from_secs(60), world.market.shutdown()).await;
    stopped
        .expect("stops in spite of it")
        .expect("and without an error");
}
