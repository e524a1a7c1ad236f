//! The progress bar: on stderr, and only when a person is looking.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trajectory::{Episode, Status};

/// Shows how far a run is.
pub(super) struct Progress {
    bar: ProgressBar,
    totals: Mutex<Totals>,
}

#[derive(Debug, Default)]
struct Totals {
    tokens: i64,
    usd: Option<f64>,
    errors: usize,
}

impl Progress {
    pub(super) fn new(episodes: usize, wanted: bool) -> Self {
        let visible = wanted && std::io::stderr().is_terminal();
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(u64::try_from(episodes).ok(), target);
        let template = "{bar:30} {pos}/{len} episodes, {per_sec}, {eta} left{msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            bar,
            totals: Mutex::new(Totals::default()),
        }
    }

    pub(super) fn recorded(&self, episode: &Episode) {
        let mut totals = self
            .totals
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        totals.tokens = [
            episode.input_tokens_buyer,
            episode.output_tokens_buyer,
            episode.input_tokens_seller,
            episode.output_tokens_seller,
        ]
        .into_iter()
        .flatten()
        .fold(totals.tokens, i64::saturating_add);
        if let Some(usd) = episode.cost_usd {
            totals.usd = Some(totals.usd.unwrap_or(0.0) + usd);
        }
        totals.errors += usize::from(episode.status == Status::InfraError);
        self.bar.set_message(message(&totals));
        self.bar.inc(1);
    }

    /// A line above the bar; it is shown even when there is no bar.
    pub(super) fn tell(&self, text: &str) {
        if self.bar.is_hidden() {
            tracing::warn!("{text}");
        } else {
            self.bar.println(text);
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // An error ends the run as well; its message must not stand on the line of the bar.
        if !self.bar.is_finished() {
            self.bar.abandon();
        }
    }
}

fn message(totals: &Totals) -> String {
    let mut text = String::new();
    if totals.tokens > 0 {
        let _ = write!(text, ", {} tokens", totals.tokens);
    }
    if let Some(usd) = totals.usd {
        let _ = write!(text, ", ${usd:.4}");
    }
    if totals.errors > 0 {
        let _ = write!(text, ", {} infrastructure errors", totals.errors);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_shown() {
        assert_eq!(message(&Totals::default()), "");
        let totals = Totals {
            tokens: 1200,
            usd: Some(0.5),
            errors: 2,
        };
        assert_eq!(
            message(&totals),
            ", 1200 tokens, $0.5000, 2 infrastructure errors"
        );
    }
}
