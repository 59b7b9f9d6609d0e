//! `docshape grow`: documents from their first write until the server refuses one.

pub mod command;
pub mod curve;
pub mod record;
pub mod report;
pub mod rules;
