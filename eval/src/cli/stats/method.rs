//! The methods and their arguments.

use std::path::PathBuf;

use super::input::{Names, Scenarios};
use super::parse::{Difference, count, difference, exposure, overdispersion, p_value, proportion};
use crate::stats::Proportion;

/// The methods.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Method {
    /// A rate with its intervals: Wilson, Clopper-Pearson, Jeffreys
    #[command(after_help = "Example:\n  whetstone eval stats rate 9/15")]
    Rate {
        /// Successes of trials, such as 9/15
        #[arg(value_name = "K/N", value_parser = proportion)]
        rate: Proportion,
    },
    /// Difference of two independent rates: Newcombe, Fisher
    #[command(after_help = "Example:\n  whetstone eval stats diff 11/15 9/15")]
    Diff {
        /// First sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        first: Proportion,
        /// Second sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        second: Proportion,
    },
    /// Fisher's exact test of two independent rates
    #[command(after_help = "Example:\n  whetstone eval stats fisher 1/15 0/15")]
    Fisher {
        /// First sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        first: Proportion,
        /// Second sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        second: Proportion,
    },
    /// Paired yes/no outcomes: McNemar, Tango, Newcombe
    #[command(after_help = "Example:\n  whetstone eval stats paired --b 12 --c 5 --n 60")]
    Paired {
        /// Pairs in which only the first version has it
        #[arg(long, value_name = "N", value_parser = count)]
        b: u64,
        /// Pairs in which only the second version has it
        #[arg(long, value_name = "N", value_parser = count)]
        c: u64,
        /// All pairs; gives the difference and Tango's interval
        #[arg(long, value_name = "N", value_parser = count)]
        n: Option<u64>,
        /// Pairs in which both have it; with --n or --neither it gives Newcombe's interval as well
        #[arg(long, value_name = "N", value_parser = count)]
        both: Option<u64>,
        /// Pairs in which neither has it
        #[arg(long, value_name = "N", value_parser = count)]
        neither: Option<u64>,
    },
    /// Differences, one for each scenario, against 0: sign-flip, t, sign test, Wilcoxon
    #[command(after_help = "Example:\n  whetstone eval stats signflip 0.33 0 0.67 -0.33")]
    Signflip {
        /// The differences, such as -0.33 (not -.33), or - to read them from standard input
        #[arg(
            value_name = "DIFFERENCE",
            allow_negative_numbers = true,
            required_unless_present = "file",
            value_parser = difference
        )]
        differences: Vec<Difference>,
        /// Read them from a file, separated by white space or commas
        #[arg(long, value_name = "FILE", conflicts_with = "differences")]
        file: Option<PathBuf>,
    },
    /// Mean of values that come in scenarios: cluster-robust errors, bootstrap
    #[command(after_help = "Example:\n  whetstone eval stats cluster differences.csv")]
    Cluster(Scenarios),
    /// p values corrected for their number, Holm's method first
    #[command(after_help = "Example:\n  whetstone eval stats holm 0.01 0.04 0.03")]
    Holm {
        /// The p values
        #[arg(value_name = "P", required = true, value_parser = p_value)]
        p: Vec<f64>,
    },
    /// p values corrected for their number, Benjamini and Hochberg's method first
    #[command(after_help = "Example:\n  whetstone eval stats bh 0.01 0.04 0.03")]
    Bh {
        /// The p values
        #[arg(value_name = "P", required = true, value_parser = p_value)]
        p: Vec<f64>,
    },
    /// pass^k and pass@k, averaged over scenarios
    #[command(after_help = "Example:\n  whetstone eval stats passk 3/3 1/3 2/3 -k 2")]
    Passk {
        /// Successes of attempts, one for each scenario
        #[arg(value_name = "C/N", value_parser = proportion, required = true)]
        scenarios: Vec<Proportion>,
        /// Attempts
        #[arg(short, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
        k: u64,
    },
    /// Ratio of two counts of events
    #[command(after_help = "Example:\n  whetstone eval stats poisson 26 16 --overdispersion 2")]
    Poisson {
        /// First count
        #[arg(value_parser = count)]
        first: u64,
        /// Second count
        #[arg(value_parser = count)]
        second: u64,
        /// Exposure of both (episodes); equal when absent
        #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], default_values_t = [1.0, 1.0], value_parser = exposure)]
        exposure: Vec<f64>,
        /// How many times as much counts vary between episodes as Poisson counts do
        #[arg(long, value_name = "PHI", value_parser = overdispersion)]
        overdispersion: Option<f64>,
    },
    /// Probability that the second rate is higher
    #[command(after_help = "Example:\n  whetstone eval stats bayes 9/15 11/15")]
    Bayes {
        /// First sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        first: Proportion,
        /// Second sample
        #[arg(value_name = "K/N", value_parser = proportion)]
        second: Proportion,
    },
    /// Evidence of differing pairs that may be looked at after every pair
    #[command(after_help = "Example:\n  whetstone eval stats eprocess 12/15")]
    Eprocess {
        /// Pairs in favour of one version of all that differ, such as 12/15
        #[arg(value_name = "S/M", value_parser = proportion)]
        pairs: Proportion,
    },
    /// Whether enforcement changes the injection's effect
    #[command(after_help = "Example:\n  whetstone eval stats did --rates 9/15 8/15 11/15 9/15")]
    Did {
        /// Table with the columns scenario, condition, value
        #[arg(value_name = "FILE", required_unless_present_any = ["rates", "counts"])]
        file: Option<PathBuf>,
        /// Four published rates instead, as if episodes were independent
        #[arg(long, num_args = 4, value_parser = proportion, conflicts_with_all = ["file", "counts"],
              value_names = ["PROMPT", "SERVER", "PROMPT_INJECT", "SERVER_INJECT"])]
        rates: Vec<Proportion>,
        /// Four published counts instead
        #[arg(long, num_args = 4, conflicts_with = "file", value_parser = count,
              value_names = ["PROMPT", "SERVER", "PROMPT_INJECT", "SERVER_INJECT"])]
        counts: Vec<u64>,
        /// With --counts: how many times as much they vary as Poisson counts
        #[arg(long, value_name = "PHI", default_value_t = 1.0, value_parser = overdispersion)]
        overdispersion: f64,
        /// Name of the column with the condition
        #[arg(long, value_name = "NAME")]
        condition_column: Option<String>,
        #[command(flatten)]
        names: Names,
    },
    /// How alike the values of a scenario are
    #[command(after_help = "Example:\n  whetstone eval stats icc values.csv")]
    Icc(Scenarios),
    /// Two arms that are not paired, within scenarios: Cochran-Mantel-Haenszel, exact permutation
    #[command(after_help = "Example:\n  whetstone eval stats cmh episodes.csv")]
    Cmh {
        /// Table with the columns scenario, arm, value (0 or 1, a row an episode), or scenario, arm, successes, n
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Name of the column with the arm
        #[arg(long, value_name = "NAME")]
        arm_column: Option<String>,
        #[command(flatten)]
        names: Names,
    },
}
