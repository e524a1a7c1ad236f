//! `whetstone demo`: the whole loop, as the very commands a user would type, against simulated agents.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Parser as _;
use market::scenario::{Pack, Scenario};
use serde_json::json;
use trajectory::Exit;

const EXAMPLES: &str = "\
Example:
  whetstone demo --dir my-demo

Records a baseline with simulated agents, diagnoses it, proposes new descriptions, compares both versions in all
four conditions on scenarios the proposal has not seen, and writes a report page. No network, no key.";

/// Arguments of `whetstone demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Folder for everything the demo writes; an existing one is continued
    #[arg(long, default_value = "whetstone-demo")]
    dir: PathBuf,
    /// Scenario pack; half of it is for practice, half for the comparison
    #[arg(long, default_value = "bargain-40")]
    pack: String,
    /// Simulated model
    #[arg(long, default_value = "sim")]
    model: String,
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        args.model == "sim" || args.model.starts_with("sim:"),
        "the demo runs simulated agents only, not `{}`: use `whetstone eval compare --model {}` for a real model",
        args.model,
        args.model
    );
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("creating the folder `{}`", args.dir.display()))?;
    let at = |name: &str| args.dir.join(name).display().to_string();
    let pack = Pack::load(&args.pack)?;
    let (practice, held_out) = halves(&pack);
    write_pack(Path::new(&at("practice.json")), &practice)?;
    write_pack(Path::new(&at("held-out.json")), &held_out)?;

    writeln!(
        out,
        "SIMULATED AGENTS: rule-based negotiators that know only what tool descriptions tell them."
    )?;
    writeln!(
        out,
        "What follows shows how the loop works; it says nothing about any language model."
    )?;
    let mut demo = Demo {
        out,
        store: at("store"),
        model: args.model.clone(),
    };

    demo.title(
        "1. Record a baseline: the market's careless one-line descriptions, practice scenarios",
    )?;
    demo.eval_run(&at("practice.json"))?;
    demo.title("2. Diagnose: what goes wrong, and which text could have prevented it")?;
    demo.optimizer(
        &["diagnose", "--experiment", PRACTICE, "--format", "markdown"],
        &["--out", &at("diagnosis.md")],
        Show::Nothing,
    )?;
    demo.optimizer(
        &["diagnose", "--experiment", PRACTICE],
        &[],
        Show::Lines(40),
    )?;
    demo.title("3. Propose new descriptions from that evidence")?;
    let version = at("candidate.json");
    let proposed = demo.optimizer(
        &["propose", "--experiment", PRACTICE, "--reflector", "mined"],
        &[
            "--out",
            &version,
            "--proposal",
            &at("proposal.md"),
            "--force",
        ],
        Show::Everything,
    )?;
    if proposed.exit != Exit::Done {
        writeln!(
            demo.out,
            "Nothing was proposed, so there is nothing to compare."
        )?;
        return Ok(proposed.exit);
    }
    let html = demo.optimizer(
        &["diff", "baseline", &version, "--format", "html"],
        &[],
        Show::Nothing,
    )?;
    write_file(Path::new(&at("diff.html")), &html.printed)?;

    demo.title("4. Compare both versions in all four conditions, on the held-out scenarios")?;
    demo.eval_compare(
        &at("held-out.json"),
        &version,
        &at("report.html"),
        Path::new(&at("comparison.json")),
    )?;
    demo.farewell(&args.dir)?;
    Ok(Exit::Done)
}

/// Name of the experiment that the proposal is made from.
const PRACTICE: &str = "demo-practice";
/// Name of the experiment that judges it.
const JUDGED: &str = "demo-held-out";

/// Splits a pack into practice and held-out scenarios with the same mix of gaps: sorted by the gap relative to
/// the price, then dealt out in turn.
fn halves(pack: &Pack) -> (Vec<&Scenario>, Vec<&Scenario>) {
    let mut sorted: Vec<&Scenario> = pack.scenarios.iter().collect();
    let gap = |s: &Scenario| s.spread() as f64 / s.reserve.max(s.budget) as f64;
    sorted.sort_by(|a, b| gap(a).total_cmp(&gap(b)).then_with(|| a.id.cmp(&b.id)));
    let pick = |rest: usize| sorted.iter().copied().skip(rest).step_by(2).collect();
    (pick(0), pick(1))
}

fn write_pack(path: &Path, scenarios: &[&Scenario]) -> anyhow::Result<()> {
    write_file(path, format!("{:#}\n", json!(scenarios)).as_bytes())
}

fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("writing `{}`", path.display()))
}

/// How much of a command's output the demo repeats.
#[derive(Clone, Copy)]
enum Show {
    Nothing,
    Lines(usize),
    Everything,
}

/// What a command gave.
struct Gave {
    exit: Exit,
    printed: Vec<u8>,
}

struct Demo<'a> {
    out: &'a mut dyn Write,
    store: String,
    model: String,
}

