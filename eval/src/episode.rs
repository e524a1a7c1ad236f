//! Plays one episode: opens a negotiation, lets two hosts take turns over real HTTP, and makes the record.

mod row;

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::budget::Prices;
use agent::host::{HostError, PartyConfig, PartyHost, Recorder, TurnEnd};
use agent::{ChatModel, ModelError};
use market::Role;
use market::client::{AdminClient, AdminError, OpenRequest, Opened, Report};
use market::injection::Injection;
use market::scenario::Scenario;
use trajectory::{EpisodeRecord, ToolRow, Toolset, clock};

use crate::agreement;
use crate::metrics::{self, Setting};
use crate::plan::{EpisodeSpec, Plan, PlanError};
use crate::prompts;
use crate::run::RunError;

/// What all episodes of a run share.
pub(crate) struct Table {
    pub(crate) plan: Plan,
    pub(crate) injection: Injection,
    pub(crate) toolset_ids: Vec<String>,
    pub(crate) prompt_hash: String,
    pub(crate) http: reqwest::Client,
    pub(crate) admin: AdminClient,
    pub(crate) buyer: Arc<dyn ChatModel>,
    pub(crate) seller: Arc<dyn ChatModel>,
    pub(crate) prices: Option<Prices>,
}

/// Why an episode did not run to its end.
enum Interruption {
    /// Transport or provider failed: the episode says nothing, the run goes on.
    Infrastructure(String),
    /// Nothing further would be any good: the run stops, and the episode is not recorded.
    Stop(RunError),
}

impl From<HostError> for Interruption {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Model(error) if error.is_fatal() => Self::Stop(RunError::Model(error)),
            // The plan does not suit the simulation; it would fail in every episode.
            HostError::Model(error @ ModelError::Simulation { .. }) => {
                Self::Stop(RunError::Model(error))
            }
            error => Self::Infrastructure(chain(&error)),
        }
    }
}

impl From<AdminError> for Interruption {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Unauthorized { .. } => Self::Stop(RunError::Admin(error)),
            // A full market has room later; anything else it refuses, it refuses every time.
            AdminError::Refused { status, .. } if (400..500).contains(&status) && status != 404 => {
                Self::Stop(RunError::Admin(error))
            }
            error => Self::Infrastructure(chain(&error)),
        }
    }
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// What accumulates while an episode is played, and outlives its failure.
struct Played {
    recorder: Recorder,
    seen: Option<Toolset>,
    negotiation_id: Option<String>,
    started_us: i64,
}

impl Table {
    pub(crate) fn new(
        plan: &Plan,
        http: reqwest::Client,
        admin: AdminClient,
        buyer: Arc<dyn ChatModel>,
        seller: Arc<dyn ChatModel>,
        prices: Option<Prices>,
    ) -> Result<Self, PlanError> {
        Ok(Self {
            injection: plan.injection()?,
            toolset_ids: plan.toolset_ids(),
            prompt_hash: prompts::hash(),
            plan: plan.clone(),
            http,
            admin,
            buyer,
            seller,
            prices,
        })
    }

    fn model(&self, role: Role) -> &dyn ChatModel {
        match role {
            Role::Buyer => self.buyer.as_ref(),
            Role::Seller => self.seller.as_ref(),
        }
    }

    /// What the views of an episode carry.
    fn injection_of(&self, spec: &EpisodeSpec) -> Option<&Injection> {
        spec.condition.inject().then_some(&self.injection)
    }

    /// Plays an episode. An infrastructure failure is a record too; an error stops the run.
    pub(crate) async fn play(&self, spec: &EpisodeSpec) -> Result<EpisodeRecord, RunError> {
        let (scenario, meant) = self.parts(spec)?;
        let mut played = Played {
            recorder: Recorder::new(&self.plan.experiment, &spec.episode_id),
            seen: None,
            negotiation_id: None,
            started_us: clock::now_us(),
        };
        let ended = Box::pin(self.negotiate(spec, scenario, meant, &mut played)).await;
        if let Some(id) = &played.negotiation_id {
            // A negotiation that cannot be closed expires by itself; what counts has been read.
            if let Err(error) = self.admin.close(id).await {
                tracing::debug!("closing {id}: {error}");
            }
        }
        match ended {
            Ok(report) => self.finished(spec, scenario, &report, played),
            Err(Interruption::Infrastructure(error)) => {
                Ok(self.failed(spec, scenario, error, played))
            }
            Err(Interruption::Stop(error)) => Err(error),
        }
    }

    /// The scenario and the toolset id that an episode of the plan is about.
    fn parts(&self, spec: &EpisodeSpec) -> Result<(&Scenario, &str), RunError> {
        let scenario = self.plan.pack.scenarios.get(spec.scenario);
        let meant = self.toolset_ids.get(spec.arm).map(String::as_str);
        scenario
            .zip(meant)
            .ok_or_else(|| RunError::NotOfThisPlan(spec.episode_id.clone()))
    }

    async fn negotiate(
        &self,
        spec: &EpisodeSpec,
        scenario: &Scenario,
        meant: &str,
        played: &mut Played,
    ) -> Result<Report, Interruption> {
        let request = OpenRequest {
            scenario: scenario.clone(),
            enforce: spec.condition.enforce(),
            inject: self.injection_of(spec).cloned(),
            opening: self.plan.opening,
            max_moves: self.plan.max_moves,
            toolset: Some(meant.to_owned()),
        };
        let opened = self.admin.open(&request).await?;
        played.negotiation_id = Some(opened.negotiation_id.clone());
        let prompt = prompts::turn(&opened.negotiation_id);
        let mut hosts: BTreeMap<Role, PartyHost> = BTreeMap::new();
        for role in [Role::Buyer, Role::Seller] {
            let host = PartyHost::connect(self.config(spec, scenario, &opened, role)).await?;
            Self::prove(spec, role, meant, Some(&host.toolset().id()))?;
            played.seen.get_or_insert_with(|| host.toolset().clone());
            hosts.insert(role, host);
        }
        let result = self
            .take_turns(
                spec,
                meant,
                &prompt,
                &opened,
                &mut hosts,
                &mut played.recorder,
            )
            .await;
        for host in hosts.into_values() {
            host.close().await;
        }
        result
    }

