//! The negotiations in progress, and who may act in them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use trajectory::Toolset;

use crate::catalog::{Catalog, CatalogError};
use crate::config::MarketConfig;
use crate::contract::{self, Request};
use crate::role::Role;
use crate::rules::{Negotiation, Refusal, Terms};
use crate::token::{self, TokenHash};

/// Who a token speaks for.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    pub(crate) negotiation_id: String,
    pub(crate) role: Role,
    pub(crate) catalog: Arc<Catalog>,
}

/// The answer to a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Done(Value),
    Refused { reason: Refusal, sentence: String },
    UnknownTool,
}

/// Why a negotiation was not opened, or a version not registered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(
        "the market is full: {0} negotiations are open; close some, or raise --max-negotiations"
    )]
    Full(usize),
    #[error(
        "{0} toolset versions are registered, which is the most this market keeps; restart it or raise --max-toolsets"
    )]
    TooManyToolsets(usize),
    #[error(
        "no toolset version `{0}` is registered: register it first, or leave it out for the baseline"
    )]
    UnknownToolset(String),
    #[error("`max_moves` must be from 1 to 1000")]
    MaxMoves,
    #[error("scenario: {0}")]
    Scenario(String),
    #[error("injection `{id}`: {problem}")]
    Injection { id: String, problem: String },
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    #[error("the operating system gave no random numbers: {0}")]
    Random(#[from] rand::rngs::SysError),
}

/// What is given out when a negotiation is opened.
pub(crate) struct Opened {
    pub(crate) negotiation_id: String,
    pub(crate) buyer_token: SecretString,
    pub(crate) seller_token: SecretString,
    pub(crate) toolset_id: String,
}

struct Slot {
    negotiation: Negotiation,
    tokens: [TokenHash; 2],
    opened: Instant,
    touched: Instant,
    ended: Option<Instant>,
}

struct State {
    slots: HashMap<String, Slot>,
    tokens: HashMap<TokenHash, Principal>,
    catalogs: HashMap<String, Arc<Catalog>>,
    swept: Instant,
}

/// Shared by the MCP handler, the gate and the admin API.
pub(crate) struct Registry {
    max_negotiations: usize,
    max_toolsets: usize,
    idle_timeout: Duration,
    token_lifetime: Duration,
    closed_retention: Duration,
    state: Mutex<State>,
}

/// At most so often are idle negotiations looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

impl Registry {
    pub(crate) fn new(config: &MarketConfig) -> Result<Self, CatalogError> {
        let baseline = Arc::new(Catalog::new(&contract::baseline())?);
        Ok(Self {
            max_negotiations: config.max_negotiations,
            max_toolsets: config.max_toolsets,
            idle_timeout: config.idle_timeout,
            token_lifetime: config.token_lifetime,
            closed_retention: config.closed_retention,
            state: Mutex::new(State {
                slots: HashMap::new(),
                tokens: HashMap::new(),
                catalogs: HashMap::from([(baseline.id.clone(), baseline)]),
                swept: Instant::now(),
            }),
        })
    }

