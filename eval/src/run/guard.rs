//! Stops a run in which nothing works.

use trajectory::{Episode, Status};

use super::RunError;

/// Stops a run in which nothing works any more: going on would only record one error after the other.
pub(super) struct FailureGuard {
    limit: usize,
    in_a_row: usize,
}

impl FailureGuard {
    pub(super) fn new(concurrency: usize) -> Self {
        Self {
            limit: concurrency.saturating_mul(2).max(8),
            in_a_row: 0,
        }
    }

    pub(super) fn saw(&mut self, episode: &Episode) -> Result<(), RunError> {
        if episode.status != Status::InfraError {
            self.in_a_row = 0;
            return Ok(());
        }
        self.in_a_row += 1;
        if self.in_a_row < self.limit {
            return Ok(());
        }
        Err(RunError::NothingWorks {
            count: self.in_a_row,
            error: episode
                .error
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
        })
    }
}
