//! The row of an episode: everything that is known besides its metrics.

use agent::Usage;
use market::Role;
use market::rules::Opening;
use market::scenario::Scenario;
use serde_json::json;
use trajectory::{Episode, clock};

use super::{Played, Table};
use crate::metrics::Setting;
use crate::plan::EpisodeSpec;

impl Table {
    pub(super) fn row(&self, spec: &EpisodeSpec, scenario: &Scenario, played: &Played) -> Episode {
        let plan = &self.plan;
        let setting = Setting {
            scenario,
            injection: self.injection_of(spec),
            opening: plan.opening,
        };
        let mut row = Episode::new(&plan.experiment, &spec.episode_id, "market");
        row.scenario = Some(scenario.id.clone());
        row.condition = Some(spec.condition.as_str().to_owned());
        row.arm = plan.arms.get(spec.arm).map(|arm| arm.name.clone());
        row.repeat = i32::try_from(spec.repeat).ok();
        row.seed = i64::try_from(spec.seed).ok();
        row.model = Some(self.buyer.name().to_owned());
        row.counterpart_model = plan
            .counterpart_model
            .as_ref()
            .map(|_| self.seller.name().to_owned());
        row.simulated = self.buyer.simulated() || self.seller.simulated();
        row.toolset_meant = self.toolset_ids.get(spec.arm).cloned();
        // Every request was checked to carry this list, so it is what the models were given.
        row.toolset_seen = played.seen.as_ref().map(trajectory::Toolset::id);
        row.prompt_hash = Some(self.prompt_hash.clone());
        row.reserve = Some(setting.limit(Role::Seller));
        row.budget = Some(setting.limit(Role::Buyer));
        row.deal_possible = Some(setting.limit(Role::Seller) <= setting.limit(Role::Buyer));
        self.usage(&mut row, played);
        row.started_us = Some(played.started_us);
        row.ended_us = Some(clock::now_us());
        row.attributes = Some(self.attributes(&setting, played).to_string());
        row
    }

    fn usage(&self, row: &mut Episode, played: &Played) {
        let buyer = played.recorder.usage_of(Role::Buyer.as_str());
        let seller = played.recorder.usage_of(Role::Seller.as_str());
        row.model_calls = Some(played.recorder.model_calls());
        row.input_tokens_buyer = buyer.input_tokens;
        row.output_tokens_buyer = buyer.output_tokens;
        row.input_tokens_seller = seller.input_tokens;
        row.output_tokens_seller = seller.output_tokens;
        row.model_time_us_buyer = Some(buyer.model_time_us);
        row.model_time_us_seller = Some(seller.model_time_us);
        let Some(prices) = &self.prices else { return };
        let mut cost = 0.0;
        for (usage, model) in [(buyer, &self.buyer), (seller, &self.seller)] {
            if model.simulated() || usage.model_calls == 0 {
                continue;
            }
            let tokens = Usage {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
            };
            // A sum that leaves out what was not counted would look like a price.
            let Some(usd) = prices.cost_usd(&tokens) else {
                return;
            };
            cost += usd;
        }
        row.cost_usd = Some(cost);
    }

    fn attributes(&self, setting: &Setting<'_>, played: &Played) -> serde_json::Value {
        let plan = &self.plan;
        let injection = setting.injection;
        json!({
            "item": setting.scenario.item,
            "opening": plan.opening.as_str(),
            "listing_price": (plan.opening == Opening::Listing).then(|| setting.scenario.listing_price()),
            "max_moves": plan.max_moves,
            "max_calls_per_turn": plan.max_calls_per_turn,
            "injection": injection.map(|injection| &injection.id),
            "injection_family": injection.map(|injection| &injection.family),
            "injection_target": injection.map(|injection| injection.target.as_str()),
            "injection_claimed": injection.and_then(|injection| injection.claimed(setting.scenario)),
            "temperature": plan.temperature,
            "tool_calling": plan.tool_calling,
            "pack": plan.pack.name,
            "negotiation_id": played.negotiation_id,
        })
    }
}