    /// Every change of the state is complete before anything can panic, so a poisoned lock is still sound.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn register(&self, toolset: &Toolset) -> Result<String, OpenError> {
        let catalog = Arc::new(Catalog::new(toolset)?);
        let mut state = self.lock();
        if state.catalogs.len() >= self.max_toolsets && !state.catalogs.contains_key(&catalog.id) {
            return Err(OpenError::TooManyToolsets(state.catalogs.len()));
        }
        let id = catalog.id.clone();
        state.catalogs.entry(id.clone()).or_insert(catalog);
        Ok(id)
    }

    pub(crate) fn open(
        &self,
        mut terms: Terms,
        toolset: Option<&str>,
    ) -> Result<Opened, OpenError> {
        if !(1..=1000).contains(&terms.max_moves) {
            return Err(OpenError::MaxMoves);
        }
        if let Some(injection) = &terms.inject
            && let Some(problem) = injection.problem()
        {
            let id = injection
                .id
                .chars()
                .filter(|c| !c.is_control())
                .take(80)
                .collect();
            return Err(OpenError::Injection { id, problem });
        }
        let negotiation_id = format!("ng_{}", token::random_hex::<8>()?);
        let (buyer_token, seller_token) = (token::mint("wb_")?, token::mint("ws_")?);
        let mut state = self.lock();
        self.sweep(&mut state);
        if state.slots.len() >= self.max_negotiations {
            return Err(OpenError::Full(state.slots.len()));
        }
        let wanted = toolset.map_or_else(|| contract::baseline().id(), str::to_owned);
        let catalog = state
            .catalogs
            .get(&wanted)
            .cloned()
            .ok_or(OpenError::UnknownToolset(wanted))?;
        // A version whose moves take notes is the way to switch notes on.
        terms.notes = catalog.notes;
        let tokens =
            [&buyer_token, &seller_token].map(|secret| token::hash(secret.expose_secret()));
        for (hash, role) in tokens.into_iter().zip([Role::Buyer, Role::Seller]) {
            let principal = Principal {
                negotiation_id: negotiation_id.clone(),
                role,
                catalog: Arc::clone(&catalog),
            };
            state.tokens.insert(hash, principal);
        }
        let now = Instant::now();
        let slot = Slot {
            negotiation: Negotiation::new(terms),
            tokens,
            opened: now,
            touched: now,
            ended: None,
        };
        state.slots.insert(negotiation_id.clone(), slot);
        Ok(Opened {
            negotiation_id,
            buyer_token,
            seller_token,
            toolset_id: catalog.id.clone(),
        })
    }

    fn sweep(&self, state: &mut State) {
        if state.swept.elapsed() < SWEEP_EVERY && state.slots.len() < self.max_negotiations {
            return;
        }
        state.swept = Instant::now();
        let idle: Vec<String> = state
            .slots
            .iter()
            .filter(|(_, slot)| self.expired(slot))
            .map(|(id, _)| id.clone())
            .collect();
        for id in idle {
            remove(state, &id);
        }
    }

    /// Whether a negotiation is only waiting to be dropped: nobody came for long, its tokens are too old, or it
    /// ended a while ago.
    fn expired(&self, slot: &Slot) -> bool {
        slot.touched.elapsed() > self.idle_timeout
            || slot.opened.elapsed() > self.token_lifetime
            || slot
                .ended
                .is_some_and(|ended| ended.elapsed() > self.closed_retention)
    }

    /// Drops a negotiation and its tokens; false when there is none.
    pub(crate) fn close(&self, id: &str) -> bool {
        remove(&mut self.lock(), id)
    }

    /// Whom a bearer token speaks for.
    pub(crate) fn principal(&self, bearer: &str) -> Option<Principal> {
        let hash = token::hash(bearer);
        let state = self.lock();
        let (stored, principal) = state.tokens.get_key_value(&hash)?;
        if !token::same(stored, &hash) {
            return None;
        }
        let slot = state.slots.get(&principal.negotiation_id)?;
        (!self.expired(slot)).then(|| principal.clone())
    }

    /// Runs `f` on a negotiation and marks it as touched.
    pub(crate) fn with<T>(&self, id: &str, f: impl FnOnce(&mut Negotiation) -> T) -> Option<T> {
        let mut state = self.lock();
        let slot = state.slots.get_mut(id)?;
        if self.expired(slot) {
            // Touching it must not bring it back to life.
            remove(&mut state, id);
            return None;
        }
        let answer = f(&mut slot.negotiation);
        slot.touched = Instant::now();
        if slot.ended.is_none() && slot.negotiation.next_role().is_none() {
            slot.ended = Some(slot.touched);
        }
        Some(answer)
    }

    /// Answers one tool call of a party. One lock is held from the check to the change, so of two moves at once
    /// exactly one finds it is its turn.
    pub(crate) fn call(
        &self,
        who: &Principal,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Answer {
        let Some(checked) = contract::arguments(tool, arguments, who.catalog.notes) else {
            return Answer::UnknownTool;
        };
        let is_move = tool != contract::GET_NEGOTIATION;
        self.with(&who.negotiation_id, |negotiation| {
            let refuse = |negotiation: &mut Negotiation, reason: Refusal, sentence: String| {
                if is_move {
                    negotiation.count_refusal(who.role, reason);
                }
                Answer::Refused { reason, sentence }
            };
            let named = match &checked {
                Ok(arguments) => Some(&arguments.negotiation_id),
                Err(bad) => bad.negotiation_id.as_ref(),
            };
            if named.is_some_and(|id| *id != who.negotiation_id) {
                let reason = Refusal::WrongNegotiation;
                return refuse(negotiation, reason, reason.sentence().to_owned());
            }
            let arguments = match checked {
                Ok(arguments) => arguments,
                Err(bad) => return refuse(negotiation, Refusal::InvalidArguments, bad.sentence),
            };
            match arguments.request {
                Request::Read => Answer::Done(negotiation.read(who.role, &who.negotiation_id)),
                Request::Move(action) => match negotiation.act(who.role, action, arguments.note) {
                    Ok(()) => Answer::Done(negotiation.moved(who.role)),
                    Err(reason) => Answer::Refused {
                        reason,
                        sentence: reason.sentence().to_owned(),
                    },
                },
            }
        })
        .unwrap_or_else(|| Answer::Refused {
            reason: Refusal::Closed,
            sentence: Refusal::Closed.sentence().to_owned(),
        })
    }

    /// Counts a move whose arguments were no JSON object at all.
    pub(crate) fn malformed(&self, who: &Principal, tool: &str) {
        if contract::MOVES.contains(&tool) {
            self.with(&who.negotiation_id, |n| {
                n.count_refusal(who.role, Refusal::InvalidArguments);
            });
        }
    }

    /// Negotiations that are held at the moment.
    pub(crate) fn len(&self) -> usize {
        self.lock().slots.len()
    }
}

fn remove(state: &mut State, id: &str) -> bool {
    let Some(slot) = state.slots.remove(id) else {
        return false;
    };
    for hash in slot.tokens {
        state.tokens.remove(&hash);
    }
    true
}
