//! What every report is made of: cells, tables and charts. Nothing here knows MongoDB.

pub(crate) mod cell;
pub(crate) mod chart;
pub(crate) mod decision;
pub(crate) mod format;
pub(crate) mod section;
pub(crate) mod table;
