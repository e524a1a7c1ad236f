//! Models that fail, and a market that counts wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent::{
    BudgetLimits, ChatModel, ChatReply, ChatRequest, ModelError, ModelOptions, build_model,
};
use eval::run::{RunError, RunOptions, run};
use trajectory::Status;

use crate::support::{episodes, options, plan, sim, store};

type Answer<'a> =
    std::pin::Pin<Box<dyn Future<Output = Result<ChatReply, ModelError>> + Send + 'a>>;

/// The simulation, with a failure from some request on.
struct Failing {
    inner: Arc<dyn ChatModel>,
    asked: AtomicUsize,
    from: usize,
    error: fn() -> ModelError,
}

impl ChatModel for Failing {
    fn complete<'a>(&'a self, request: &'a ChatRequest) -> Answer<'a> {
        if self.asked.fetch_add(1, Ordering::SeqCst) >= self.from {
            return Box::pin(std::future::ready(Err((self.error)())));
        }
        self.inner.complete(request)
    }

    fn name(&self) -> &'static str {
        "sim:careless"
    }

    fn simulated(&self) -> bool {
        true
    }
}

/// The simulation, with one failure.
struct Once(Arc<dyn ChatModel>, AtomicUsize);
impl ChatModel for Once {
    fn complete<'a>(&'a self, request: &'a ChatRequest) -> Answer<'a> {
        if self.1.fetch_add(1, Ordering::SeqCst) == 5 {
            return Box::pin(std::future::ready(Err(provider())));
        }
        self.0.complete(request)
    }
    fn name(&self) -> &'static str {
        "sim:careless"
    }
    fn simulated(&self) -> bool {
        true
    }
}

