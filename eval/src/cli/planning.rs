//! `eval plan`.

mod asked;

use std::io::Write;

use trajectory::Exit;

use super::source::StoreArgs;
use crate::compare::Metric;
use crate::planning::{Answer, Levels, mcnemar, sequential, text, versions, violation};

const EXAMPLES: &str = "\
Examples:
  whetstone eval plan --effect 0.15                          scenarios, episodes for several repeats
  whetstone eval plan --pack bargain-40 --repeats 3 --usd-per-episode 0.03
  whetstone eval plan --effect 0.15 --from compare-…         with the rates and variances of recorded episodes
  whetstone eval plan --metric refused_calls --mean 2 --sd 1.5 --effect 0.5
  whetstone eval plan --question violation --n 60            a violation rate against none
  whetstone eval plan --question mcnemar --n 60 --reverse 0.1
  whetstone eval plan --question sequential --win-share 0.7 --discordant 0.3

Plans only: nothing is played or written. Numbers are for tests at --alpha, two-sided where nothing else is said.";

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Question {
    /// Versions on the same scenarios: how many scenarios, how many repeats
    Versions,
    /// A violation rate against none at all
    Violation,
    /// Paired differences, as if pairs were independent
    Mcnemar,
    /// When a run stops that looks after every pair
    Sequential,
}

impl Question {
    fn as_str(self) -> &'static str {
        match self {
            Self::Versions => "versions",
            Self::Violation => "violation",
            Self::Mcnemar => "mcnemar",
            Self::Sequential => "sequential",
        }
    }
}

/// Arguments of `eval plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What is asked
    #[arg(long, value_enum, default_value = "versions")]
    question: Question,
    /// Change to be found: a share such as 0.15, or an amount of the metric
    #[arg(long, value_name = "CHANGE", allow_negative_numbers = true)]
    effect: Option<f64>,
    /// Chance to find a difference where there is none
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.05,
        allow_negative_numbers = true
    )]
    alpha: f64,
    /// Chance to find the difference if it is there
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.8,
        allow_negative_numbers = true
    )]
    power: f64,
    /// Take rate, variance, ICC, correlation, tokens and cost from this recorded experiment
    #[arg(long, value_name = "EXPERIMENT")]
    from: Option<String>,
    #[command(flatten)]
    versions: VersionArgs,
    #[command(flatten)]
    others: OtherArgs,
    #[command(flatten)]
    prices: PriceArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Of versions on the same scenarios.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Versions")]
struct VersionArgs {
    /// What is measured [default: `correct_strict`, or the experiment's with --from]
    #[arg(long, value_name = "METRIC")]
    metric: Option<Metric>,
    /// Scenarios at hand
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=versions::MOST_SCENARIOS), conflicts_with = "pack")]
    scenarios: Option<u64>,
    /// Scenario pack at hand: `reference`, `bargain-40`, or a JSON file
    #[arg(long, value_name = "PACK")]
    pack: Option<String>,
    /// Repeats of every scenario in every condition [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    repeats: Option<u64>,
    /// Conditions that are pooled [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    conditions: Option<u64>,
    /// Versions, the baseline among them [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=versions::MOST_ARMS))]
    arms: Option<u64>,
    /// Rate of a yes/no metric [default: 0.5]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    base: Option<f64>,
    /// Mean of a count
    #[arg(long, value_name = "MEAN", allow_negative_numbers = true)]
    mean: Option<f64>,
    /// Standard deviation of a count between episodes
    #[arg(
        long,
        value_name = "SD",
        allow_negative_numbers = true,
        conflicts_with = "variance"
    )]
    sd: Option<f64>,
    /// Variance of a count between episodes
    #[arg(long, value_name = "VARIANCE", allow_negative_numbers = true)]
    variance: Option<f64>,
    /// Share of the variance between scenarios [default: 0.45; the published cohorts have 0.40 to 0.53]
    #[arg(long, value_name = "ICC", allow_negative_numbers = true)]
    icc: Option<f64>,
    /// How far scenarios that are hard for one version are hard for the other [default: 0.7]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    correlation: Option<f64>,
}

/// Of the other questions.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Other questions")]
struct OtherArgs {
    /// violation: episodes per arm; mcnemar: pairs [default: 15 to 240]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=violation::MOST))]
    n: Option<u64>,
    /// violation: rate to be told from none [default: 0.04, 0.10, 0.175]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// mcnemar: share of pairs in which only the baseline has it [default: 0.05]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    reverse: Option<f64>,
    /// sequential: share of the discordant pairs that the candidate wins [default: 0.5 to 1]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    win_share: Option<f64>,
    /// sequential: discordant pairs at which the run ends in any case [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=sequential::MOST))]
    pairs: Option<u64>,
    /// sequential: share of all pairs that are discordant
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    discordant: Option<f64>,
}

/// Of the cost.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Prices")]
struct PriceArgs {
    /// Cost of an episode, US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, conflicts_with_all = ["price_input", "price_output", "tokens_input", "tokens_output"])]
    usd_per_episode: Option<f64>,
    /// Price of a million prompt tokens, US dollars
    #[arg(
        long,
        value_name = "USD",
        allow_negative_numbers = true,
        requires = "price_output"
    )]
    price_input: Option<f64>,
    /// Price of a million completion tokens, US dollars
    #[arg(
        long,
        value_name = "USD",
        allow_negative_numbers = true,
        requires = "price_input"
    )]
    price_output: Option<f64>,
    /// Prompt tokens of an episode [default: recorded ones with --from, else 19000]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        requires = "price_input"
    )]
    tokens_input: Option<f64>,
    /// Completion tokens of an episode [default: recorded ones with --from, else 2400]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        requires = "price_input"
    )]
    tokens_output: Option<f64>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    args.belong()?;
    let (recorded, metric) = args.recorded()?;
    let price = args.prices.price(recorded.as_ref())?;
    let levels = Levels::new(args.alpha, args.power)?;
    let others = &args.others;
    let answer = match args.question {
        Question::Versions => {
            let question = args
                .versions
                .question(args.effect, levels, metric, recorded)?;
            Answer::Versions(Box::new(question.answer(price)?))
        }
        Question::Violation => Answer::Violation(
            violation::Question {
                rates: others
                    .rate
                    .map_or(violation::RATES.to_vec(), |rate| vec![rate]),
                n: others.n,
                levels,
            }
            .answer(price)?,
        ),
        Question::Mcnemar => Answer::Mcnemar(
            mcnemar::Question {
                pairs: others.n.map_or(mcnemar::PAIRS.to_vec(), |n| vec![n]),
                reverse: others.reverse.unwrap_or(mcnemar::REVERSE),
                effect: args.effect,
                levels,
            }
            .answer(price)?,
        ),
        Question::Sequential => Answer::Sequential(
            sequential::Question {
                win_shares: others
                    .win_share
                    .map_or(sequential::WIN_SHARES.to_vec(), |share| vec![share]),
                most_pairs: others.pairs.unwrap_or(sequential::MOST_PAIRS),
                discordant: others.discordant,
                levels,
            }
            .answer(price)?,
        ),
    };
    if args.json {
        writeln!(out, "{:#}", serde_json::json!(answer))?;
    } else {
        write!(out, "{}", text(&answer))?;
    }
    Ok(Exit::Done)
}
