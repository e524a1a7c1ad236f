//! The plots of the page.

mod bars;
mod forest;
mod frame;
mod histogram;
mod paired;

pub(super) use bars::{Bar, Group, bars};
pub(super) use forest::panels;
pub(super) use histogram::histogram;
pub(super) use paired::{difference, scenarios, value};
