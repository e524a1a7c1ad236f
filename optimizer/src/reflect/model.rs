//! The reflector that asks a language model, in two roles: *analyse* batches of episodes into typed failure modes,
//! then *rewrite* the blamed texts.
//!
//! The model sees recorded text only inside data blocks. It answers with JSON only: a bad reply gets one chance of
//! repair. Whatever comes back is checked: ids it cites have to exist, components too, and the patch goes through the
//! guard like any other.

mod prompts;
mod reply;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::{ChatMessage, ChatModel, ChatReply, ChatRequest};
use serde_json::Value;

use super::compaction::Case;
use super::{Brief, Draft, DraftFuture, Observation, ReflectError, Reflector, Spent};
use crate::classes::Finding;
use crate::guard::{Reason, Rejection};
use crate::patch::Patch;

/// How the model is asked.
#[derive(Debug, Clone, Copy)]
pub struct ModelSettings {
    /// Episodes the analysis reads at most.
    pub episodes: usize,
    /// Characters of recorded text in one request.
    pub characters: usize,
    /// Rounds of rewriting: after the first, the model sees what was rejected and why.
    pub rounds: usize,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Tokens of one reply.
    pub max_tokens: u32,
}

impl Default for ModelSettings {
    fn default() -> Self {
        // About 6,000 tokens of data per request: small local models read that too.
        Self {
            episodes: 24,
            characters: 24_000,
            rounds: 2,
            temperature: Some(0.2),
            max_tokens: 4096,
        }
    }
}

/// The reflector `model`.
pub struct ModelReflector {
    model: Arc<dyn ChatModel>,
    settings: ModelSettings,
    /// The analysis is made once and serves all rounds.
    analysis: tokio::sync::OnceCell<Vec<Observation>>,
}

