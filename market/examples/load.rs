//! Load benchmark: how many calls a market answers, at what delay and cost, and whether memory grows.
//!
//! ```text
//! cargo run --release -p market --example load
//! cargo run --release -p market --example load -- --calls 2000 --negotiations 1000
//! ```
//!
//! The server runs in a process of its own (this program again, with `--serve`), on loopback, so that its CPU
//! time and memory can be read from `/proc`. Every client has one connection and plays whole negotiations: read,
//! propose, and the other party the same, eight moves each. Negotiations are opened before the clock starts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Parser;
use futures::future::try_join_all;
use market::client::{AdminClient, OpenRequest};
use market::{MarketConfig, server};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

const SECRET: &str = "WHETSTONE_LOAD_ADMIN_SECRET";
/// Reads and moves of one negotiation.
const CALLS_EACH: usize = 16;
/// `/proc` counts CPU time in these; Linux has shown user space 100 a second on every platform for decades.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Debug, Parser)]
struct Args {
    /// Tool calls for each number of clients
    #[arg(long, default_value_t = 32_000)]
    calls: usize,
    /// Numbers of clients at once
    #[arg(long, value_delimiter = ',', default_value = "1,16")]
    clients: Vec<usize>,
    /// Negotiations to open and close while memory is watched
    #[arg(long, default_value_t = 100_000)]
    negotiations: usize,
    /// Be the server
    #[arg(long, hide = true)]
    serve: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Runtime::new()?;
    if args.serve {
        runtime.block_on(serve())
    } else {
        runtime.block_on(drive(&args))
    }
}

async fn serve() -> anyhow::Result<()> {
    let secret = std::env::var(SECRET).context("started without its secret")?;
    let config = MarketConfig {
        admin_secret: Some(SecretString::from(secret)),
        max_negotiations: 1_000_000,
        ..MarketConfig::default()
    };
    let mut market = server::start(config).await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", market.url())?;
    out.flush()?;
    market.ended().await?;
    Ok(())
}

/// The server's process; it ends with this program.
struct Server {
    child: Child,
    url: String,
    secret: SecretString,
}

impl Server {
    fn start() -> anyhow::Result<Self> {
        // Only this program knows it, and only until it ends.
        let secret = format!(
            "load-{}-{}",
            std::process::id(),
            trajectory::clock::now_us()
        );
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve")
            .env(SECRET, &secret)
            .stdout(Stdio::piped())
            .spawn()
            .context("starting the server's process")?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        if url.trim().is_empty() {
            bail!("the server printed no address");
        }
        Ok(Self {
            child,
            url: url.trim().to_owned(),
            secret: SecretString::from(secret),
        })
    }

    fn proc_file(&self, name: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{name}", self.child.id());
        std::fs::read_to_string(&path).with_context(|| format!("reading `{path}`"))
    }

    /// User and system time so far, seconds.
    fn cpu_seconds(&self) -> anyhow::Result<f64> {
        let stat = self.proc_file("stat")?;
        // The second field is the name in parentheses and may hold spaces; times are fields 14 and 15.
        let fields = stat
            .rsplit_once(')')
            .map(|(_, rest)| rest)
            .unwrap_or_default();
        let ticks: Vec<f64> = fields
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|f| f.parse().ok())
            .collect();
        Ok(ticks.iter().sum::<f64>() / TICKS_PER_SECOND)
    }

    /// Resident memory, KiB.
    fn resident_kib(&self) -> anyhow::Result<u64> {
        let status = self.proc_file("status")?;
        status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .context("no VmRSS in /proc")
    }

    fn admin(&self) -> anyhow::Result<AdminClient> {
        Ok(AdminClient::new(http()?, &self.url, self.secret.clone()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn http() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder()
        .no_proxy()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(1)
        .build()?)
}

fn terms() -> anyhow::Result<OpenRequest> {
    Ok(serde_json::from_value(json!({
        "scenario": {"id": "load", "item": "bicycle", "reserve": 40, "budget": 120},
        "enforce": true, "opening": "listing", "max_moves": 8,
    }))?)
}

async fn drive(args: &Args) -> anyhow::Result<()> {
    let server = Server::start()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "market at {} (process {}), {} build",
        server.url,
        server.child.id(),
        build()
    )?;
    for clients in args.clients.iter().copied().filter(|clients| *clients > 0) {
        let line = measure(&server, clients, args.calls).await?;
        writeln!(out, "{line}")?;
    }
    memory(&server, args.negotiations, &mut out).await
}

fn build() -> &'static str {
    if cfg!(debug_assertions) {
        "dev (use --release for figures)"
    } else {
        "release"
    }
}

