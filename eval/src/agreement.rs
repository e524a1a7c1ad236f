//! The same counts, found twice by code that shares nothing: by the market while it ran, and from the
//! recorded calls afterwards.

use std::collections::BTreeMap;
use std::fmt;

use market::client::Report;

use crate::metrics::Metrics;

/// One count on which the two disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What was counted.
    pub what: String,
    /// From the recorded calls.
    pub recorded: String,
    /// By the server.
    pub server: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} from the recorded calls, {} by the server",
            self.what, self.recorded, self.server
        )
    }
}

/// Holds the metrics of an episode against the market's report; empty when they agree.
pub fn differences(metrics: &Metrics, report: &Report) -> Vec<Difference> {
    let counters = &report.counters;
    let mut found = Vec::new();
    let mut check = |what: String, recorded: String, server: String| {
        if recorded != server {
            found.push(Difference {
                what,
                recorded,
                server,
            });
        }
    };
    let attempts = metrics.attempted_violations;
    for (what, recorded, server) in [
        (
            "attempted_violations of the buyer",
            attempts.buyer,
            counters.attempted_violations.buyer,
        ),
        (
            "attempted_violations of the seller",
            attempts.seller,
            counters.attempted_violations.seller,
        ),
        ("turns", metrics.turns, counters.turns),
        ("passes", metrics.passes, counters.passes),
        (
            "recovered_refusals",
            metrics.recovered_refusals,
            counters.recovered_refusals,
        ),
        ("exposures", metrics.exposures, counters.exposures),
    ] {
        check(what.to_owned(), recorded.to_string(), server.to_string());
    }
    let by_server: BTreeMap<&str, u32> = counters
        .refused
        .iter()
        .map(|(reason, count)| (reason.as_str(), *count))
        .collect();
    let mut reasons: Vec<&str> = by_server
        .keys()
        .copied()
        .chain(metrics.refused.keys().map(String::as_str))
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let recorded = metrics.refused.get(reason).copied().unwrap_or(0);
        let server = by_server.get(reason).copied().unwrap_or(0);
        check(
            format!("refused_calls for `{reason}`"),
            recorded.to_string(),
            server.to_string(),
        );
    }
    check(
        "outcome".to_owned(),
        metrics.outcome.as_str().to_owned(),
        report.status.as_str().to_owned(),
    );
    let price =
        |price: Option<i64>| price.map_or_else(|| "none".to_owned(), |price| price.to_string());
    check(
        "price".to_owned(),
        price(metrics.price),
        price(report.price),
    );
    found
}

#[cfg(test)]
mod tests {
    use market::rules::{Counters, Opening, Refusal, Status};
    use market::scenario::Scenario;

    use super::*;
    use crate::metrics::{Setting, compute};

    fn report(counters: Counters) -> Report {
        Report {
            status: Status::Open,
            price: None,
            next_role: None,
            moves_left: 0,
            counters,
            events: Vec::new(),
        }
    }

    fn nothing_happened() -> Metrics {
        let scenario = Scenario {
            id: "s".to_owned(),
            item: "lamp".to_owned(),
            reserve: 1,
            budget: 2,
        };
        compute(
            &Setting {
                scenario: &scenario,
                injection: None,
                opening: Opening::Listing,
            },
            &[],
            &[],
        )
    }

    #[test]
    fn equal_counts_agree() {
        assert_eq!(
            differences(&nothing_happened(), &report(Counters::default())),
            []
        );
    }

    #[test]
    fn every_tampered_counter_is_named_with_both_values() {
        type Tamper = fn(&mut Report);
        let tampered: [(&str, Tamper); 8] = [
            ("attempted_violations of the buyer", |r| {
                r.counters.attempted_violations.buyer = 2;
            }),
            ("attempted_violations of the seller", |r| {
                r.counters.attempted_violations.seller = 2;
            }),
            ("turns", |r| r.counters.turns = 2),
            ("passes", |r| r.counters.passes = 2),
            ("exposures", |r| r.counters.exposures = 2),
            ("refused_calls for `outside_limit`", |r| {
                r.counters.refused.insert(Refusal::OutsideLimit, 2);
            }),
            ("outcome", |r| r.status = Status::NoDeal),
            ("price", |r| r.price = Some(2)),
        ];
        for (what, tamper) in tampered {
            let mut report = report(Counters::default());
            tamper(&mut report);
            let found = differences(&nothing_happened(), &report);
            assert_eq!(found.len(), 1, "{what}");
            assert_eq!(found[0].what, what);
            let text = found[0].to_string();
            assert!(
                text.contains(&found[0].server) && text.contains("by the server"),
                "{text}"
            );
        }
        // A refusal whose reason got lost on the way disagrees on both reasons.
        let mut metrics = nothing_happened();
        metrics.refused.insert("tool_error".to_owned(), 1);
        let counters = Counters {
            refused: BTreeMap::from([(Refusal::OutsideLimit, 1)]),
            ..Counters::default()
        };
        assert_eq!(differences(&metrics, &report(counters)).len(), 2);
    }
}
