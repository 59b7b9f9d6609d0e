//! What a study gives to the rules of thumb.

use std::path::PathBuf;

use crate::results::ResultsError;

use super::document::cell::{Cell, Link};
use super::document::format::plain;
use super::document::section::Section;

/// Says what some results say, from the addresses of their reports, and their files.
pub type RuleSection = fn(&[(String, PathBuf)]) -> Result<Option<Section>, ResultsError>;

/// A kind of study whose results have rules.
#[derive(Debug, Clone, Copy)]
pub struct RuleSource {
    /// The name of its file.
    pub file: &'static str,
    /// What a result is called, such as `sweep`.
    pub noun: &'static str,
    /// Builds their section.
    pub section: RuleSection,
}

/// The name of a scenario, which leads to a report at an address.
pub fn scenario(name: &str, report: &str) -> Cell {
    Cell::text(plain(name)).link(Some(Link::File(report.to_owned())))
}
