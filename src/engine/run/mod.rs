//! A run: rounds on fresh databases, the pilot and the query plans before them, and trials of a search for capacity.

pub(crate) mod audit;
mod cell;
mod cell_record;
mod distribution;
pub(crate) mod documents;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod experiment;
mod inspect;
pub(crate) mod life;
pub(crate) mod loader;
mod machine;
mod own_cost;
pub(crate) mod pilot;
pub(crate) mod provision;
pub(crate) mod query_plans;
mod round;
pub(crate) mod round_plan;
pub mod schedule;
pub(crate) mod servers;
mod slice_spec;
pub(crate) mod state;
pub(crate) mod trial;
