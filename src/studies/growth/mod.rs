//! `docshape grow`: documents from their first write until the server refuses one.

pub mod curve;
pub mod report;
pub mod stages;
