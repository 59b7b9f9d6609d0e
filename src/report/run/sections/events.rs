//! What happened to the servers.

use crate::report::document::format::{plain, time};
use crate::report::document::{Cell, Column, Section, Table, column};
use crate::report::run::Evaluation;
use crate::results::{EventKind, EventRecord, RunRecord};

use super::strategy_row;

/// Everything that happened to the servers; `None` when nothing did.
pub(crate) fn section(record: &RunRecord, run: &Evaluation) -> Option<Section> {
    let metrics = [
        column("what", "event", "What happened.").text(|event: &&EventRecord| text(&event.kind)),
        column("round", "round", "The round, from 1 on.").count(|event| event.round.saturating_add(1)),
        column("part", "while", "The part that was measured meanwhile.")
            .text(|event| event.part.map_or("no call was measured", |part| part.label())),
        column("seconds", "at", "Seconds since the run was started or resumed.")
            .cell(|event| Cell::number(Some(event.seconds), |seconds| format!("{seconds:.1} s"))),
    ];
    let known = record.events.iter().filter(|event| event.strategy < run.strategies.len());
    let rows = known.map(|event| (strategy_row(run, event.strategy), event));
    let table = Table::new("events", "What happened to the servers", Column::strategy(), &metrics, rows);
    Section::new("events", "Events").table(table).with_rows()
}

/// What happened, in a few words.
fn text(kind: &EventKind) -> String {
    let EventKind::PrimaryChanged { from, to, without } = kind;
    let (from, to) = (plain(from), plain(to));
    let without = if *without > 0.0 { format!(", after {} without one", time(without * 1e9)) } else { String::new() };
    if from == to {
        format!("the primary {from} was lost and came back{without}")
    } else {
        format!("the primary changed from {from} to {to}{without}")
    }
}
