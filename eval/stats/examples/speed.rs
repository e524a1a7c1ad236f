//! How long the heavy methods take: `cargo run --release -p stats --example speed`.
//!
//! A million episodes in 40 scenarios are resampled, with values of four kinds; then come sign-flip tests. Every
//! line says its time and by how much the process's memory grew at its peak; a bootstrap also says its time per
//! resample as a multiple of the yes/no line's.

use std::io::Write as _;
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use stats::{Level, MONTE_CARLO_DRAWS, RESAMPLES, StatsError, bootstrap_clusters, sign_flip};

const SCENARIOS: usize = 40;
const EPISODES: usize = 1_000_000;
/// Values that are all different take one random number per episode and resample, which is the work itself.
const CONTINUOUS_RESAMPLES: usize = 100;
/// What the counted bootstrap and the exact test may take on two cores.
const BOOTSTRAP_GOAL: Duration = Duration::from_secs(2);
const EXACT_GOAL: Duration = Duration::from_millis(100);

const BOOTSTRAP: &str = "bootstrap";

/// One measured line.
struct Line {
    what: String,
    taken: Duration,
    /// Resamples or sign assignments.
    draws: u64,
    goal: Option<Duration>,
    /// Kilobytes by which the peak grew; absent where the system does not tell.
    grown: Option<u64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = Vec::new();
    for (what, resamples, goal, value) in kinds() {
        let clusters = clusters(value);
        lines.push(measured(what, resamples as u64, goal, || {
            bootstrap_clusters(&clusters, resamples, 1, Level::P95).map(|found| found.mean)
        })?);
    }
    for (scenarios, goal) in [(20, Some(EXACT_GOAL)), (40, None), (1_000, None)] {
        let exact = scenarios <= stats::EXACT_UP_TO;
        let draws = if exact {
            1 << scenarios
        } else {
            MONTE_CARLO_DRAWS
        };
        let kind = if exact { "exact" } else { "Monte Carlo" };
        let differences = differences(scenarios);
        lines.push(measured(
            format!("sign-flip, {scenarios} scenarios, {kind}"),
            draws,
            goal,
            || sign_flip(&differences, 1).map(|found| found.p),
        )?);
    }
    print(&lines)?;
    Ok(())
}

type Kind = (
    String,
    usize,
    Option<Duration>,
    fn(&mut ChaCha8Rng, f64) -> f64,
);

/// What is resampled, how often, and how a value of a scenario is drawn.
fn kinds() -> [Kind; 4] {
    let counted = |what: &str| format!("{BOOTSTRAP}, {what}");
    [
        (
            counted("yes/no"),
            RESAMPLES,
            Some(BOOTSTRAP_GOAL),
            |random, rate| f64::from(u8::from(random.random_bool(rate))),
        ),
        (
            counted("differences -1/0/1"),
            RESAMPLES,
            Some(BOOTSTRAP_GOAL),
            |random, rate| {
                let each = |yes: bool| f64::from(u8::from(yes));
                each(random.random_bool(rate)) - each(random.random_bool(0.5))
            },
        ),
        (
            counted("counts 0 to 40"),
            RESAMPLES,
            Some(BOOTSTRAP_GOAL),
            |random, _| f64::from(random.random_range(0..=40_u32)),
        ),
        (
            counted("continuous (fewer resamples)"),
            CONTINUOUS_RESAMPLES,
            None,
            |random, rate| rate + random.random::<f64>(),
        ),
    ]
}

fn clusters(value: fn(&mut ChaCha8Rng, f64) -> f64) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    (0..SCENARIOS)
        .map(|_| {
            let rate = random.random();
            (0..EPISODES / SCENARIOS)
                .map(|_| value(&mut random, rate))
                .collect()
        })
        .collect()
}

fn differences(scenarios: usize) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    (0..scenarios)
        .map(|_| random.random::<f64>() - 0.4)
        .collect()
}

fn measured(
    what: String,
    draws: u64,
    goal: Option<Duration>,
    work: impl FnOnce() -> Result<f64, StatsError>,
) -> Result<Line, StatsError> {
    forget_peak();
    let before = peak_kilobytes();
    let start = Instant::now();
    std::hint::black_box(work()?);
    let taken = start.elapsed();
    let grown = before
        .zip(peak_kilobytes())
        .map(|(before, after)| after.saturating_sub(before));
    Ok(Line {
        what,
        taken,
        draws,
        goal,
        grown,
    })
}

/// Lets the peak start again from what is in use now; where that is not allowed, growth is told too small.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Peak resident memory of this process, where Linux tells it.
fn peak_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn print(lines: &[Line]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let each = |line: &Line| line.taken.as_secs_f64() / line.draws as f64;
    let first = lines.first().map_or(1.0, each);
    let resampled = |line: &&Line| line.what.starts_with(BOOTSTRAP);
    writeln!(
        out,
        "{EPISODES} episodes in {SCENARIOS} scenarios, {} threads",
        std::thread::available_parallelism().map_or(1, usize::from)
    )?;
    writeln!(
        out,
        "{:<42} {:>9} {:>9} {:>10} {:>9}  goal",
        "method", "draws", "seconds", "x yes/no", "peak +MB"
    )?;
    for line in lines {
        let grown = line.grown.map_or("-".to_owned(), |kilobytes| {
            format!("{:.1}", kilobytes as f64 / 1024.0)
        });
        let ratio = Some(line)
            .filter(resampled)
            .map_or("-".to_owned(), |line| format!("{:.1}", each(line) / first));
        let goal = line.goal.map_or("-".to_owned(), |goal| {
            let verdict = if line.taken < goal { "met" } else { "MISSED" };
            format!("< {} s: {verdict}", goal.as_secs_f64())
        });
        writeln!(
            out,
            "{:<42} {:>9} {:>9.3} {ratio:>10} {grown:>9}  {goal}",
            line.what,
            line.draws,
            line.taken.as_secs_f64(),
        )?;
    }
    Ok(())
}