/// An open negotiation, as one client plays it.
struct Game {
    id: String,
    tokens: [SecretString; 2],
}

async fn measure(server: &Server, clients: usize, calls: usize) -> anyhow::Result<String> {
    let admin = server.admin()?;
    let each = calls.div_ceil(clients * CALLS_EACH).max(1);
    let request = terms()?;
    let mut tables = Vec::with_capacity(clients);
    for _ in 0..clients {
        let mut games = Vec::with_capacity(each);
        for _ in 0..each {
            let opened = admin.open(&request).await?;
            games.push(Game {
                id: opened.negotiation_id,
                tokens: [opened.buyer_token, opened.seller_token],
            });
        }
        tables.push(games);
    }
    let url = admin.mcp_url();
    let cpu = server.cpu_seconds()?;
    let start = Instant::now();
    let tasks = tables.iter().map(|games| {
        let (url, http) = (url.clone(), http());
        async move { play(&http?, &url, games).await }
    });
    let mut delays: Vec<Duration> = try_join_all(tasks).await?.into_iter().flatten().collect();
    let elapsed = start.elapsed();
    let cpu = server.cpu_seconds()? - cpu;
    for game in tables.iter().flatten() {
        admin.close(&game.id).await?;
    }
    delays.sort_unstable();
    let count = delays.len();
    let quantile = |q: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the count"
        )]
        let at = ((count as f64 * q) as usize).min(count.saturating_sub(1));
        delays.get(at).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    Ok(format!(
        "{clients:>3} clients: {count} calls in {:.2} s, {:.0} calls/s, p50 {:.2} ms, p99 {:.2} ms, server CPU {:.0} us a call",
        elapsed.as_secs_f64(),
        count as f64 / elapsed.as_secs_f64(),
        quantile(0.5),
        quantile(0.99),
        cpu * 1e6 / count as f64,
    ))
}

/// Plays the games one after the other; gives the time of every call.
async fn play(http: &reqwest::Client, url: &str, games: &[Game]) -> anyhow::Result<Vec<Duration>> {
    let mut delays = Vec::with_capacity(games.len() * CALLS_EACH);
    for game in games {
        for turn in 0..8_i64 {
            let Some(token) = game.tokens.get(usize::from(turn % 2 == 1)) else {
                continue;
            };
            let read = ("get_negotiation", json!({"negotiation_id": game.id}));
            let propose = (
                "propose",
                json!({"negotiation_id": game.id, "price": 60 + turn}),
            );
            for (tool, arguments) in [read, propose] {
                let body = json!({
                    "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments},
                });
                let start = Instant::now();
                let response = http
                    .post(url)
                    .header("accept", "application/json, text/event-stream")
                    .bearer_auth(token.expose_secret())
                    .json(&body)
                    .send()
                    .await?;
                let answer: Value = response.json().await?;
                delays.push(start.elapsed());
                if answer.pointer("/result/structuredContent").is_none() {
                    bail!("`{tool}` was not answered as it should be: {answer}");
                }
            }
        }
    }
    Ok(delays)
}

/// Opens and closes negotiations, playing a move in each, and prints what the server holds.
async fn memory(
    server: &Server,
    negotiations: usize,
    out: &mut impl std::io::Write,
) -> anyhow::Result<()> {
    const AT_ONCE: usize = 16;
    let request = terms()?;
    let admins = (0..AT_ONCE)
        .map(|_| server.admin())
        .collect::<anyhow::Result<Vec<_>>>()?;
    let start = Instant::now();
    let mut done = 0;
    writeln!(out, "memory: {} KiB before", server.resident_kib()?)?;
    for _ in 0..10 {
        let each = (negotiations / 10).div_ceil(AT_ONCE).max(1);
        let url = format!("{}/mcp", server.url);
        try_join_all(admins.iter().map(async |admin| {
            let http = http()?;
            for _ in 0..each {
                let opened = admin.open(&request).await?;
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                    "name": "propose", "arguments": {"negotiation_id": opened.negotiation_id, "price": 60}}});
                let call = http.post(&url).header("accept", "application/json, text/event-stream");
                call.bearer_auth(opened.buyer_token.expose_secret()).json(&body).send().await?.error_for_status()?.bytes().await?;
                admin.close(&opened.negotiation_id).await?;
            }
            anyhow::Ok(())
        }))
        .await?;
        done += each * AT_ONCE;
        writeln!(
            out,
            "memory: {} KiB after {done} negotiations opened, played in, and closed",
            server.resident_kib()?
        )?;
    }
    let seconds = start.elapsed().as_secs_f64();
    writeln!(
        out,
        "{:.0} negotiations/s, each three requests",
        done as f64 / seconds
    )?;
    Ok(())
}
