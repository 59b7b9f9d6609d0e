//! `docshape explore`: every shape that a model can have, proven, and ranked by what its operations cost.
//!
//! Shapes are words for relations ([`shapes`]). Those that derive are verified against the model, and their operations are measured by
//! themselves. The mean of these times, weighted by the mix, ranks them ([`ranking`]); the first ones are compared by a run.

pub mod command;
pub mod ranking;
pub mod record;
pub mod report;
pub mod search;
pub mod shapes;
