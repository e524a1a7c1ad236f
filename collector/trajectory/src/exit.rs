//! The exit codes of every command: a contract with scripts, like the stored formats.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed; the error says what, where, and what to do next.
    Failed = 1,
    /// Wrong use of the command line.
    Usage = 2,
    /// No improvement, or inconclusive (`propose`, and `compare --gate`).
    NoImprovement = 3,
    /// The candidate is worse (`compare --gate`).
    Regressed = 4,
    /// Too many infrastructure errors to judge (`compare --gate`).
    Indecisive = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
