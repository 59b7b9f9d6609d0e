//! How the run was measured, and its warnings.

use crate::report::section::Section;
use crate::report::table::{Cell, Column, Forms, Kind, Measure, Row, Table};

/// The settings and the command that measures the run again.
pub(super) fn section(settings: &[(String, String)], command: &str) -> Section {
    let metrics =
        [Measure::new("value", "value", "Its value.", |value: &&String| Cell::text(value.as_str())).of(Kind::Text)];
    let rows = settings.iter().map(|(name, value)| (Row::new(name.as_str()), value));
    let name = Column::text("setting", "setting", "What was set or found.");
    let table = Table::new("settings", "Settings", name, &metrics, rows).list();
    let repeat =
        "To measure it again (a scenario outside the catalogue is named by its file; `run.json` holds its text):";
    Section::new("method", "How it was measured").table(table).command(repeat, command).only(Forms::DETAILED)
}

/// The warnings; `None` without any.
pub(super) fn warnings(warnings: Vec<String>) -> Option<Section> {
    (!warnings.is_empty()).then(|| Section::new("warnings", "Warnings").items(warnings))
}
