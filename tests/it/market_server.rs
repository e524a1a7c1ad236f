//! `market serve`, `open` and `check` as separate processes, and rmcp's client against them.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use crate::support::{command, text};

const SECRET: &str = "an-admin-secret-of-the-tests-0123456789";

struct Market {
    child: Child,
    url: String,
    /// Kept open: a server whose stdout nobody reads any more ends.
    stdout: Option<BufReader<ChildStdout>>,
}

impl Market {
    /// Starts `market serve` on a free port and reads its address from the line it prints.
    fn start(folder: &Path) -> Self {
        let child = Command::new(assert_cmd::cargo::cargo_bin("market"))
            .current_dir(folder)
            .args(["serve", "--bind", "127.0.0.1:0"])
            .env("WHETSTONE_MARKET_ADMIN_SECRET", SECRET)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        // Owned from here on, so that a failing test does not leave the server behind.
        let mut market = Self {
            child,
            url: String::new(),
            stdout: None,
        };
        let mut stdout = BufReader::new(market.child.stdout.take().expect("piped"));
        let mut first = String::new();
        stdout.read_line(&mut first).expect("a line of text");
        let at = first
            .find("http://127.0.0.1:")
            .unwrap_or_else(|| panic!("no address in `{first}`"));
        market.url = first[at..].trim().to_owned();
        market.stdout = Some(stdout);
        market
    }

    fn open(&self, folder: &Path) -> Value {
        let output = command("market")
            .current_dir(folder)
            .env("WHETSTONE_MARKET_ADMIN_SECRET", SECRET)
            .args(["open", "--url", &self.url, "--json"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("`open --json` prints JSON")
    }
}

impl Drop for Market {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_client_with_a_token_plays_a_move_and_without_one_gets_401() {
    let folder = tempfile::tempdir().unwrap();
    let market = Market::start(folder.path());
    let opened = market.open(folder.path());
    let token = opened["buyer_token"]
        .as_str()
        .expect("a buyer token")
        .to_owned();
    let id = opened["negotiation_id"].as_str().expect("an id").to_owned();
    let mcp_url = format!("{}/mcp", market.url);

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let config =
            StreamableHttpClientTransportConfig::with_uri(mcp_url.clone()).auth_header(token);
        let client =
            ().serve(StreamableHttpClientTransport::from_config(config))
                .await
                .expect("connects");
        let tools = client.list_all_tools().await.expect("lists");
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            [
                "get_negotiation",
                "propose",
                "accept_proposal",
                "reject_proposal",
                "refuse"
            ]
        );
        let arguments = json!({"negotiation_id": id, "price": 50})
            .as_object()
            .unwrap()
            .clone();
        let result = client
            .call_tool(CallToolRequestParams::new("propose").with_arguments(arguments))
            .await
            .expect("calls");
        assert_ne!(result.is_error, Some(true), "{result:?}");
        client.cancel().await.expect("closes");

        let refused = reqwest::Client::new()
            .post(&mcp_url)
            .header("accept", "application/json, text/event-stream")
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
            .send()
            .await
            .unwrap();
        assert_eq!(refused.status(), 401);
        let challenge = refused.headers()["www-authenticate"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            challenge.starts_with("Bearer") && challenge.contains("resource_metadata="),
            "{challenge}"
        );
    });
}

#[test]
fn market_check_passes_on_a_running_market_and_writes_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let market = Market::start(folder.path());
    let output = command("market")
        .current_dir(folder.path())
        .env("WHETSTONE_MARKET_ADMIN_SECRET", SECRET)
        .args(["check", "--url", &market.url])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    let written = std::fs::read_to_string(folder.path().join("auth_checks.txt")).unwrap();
    assert!(written.lines().count() >= 4, "{written}");
    assert!(written.contains("401"), "{written}");
    assert!(!written.contains(SECRET));
}