    fn config(
        &self,
        spec: &EpisodeSpec,
        scenario: &Scenario,
        opened: &Opened,
        role: Role,
    ) -> PartyConfig {
        let token = match role {
            Role::Buyer => opened.buyer_token.clone(),
            Role::Seller => opened.seller_token.clone(),
        };
        PartyConfig {
            temperature: self.plan.temperature,
            max_calls_per_turn: self.plan.max_calls_per_turn,
            turn_ending: market::contract::MOVES.map(str::to_owned).to_vec(),
            handles: vec![opened.negotiation_id.clone()],
            ..PartyConfig::new(
                self.http.clone(),
                self.admin.mcp_url(),
                token,
                role.as_str(),
                prompts::system(role, scenario),
                spec.seed,
            )
        }
    }

    /// Lets the market say whose turn it is until nobody can move any more.
    async fn take_turns(
        &self,
        spec: &EpisodeSpec,
        meant: &str,
        prompt: &str,
        opened: &Opened,
        hosts: &mut BTreeMap<Role, PartyHost>,
        recorder: &mut Recorder,
    ) -> Result<Report, Interruption> {
        let id = &opened.negotiation_id;
        // Every turn uses up a move or a pass, so a market that goes on for longer is broken.
        for turn in 0..=i32::try_from(self.plan.max_moves).unwrap_or(i32::MAX) {
            let report = self.admin.report(id).await?;
            let Some(role) = report.next_role else {
                return Ok(report);
            };
            let Some(host) = hosts.get_mut(&role) else {
                break;
            };
            let end = host
                .play_turn(self.model(role), prompt, turn, recorder)
                .await;
            // What was put before the model matters whether or not its answer came through.
            if let Some(delivered) = host.delivered() {
                Self::prove(spec, role, meant, Some(delivered))?;
            } else if end.is_ok() {
                Self::prove(spec, role, meant, None)?;
            }
            if let TurnEnd::NoMove { .. } = end? {
                self.admin.pass(id, role).await?;
            }
        }
        Err(Interruption::Infrastructure(format!(
            "the market lets negotiation `{id}` go on after its {} moves",
            self.plan.max_moves
        )))
    }

    /// The proof of delivery: what a model was given is what the plan meant to give it.
    fn prove(
        spec: &EpisodeSpec,
        role: Role,
        meant: &str,
        delivered: Option<&str>,
    ) -> Result<(), Interruption> {
        if delivered == Some(meant) {
            return Ok(());
        }
        Err(Interruption::Stop(RunError::Delivery {
            episode: spec.episode_id.clone(),
            party: role.as_str(),
            meant: meant.to_owned(),
            delivered: delivered.unwrap_or("nothing").to_owned(),
        }))
    }

    fn finished(
        &self,
        spec: &EpisodeSpec,
        scenario: &Scenario,
        report: &Report,
        played: Played,
    ) -> Result<EpisodeRecord, RunError> {
        let setting = Setting {
            scenario,
            injection: self.injection_of(spec),
            opening: self.plan.opening,
        };
        let metrics = metrics::compute(&setting, &played.recorder.calls, &played.recorder.messages);
        let mut episode = self.row(spec, scenario, &played);
        metrics.fill(&mut episode);
        let differences = agreement::differences(&metrics, report);
        let record = self.record(episode, played);
        if differences.is_empty() {
            return Ok(record);
        }
        Err(RunError::Disagreement {
            episode: spec.episode_id.clone(),
            differences: differences.iter().map(ToString::to_string).collect(),
            record: Box::new(record),
        })
    }

    fn failed(
        &self,
        spec: &EpisodeSpec,
        scenario: &Scenario,
        error: String,
        played: Played,
    ) -> EpisodeRecord {
        let mut episode = self.row(spec, scenario, &played);
        episode.status = trajectory::Status::InfraError;
        episode.termination = Some("error".to_owned());
        episode.error = Some(error);
        self.record(episode, played)
    }

    fn record(&self, episode: trajectory::Episode, played: Played) -> EpisodeRecord {
        let tools = played
            .seen
            .as_ref()
            .map(|toolset| self.tool_rows(toolset))
            .unwrap_or_default();
        EpisodeRecord {
            episode,
            calls: played.recorder.calls,
            messages: played.recorder.messages,
            scores: Vec::new(),
            tools,
        }
    }

    /// The definitions as the client received them.
    fn tool_rows(&self, toolset: &Toolset) -> Vec<ToolRow> {
        let (id, now) = (toolset.id(), clock::now_us());
        (0..)
            .zip(toolset.tools())
            .map(|(position, tool)| {
                let text = |name: &str| tool.raw().get(name).map(ToString::to_string);
                ToolRow {
                    experiment: self.plan.experiment.clone(),
                    toolset_id: id.clone(),
                    position,
                    name: tool.name().to_owned(),
                    description: tool
                        .raw()
                        .get("description")
                        .and_then(|d| d.as_str())
                        .map(str::to_owned),
                    input_schema: text("inputSchema"),
                    output_schema: text("outputSchema"),
                    annotations: text("annotations"),
                    definition: serde_json::Value::Object(tool.raw().clone()).to_string(),
                    first_seen_us: Some(now),
                    last_seen_us: Some(now),
                }
            })
            .collect()
    }
}
