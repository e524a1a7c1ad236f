//! Wiring shared by the five commands: parse, set up diagnostics, run, report, exit.
//!
//! The commands themselves live in the crates `market`, `collector`, `optimizer` and `eval`; this package
//! gives them names on the command line, and tells reports what the optimizer finds.

mod annotations;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use tracing_subscriber::EnvFilter;
use trajectory::Exit;

pub use annotations::annotations;

/// Parses the command line, runs the command and turns its result into an exit code.
///
/// Results go to stdout; diagnostics and the one line of an error go to stderr. A reader that closes the pipe
/// early (`… | head`) is not an error.
pub fn start<C: clap::Parser>(
    run: impl FnOnce(C, &mut dyn Write) -> anyhow::Result<Exit>,
) -> ExitCode {
    let cli = match C::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version also come this way, with code 0. A closed stderr leaves nobody to tell.
            let _ = error.print();
            return if error.exit_code() == 0 {
                Exit::Done.into()
            } else {
                Exit::Usage.into()
            };
        }
    };
    set_up_diagnostics();
    let mut out = std::io::stdout();
    let result = run(cli, &mut out).and_then(|exit| {
        out.flush()?;
        Ok(exit)
    });
    match result {
        Ok(exit) => exit.into(),
        Err(error) if is_broken_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            Exit::Failed.into()
        }
    }
}

/// Warnings and above by default; `WHETSTONE_LOG` takes a filter such as `info` or `market=debug`.
fn set_up_diagnostics() {
    let filter =
        EnvFilter::try_from_env("WHETSTONE_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    // A second call (tests) keeps the first subscriber.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .try_init();
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
    })
}