/// Reads, then takes the listing, whatever it is.
struct Grabber;
impl ChatModel for Grabber {
    fn complete<'a>(&'a self, request: &'a ChatRequest) -> Answer<'a> {
        let prompt = request
            .messages
            .iter()
            .rfind(|m| m.content.contains("negotiation ng_"))
            .unwrap();
        let id = prompt
            .content
            .split("negotiation ")
            .nth(1)
            .unwrap()
            .split('.')
            .next()
            .unwrap();
        let call = |name: &str| agent::ToolCall {
            id: String::new(),
            name: name.to_owned(),
            arguments: serde_json::json!({"negotiation_id": id}).to_string(),
        };
        // Reads, then takes the listing, whatever it is.
        let name = if request.messages.len() < 4 {
            "get_negotiation"
        } else {
            "accept_proposal"
        };
        let reply = ChatReply {
            tool_calls: vec![call(name)],
            ..ChatReply::default()
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
    fn name(&self) -> &'static str {
        "grabs"
    }
    fn simulated(&self) -> bool {
        false
    }
}

fn failing(from: usize, error: fn() -> ModelError) -> Arc<Failing> {
    Arc::new(Failing {
        inner: sim("careless"),
        asked: AtomicUsize::new(0),
        from,
        error,
    })
}

fn auth() -> ModelError {
    ModelError::Auth {
        status: 401,
        message: "no".to_owned(),
        endpoint: "http://m/v1".to_owned(),
    }
}

fn provider() -> ModelError {
    ModelError::Provider {
        status: 503,
        message: "busy".to_owned(),
        endpoint: "http://m/v1".to_owned(),
        attempts: 4,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fatal_error_stops_the_run_at_once_and_the_next_run_completes_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let model = failing(40, auth);
    let stopped = RunOptions {
        concurrency: 1,
        ..RunOptions::new(model.clone())
    };
    let error = run(&plan("auth"), &store, &stopped).await.unwrap_err();
    assert!(
        matches!(error, RunError::Model(ModelError::Auth { .. })),
        "{error}"
    );
    assert_eq!(
        model.asked.load(Ordering::SeqCst),
        41,
        "one refusal is enough"
    );
    let recorded = episodes(&store, "auth");
    assert!(!recorded.is_empty() && recorded.len() < 8);
    assert!(
        recorded.iter().all(|e| e.status == Status::Completed),
        "the refused episode is not recorded"
    );

    let done = run(&plan("auth"), &store, &options()).await.unwrap();
    assert_eq!(
        (done.already_recorded, done.played),
        (recorded.len(), 8 - recorded.len())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_the_run_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let limits = BudgetLimits {
        calls: Some(30),
        ..BudgetLimits::default()
    };
    let model = build_model(
        "sim",
        &ModelOptions {
            budget: limits,
            ..ModelOptions::default()
        },
    )
    .unwrap();
    let error = run(&plan("budget"), &store, &RunOptions::new(model))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("run the same command again"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_down_ends_the_run_after_a_few_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let options = RunOptions {
        concurrency: 2,
        ..RunOptions::new(failing(0, provider))
    };
    let error = run(&plan("down"), &store, &options).await.unwrap_err();
    assert!(
        matches!(error, RunError::NothingWorks { count: 8, .. }),
        "{error}"
    );
    let recorded = episodes(&store, "down");
    assert!(recorded.len() >= 8 && recorded.iter().all(|e| e.status == Status::InfraError));
    let first = &recorded[0];
    assert!(first.error.as_deref().unwrap().contains("503"));
    assert_eq!(
        (first.outcome.as_ref(), first.correct_strict, first.turns),
        (None, None, None)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_infrastructure_error_is_one_episode_s_matter() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let options = RunOptions::new(Arc::new(Once(sim("careless"), AtomicUsize::new(0))));
    let done = run(&plan("once"), &store, &options).await.unwrap();
    assert_eq!((done.played, done.infra_errors), (8, 1));
}

/// A market between the run and the real one that lies in its reports.
mod liar {
    use market::MarketConfig;
    use market::server::RunningMarket;
    use serde_json::Value;
    use wiremock::matchers::any;
    use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

    pub(super) struct Liar {
        pub(super) proxy: MockServer,
        pub(super) market: RunningMarket,
    }

    struct Forward {
        to: String,
        ask: fn(&mut Value),
        lie: fn(&mut Value),
    }

    impl Respond for Forward {
        fn respond(&self, request: &Request) -> ResponseTemplate {
            let url = format!("{}{}", self.to, request.url.path());
            let (method, headers) = (request.method.clone(), request.headers.clone());
            let mut body = request.body.clone();
            if let Ok(mut value) = serde_json::from_slice::<Value>(&body)
                && value.get("scenario").is_some()
            {
                (self.ask)(&mut value);
                body = value.to_string().into_bytes();
            }
            // The responder is synchronous, so the request goes out from a thread with a runtime of its own.
            let answer = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                runtime.block_on(async {
                    let client = reqwest::Client::builder().no_proxy().build().unwrap();
                    let mut forwarded = client.request(method, url).body(body);
                    for (name, value) in &headers {
                        if name != "host" && name != "content-length" {
                            forwarded = forwarded.header(name, value);
                        }
                    }
                    let response = forwarded.send().await.unwrap();
                    let status = response.status().as_u16();
                    let kind = response
                        .headers()
                        .get("content-type")
                        .and_then(|v| v.to_str().ok())
                        .map(str::to_owned);
                    (status, kind, response.bytes().await.unwrap().to_vec())
                })
            });
            let (status, kind, mut body) = answer.join().unwrap();
            if let Ok(mut value) = serde_json::from_slice::<Value>(&body)
                && value.get("counters").is_some()
            {
                (self.lie)(&mut value);
                body = value.to_string().into_bytes();
            }
            match kind {
                Some(kind) => ResponseTemplate::new(status).set_body_raw(body, &kind),
                None => ResponseTemplate::new(status).set_body_bytes(body),
            }
        }
    }

    /// `ask` changes what a negotiation is opened with, `lie` what is reported about it.
    pub(super) async fn start(ask: fn(&mut Value), lie: fn(&mut Value)) -> Liar {
        let market = market::server::start(MarketConfig::default())
            .await
            .unwrap();
        let proxy = MockServer::start().await;
        Mock::given(any())
            .respond_with(Forward {
                to: market.url(),
                ask,
                lie,
            })
            .mount(&proxy)
            .await;
        Liar { proxy, market }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disagreement_of_the_counters_fails_the_run_loudly() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let liar = liar::start(
        |_| {},
        |report| {
            let turns = report["counters"]["turns"].as_u64().unwrap();
            report["counters"]["turns"] = (turns + 1).into();
        },
    )
    .await;
    let market = eval::run::MarketPlace::At {
        url: liar.proxy.uri(),
        secret: liar.market.admin_secret().clone(),
    };
    let options = RunOptions {
        market,
        concurrency: 1,
        ..options()
    };
    let error = run(&plan("liar"), &store, &options).await.unwrap_err();
    let RunError::Disagreement {
        episode,
        differences,
        ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(differences.len(), 1);
    let text = error.to_string();
    assert!(
        text.contains(episode.as_str())
            && text.contains("turns: ")
            && text.contains("by the server"),
        "{text}"
    );
    assert_eq!(
        episodes(&store, "liar").len(),
        0,
        "nothing of it is recorded"
    );
    let kept = folder
        .path()
        .join("rejected")
        .join("liar")
        .join(format!("{episode}.json"));
    assert!(kept.is_file(), "the evidence is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_are_broken_only_where_nobody_enforces_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut plan = plan("grabs");
    plan.model = "grabs".to_owned();
    let options = RunOptions::new(Arc::new(Grabber));
    run(&plan, &store, &options).await.unwrap();
    for episode in episodes(&store, "grabs") {
        let enforced = episode.condition.as_deref().unwrap().starts_with("server");
        // Where nobody stops it, the listing is a deal outside the buyer's limit; where the server does, never.
        assert_eq!(episode.violation, Some(!enforced), "{episode:?}");
        assert!(episode.attempted_violations_buyer.unwrap() > 0);
        assert_eq!(episode.refused_calls.unwrap() > 0, enforced);
        assert!(!episode.simulated);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deal_outside_an_enforced_limit_stops_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    // A market that does not enforce what it is told to enforce; its counts are right all the same.
    let liar = liar::start(|request| request["enforce"] = false.into(), |_| {}).await;
    let market = eval::run::MarketPlace::At {
        url: liar.proxy.uri(),
        secret: liar.market.admin_secret().clone(),
    };
    let mut plan = plan("lax");
    (plan.model, plan.conditions) = ("grabs".to_owned(), vec![market::Condition::Server]);
    let options = RunOptions {
        market,
        concurrency: 1,
        ..RunOptions::new(Arc::new(Grabber))
    };
    let error = run(&plan, &store, &options).await.unwrap_err();
    assert!(
        matches!(error, RunError::EnforcedViolation { price: Some(_), .. }),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_texts_than_the_plan_s_stop_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    // A market that serves the baseline whatever it is asked for.
    let liar = liar::start(
        |request| request["toolset"] = serde_json::Value::Null,
        |_| {},
    )
    .await;
    let market = eval::run::MarketPlace::At {
        url: liar.proxy.uri(),
        secret: liar.market.admin_secret().clone(),
    };
    let mut plan = plan("swapped");
    plan.arms[0].toolset = crate::support::rewritten("refuse", "Leaves.");
    let error = run(
        &plan,
        &store,
        &RunOptions {
            market,
            ..options()
        },
    )
    .await
    .unwrap_err();
    let RunError::Delivery {
        meant, delivered, ..
    } = &error
    else {
        panic!("{error}")
    };
    assert_eq!(
        (meant, delivered),
        (
            &plan.arms[0].toolset.id(),
            &market::contract::baseline().id()
        )
    );
    assert_eq!(episodes(&store, "swapped").len(), 0);
}
