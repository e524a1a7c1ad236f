//! What stands above a transcript.

use std::io::{self, Write};

use trajectory::{Episode, clock};

use crate::terminal::one_line;

/// Writes what is known about an episode as a whole.
pub(super) fn write(episode: &Episode, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Episode {} of experiment {}",
        one_line(&episode.episode_id, 120),
        one_line(&episode.experiment, 100)
    )?;
    if episode.simulated {
        writeln!(
            out,
            "simulated agents; says nothing about any language model"
        )?;
    }
    let numbers = |value: Option<i64>| value.map(|value| value.to_string());
    let texts = [
        ("source", Some(episode.source.clone())),
        ("scenario", episode.scenario.clone()),
        ("condition", episode.condition.clone()),
        ("arm", episode.arm.clone()),
        ("repeat", numbers(episode.repeat.map(i64::from))),
        ("model", episode.model.clone()),
        ("status", Some(episode.status.as_str().to_owned())),
        ("termination", episode.termination.clone()),
        ("error", episode.error.clone()),
        ("outcome", episode.outcome.clone()),
        ("price", numbers(episode.price)),
        ("reserve", numbers(episode.reserve)),
        ("budget", numbers(episode.budget)),
        (
            "correct",
            episode.correct_strict.map(|correct| correct.to_string()),
        ),
        ("toolset", episode.toolset_seen.clone()),
        ("started", episode.started_us.map(clock::rfc3339)),
        ("tokens in", numbers(episode.input_tokens_buyer)),
        ("tokens out", numbers(episode.output_tokens_buyer)),
        ("attributes", episode.attributes.clone()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            writeln!(out, "  {name:<12}{}", one_line(&text, 400))?;
        }
    }
    Ok(())
}
