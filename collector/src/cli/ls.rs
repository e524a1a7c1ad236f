//! `collector ls`.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;
use trajectory::{Episode, Exit, clock};

use super::{FilterArgs, StoreArgs};
use crate::terminal::one_line;

const EXAMPLES: &str = "\
Examples:
  collector ls
  collector ls --experiment reference --condition server_inject --outcome no_deal
  collector ls --tool get_weather --failed
  collector ls --json | jq -r '.[] | select(.errors > 0) | .episode_id'";

/// Arguments of `collector ls`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LsArgs {
    /// Which episodes.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Only episodes from this source (market, langfuse).
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Only episodes with this status: completed, `agent_fault`, `infra_error` or cancelled.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Only episodes with this outcome (deal, `no_deal`, open, …).
    #[arg(long, value_name = "OUTCOME")]
    pub outcome: Option<String>,
    /// Only episodes that called this tool.
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only episodes with a failed call.
    #[arg(long)]
    pub failed: bool,
    /// Show at most this many.
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub limit: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where the store is.
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Default)]
struct Counts {
    calls: usize,
    errors: usize,
    has_tool: bool,
}

pub(super) fn run(arguments: &LsArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let store = arguments.store.open()?;
    let filter = arguments.filter.filter();
    let mut counts: BTreeMap<(String, String), Counts> = BTreeMap::new();
    for call in store.calls(&filter)? {
        let count = counts
            .entry((call.experiment, call.episode_id))
            .or_default();
        count.calls += 1;
        count.errors += usize::from(call.is_error == Some(true));
        count.has_tool |= arguments
            .tool
            .as_deref()
            .is_some_and(|tool| tool == call.tool);
    }
    let count =
        |episode: &Episode| counts.get(&(episode.experiment.clone(), episode.episode_id.clone()));
    let mut episodes = store.episodes(&filter)?;
    let is = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
    };
    episodes.retain(|episode| {
        is(&arguments.source, Some(&episode.source))
            && is(&arguments.status, Some(episode.status.as_str()))
            && is(&arguments.outcome, episode.outcome.as_deref())
            && (arguments.tool.is_none() || count(episode).is_some_and(|count| count.has_tool))
            && (!arguments.failed || count(episode).is_some_and(|count| count.errors > 0))
    });
    let total = episodes.len();
    episodes.truncate(arguments.limit.unwrap_or(usize::MAX));
    let none = Counts::default();
    if arguments.json {
        let rows: Vec<_> = episodes
            .iter()
            .map(|episode| as_json(episode, count(episode).unwrap_or(&none)))
            .collect();
        writeln!(
            out,
            "{}",
            crate::terminal::plain_json(&serde_json::to_string_pretty(&rows)?)
        )?;
        return Ok(Exit::Done);
    }
    if episodes.is_empty() {
        let known = store.experiments()?;
        writeln!(
            out,
            "no episodes match; experiments in this store: {}",
            if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            }
        )?;
        return Ok(Exit::Done);
    }
    writeln!(
        out,
        "{}",
        table(&episodes, |episode| count(episode).unwrap_or(&none))
    )?;
    let experiments: std::collections::BTreeSet<&str> = episodes
        .iter()
        .map(|episode| episode.experiment.as_str())
        .collect();
    let more = if total > episodes.len() {
        format!(", {} not shown", total - episodes.len())
    } else {
        String::new()
    };
    writeln!(
        out,
        "episodes: {} in {} experiments{more}",
        episodes.len(),
        experiments.len()
    )?;
    Ok(Exit::Done)
}

/// Every column of the episode, with the counts of its calls and its start for people.
fn as_json(episode: &Episode, counts: &Counts) -> serde_json::Value {
    let mut row = json!(episode);
    row["calls"] = json!(counts.calls);
    row["errors"] = json!(counts.errors);
    row["started"] = json!(episode.started_us.map(clock::rfc3339));
    row
}

fn table<'a>(episodes: &'a [Episode], counts: impl Fn(&'a Episode) -> &'a Counts) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "EPISODE",
        "EXPERIMENT",
        "SOURCE",
        "SCENARIO",
        "CONDITION",
        "ARM",
        "STATUS",
        "OUTCOME",
        "CALLS",
        "ERRORS",
    ]);
    for index in [8, 9] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text =
        |value: Option<&str>| value.map_or_else(|| "-".to_owned(), |value| one_line(value, 40));
    for episode in episodes {
        let counts = counts(episode);
        table.add_row([
            one_line(&episode.episode_id, 40),
            one_line(&episode.experiment, 40),
            one_line(&episode.source, 20),
            text(episode.scenario.as_deref()),
            text(episode.condition.as_deref()),
            text(episode.arm.as_deref()),
            episode.status.as_str().to_owned(),
            text(episode.outcome.as_deref()),
            counts.calls.to_string(),
            counts.errors.to_string(),
        ]);
    }
    table
}
