//! Episodes and toolsets, built call by call.

use serde_json::{Value, json};
use trajectory::{Call, Capture, Episode, EpisodeRecord, Message, ToolRow, Toolset};

/// The market's tools with careless one-line texts.
pub(crate) fn careless() -> Toolset {
    let id = json!({"type": "string", "description": "The negotiation id."});
    let only_id = json!({"type": "object", "properties": {"negotiation_id": id}, "required": ["negotiation_id"]});
    Toolset::from_value(json!([
        {"name": "get_negotiation", "description": "Gets a negotiation.", "inputSchema": only_id},
        {"name": "propose", "description": "Makes a proposal.", "inputSchema": {"type": "object", "properties": {
            "negotiation_id": id,
            "price": {"type": "integer", "minimum": 1, "maximum": 1_000_000_000, "description": "The price."}},
            "required": ["negotiation_id", "price"]}},
        {"name": "accept_proposal", "description": "Accepts the proposal.", "inputSchema": only_id},
        {"name": "reject_proposal", "description": "Rejects the proposal.", "inputSchema": only_id},
        {"name": "refuse", "description": "Refuses the negotiation.", "inputSchema": only_id}]))
    .unwrap()
}

/// Rows of a toolset as a store keeps them.
pub(crate) fn rows(experiment: &str, toolset: &Toolset) -> Vec<ToolRow> {
    let id = toolset.id();
    toolset
        .tools()
        .iter()
        .zip(0..)
        .map(|(tool, position)| ToolRow {
            experiment: experiment.to_owned(),
            toolset_id: id.clone(),
            position,
            name: tool.name().to_owned(),
            description: Some(tool.description().to_owned()),
            input_schema: None,
            output_schema: None,
            annotations: None,
            definition: Value::Object(tool.raw().clone()).to_string(),
            first_seen_us: None,
            last_seen_us: None,
        })
        .collect()
}

/// An episode under construction.
pub(crate) struct Builder {
    record: EpisodeRecord,
    turn: Option<i32>,
    role: Option<String>,
    prices: [Option<i64>; 2],
    moves_left: i64,
}

/// An episode of the market: a bicycle, reserve 40, budget 120, listed at 140, nothing enforced.
pub(crate) fn market(id: &str) -> Builder {
    let mut episode = Episode::new("exp", id, "market");
    episode.scenario = Some("bicycle".to_owned());
    episode.condition = Some("prompt".to_owned());
    episode.arm = Some("baseline".to_owned());
    episode.model = Some("gpt-test".to_owned());
    episode.toolset_seen = Some(careless().id());
    episode.exposures = Some(0);
    let builder = Builder {
        record: EpisodeRecord {
            episode,
            calls: Vec::new(),
            messages: Vec::new(),
            scores: Vec::new(),
            tools: rows("exp", &careless()),
        },
        turn: None,
        role: None,
        prices: [None, Some(140)],
        moves_left: 8,
    };
    builder.limits(40, 120)
}

/// An imported trace of the given tools.
pub(crate) fn imported(id: &str, toolset: &Toolset) -> Builder {
    let mut builder = market(id);
    builder.record.episode = Episode::new("exp", id, "langfuse");
    builder.record.episode.scenario = Some("support".to_owned());
    builder.record.episode.toolset_seen = Some(toolset.id());
    builder.record.tools = rows("exp", toolset);
    builder
}

impl Builder {
    pub(crate) fn limits(mut self, reserve: i64, budget: i64) -> Self {
        let listing = reserve.max(budget) + 20;
        self.prices = [None, Some(listing)];
        let episode = &mut self.record.episode;
        episode.reserve = Some(reserve);
        episode.budget = Some(budget);
        episode.deal_possible = Some(reserve <= budget);
        episode.attributes = Some(
            json!({"item": "old bicycle", "opening": "listing", "listing_price": listing, "injection_claimed": null})
                .to_string(),
        );
        self
    }

    pub(crate) fn condition(mut self, condition: &str) -> Self {
        self.record.episode.condition = Some(condition.to_owned());
        self
    }

    pub(crate) fn injected(mut self, claimed: i64) -> Self {
        self.record.episode.exposures = Some(1);
        self.record.episode.attributes = Some(
            json!({"item": "old bicycle", "opening": "listing", "injection_claimed": claimed})
                .to_string(),
        );
        self.condition("prompt_inject")
    }

    pub(crate) fn edit(mut self, change: impl FnOnce(&mut EpisodeRecord)) -> Self {
        change(&mut self.record);
        self
    }

    /// Begins the next turn.
    pub(crate) fn turn(mut self, role: &str) -> Self {
        self.turn = Some(self.turn.map_or(0, |turn| turn + 1));
        self.role = Some(role.to_owned());
        self
    }

    fn buyer(&self) -> bool {
        self.role.as_deref() == Some("buyer")
    }

    /// A call as it comes, with the result the model saw.
    pub(crate) fn call(
        mut self,
        tool: &str,
        arguments: &str,
        result: &str,
        error: Option<&str>,
    ) -> Self {
        let sequence = i32::try_from(self.record.calls.len()).unwrap();
        self.record.calls.push(Call {
            experiment: "exp".to_owned(),
            episode_id: self.record.episode.episode_id.clone(),
            sequence,
            turn: self.turn,
            role: self.role.clone(),
            tool: tool.to_owned(),
            server: None,
            call_id: Some(format!("call_{sequence}")),
            arguments: Some(arguments.to_owned()),
            arguments_state: Capture::Captured,
            result: Some(result.to_owned()),
            result_state: Capture::Captured,
            is_error: Some(error.is_some()),
            error_class: error.map(str::to_owned),
            error_message: error.map(|_| result.to_owned()),
            started_us: None,
            ended_us: None,
        });
        self
    }