impl std::fmt::Debug for ModelReflector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelReflector")
            .field("model", &self.model.name())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl ModelReflector {
    /// A reflector that asks `model`. Refuses the simulated agents, which have no words of their own.
    pub fn new(model: Arc<dyn ChatModel>, settings: ModelSettings) -> Result<Self, ReflectError> {
        if model.simulated() {
            return Err(ReflectError::Simulated {
                model: model.name().to_owned(),
            });
        }
        Ok(Self {
            model,
            settings,
            analysis: tokio::sync::OnceCell::new(),
        })
    }

    async fn ask(
        &self,
        messages: Vec<ChatMessage>,
        schema: &Value,
        seed: u64,
        spent: &mut Spent,
    ) -> Result<ChatReply, ReflectError> {
        let request = ChatRequest {
            messages,
            temperature: self.settings.temperature,
            seed: Some(seed),
            max_tokens: Some(self.settings.max_tokens),
            response_schema: Some(schema.clone()),
            ..ChatRequest::default()
        };
        let reply = self
            .model
            .complete(&request)
            .await
            .map_err(|source| ReflectError::Model {
                model: self.model.name().to_owned(),
                source,
            })?;
        spent.model_calls += 1;
        match (reply.usage.input_tokens, reply.usage.output_tokens) {
            (None, None) => spent.uncounted_calls += 1,
            (input, output) => {
                spent.input_tokens = spent.input_tokens.saturating_add(input.unwrap_or(0));
                spent.output_tokens = spent.output_tokens.saturating_add(output.unwrap_or(0));
            }
        }
        Ok(reply)
    }

    /// Asks for JSON; a reply that `read` does not accept is shown its fault once.
    async fn ask_for<T>(
        &self,
        prompt: String,
        schema: &Value,
        seed: u64,
        spent: &mut Spent,
        read: impl Fn(&str, bool) -> Result<T, Rejection>,
    ) -> Result<Result<T, Rejection>, ReflectError> {
        let mut messages = vec![
            ChatMessage::system(prompts::system()?),
            ChatMessage::user(prompt),
        ];
        let reply = self.ask(messages.clone(), schema, seed, spent).await?;
        let fault = match read(
            reply.content.as_deref().unwrap_or_default(),
            reply::cut_off(&reply),
        ) {
            Ok(value) => return Ok(Ok(value)),
            Err(fault) => fault,
        };
        messages.push(ChatMessage::assistant(
            reply.content.unwrap_or_default(),
            Vec::new(),
        ));
        messages.push(ChatMessage::user(prompts::repair(&fault)?));
        let reply = self
            .ask(messages, schema, seed.wrapping_add(1), spent)
            .await?;
        Ok(read(
            reply.content.as_deref().unwrap_or_default(),
            reply::cut_off(&reply),
        ))
    }

    /// The first role: what went wrong, batch by batch. Equal findings of several batches are merged.
    async fn analyse(
        &self,
        brief: &Brief<'_>,
        spent: &mut Spent,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Observation>, ReflectError> {
        let findings = by_episode(brief);
        let cases = self.select(brief, &findings);
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        // About the square root of the number of episodes in groups: enough to see what is common, small enough to read.
        let groups = (1..=cases.len())
            .find(|groups| groups * groups >= cases.len())
            .unwrap_or(1);
        let size = cases.len().div_ceil(groups);
        let mut merged: BTreeMap<(String, String), Observation> = BTreeMap::new();
        for (index, batch) in cases.chunks(size).enumerate() {
            let known: BTreeSet<&str> = batch
                .iter()
                .flat_map(|case| case.findings.iter().map(|f| f.id.as_str()))
                .collect();
            let prompt = prompts::analyse(brief, batch, self.settings.characters)?;
            let seed = brief.seed.wrapping_add(index as u64);
            let read = |text: &str, cut_off: bool| {
                reply::observations(text, cut_off, brief.toolset, &known)
            };
            match self
                .ask_for(prompt, &reply::analysis_schema(), seed, spent, read)
                .await?
            {
                Ok((observations, dropped)) => {
                    if dropped > 0 {
                        notes.push(format!(
                            "batch {}: {dropped} failure modes cited nothing that exists, left out",
                            index + 1
                        ));
                    }
                    for observation in observations {
                        let key = (
                            observation.component.clone(),
                            observation.title.to_lowercase(),
                        );
                        match merged.get_mut(&key) {
                            Some(known) => known.failures.extend(observation.failures),
                            None => {
                                merged.insert(key, observation);
                            }
                        }
                    }
                }
                Err(fault) => notes.push(format!(
                    "batch {} gave no usable analysis: {}: {}",
                    index + 1,
                    fault.reason,
                    fault.detail
                )),
            }
        }
        let mut observations: Vec<Observation> = merged.into_values().collect();
        observations.sort_by(|a, b| {
            (b.failures.len(), &a.component, &a.title).cmp(&(
                a.failures.len(),
                &b.component,
                &b.title,
            ))
        });
        Ok(observations)
    }

    /// Failing episodes, rare classes of failure and new scenarios before what was seen already.
    fn select<'a>(
        &self,
        brief: &Brief<'a>,
        findings: &'a BTreeMap<&'a str, Vec<&'a Finding>>,
    ) -> Vec<Case<'a>> {
        let mut left: Vec<Case<'a>> = brief
            .records
            .iter()
            .filter_map(|record| {
                let findings = findings.get(record.episode.episode_id.as_str())?;
                Some(Case { record, findings })
            })
            .collect();
        let mut seen: BTreeMap<crate::classes::Class, usize> = BTreeMap::new();
        let mut scenarios: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        let mut chosen = Vec::new();
        while chosen.len() < self.settings.episodes {
            // What was seen least, then another scenario, then the first one.
            let best = left
                .iter()
                .enumerate()
                .map(|(index, one)| {
                    let classes: BTreeSet<_> = one.findings.iter().map(|f| f.class).collect();
                    let rarest = classes
                        .iter()
                        .map(|class| seen.get(class).copied().unwrap_or(0))
                        .min()
                        .unwrap_or(0);
                    let scenario = scenarios
                        .get(&one.record.episode.scenario.as_deref())
                        .copied()
                        .unwrap_or(0);
                    (rarest, scenario, index)
                })
                .min();
            let Some((_, _, index)) = best else { break };
            let one = left.remove(index);
            for finding in one.findings {
                *seen.entry(finding.class).or_default() += 1;
            }
            *scenarios
                .entry(one.record.episode.scenario.as_deref())
                .or_default() += 1;
            chosen.push(one);
        }
        chosen
    }
}

fn by_episode<'a>(brief: &Brief<'a>) -> BTreeMap<&'a str, Vec<&'a Finding>> {
    let mut findings: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in brief.diagnosis.findings() {
        findings
            .entry(&finding.episode_id)
            .or_default()
            .push(finding);
    }
    findings
}

impl Reflector for ModelReflector {
    fn name(&self) -> String {
        format!("model:{}", self.model.name())
    }

    fn rounds(&self) -> usize {
        self.settings.rounds.max(1)
    }

    fn draft<'a>(&'a self, brief: &'a Brief<'a>) -> DraftFuture<'a> {
        Box::pin(async move {
            let mut spent = Spent::default();
            let mut notes = Vec::new();
            let observed = self
                .analysis
                .get_or_try_init(|| self.analyse(brief, &mut spent, &mut notes))
                .await?
                .clone();
            let prompt = prompts::rewrite(brief, &observed, self.settings.characters)?;
            let read = |text: &str, cut_off: bool| Patch::parse(text, cut_off);
            let patch = self
                .ask_for(prompt, &Patch::schema(), brief.seed, &mut spent, read)
                .await?;
            if let Err(Rejection {
                reason: Reason::Refusal,
                detail,
                ..
            }) = &patch
            {
                notes.push(detail.clone());
            }
            Ok(Draft {
                patch,
                spent,
                observed,
                notes,
            })
        })
    }
}
