use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn arm(name: &str, text: &str) -> Arm {
    let mut toolset = market::contract::baseline();
    toolset.set_text(&trajectory::ComponentId::tool("propose"), text);
    Arm {
        name: name.to_owned(),
        toolset,
    }
}

fn plan() -> Plan {
    let pack = Pack::load("reference").unwrap();
    Plan::new(
        pack,
        vec![
            arm("baseline", "Proposes."),
            arm("candidate", "Names a price."),
        ],
        "sim:careless",
    )
}

#[test]
fn every_combination_is_there_once_with_an_id_of_its_own() {
    let episodes = plan().episodes();
    assert_eq!(episodes.len(), 5 * 4 * 3 * 2);
    let ids: BTreeSet<&str> = episodes
        .iter()
        .map(|episode| episode.episode_id.as_str())
        .collect();
    assert_eq!(ids.len(), episodes.len());
    assert!(ids.iter().all(|id| id.len() == 23 && id.starts_with("ep_")));
}

#[test]
fn the_arms_of_a_pair_are_adjacent_share_the_seed_and_take_turns_at_being_first() {
    let episodes = plan().episodes();
    let mut first = BTreeMap::new();
    for pair in episodes.chunks(2) {
        let [a, b] = pair else { panic!("a pair") };
        assert_eq!(
            (a.scenario, a.condition, a.repeat, a.seed),
            (b.scenario, b.condition, b.repeat, b.seed)
        );
        assert_ne!(a.arm, b.arm);
        *first.entry(a.arm).or_insert(0) += 1;
    }
    assert!(first.values().all(|count| *count > 15), "{first:?}");
    let seeds: BTreeSet<u64> = episodes.iter().map(|episode| episode.seed).collect();
    assert_eq!(seeds.len(), 60);
    assert!(seeds.iter().all(|seed| *seed <= SEED_MASK));
}

#[test]
fn conditions_are_spread_over_the_run() {
    let episodes = plan().episodes();
    for quarter in episodes.chunks(30) {
        let conditions: BTreeSet<Condition> =
            quarter.iter().map(|episode| episode.condition).collect();
        assert_eq!(conditions.len(), 4);
    }
}

#[test]
fn more_repeats_and_conditions_keep_ids_seeds_and_order_of_what_was_there() {
    let small = Plan {
        repeats: 2,
        conditions: vec![Condition::Server],
        ..plan()
    };
    let large = plan();
    assert_eq!(small.derived_name("run"), large.derived_name("run"));
    assert_ne!(small.hash(), large.hash());
    let kept: Vec<EpisodeSpec> = large
        .episodes()
        .into_iter()
        .filter(|episode| episode.condition == Condition::Server && episode.repeat < 2)
        .collect();
    assert_eq!(small.episodes(), kept);
}

#[test]
fn every_setting_changes_the_name_and_the_experiment_changes_the_ids() {
    let base = plan();
    let other_pack = Pack::parse(
        "p",
        "p",
        r#"[{"id":"a","item":"pen","reserve":1,"budget":2}]"#,
    )
    .unwrap();
    let changed = [
        Plan { seed: 2, ..plan() },
        Plan {
            model: "gpt".to_owned(),
            ..plan()
        },
        Plan {
            counterpart_model: Some("gpt".to_owned()),
            ..plan()
        },
        Plan {
            temperature: None,
            ..plan()
        },
        Plan {
            tool_calling: "schema".to_owned(),
            ..plan()
        },
        Plan {
            opening: Opening::Buyer,
            ..plan()
        },
        Plan {
            max_moves: 9,
            ..plan()
        },
        Plan {
            max_calls_per_turn: 5,
            ..plan()
        },
        Plan {
            injection: Some(market::injection::find("fake_system").unwrap()),
            ..plan()
        },
        Plan {
            pack: other_pack,
            ..plan()
        },
        Plan {
            arms: vec![
                arm("baseline", "Proposes!"),
                arm("candidate", "Names a price."),
            ],
            ..plan()
        },
    ];
    let names: BTreeSet<String> = changed
        .iter()
        .chain([&base])
        .map(|plan| plan.derived_name("run"))
        .collect();
    assert_eq!(names.len(), changed.len() + 1);
    let renamed = Plan {
        experiment: "other".to_owned(),
        ..plan()
    };
    let ids = |plan: &Plan| {
        plan.episodes()
            .into_iter()
            .map(|e| e.episode_id)
            .collect::<BTreeSet<_>>()
    };
    assert!(ids(&base).is_disjoint(&ids(&renamed)));
}

#[test]
fn ids_stay_what_they_are_for_ever() {
    // Stored experiments are resumed by these ids: a change here orphans them.
    let plan = Plan {
        experiment: "fixed".to_owned(),
        ..plan()
    };
    let id = plan.episode_id(
        &plan.pack.scenarios[0],
        Condition::ServerInject,
        "candidate",
        2,
    );
    let expected = sha256_hex(br#"["fixed","bicycle","server_inject","candidate",2]"#);
    assert_eq!(id, format!("ep_{}", &expected[..20]));
}

#[test]
fn plans_that_cannot_work_are_refused() {
    let problem = |plan: &Plan| plan.check().unwrap_err().to_string();
    assert!(plan().check().is_ok());
    assert!(
        problem(&Plan {
            experiment: "a/b".to_owned(),
            ..plan()
        })
        .contains("a/b")
    );
    assert!(
        problem(&Plan {
            conditions: Vec::new(),
            ..plan()
        })
        .contains("no condition")
    );
    assert!(
        problem(&Plan {
            repeats: 0,
            ..plan()
        })
        .contains("--repeats")
    );
    assert!(
        problem(&Plan {
            temperature: Some(f64::NAN),
            ..plan()
        })
        .contains("--temperature")
    );
    assert!(
        problem(&Plan {
            arms: vec![arm("a", "x"), arm("a", "y")],
            ..plan()
        })
        .contains("`a`")
    );
    let foreign = Toolset::parse(r#"[{"name": "search"}]"#).unwrap();
    let foreign = Plan {
        arms: vec![Arm {
            name: "v9".to_owned(),
            toolset: foreign,
        }],
        ..plan()
    };
    assert!(problem(&foreign).contains("v9"));
}

proptest! {
    #[test]
    fn order_is_a_permutation_for_any_seed(seed in any::<u64>(), repeats in 1_u32..5) {
        let mut order = Plan { repeats, seed, ..plan() }.episodes();
        let mut plain = Plan { repeats, ..plan() }.episodes();
        order.sort_by(|a, b| a.episode_id.cmp(&b.episode_id));
        plain.sort_by(|a, b| a.episode_id.cmp(&b.episode_id));
        let ids = |list: &[EpisodeSpec]| list.iter().map(|e| e.episode_id.clone()).collect::<Vec<_>>();
        // The seed decides order and draws; which episodes there are it does not.
        prop_assert_eq!(ids(&order), ids(&plain));
    }
}
