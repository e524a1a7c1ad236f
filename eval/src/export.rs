//! Exports of an experiment for others.

pub mod course;
