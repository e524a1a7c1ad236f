//! From flags to a question: what belongs together, what is recorded, what is assumed.

use anyhow::{Context as _, bail};
use market::scenario::Pack;
use stats::ScenarioDesign;
use trajectory::store::Filter;

use super::{Args, PriceArgs, Question, VersionArgs};
use crate::cli::source;
use crate::compare::Metric;
use crate::planning::{Levels, PlanningError, Price, Recorded, recorded, versions};

/// The change that is looked for when neither a change nor scenarios are given.
const EFFECT: f64 = 0.15;
/// Rate of a yes/no metric when nothing nearer is known.
const BASE: f64 = 0.5;

impl Args {
    /// Refuses flags of another question: silently left out, they would seem to have been answered.
    pub(super) fn belong(&self) -> anyhow::Result<()> {
        let (versions, others) = (&self.versions, &self.others);
        let of_versions = [
            ("--metric", versions.metric.is_some()),
            ("--scenarios", versions.scenarios.is_some()),
            ("--pack", versions.pack.is_some()),
            ("--repeats", versions.repeats.is_some()),
            ("--conditions", versions.conditions.is_some()),
            ("--arms", versions.arms.is_some()),
            ("--base", versions.base.is_some()),
            ("--mean", versions.mean.is_some()),
            ("--sd", versions.sd.is_some()),
            ("--variance", versions.variance.is_some()),
            ("--icc", versions.icc.is_some()),
            ("--correlation", versions.correlation.is_some()),
        ]
        .map(|(flag, given)| (flag, given, &[Question::Versions][..]));
        let of_others: [(&str, bool, &[Question]); 7] = [
            (
                "--n",
                others.n.is_some(),
                &[Question::Violation, Question::Mcnemar],
            ),
            (
                "--effect",
                self.effect.is_some(),
                &[Question::Versions, Question::Mcnemar],
            ),
            ("--rate", others.rate.is_some(), &[Question::Violation]),
            ("--reverse", others.reverse.is_some(), &[Question::Mcnemar]),
            (
                "--win-share",
                others.win_share.is_some(),
                &[Question::Sequential],
            ),
            ("--pairs", others.pairs.is_some(), &[Question::Sequential]),
            (
                "--discordant",
                others.discordant.is_some(),
                &[Question::Sequential],
            ),
        ];
        for (flag, given, questions) in of_versions.into_iter().chain(of_others) {
            if given && !questions.contains(&self.question) {
                let names: Vec<&str> = questions.iter().map(|question| question.as_str()).collect();
                bail!(
                    "{flag} does not belong to --question {}, but to {}",
                    self.question.as_str(),
                    names.join(" and ")
                );
            }
        }
        Ok(())
    }

    /// What the named experiment tells, and the metric that is asked about.
    pub(super) fn recorded(&self) -> anyhow::Result<(Option<Recorded>, Metric)> {
        let given = self.versions.metric;
        let Some(name) = &self.from else {
            return Ok((None, given.unwrap_or(Metric::CorrectStrict)));
        };
        let store = self.store.open()?;
        let manifest = source::experiment(&store, Some(name))?;
        let metric = given.unwrap_or(manifest.analysis.primary_metric);
        let episodes = store.episodes(&Filter::experiment(&manifest.experiment))?;
        Ok((Some(recorded(&manifest, &episodes, metric)?), metric))
    }
}

impl PriceArgs {
    /// Given prices, else the cost of recorded episodes.
    pub(super) fn price(&self, recorded: Option<&Recorded>) -> anyhow::Result<Price> {
        if let Some(usd) = self.usd_per_episode {
            return Ok(Price::per_episode(usd)?);
        }
        if let Some(prices) = self.price_input.zip(self.price_output) {
            let tokens = recorded.and_then(|recorded| recorded.tokens);
            let given = (self.tokens_input, self.tokens_output);
            return Ok(Price::per_million(prices, given, tokens)?);
        }
        let cost = recorded.and_then(|recorded| recorded.usd);
        Ok(cost.map_or_else(Price::unknown, Price::recorded))
    }
}