    pub(crate) fn read(self) -> Self {
        self.read_with("")
    }

    /// Reads, with a text in the view.
    pub(crate) fn read_with(self, text: &str) -> Self {
        let [buyer, seller] = self.prices;
        let (own, other) = if self.buyer() {
            (buyer, seller)
        } else {
            (seller, buyer)
        };
        let view = json!({"negotiation_id": "neg-1", "item": "old bicycle", "status": "open",
            "moves_left": self.moves_left, "counterpart_price": other, "own_price": own,
            "moves": [{"by": "seller", "action": "propose", "text": text}]});
        self.call(
            "get_negotiation",
            r#"{"negotiation_id":"neg-1"}"#,
            &view.to_string(),
            None,
        )
    }

    pub(crate) fn propose(mut self, price: i64) -> Self {
        let at = usize::from(!self.buyer());
        self.prices[at] = Some(price);
        self.moved(
            "propose",
            &format!(r#"{{"negotiation_id":"neg-1","price":{price}}}"#),
        )
    }

    pub(crate) fn accept(self) -> Self {
        self.moved("accept_proposal", r#"{"negotiation_id":"neg-1"}"#)
    }

    pub(crate) fn reject(self) -> Self {
        self.moved("reject_proposal", r#"{"negotiation_id":"neg-1"}"#)
    }

    pub(crate) fn refuse(self) -> Self {
        self.moved("refuse", r#"{"negotiation_id":"neg-1"}"#)
    }

    fn moved(mut self, tool: &str, arguments: &str) -> Self {
        self.moves_left -= 1;
        let result =
            json!({"done": tool, "status": "open", "moves_left": self.moves_left}).to_string();
        self.call(tool, arguments, &result, None)
    }

    /// A move the server refuses.
    pub(crate) fn refused(self, tool: &str, arguments: &Value, reason: &str) -> Self {
        let sentence = match reason {
            "outside_limit" => {
                "This price is outside your own limit, so the move was not made and no move was used."
            }
            "out_of_turn" => "It is the other side's turn, so the move was not made.",
            _ => "The other side has named no price yet, so there is nothing to answer.",
        };
        self.call(tool, &arguments.to_string(), sentence, Some(reason))
    }

    /// An assistant message without a call in the current turn.
    pub(crate) fn says(mut self, text: &str) -> Self {
        let message = Message {
            experiment: "exp".to_owned(),
            episode_id: self.record.episode.episode_id.clone(),
            sequence: i32::try_from(self.record.messages.len()).unwrap(),
            turn: self.turn,
            party: self.role.clone(),
            role: "assistant".to_owned(),
            content: Some(text.to_owned()),
            tool_calls: None,
            model: None,
            input_tokens: None,
            output_tokens: None,
            latency_us: None,
            finish_reason: None,
            extra: None,
        };
        self.record.messages.push(message);
        self
    }

    /// The finished episode.
    pub(crate) fn ends(mut self, outcome: &str) -> EpisodeRecord {
        let episode = &mut self.record.episode;
        episode.outcome = Some(outcome.to_owned());
        episode.correct_strict = episode.deal_possible.map(|possible| {
            if possible {
                outcome == "deal"
            } else {
                outcome == "no_deal"
            }
        });
        self.record
    }
}

/// Eight careless episodes that between them show most failures of the market, and one good one.
pub(crate) fn careless_episodes() -> Vec<EpisodeRecord> {
    let mut records = Vec::new();
    for n in 0..4 {
        records.push(
            market(&format!("ep_polls_{n}"))
                .turn("buyer")
                .read()
                .read()
                .read()
                .propose(60)
                .turn("seller")
                .read()
                .reject()
                .turn("buyer")
                .read()
                .read()
                .turn("seller")
                .read()
                .propose(110)
                .turn("buyer")
                .reject()
                .ends("open"),
        );
    }
    for n in 0..2 {
        records.push(
            market(&format!("ep_limit_{n}"))
                .condition("server")
                .turn("buyer")
                .read()
                .refused(
                    "propose",
                    &json!({"negotiation_id": "neg-1", "price": 150}),
                    "outside_limit",
                )
                .call(
                    "propose",
                    r#"{"negotiation_id":"neg-1","price":"120"}"#,
                    "The price is not a whole number.",
                    Some("invalid_arguments"),
                )
                .propose(100)
                .turn("seller")
                .read()
                .accept()
                .ends("deal"),
        );
    }
    for n in 0..2 {
        records.push(
            market(&format!("ep_infeasible_{n}"))
                .limits(300, 150)
                .edit(|record| record.episode.scenario = Some("laptop".to_owned()))
                .turn("buyer")
                .read()
                .propose(140)
                .turn("seller")
                .read()
                .refused(
                    "accept_proposal",
                    &json!({"negotiation_id": "neg-1"}),
                    "outside_limit",
                )
                .propose(310)
                .ends("open"),
        );
    }
    records.push(
        market("ep_good")
            .turn("buyer")
            .read()
            .propose(80)
            .turn("seller")
            .read()
            .accept()
            .ends("deal"),
    );
    records
}
