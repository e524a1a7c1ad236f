//! Options that say which models play, and what they may use.

use std::path::PathBuf;
use std::sync::Arc;

use agent::{BudgetLimits, ChatModel, ModelOptions, Prices, ToolCalling, build_model};
use anyhow::bail;

/// Which models, and how they are asked.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Models")]
pub(super) struct ModelArgs {
    /// Model of both parties: `sim`, `sim:PROFILE`, `openai:NAME` (or plain NAME), `replay:FILE`
    #[arg(long, value_name = "MODEL", default_value = "sim")]
    pub(super) model: String,
    /// Another model for the seller
    #[arg(long, value_name = "MODEL")]
    pub(super) counterpart_model: Option<String>,
    /// Sampling temperature
    #[arg(long, value_name = "T", default_value_t = 0.7)]
    pub(super) temperature: f64,
    /// How tools are called: native, schema, text or auto
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(super) tool_calling: ToolCalling,
    /// Append every request and reply to this file, for `--model replay:FILE`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Stop before more than this many model calls
    #[arg(long, value_name = "N")]
    budget_calls: Option<u64>,
    /// Stop before more than this many tokens
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Stop before more than this much money (needs both prices)
    #[arg(long, value_name = "USD", requires_all = ["price_input", "price_output"])]
    budget_usd: Option<f64>,
    /// Price of a million prompt tokens, US dollars
    #[arg(long, value_name = "USD", requires = "price_output")]
    price_input: Option<f64>,
    /// Price of a million completion tokens, US dollars
    #[arg(long, value_name = "USD", requires = "price_input")]
    price_output: Option<f64>,
}

/// The models of a run.
pub(super) struct Models {
    pub(super) buyer: Arc<dyn ChatModel>,
    pub(super) seller: Arc<dyn ChatModel>,
}

impl ModelArgs {
    pub(super) fn prices(&self) -> anyhow::Result<Option<Prices>> {
        for (flag, value) in [
            ("--price-input", self.price_input),
            ("--price-output", self.price_output),
            ("--budget-usd", self.budget_usd),
        ] {
            if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
                bail!("{flag} must be a number of US dollars, not below 0");
            }
        }
        Ok(self
            .price_input
            .zip(self.price_output)
            .map(|(input, output)| Prices {
                input_usd_per_million: input,
                output_usd_per_million: output,
            }))
    }

    /// Makes the models; the budget applies to each of them.
    pub(super) fn build(&self, concurrency: usize) -> anyhow::Result<Models> {
        let options = ModelOptions {
            tool_calling: self.tool_calling,
            record: self.record.clone(),
            max_concurrency: concurrency,
            budget: BudgetLimits {
                calls: self.budget_calls,
                tokens: self.budget_tokens,
                usd: self.budget_usd,
            },
            prices: self.prices()?,
            ..ModelOptions::from_env()
        };
        let buyer = build_model(&self.model, &options)?;
        let seller = match &self.counterpart_model {
            Some(name) if *name != self.model => build_model(name, &options)?,
            _ => Arc::clone(&buyer),
        };
        Ok(Models { buyer, seller })
    }

    /// As [`ModelArgs::build`] without touching anything: for looking at a plan, a key is not needed.
    pub(super) fn names(&self) -> Names {
        let options = ModelOptions::from_env();
        let one = |spec: &str| match build_model(spec, &options) {
            Ok(model) => (model.name().to_owned(), model.simulated()),
            Err(_) => (
                spec.strip_prefix("openai:").unwrap_or(spec).to_owned(),
                false,
            ),
        };
        let (buyer, buyer_simulated) = one(&self.model);
        let seller = self
            .counterpart_model
            .as_ref()
            .filter(|name| **name != self.model)
            .map(|name| one(name));
        let simulated = buyer_simulated && seller.as_ref().is_none_or(|(_, simulated)| *simulated);
        Names {
            buyer,
            seller: seller.map(|(name, _)| name),
            simulated,
        }
    }
}

/// Names of the models, as recorded.
pub(super) struct Names {
    pub(super) buyer: String,
    pub(super) seller: Option<String>,
    pub(super) simulated: bool,
}

impl Models {
    pub(super) fn names(&self, other_seller: bool) -> Names {
        Names {
            buyer: self.buyer.name().to_owned(),
            seller: (other_seller && !Arc::ptr_eq(&self.buyer, &self.seller))
                .then(|| self.seller.name().to_owned()),
            simulated: self.buyer.simulated() && self.seller.simulated(),
        }
    }
}