impl Demo<'_> {
    fn title(&mut self, text: &str) -> anyhow::Result<()> {
        Ok(writeln!(self.out, "\n== {text}\n")?)
    }

    fn eval_run(&mut self, pack: &str) -> anyhow::Result<()> {
        let (store, model) = (self.store.clone(), self.model.clone());
        let arguments = [
            "eval",
            "run",
            "--pack",
            pack,
            "--conditions",
            "all",
            "--repeats",
            "1",
            "--model",
            &model,
            "--experiment",
            PRACTICE,
            "--store",
            &store,
        ];
        let gave = self.command(&arguments, |out| {
            eval::cli::run(
                eval::cli::Cli::try_parse_from(arguments)?,
                &whetstone::annotations(),
                out,
            )
        })?;
        self.show(&gave, Show::Everything)
    }

    fn eval_compare(
        &mut self,
        pack: &str,
        version: &str,
        page: &str,
        json: &Path,
    ) -> anyhow::Result<()> {
        let (store, model) = (self.store.clone(), self.model.clone());
        let arguments = [
            "eval",
            "compare",
            "--baseline",
            "baseline",
            "--candidate",
            version,
            "--pack",
            pack,
            "--conditions",
            "all",
            "--repeats",
            "1",
            "--model",
            &model,
            "--experiment",
            JUDGED,
            "--store",
            &store,
            "--report",
            page,
        ];
        let gave = self.command(&arguments, |out| {
            eval::cli::run(
                eval::cli::Cli::try_parse_from(arguments)?,
                &whetstone::annotations(),
                out,
            )
        })?;
        self.show(&gave, Show::Everything)?;
        // Everything is recorded by now, so this only reads.
        let with_json = [&arguments[..], &["--json"]].concat();
        let mut printed = Vec::new();
        eval::cli::run(
            eval::cli::Cli::try_parse_from(with_json)?,
            &whetstone::annotations(),
            &mut printed,
        )?;
        write_file(json, &printed)
    }

    fn optimizer(&mut self, words: &[&str], more: &[&str], show: Show) -> anyhow::Result<Gave> {
        let store = self.store.clone();
        let arguments = [&["optimizer"], words, &["--store", &store], more].concat();
        let gave = match show {
            Show::Nothing => {
                let mut printed = Vec::new();
                let exit = optimizer::cli::run(
                    optimizer::cli::Cli::try_parse_from(&arguments)?,
                    &mut printed,
                )?;
                Gave { exit, printed }
            }
            _ => self.command(&arguments, |out| {
                optimizer::cli::run(optimizer::cli::Cli::try_parse_from(&arguments)?, out)
            })?,
        };
        self.show(&gave, show)?;
        Ok(gave)
    }

    /// Prints the command line, then runs it.
    fn command(
        &mut self,
        arguments: &[&str],
        run: impl FnOnce(&mut dyn Write) -> anyhow::Result<Exit>,
    ) -> anyhow::Result<Gave> {
        writeln!(self.out, "$ whetstone {}", arguments.join(" "))?;
        self.out.flush()?;
        let mut printed = Vec::new();
        let exit = run(&mut printed)?;
        Ok(Gave { exit, printed })
    }

    fn show(&mut self, gave: &Gave, show: Show) -> anyhow::Result<()> {
        let text = String::from_utf8_lossy(&gave.printed);
        match show {
            Show::Nothing => {}
            Show::Everything => writeln!(self.out, "{}", text.trim_end())?,
            Show::Lines(most) => {
                let lines: Vec<&str> = text.trim_end().lines().collect();
                for line in lines.iter().take(most) {
                    writeln!(self.out, "{line}")?;
                }
                if lines.len() > most {
                    writeln!(
                        self.out,
                        "… {} more lines; the whole of it is in diagnosis.md",
                        lines.len() - most
                    )?;
                }
            }
        }
        Ok(())
    }

    fn farewell(&mut self, dir: &Path) -> anyhow::Result<()> {
        self.title("Everything the demo wrote")?;
        for (name, what) in [
            ("report.html", "the comparison as a page"),
            ("comparison.json", "the comparison for machines"),
            (
                "candidate.json",
                "the new toolset version (an MCP tools/list result)",
            ),
            ("proposal.md", "why each text was changed, with episode ids"),
            ("diff.html", "the word-level difference"),
            ("diagnosis.md", "the diagnosis"),
            ("practice.json", "scenarios the proposal was made from"),
            ("held-out.json", "scenarios that judged it"),
            ("store", "every episode, tool call and message, as Parquet"),
        ] {
            writeln!(
                self.out,
                "  {:<40} {what}",
                dir.join(name).display().to_string()
            )?;
        }
        let store = &self.store;
        self.out.write_all(
            format!(
                "\nTo try next (the four numbers above are of SIMULATED agents; a model of yours gives real ones):\n  \
                 whetstone collector ls --store {store}\n  \
                 whetstone optimizer diff baseline {} --format text\n  \
                 OPENAI_BASE_URL=… OPENAI_API_KEY=… whetstone eval compare --baseline baseline --candidate {} --model NAME\n  \
                 whetstone collector import YOUR-LANGFUSE-EXPORT.jsonl\n",
                dir.join("candidate.json").display(),
                dir.join("candidate.json").display(),
            )
            .as_bytes(),
        )?;
        Ok(())
    }
}
