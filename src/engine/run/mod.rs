//! A run: rounds on fresh databases, the pilot and the own costs before them, and trials of a search for capacity.

pub(crate) mod audit;
mod cell;
mod cell_record;
pub(crate) mod documents;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod experiment;
mod inspect;
pub(crate) mod loader;
mod machine;
mod meters;
pub(crate) mod own_cost;
pub(crate) mod pilot;
mod provision;
mod round;
pub(crate) mod schedule;
pub(crate) mod servers;
mod slice_spec;
pub(crate) mod state;
pub(crate) mod trial;
