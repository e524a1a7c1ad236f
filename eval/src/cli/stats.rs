//! `eval stats`.

mod input;
mod method;
mod parse;

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use trajectory::Exit;

use self::method::Method;
use self::parse::Difference;
use crate::calculator::data::Columns;
use crate::calculator::{Answer, counts, data, interaction, paired, rates, scenarios};
use crate::stats::{Level, TwoByTwo};

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
    #[arg(long, global = true, value_name = "SHARE", default_value = "0.95", value_parser = parse::level)]
    level: Level,
    /// Seed of what is drawn
    #[arg(long, global = true, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON, every number in full precision
    #[arg(long, global = true)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let answer = answer(&args.method, args.level, args.seed)?;
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
        Method::Paired {
            b,
            c,
            n,
            both,
            neither,
        } => paired::paired(*b, *c, agreeing((*b, *c), *n, *both, *neither)?, level),
        Method::Signflip { differences, file } => {
            let values = match file {
                Some(path) => input::numbers(path)?,
                None => given(differences)?,
            };
            paired::signflip(&values, level, seed)?
        }
        Method::Cluster(table) => scenarios::cluster(&table.read(data::clusters)?, level, seed)?,
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
            condition_column,
            names,
        } => match (file, rates.as_slice(), counts.as_slice()) {
            (_, [a, b, c, d], _) => interaction::did_rates([*a, *b, *c, *d], level)?,
            (_, _, [a, b, c, d]) => {
                let [prompt, server, prompt_inject, server_inject] =
                    [a, b, c, d].map(|count| *count as f64);
                let counts = TwoByTwo {
                    prompt,
                    server,
                    prompt_inject,
                    server_inject,
                };
                interaction::did_counts(counts, *overdispersion, level)?
            }
            (Some(file), _, _) => {
                let columns = Columns {
                    condition: condition_column.clone(),
                    ..names.columns()
                };
                let (table, left_out) = input::read(file, &columns, data::two_by_two)?;
                interaction::did(&table, left_out, level, seed)?
            }
            _ => bail!("give a table, or four --rates or --counts"),
        },
        Method::Icc(table) => scenarios::icc(&table.read(data::clusters)?)?,
        Method::Cmh {
            file,
            arm_column,
            names,
        } => {
            let columns = Columns {
                arm: arm_column.clone(),
                ..names.columns()
            };
            scenarios::cmh(&input::read(file, &columns, data::strata)?, level)?
        }
    })
}

/// Differences of the command line, or of standard input.
fn given(differences: &[Difference]) -> anyhow::Result<Vec<f64>> {
    if differences == [Difference::Input] {
        return input::numbers(Path::new("-"));
    }
    let number = |difference: &Difference| match difference {
        Difference::Number(value) => Ok(*value),
        Difference::Input => bail!("`-` stands for standard input and cannot be among numbers"),
    };
    differences.iter().map(number).collect()
}

/// The pairs that agree, and those of them that have it in both.
fn agreeing(
    (b, c): (u64, u64),
    n: Option<u64>,
    both: Option<u64>,
    neither: Option<u64>,
) -> anyhow::Result<Option<(u64, Option<u64>)>> {
    let Some(n) = n else {
        return match (both, neither) {
            (None, None) => Ok(None),
            (Some(both), Some(neither)) => Ok(Some((both + neither, Some(both)))),
            _ => bail!("give --both and --neither, or one of them with --n"),
        };
    };
    let Some(rest) = n.checked_sub(b + c) else {
        bail!("--n {n} is smaller than --b and --c together: it counts all pairs");
    };
    for (name, part) in [("both", both), ("neither", neither)] {
        if let Some(part) = part
            && part > rest
        {
            bail!("--{name} {part} is more than the {rest} pairs that agree");
        }
    }
    let both = both.or(neither.map(|neither| rest - neither));
    if let (Some(both), Some(neither)) = (both, neither)
        && both + neither != rest
    {
        bail!("--both {both} and --neither {neither} are not the {rest} pairs that agree");
    }
    Ok(Some((rest, both)))
}
