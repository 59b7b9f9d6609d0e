//! `docshape sweep`: runs at several values of a parameter, and where one strategy overtakes another.

pub mod chart;
pub mod command;
pub mod crossover;
pub mod record;
pub mod report;
pub mod rules;
pub mod swept;
