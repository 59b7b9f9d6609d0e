//! `docshape compare`: what changed between two runs.

pub mod changes;
pub mod report;
