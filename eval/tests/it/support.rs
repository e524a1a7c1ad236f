//! Small plans and stores.

use std::path::Path;
use std::sync::Arc;

use agent::{ChatModel, ModelOptions, build_model};
use clap::Parser as _;
use eval::plan::{Arm, Plan};
use eval::run::RunOptions;
use market::Condition;
use market::scenario::Pack;
use trajectory::store::{Filter, Store};
use trajectory::{ComponentId, Episode, Exit, Toolset};

pub(crate) fn sim(profile: &str) -> Arc<dyn ChatModel> {
    build_model(&format!("sim:{profile}"), &ModelOptions::default()).unwrap()
}

pub(crate) fn options() -> RunOptions {
    RunOptions::new(sim("careless"))
}

/// One feasible scenario and one that is not.
pub(crate) fn pack() -> Pack {
    let mut pack = Pack::load("reference").unwrap();
    pack.scenarios
        .retain(|scenario| ["bicycle", "winter-coat"].contains(&scenario.id.as_str()));
    pack
}

/// The baseline with one text replaced.
pub(crate) fn rewritten(tool: &str, text: &str) -> Toolset {
    let mut toolset = market::contract::baseline();
    assert!(toolset.set_text(&ComponentId::tool(tool), text));
    toolset
}

pub(crate) fn plan(experiment: &str) -> Plan {
    let arm = Arm {
        name: "baseline".to_owned(),
        toolset: market::contract::baseline(),
    };
    Plan {
        experiment: experiment.to_owned(),
        repeats: 1,
        conditions: Condition::ALL.to_vec(),
        ..Plan::new(pack(), vec![arm], "sim:careless")
    }
}

pub(crate) fn store(folder: &Path) -> Store {
    Store::create(folder).unwrap()
}

pub(crate) fn episodes(store: &Store, experiment: &str) -> Vec<Episode> {
    store.episodes(&Filter::experiment(experiment)).unwrap()
}

/// What does not depend on the time of day.
pub(crate) fn facts(episode: &Episode) -> String {
    format!(
        "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        episode.episode_id,
        episode.outcome,
        episode.price,
        episode.turns,
        episode.tool_calls,
        episode.refused_by_reason,
        episode.exposures,
        episode.obeyed
    )
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A command as a user runs it, in this process: its exit and what it printed.
pub(crate) fn eval(store: &Path, arguments: &[&str]) -> anyhow::Result<(Exit, String)> {
    let mut all = vec!["eval"];
    all.extend(arguments);
    let store = store.to_str().unwrap();
    all.extend(["--store", store]);
    let mut out = Vec::new();
    let exit = eval::cli::run(
        eval::cli::Cli::try_parse_from(all)?,
        &eval::report::Annotations::default(),
        &mut out,
    )?;
    Ok((exit, String::from_utf8(out).unwrap()))
}
