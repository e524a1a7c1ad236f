use super::*;
use crate::MarketConfig;
use crate::server::start;
use secrecy::ExposeSecret as _;

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_market_holds_and_nothing_secret_is_told() {
    let market = start(MarketConfig::default()).await.unwrap();
    let secret = market.admin_secret().clone();
    let checks = run(client(), &market.url(), secret.clone()).await.unwrap();
    let failed: Vec<_> = checks.iter().filter(|check| !check.passed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let names: Vec<_> = checks.iter().take(4).map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "no token",
            "token on another negotiation",
            "out of turn",
            "outside the limit, enforced"
        ]
    );
    let text = checks
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(text.lines().count(), checks.len());
    for hidden in [secret.expose_secret(), "wb_", "ws_"] {
        assert!(!text.contains(hidden), "{text}");
    }
    // Nothing is left open behind it.
    let stats: serde_json::Value = client()
        .get(format!("{}/admin/stats", market.url()))
        .bearer_auth(secret.expose_secret())
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(stats["negotiations"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_market_that_serves_any_host_fails_that_check_alone() {
    let mut config = MarketConfig::default();
    config.allowed_hosts.push("evil.example".to_owned());
    let market = start(config).await.unwrap();
    let secret = market.admin_secret().clone();
    let checks = run(client(), &market.url(), secret).await.unwrap();
    let failed: Vec<_> = checks.iter().filter(|check| !check.passed).collect();
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert_eq!(failed[0].name, "a foreign Host header");
    assert!(failed[0].to_string().starts_with("FAIL"));
}

#[tokio::test]
async fn a_wrong_secret_is_an_error_and_not_forty_failed_checks() {
    let market = start(MarketConfig::default()).await.unwrap();
    let error = run(client(), &market.url(), SecretString::from("wrong"))
        .await
        .unwrap_err();
    assert!(matches!(error, AdminError::Unauthorized { .. }), "{error}");
}

#[test]
fn what_a_server_says_becomes_one_line() {
    assert_eq!(printable("a\nb\u{1b}[31m"), "a b[31m");
    assert_eq!(printable(&"x".repeat(1000)).chars().count(), 401);
}
