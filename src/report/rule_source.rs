//! What a study gives to the rules of thumb.

use std::path::PathBuf;

use crate::results::ResultsError;

use super::document::cell::{Cell, Link};
use super::document::format::plain;
use super::document::section::Section;
use super::write::markdown::MARKDOWN_FILE;

/// Says what some results say, from their folders relative to the report, and their files.
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

/// The name of a scenario, which leads to the report in a folder.
pub fn scenario(name: &str, folder: &str) -> Cell {
    Cell::text(plain(name)).link(Some(Link::File(format!("{folder}/{MARKDOWN_FILE}"))))
}
