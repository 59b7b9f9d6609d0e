//! What happened to the servers.

use crate::report::document::cell::Cell;
use crate::report::document::format::{plain, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Measure, Row, Table};
use crate::report::run::evaluation::Evaluation;
use crate::results::{EventKind, EventRecord, RunRecord};

use super::strategy_cell;

/// Everything that happened to the servers; `None` when nothing did.
pub(crate) fn section(record: &RunRecord, run: &Evaluation) -> Option<Section> {
    Section::new("events", "Events").table(events(record, run)).with_rows()
}

fn events(record: &RunRecord, run: &Evaluation) -> Table {
    let metrics = [
        Measure::text("what", "event", "What happened.", |event: &&EventRecord| text(&event.kind)),
        Measure::count("round", "round", "The round, from 1 on.", |event| event.round.saturating_add(1)),
        Measure::text("part", "while", "The part that was measured meanwhile.", |event| {
            event.part.map_or("no call was measured", |part| part.label())
        }),
        Measure::cell("seconds", "at", "Seconds since the run was started or resumed.", |event| {
            Cell::number(Some(event.seconds), |seconds| format!("{seconds:.1} s"))
        }),
    ];
    let known = record.events.iter().filter(|event| event.strategy < run.strategies.len());
    let rows = known.map(|event| (Row::new(strategy_cell(run, event.strategy)).series(event.strategy), event));
    Table::new("events", "What happened to the servers", Column::strategy(), &metrics, rows)
}

/// What happened, in a few words.
fn text(kind: &EventKind) -> String {
    let without = |seconds: f64| {
        if seconds > 0.0 { format!(", after {} without one", time(seconds * 1e9)) } else { String::new() }
    };
    match kind {
        EventKind::PrimaryChanged { from, to, without: seconds } if from == to => {
            format!("the primary {} was lost and came back{}", plain(from), without(*seconds))
        }
        EventKind::PrimaryChanged { from, to, without: seconds } => {
            format!("the primary changed from {} to {}{}", plain(from), plain(to), without(*seconds))
        }
    }
}