impl VersionArgs {
    pub(super) fn question(
        &self,
        effect: Option<f64>,
        levels: Levels,
        metric: Metric,
        recorded: Option<Recorded>,
    ) -> anyhow::Result<versions::Question> {
        let mut assumed = Vec::new();
        let known = recorded.as_ref();
        let mean = self.mean_of(metric, known, &mut assumed)?;
        let variance = self.variance_of(metric, mean, known)?;
        let icc = self.icc.or(known.map(|known| known.design.icc));
        if icc.is_none() {
            assumed.push(format!(
                "ICC {}: the published cohorts have 0.40 to 0.53; --from EXPERIMENT takes your own",
                versions::ICC
            ));
        }
        let seen = known.filter(|known| known.correlated_with.is_some());
        let correlation = self
            .correlation
            .or(seen.map(|known| known.design.correlation));
        if correlation.is_none() {
            assumed.push(format!("correlation {}", versions::CORRELATION));
        }
        let scenarios = match (&self.pack, self.scenarios) {
            (Some(pack), _) => {
                let pack = Pack::load(pack).context("reading the pack")?;
                Some(pack.scenarios.len() as u64)
            }
            (None, given) => given,
        };
        let effect = match (effect, scenarios) {
            (None, None) if metric.is_binary() => {
                assumed.push(format!(
                    "a change of {EFFECT}: give --effect, or --scenarios"
                ));
                Some(EFFECT)
            }
            (None, None) => {
                let (why, flags) = ("is a count", "--effect, or --scenarios");
                return Err(PlanningError::Missing { metric, why, flags }.into());
            }
            (given, _) => given,
        };
        Ok(versions::Question {
            metric,
            mean,
            design: ScenarioDesign {
                variance,
                icc: icc.unwrap_or(versions::ICC),
                correlation: correlation.unwrap_or(versions::CORRELATION),
            },
            conditions: self.conditions.unwrap_or(1),
            arms: self.arms.unwrap_or(2),
            levels,
            effect,
            scenarios,
            repeats: self.repeats.unwrap_or(3),
            recorded,
            assumed,
        })
    }

    /// The rate of a yes/no metric, or the mean of a count.
    fn mean_of(
        &self,
        metric: Metric,
        known: Option<&Recorded>,
        assumed: &mut Vec<String>,
    ) -> anyhow::Result<Option<f64>> {
        let unused = |is, flag, instead| PlanningError::Unused {
            metric,
            is,
            flag,
            instead,
        };
        let recorded = known.map(|known| known.mean);
        if !metric.is_binary() {
            if self.base.is_some() {
                bail!(unused("is a count", "--base", "--mean and --sd"));
            }
            if let Some(mean) = self.mean {
                ranged("--mean", "from 0 to 1000000000000", mean, |mean| {
                    (0.0..=1e12).contains(&mean)
                })?;
            }
            return Ok(self.mean.or(recorded));
        }
        for (flag, given) in [
            ("--mean", self.mean),
            ("--sd", self.sd),
            ("--variance", self.variance),
        ] {
            if given.is_some() {
                bail!(unused("is yes or no", flag, "--base"));
            }
        }
        if let Some(base) = self.base {
            ranged("--base", "from 0 to 1", base, |base| {
                (0.0..=1.0).contains(&base)
            })?;
        }
        if let Some(base) = self.base.or(recorded) {
            return Ok(Some(base));
        }
        if !matches!(metric, Metric::CorrectStrict | Metric::CorrectLenient) {
            let why = "is rare, and how rare decides everything";
            bail!(PlanningError::Missing {
                metric,
                why,
                flags: "--base or --from"
            });
        }
        assumed.push(format!(
            "a rate of {BASE}, at which a yes/no metric varies most"
        ));
        Ok(Some(BASE))
    }

    /// Variance of one episode: given, else recorded, else that of the rate.
    fn variance_of(
        &self,
        metric: Metric,
        mean: Option<f64>,
        known: Option<&Recorded>,
    ) -> anyhow::Result<f64> {
        let recorded = known.filter(|_| self.base.is_none());
        let positive = |value: f64| value > 0.0 && value <= 1e12;
        let range = "above 0, at most 1000000000000";
        match (self.sd, self.variance, recorded) {
            (Some(sd), _, _) => Ok(ranged("--sd", range, sd, positive)?.powi(2)),
            (_, Some(variance), _) => ranged("--variance", range, variance, positive),
            (_, _, Some(known)) => Ok(known.design.variance),
            _ if !metric.is_binary() => {
                let why = "is a count, whose spread must be known";
                let flags = "--sd, --variance or --from";
                bail!(PlanningError::Missing { metric, why, flags })
            }
            _ => {
                let base = mean.unwrap_or(BASE);
                if base <= 0.0 || base >= 1.0 {
                    bail!(PlanningError::Certain(base));
                }
                Ok(base * (1.0 - base))
            }
        }
    }
}

fn ranged(
    flag: &'static str,
    range: &'static str,
    value: f64,
    inside: impl Fn(f64) -> bool,
) -> anyhow::Result<f64> {
    if value.is_finite() && inside(value) {
        Ok(value)
    } else {
        bail!(PlanningError::Range { flag, range, value })
    }
}
