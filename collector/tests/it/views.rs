//! What the commands print.

use trajectory::Exit;

use super::{Place, fixture, named};

fn desk() -> Place {
    let place = Place::new();
    place
        .import(&[fixture("observations.jsonl")], &named("desk"))
        .unwrap();
    place
        .import(&[fixture("trace-download.json")], &named("weather"))
        .unwrap();
    place
}

#[test]
fn import_tells_what_it_did() {
    let place = Place::new();
    let path = fixture("observations.jsonl");
    let (exit, text) = place
        .run(&["import", path.to_str().unwrap(), "-e", "desk"])
        .unwrap();
    assert_eq!(exit, Exit::Done);
    let text = text.replace(path.to_str().unwrap(), "FILE");
    insta::assert_snapshot!(text, @r#"
FILE: 9 x langfuse observations export
2 of 2 traces went into experiment `desk`
  observations         8
  tool calls           3  (1 known to have failed)
  definitions          2  (toolset versions: 1)
  scores               2
  duplicates           1  (merged)
  orphans              2  (their parents are not in the files)
  rejected rows        0

look at them:  collector ls --experiment desk
"#);
    let (_, json) = place
        .run(&["import", path.to_str().unwrap(), "-e", "desk", "--json"])
        .unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (value["calls"].as_u64(), value["already_there"].as_u64()),
        (Some(3), Some(2))
    );
}

#[test]
fn ls_lists_and_filters() {
    let place = desk();
    let (_, text) = place.run(&["ls"]).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
 EPISODE  EXPERIMENT  SOURCE    SCENARIO    CONDITION  ARM  STATUS     OUTCOME  CALLS  ERRORS
 trace-a  desk        langfuse  order desk  -          -    completed  -            2       1
 trace-b  desk        langfuse  order desk  -          -    completed  -            1       0
 trace-d  weather     langfuse  weather     -          -    completed  -            1       0
episodes: 3 in 2 experiments
"#);
    let ids = |arguments: &[&str]| -> Vec<String> {
        let (_, json) = place.run(&[&["ls", "--json"], arguments].concat()).unwrap();
        let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        rows.iter()
            .map(|row| row["episode_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&["--failed"]), ["trace-a"]);
    assert_eq!(ids(&["--tool", "refund"]), ["trace-b"]);
    assert_eq!(ids(&["--experiment", "weather"]), ["trace-d"]);
    assert_eq!(ids(&["--scenario", "order desk", "-n", "1"]), ["trace-a"]);
    assert_eq!(ids(&["--status", "infra_error"]), [""; 0]);
    let (_, text) = place.run(&["ls", "--source", "market"]).unwrap();
    assert_eq!(
        text,
        "no episodes match; experiments in this store: desk, weather\n"
    );
}

#[test]
fn show_reads_like_a_conversation() {
    let place = desk();
    let (_, text) = place.run(&["show", "trace-a"]).unwrap();
    insta::assert_snapshot!(text, @r#"
Episode trace-a of experiment desk
  source      langfuse
  scenario    order desk
  model       gpt-4o-mini
  status      completed
  toolset     ts_5cc6c9903ba8c9f2
  started     2025-11-20T01:08:12.1Z
  tokens in   360
  tokens out  39
  attributes  {"trace_id":"trace-a","project_id":"project-demo","environment":"default","tags":["demo"],"steps":6}

Tools
  find_order: Finds an order.
  refund: Refunds.

system
  You answer questions about orders.

user
  Where is order A-17?

assistant [gpt-4o-mini]
  -> find_order({"order": "17"})
  <- failed tool_error, 1.000 s
     unknown order 17: give the order with its letter, as A-17

assistant [gpt-4o-mini]
  -> find_order({"order": "A-17"})
  <- ok, 1.000 s
     {"order": "A-17", "state": "shipped"}

assistant [gpt-4o-mini]
  It has shipped.

Scores
  helpful = 1
"#);
    let error = place.run(&["show", "nothing"]).unwrap_err();
    assert!(error.contains("collector ls"), "{error}");
    let error = place.run(&["show", "trace-"]).unwrap_err();
    assert!(error.contains("start of 3 episode ids"), "{error}");
}

#[test]
fn verify_and_seal_report() {
    let place = desk();
    let (exit, text) = place.run(&["verify"]).unwrap();
    assert_eq!(exit, Exit::Done);
    assert!(text.ends_with("all sound\n"), "{text}");
    let journal = place.store().join("journal/desk");
    std::fs::create_dir_all(&journal).unwrap();
    std::fs::write(journal.join("bad.jsonl"), "{\"kind\":\"episode\"}").unwrap();
    let (exit, text) = place.run(&["verify"]).unwrap();
    assert_eq!(exit, Exit::Failed);
    assert!(
        text.contains("bad.jsonl line 1: damaged journal") && text.contains("1 problem\n"),
        "{text}"
    );
    let (exit, text) = place.run(&["seal"]).unwrap();
    assert_eq!(exit, Exit::Failed);
    assert!(
        text.starts_with("desk: 0 episodes sealed\n") && text.contains("left as it is"),
        "{text}"
    );
    let (exit, json) = place.run(&["verify", "--json"]).unwrap();
    assert_eq!(exit, Exit::Failed);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["problems"].as_array().unwrap().len(), 1);
}

#[test]
fn help_has_examples() {
    use clap::CommandFactory as _;
    for command in collector::cli::Cli::command().get_subcommands() {
        let after = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(after.contains("Examples:"), "{}", command.get_name());
    }
    let place = Place::new();
    assert!(
        place
            .run(&["ls"])
            .unwrap_err()
            .contains("no trajectory store")
    );
}
