//! The thresholds of a run.

use crate::report::section::Section;
use crate::report::table::{Cell, Column, Forms, Kind, Measure, Row, Table, Tone};
use crate::report::thresholds::ThresholdView;

type ThresholdMeasure<'r> = Measure<&'r ThresholdView>;

/// Whether each threshold passed; `None` without thresholds.
pub(super) fn section(thresholds: &[ThresholdView]) -> Option<Section> {
    let metrics = [
        ThresholdMeasure::new("passed", "result", "Whether it passed.", |one: &&ThresholdView| {
            let (mark, tone) = if one.has_passed { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
            Cell::text(format!("{mark} {}", one.word())).tone(tone).with_value(one.has_passed)
        })
        .of(Kind::Flag),
        ThresholdMeasure::new("found", "found", "The number, or why there is none.", |one| Cell::text(&one.found))
            .of(Kind::Text),
    ];
    let rows = thresholds.iter().map(|one| (Row::new(one.text.as_str()), one));
    let name = Column::text("threshold", "threshold", "As it was written.");
    let table = Table::new("thresholds", "Thresholds", name, &metrics, rows).list().only(Forms::ALL);
    (!thresholds.is_empty()).then(|| Section::new("thresholds", "Thresholds").table(table))
}
