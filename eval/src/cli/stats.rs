//! `eval stats`.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use trajectory::Exit;

use crate::calculator::{Answer, counts, data, paired, rates, scenarios};
use crate::stats::{Level, Proportion, TwoByTwo};

const EXAMPLES: &str = "\
Examples:
  whetstone eval stats rate 9/15
  whetstone eval stats diff 11/15 9/15
  whetstone eval stats paired --b 12 --c 5 --n 60
  whetstone eval stats signflip 0.33 0 0.67 -0.33
  whetstone eval stats cluster differences.csv --json
  whetstone eval stats holm 0.01 0.04 0.03

FILE may be - for standard input. Tables are CSV with a header; other columns are ignored.";

/// Arguments of `eval stats`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    method: Method,
    /// Confidence level of intervals; 1 minus it is the level of tests
    #[arg(long, global = true, value_name = "SHARE", default_value_t = 0.95)]
    level: f64,
    /// Seed of what is drawn
    #[arg(long, global = true, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON, every number in full precision
    #[arg(long, global = true)]
    json: bool,
}

/// The methods.
#[derive(Debug, clap::Subcommand)]
enum Method {
    /// A rate with its intervals: Wilson, Clopper-Pearson, Jeffreys
    Rate {
        /// Successes of trials, such as 9/15
        #[arg(value_name = "K/N", value_parser = proportion)]
        rate: Proportion,
    },
    /// Difference of two independent rates: Newcombe, Fisher
    Diff {
        /// First sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        first: Proportion,
        /// Second sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        second: Proportion,
    },
    /// Fisher's exact test of two independent rates
    Fisher {
        /// First sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        first: Proportion,
        /// Second sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        second: Proportion,
    },
    /// Paired yes/no outcomes: McNemar, Tango, Newcombe
    Paired {
        /// Pairs in which only the first version has it
        #[arg(long, value_name = "N")]
        b: u64,
        /// Pairs in which only the second version has it
        #[arg(long, value_name = "N")]
        c: u64,
        /// All pairs; gives the difference and Tango's interval
        #[arg(long, value_name = "N")]
        n: Option<u64>,
        /// Pairs in which both have it; gives Newcombe's interval as well
        #[arg(long, value_name = "N", requires = "n")]
        both: Option<u64>,
    },
    /// Differences, one for each scenario, against 0: sign-flip, t, sign test, Wilcoxon
    Signflip {
        /// The differences
        #[arg(
            value_name = "DIFFERENCE",
            allow_negative_numbers = true,
            required_unless_present = "file"
        )]
        differences: Vec<f64>,
        /// Read them from a file, separated by white space or commas
        #[arg(long, value_name = "FILE", conflicts_with = "differences")]
        file: Option<PathBuf>,
    },
    /// Mean of values that come in scenarios: cluster-robust errors, bootstrap
    Cluster {
        /// Table with the columns scenario, value
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// p values corrected for their number, Holm's method first
    Holm {
        /// The p values
        #[arg(value_name = "P", required = true)]
        p: Vec<f64>,
    },
    /// p values corrected for their number, Benjamini and Hochberg's method first
    Bh {
        /// The p values
        #[arg(value_name = "P", required = true)]
        p: Vec<f64>,
    },
    /// pass^k and pass@k, averaged over scenarios
    Passk {
        /// Successes of attempts, one for each scenario
        #[arg(value_name = "C/N", value_parser = proportion, required = true)]
        scenarios: Vec<Proportion>,
        /// Attempts
        #[arg(short, value_name = "K")]
        k: u64,
    },
    /// Ratio of two counts of events
    Poisson {
        /// First count
        first: u64,
        /// Second count
        second: u64,
        /// Exposure of both (episodes); equal when absent
        #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], default_values_t = [1.0, 1.0])]
        exposure: Vec<f64>,
        /// How many times as much counts vary between episodes as Poisson counts do
        #[arg(long, value_name = "PHI")]
        overdispersion: Option<f64>,
    },
    /// Probability that the second rate is higher
    Bayes {
        /// First sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        first: Proportion,
        /// Second sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        second: Proportion,
    },
    /// Evidence of differing pairs that may be looked at after every pair
    Eprocess {
        /// Pairs in favour of one version of all that differ, such as 12/15
        #[arg(value_name = "S/M", value_parser = proportion)]
        pairs: Proportion,
    },
    /// Whether enforcement changes the injection's effect
    Did {
        /// Table with the columns scenario, condition, value
        #[arg(value_name = "FILE", required_unless_present_any = ["rates", "counts"])]
        file: Option<PathBuf>,
        /// Four published rates instead, as if episodes were independent
        #[arg(long, num_args = 4, value_parser = proportion, conflicts_with_all = ["file", "counts"],
              value_names = ["PROMPT", "SERVER", "PROMPT_INJECT", "SERVER_INJECT"])]
        rates: Vec<Proportion>,
        /// Four published counts instead
        #[arg(long, num_args = 4, conflicts_with = "file",
              value_names = ["PROMPT", "SERVER", "PROMPT_INJECT", "SERVER_INJECT"])]
        counts: Vec<u64>,
        /// With --counts: how many times as much they vary as Poisson counts
        #[arg(long, value_name = "PHI", default_value_t = 1.0)]
        overdispersion: f64,
    },
    /// How alike the values of a scenario are
    Icc {
        /// Table with the columns scenario, value
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Two arms that are not paired, within scenarios: Cochran-Mantel-Haenszel, exact permutation
    Cmh {
        /// Table with the columns scenario, arm, value (0 or 1, a row an episode), or scenario, arm, successes, n
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

fn proportion(text: &str) -> Result<Proportion, String> {
    let (k, n) = text
        .split_once('/')
        .ok_or("write successes/trials, such as 9/15")?;
    let number = |text: &str| {
        text.trim()
            .parse::<u64>()
            .map_err(|_| format!("`{}` is no whole number, 0 or more", text.trim()))
    };
    Proportion::new(number(k)?, number(n)?).map_err(|error| error.to_string())
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let level = Level::new(args.level)?;
    let answer = answer(&args.method, level, args.seed)?;
    if args.json {
        writeln!(out, "{:#}", answer.json())?;
    } else {
        write!(out, "{}", answer.text())?;
    }
    Ok(Exit::Done)
}

fn answer(method: &Method, level: Level, seed: u64) -> anyhow::Result<Answer> {
    Ok(match method {
        Method::Rate { rate } => rates::rate(*rate, level)?,
        Method::Diff { first, second } => rates::difference(*first, *second, level),
        Method::Fisher { first, second } => rates::fisher(*first, *second, level),
        Method::Paired { b, c, n, both } => {
            paired::paired(*b, *c, agreeing(*b, *c, *n, *both)?, level)
        }
        Method::Signflip { differences, file } => {
            let values = match file {
                Some(path) => numbers(path)?,
                None => differences.clone(),
            };
            paired::signflip(&values, level, seed)?
        }
        Method::Cluster { file } => scenarios::cluster(&read(file, data::clusters)?, level, seed)?,
        Method::Holm { p } => counts::multiplicity(p, level.alpha(), true)?,
        Method::Bh { p } => counts::multiplicity(p, level.alpha(), false)?,
        Method::Passk { scenarios, k } => counts::passk(scenarios, *k)?,
        Method::Poisson {
            first,
            second,
            exposure,
            overdispersion,
        } => {
            let [a, b] = exposure.as_slice() else {
                bail!("--exposure needs two numbers");
            };
            counts::poisson((*first, *second), (*a, *b), *overdispersion, level)?
        }
        Method::Bayes { first, second } => rates::bayes(*first, *second),
        Method::Eprocess { pairs } => paired::eprocess(*pairs, level)?,
        Method::Did {
            file,
            rates,
            counts,
            overdispersion,
        } => match (file, rates.as_slice(), counts.as_slice()) {
            (_, [a, b, c, d], _) => scenarios::did_rates([*a, *b, *c, *d], level)?,
            (_, _, [a, b, c, d]) => {
                let [prompt, server, prompt_inject, server_inject] =
                    [a, b, c, d].map(|count| *count as f64);
                let counts = TwoByTwo {
                    prompt,
                    server,
                    prompt_inject,
                    server_inject,
                };
                scenarios::did_counts(counts, *overdispersion, level)?
            }
            (Some(file), _, _) => {
                let (table, left_out) = read(file, data::two_by_two)?;
                scenarios::did(&table, left_out, level, seed)?
            }
            _ => bail!("give a table, or four --rates or --counts"),
        },
        Method::Icc { file } => scenarios::icc(&read(file, data::clusters)?)?,
        Method::Cmh { file } => scenarios::cmh(&read(file, data::strata)?, level)?,
    })
}

/// The pairs that agree, and those of them that have it in both.
fn agreeing(
    b: u64,
    c: u64,
    n: Option<u64>,
    both: Option<u64>,
) -> anyhow::Result<Option<(u64, Option<u64>)>> {
    let Some(n) = n else { return Ok(None) };
    let Some(rest) = b
        .checked_add(c)
        .and_then(|differing| n.checked_sub(differing))
    else {
        bail!("--n {n} is smaller than --b and --c together: it counts all pairs");
    };
    if let Some(both) = both
        && both > rest
    {
        bail!("--both {both} is more than the {rest} pairs that agree");
    }
    Ok(Some((rest, both)))
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("reading `{}`", path.display()))?;
    Ok(Box::new(file))
}

fn read<T>(
    path: &Path,
    parse: impl Fn(Box<dyn Read>) -> Result<T, data::DataError>,
) -> anyhow::Result<T> {
    parse(open(path)?).with_context(|| format!("reading `{}`", path.display()))
}

fn numbers(path: &Path) -> anyhow::Result<Vec<f64>> {
    let mut text = String::new();
    open(path)?
        .read_to_string(&mut text)
        .with_context(|| format!("reading `{}`", path.display()))?;
    let mut found = Vec::new();
    for (line, row) in text.lines().enumerate() {
        for word in row
            .split([' ', '\t', ',', ';'])
            .filter(|word| !word.is_empty())
        {
            let Ok(value) = word.parse::<f64>() else {
                let shown: String = word.chars().take(60).collect();
                bail!(
                    "line {} of `{}`: `{shown}` is no number",
                    line + 1,
                    path.display()
                );
            };
            found.push(value);
        }
    }
    Ok(found)
}
