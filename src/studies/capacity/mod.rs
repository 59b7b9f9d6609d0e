//! `docshape capacity`: the highest rate at which a strategy keeps an objective.

pub mod command;
pub mod estimate;
pub mod judge;
pub mod objective;
pub mod record;
pub mod report;
pub mod search;
#[cfg(test)]
pub mod simulation;
pub mod transition;
