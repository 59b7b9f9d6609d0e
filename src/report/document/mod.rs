//! What every report is made of: cells, tables and charts. Nothing here knows MongoDB.

pub(crate) mod cell;
pub(crate) mod chart;
pub(crate) mod format;
pub(crate) mod table;
