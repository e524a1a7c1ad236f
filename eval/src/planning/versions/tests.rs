use super::*;

fn question() -> Question {
    Question {
        metric: Metric::CorrectStrict,
        mean: Some(0.5),
        design: ScenarioDesign {
            variance: 0.25,
            icc: ICC,
            correlation: CORRELATION,
        },
        conditions: 1,
        arms: 2,
        levels: Levels::new(0.05, 0.8).unwrap(),
        effect: None,
        scenarios: None,
        repeats: 3,
        recorded: None,
        assumed: Vec::new(),
    }
}

fn ask(question: Question) -> Answer {
    question.answer(Price::per_episode(0.03).unwrap()).unwrap()
}

/// To two decimals, as published.
#[test]
fn the_published_detectable_differences() {
    for (scenarios, repeats, expected) in [
        (12, 3, 0.35),
        (20, 3, 0.26),
        (40, 3, 0.18),
        (40, 5, 0.16),
        (60, 3, 0.15),
    ] {
        let found = ask(Question {
            scenarios: Some(scenarios),
            repeats,
            ..question()
        });
        let judged = found.judged.unwrap();
        assert!(
            (judged.detectable.unwrap() - expected).abs() < 0.005_001,
            "{judged:?}"
        );
        assert_eq!(judged.episodes, scenarios * repeats * 2);
    }
}

#[test]
fn more_repeats_need_fewer_scenarios_and_more_episodes() {
    let found = ask(Question {
        effect: Some(0.15),
        scenarios: Some(40),
        ..question()
    });
    assert_eq!(
        found
            .needed
            .iter()
            .map(|row| row.repeats)
            .collect::<Vec<_>>(),
        REPEATS
    );
    for pair in found.needed.windows(2) {
        let [fewer, more] = pair else { panic!() };
        assert!(fewer.scenarios > more.scenarios, "{pair:?}");
        assert!(fewer.episodes < more.episodes, "{pair:?}");
    }
    let cheapest: Vec<u64> = found
        .needed
        .iter()
        .filter(|row| row.cheapest)
        .map(|row| row.repeats)
        .collect();
    assert_eq!(cheapest, [1]);
    // What is needed is enough, and one scenario less is not.
    for row in &found.needed {
        let enough = |scenarios| {
            let judged = ask(Question {
                scenarios: Some(scenarios),
                repeats: row.repeats,
                effect: Some(0.15),
                ..question()
            });
            judged.judged.unwrap().enough.unwrap()
        };
        let scenarios = row.scenarios.unwrap();
        assert!(enough(scenarios) && !enough(scenarios - 1), "{row:?}");
        assert_eq!(row.fits, Some(scenarios <= 40), "{row:?}");
    }
}

#[test]
fn why_more_scenarios_beat_more_repeats() {
    let found = ask(Question {
        scenarios: Some(20),
        ..question()
    });
    let why = found.why.unwrap();
    assert!((why.between - 0.0675).abs() < 1e-9, "{why:?}");
    assert!((why.within - 0.275 / 3.0).abs() < 1e-9, "{why:?}");
    let order = [
        why.detectable_twice_scenarios,
        why.detectable_endless_repeats,
    ];
    assert!(
        order
            .iter()
            .all(|change| *change < why.detectable_twice_repeats)
    );
    assert!(why.detectable_twice_repeats < why.detectable);
}

#[test]
fn five_scenarios_are_refused_and_few_are_noticed() {
    let with = |scenarios| {
        ask(Question {
            scenarios: Some(scenarios),
            effect: Some(0.3),
            ..question()
        })
    };
    let found = with(5);
    let judged = found.judged.unwrap();
    assert_eq!((judged.detectable, judged.power), (None, Some(0.0)));
    assert!((judged.smallest_p - 0.0625).abs() < 1e-12);
    assert_eq!((found.fewest_scenarios, found.why), (6, None));
    assert!(with(11).has_few_scenarios() && !with(12).needed.is_empty());
    assert!(
        !ask(Question {
            scenarios: Some(12),
            ..question()
        })
        .has_few_scenarios()
    );
    // Six scenarios find .57 at best, and a rate of .5 cannot change so much.
    assert!(!with(6).judged.unwrap().possible);
}

#[test]
fn conditions_are_further_repeats_and_arms_share_the_level() {
    let pooled = ask(Question {
        scenarios: Some(20),
        repeats: 1,
        conditions: 4,
        ..question()
    });
    let repeated = ask(Question {
        scenarios: Some(20),
        repeats: 4,
        ..question()
    });
    let (pooled, repeated) = (pooled.judged.unwrap(), repeated.judged.unwrap());
    assert_eq!(
        (pooled.detectable, pooled.episodes),
        (repeated.detectable, repeated.episodes)
    );

    let three = ask(Question {
        scenarios: Some(20),
        arms: 3,
        ..question()
    });
    assert!((three.alpha_each - 0.025).abs() < 1e-12 && three.fewest_scenarios == 7);
    let judged = three.judged.unwrap();
    assert_eq!(judged.episodes, 180);
    assert!(
        judged.detectable
            > ask(Question {
                scenarios: Some(20),
                ..question()
            })
            .judged
            .unwrap()
            .detectable
    );
}

#[test]
fn hostile_numbers_are_refused_or_answered() {
    let with = |icc, correlation, effect| {
        let design = ScenarioDesign {
            icc,
            correlation,
            ..question().design
        };
        Question {
            design,
            effect: Some(effect),
            scenarios: Some(MOST_SCENARIOS),
            ..question()
        }
        .answer(Price::unknown())
    };
    for (icc, correlation, effect) in [
        (-1.0, 0.7, 0.1),
        (1.1, 0.7, 0.1),
        (f64::NAN, 0.7, 0.1),
        (0.45, 1.5, 0.1),
        (0.45, f64::NAN, 0.1),
        (1.0, 1.0, 0.1),
        (0.45, 0.7, 0.0),
        (0.45, 0.7, -0.1),
        (0.45, 0.7, 2.0),
        (0.45, 0.7, f64::NAN),
        (0.45, 0.7, f64::INFINITY),
    ] {
        assert!(
            with(icc, correlation, effect).is_err(),
            "{icc} {correlation} {effect}"
        );
    }
    // With an ICC of 1 repeats are worth nothing, and that is the answer.
    let found = with(1.0, 0.0, 0.3).unwrap();
    let scenarios: Vec<_> = found.needed.iter().map(|row| row.scenarios).collect();
    assert!(
        scenarios.windows(2).all(|pair| pair.first() == pair.last()),
        "{scenarios:?}"
    );
    // Too small for any number of scenarios.
    let found = with(0.45, 0.7, 1e-9).unwrap();
    assert!(
        found
            .needed
            .iter()
            .all(|row| row.scenarios.is_none() && !row.cheapest)
    );
    for (alpha, power) in [
        (0.0, 0.8),
        (1.0, 0.8),
        (0.05, 1.0),
        (0.05, 0.0),
        (f64::NAN, 0.8),
        (0.05, f64::NAN),
    ] {
        assert!(Levels::new(alpha, power).is_err(), "{alpha} {power}");
    }
    for (alpha, power) in [(1e-4, 0.999), (0.5, 0.01)] {
        let levels = Levels::new(alpha, power).unwrap();
        let found = ask(Question {
            levels,
            effect: Some(0.1),
            ..question()
        });
        assert!(
            found.needed.iter().all(|row| row.scenarios.is_some()),
            "{found:?}"
        );
    }
}
