//! How often the whole procedure is wrong when there is nothing to find, and right when there is.

use eval::analysis::Analysis;
use eval::compare::{Metric, Request, VerdictKind, compare};
use eval::manifest::Manifest;
use eval::plan::{Arm, Plan};
use eval::run::run;
use market::Condition;
use market::scenario::Pack;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use trajectory::Episode;

use crate::support::{episodes, options, rewritten, store};

const SCENARIOS: usize = 12;
const POOL: u32 = 16;
const REPEATS: usize = 2;
const COMPARISONS: u64 = 400;

fn arm(name: &str, toolset: trajectory::Toolset) -> Arm {
    Arm {
        name: name.to_owned(),
        toolset,
    }
}

fn plan(repeats: u32, candidate: trajectory::Toolset) -> Plan {
    let mut pack = Pack::load("bargain-40").unwrap();
    pack.scenarios.truncate(SCENARIOS);
    let arms = vec![
        arm("baseline", market::contract::baseline()),
        arm("candidate", candidate),
    ];
    Plan {
        experiment: "pool".to_owned(),
        repeats,
        conditions: vec![Condition::Prompt],
        seeds_by_arm: true,
        ..Plan::new(pack, arms, "sim:careless")
    }
}

/// One comparison: for every scenario as many episodes as there are repeats, drawn without replacement from each of the two
/// pools, which may be the same one.
fn draw(pools: [&[Episode]; 2], toolsets: [&str; 2], random: &mut ChaCha8Rng) -> Vec<Episode> {
    let mut drawn = Vec::new();
    let mut scenarios: Vec<&str> = pools[0]
        .iter()
        .filter_map(|e| e.scenario.as_deref())
        .collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    for scenario in scenarios {
        let of = |pool: &[Episode]| -> Vec<Episode> {
            pool.iter()
                .filter(|e| e.scenario.as_deref() == Some(scenario))
                .cloned()
                .collect()
        };
        let same = std::ptr::eq(pools[0], pools[1]);
        let mut first = of(pools[0]);
        first.shuffle(random);
        let second = if same {
            first.split_off(REPEATS)
        } else {
            let mut second = of(pools[1]);
            second.shuffle(random);
            second
        };
        for (arm, pool, toolset) in [
            ("baseline", first, toolsets[0]),
            ("candidate", second, toolsets[1]),
        ] {
            for (repeat, mut episode) in (0..).zip(pool.into_iter().take(REPEATS)) {
                episode.arm = Some(arm.to_owned());
                episode.repeat = Some(repeat);
                episode.toolset_seen = Some(toolset.to_owned());
                drawn.push(episode);
            }
        }
    }
    drawn
}

/// Verdicts of many comparisons.
fn verdicts(pools: [&[Episode]; 2], manifest: &Manifest, metric: Metric) -> Vec<VerdictKind> {
    let request = Request {
        manifest,
        baseline: "baseline",
        candidate: "candidate",
        toolsets: None,
        analysis: Some(&Analysis {
            primary_metric: metric,
            ..manifest.analysis.clone()
        }),
        noise_floor: false,
    };
    let toolsets = ["baseline", "candidate"].map(|arm| manifest.toolset(arm).unwrap());
    let mut random = ChaCha8Rng::seed_from_u64(11);
    (0..COMPARISONS)
        .map(|_| {
            compare(&draw(pools, toolsets, &mut random), &request)
                .unwrap()
                .verdict
                .kind
        })
        .collect()
}

fn count(verdicts: &[VerdictKind], kinds: &[VerdictKind]) -> u64 {
    verdicts.iter().filter(|kind| kinds.contains(kind)).count() as u64
}

#[tokio::test(flavor = "multi_thread")]
#[expect(
    clippy::print_stdout,
    reason = "the figures are quoted in the book; --nocapture shows them"
)]
async fn false_verdicts_are_as_rare_as_claimed_and_a_planted_effect_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut better = rewritten(
        "refuse",
        "Walks away. Use it when no price inside your limit can be reached.",
    );
    for (tool, text) in [
        (
            "accept_proposal",
            "Closes the deal at the counterpart's latest price. Accept a price that is inside your own limit.",
        ),
        (
            "propose",
            "Makes a counter-offer: names a price inside your own limit that the other side can accept.",
        ),
        (
            "reject_proposal",
            "A rejection carries no price and uses up a move.",
        ),
    ] {
        assert!(better.set_text(&trajectory::ComponentId::tool(tool), text));
    }
    let plan = plan(POOL, better);
    run(&plan, &store, &options()).await.unwrap();
    let all = episodes(&store, "pool");
    let (baseline, candidate): (Vec<Episode>, Vec<Episode>) = all
        .into_iter()
        .partition(|e| e.arm.as_deref() == Some("baseline"));
    assert_eq!((baseline.len(), candidate.len()), (192, 192));
    let mut manifest = Manifest::require(&store, "pool").unwrap();
    manifest.repeats = u32::try_from(REPEATS).unwrap();

    // A/A: both arms drawn from the same pool. At most 5 % and three standard errors of 400 comparisons.
    let most = 0.05 + 3.0 * (0.05_f64 * 0.95 / COMPARISONS as f64).sqrt();
    for metric in [Metric::CorrectStrict, Metric::ToolCalls] {
        let found = verdicts([&baseline, &baseline], &manifest, metric);
        let wrong = count(&found, &[VerdictKind::Improved, VerdictKind::Regressed]);
        println!("A/A {metric}: {wrong} of {COMPARISONS} called improved or regressed");
        assert!(
            wrong as f64 / COMPARISONS as f64 <= most,
            "{metric}: {wrong} of {COMPARISONS}"
        );
        assert_eq!(count(&found, &[VerdictKind::Indecisive]), 0);
    }

    // The planted effect: what the sim did not know, it was told.
    let rate = |pool: &[Episode]| {
        pool.iter()
            .filter(|e| e.correct_strict == Some(true))
            .count() as f64
            / pool.len() as f64
    };
    let effect = rate(&candidate) - rate(&baseline);
    // Twenty-four pairs cannot show that violations rose by no more than five points, which the default guard asks for.
    let found = verdicts([&baseline, &candidate], &manifest, Metric::CorrectStrict);
    let broken = count(&found, &[VerdictKind::Regressed]);
    println!(
        "with the default guards: {} improved, {broken} broke one",
        count(&found, &[VerdictKind::Improved])
    );
    assert!(
        broken as f64 / COMPARISONS as f64 <= most,
        "{broken} of {COMPARISONS}"
    );
    manifest.analysis.guards.clear();
    let found = verdicts([&baseline, &candidate], &manifest, Metric::CorrectStrict);
    let improved = count(&found, &[VerdictKind::Improved]);
    let regressed = count(&found, &[VerdictKind::Regressed]);
    println!(
        "planted effect {effect:+.2}: {improved} of {COMPARISONS} improved, {regressed} regressed"
    );
    println!(
        "inconclusive {}",
        count(&found, &[VerdictKind::Inconclusive])
    );
    assert!(effect > 0.3, "{effect}");
    assert_eq!(regressed, 0);
    assert!(
        improved as f64 / COMPARISONS as f64 >= 0.8,
        "{improved} of {COMPARISONS}"
    );
}
