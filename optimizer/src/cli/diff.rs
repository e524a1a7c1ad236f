//! `optimizer diff`.

use std::ffi::OsStr;
use std::io::{IsTerminal as _, Write};
use std::path::PathBuf;

use trajectory::Exit;

use super::source::{StoreArgs, toolset, write_file};
use crate::diff::text::Colour;
use crate::diff::{self, Difference};

/// Arguments of `optimizer diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A and B are each a file (any `tools/list` dump), `baseline` (the market's own texts), or the id of a toolset
in the store (`ts_…`).

Examples:
  optimizer diff baseline v2.json
  optimizer diff ts_0123456789abcdef v2.json --format html --out diff.html
  optimizer diff old.json new.json --exit-code     # 1 when they differ")]
pub struct Args {
    /// The first version
    a: String,
    /// The second version
    b: String,
    #[command(flatten)]
    store: StoreArgs,
    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Colours of the text form
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    color: When,
    /// Write the result to a file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Exit with 1 when the versions differ
    #[arg(long)]
    exit_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Unified,
    Json,
    Markdown,
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum When {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let difference = Difference::between(
        &toolset(&args.a, &args.store)?,
        &toolset(&args.b, &args.store)?,
    );
    let format = if args.json { Format::Json } else { args.format };
    let terminal = args.out.is_none() && std::io::stdout().is_terminal();
    let text = match format {
        Format::Text => diff::text::render(
            &difference,
            colour(
                args.color,
                std::env::var_os("NO_COLOR").as_deref(),
                terminal,
            ),
        ),
        Format::Unified => diff::unified::render(&difference),
        Format::Json => format!("{:#}\n", diff::json::render(&difference)),
        Format::Markdown => diff::markdown::render(&difference),
        Format::Html => diff::html::render(&difference)?,
    };
    match &args.out {
        Some(path) => {
            write_file(path, &text)?;
            writeln!(std::io::stderr(), "written: {}", path.display())?;
        }
        None => out.write_all(text.as_bytes())?,
    }
    let differs = args.exit_code && !difference.is_empty();
    Ok(if differs { Exit::Failed } else { Exit::Done })
}

fn colour(when: When, no_color: Option<&OsStr>, terminal: bool) -> Colour {
    let wanted = match when {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && no_color.is_none_or(OsStr::is_empty),
    };
    if wanted { Colour::Ansi } else { Colour::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_on_a_terminal_and_never_against_no_color() {
        let check = |when, no_color: Option<&str>, terminal| {
            colour(when, no_color.map(OsStr::new), terminal)
        };
        assert_eq!(check(When::Auto, None, true), Colour::Ansi);
        assert_eq!(check(When::Auto, Some(""), true), Colour::Ansi);
        assert_eq!(check(When::Auto, Some("1"), true), Colour::None);
        assert_eq!(check(When::Auto, None, false), Colour::None);
        assert_eq!(check(When::Never, None, true), Colour::None);
        assert_eq!(check(When::Always, None, false), Colour::Ansi);
    }
}
