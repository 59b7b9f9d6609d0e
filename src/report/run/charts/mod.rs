//! The charts of a run.

pub(crate) mod budget;
pub(crate) mod cost;
pub(crate) mod forest;
pub(crate) mod growth;
pub(crate) mod mix_times;
pub(crate) mod percentiles;
pub(crate) mod sizes;
pub(crate) mod throughput;
