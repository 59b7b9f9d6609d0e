//! The capacity of strategies: the rate at which a trial keeps an objective with a probability of one half.

mod estimate;
mod search;
#[cfg(test)]
mod simulation;
mod transition;

pub use estimate::{Capacities, CapacityEstimate, MINIMUM_ROUNDS, SearchEnd, search_end};
pub use search::Search;
