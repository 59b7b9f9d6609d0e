//! The strategies that were compared.

use crate::report::document::format::three;
use crate::report::document::{Cell, Forms, Measure, Row, Section, Table, Tone, column};
use crate::report::run::{Evaluation, StrategyResults};

use super::{strategy_cell, strategy_id};

/// A strategy and whether it is the baseline.
type Entry<'r> = (usize, &'r StrategyResults);

/// What each strategy is and its throughput.
pub(crate) fn section(run: &Evaluation) -> Section {
    let metrics = [
        column("about", "", "What it does.").text(|(_, one): &Entry| Cell::text(&one.about)),
        column(
            "calls_per_second",
            "calls per second",
            "Completed calls per second of all clients; with open load those that were sent in time.",
        )
        .number(|rate| format!("{} calls/s", three(rate)), |(_, one)| one.calls_per_second),
        Measure::flag("baseline", "Whether the others are compared with it.", |(place, _)| *place == 0),
        Measure::flag(
            "repeat",
            "Whether it is the baseline measured a second time: its difference is noise.",
            |(_, one)| one.is_repeat,
        ),
        Measure::flag("unsafe", "Whether it is a negative control, excluded from verdicts.", |(_, one)| one.is_unsafe),
    ];
    let rows = run.strategies.iter().enumerate().map(|(place, strategy)| {
        let row = Row::new(strategy_cell(run, place).tone(Tone::Strong)).series(place).id(Some(strategy_id(place)));
        (row, (place, strategy))
    });
    let name = column("strategy", "strategy", "Its name.");
    let table = Table::new("strategies", "Strategies", name, &metrics, rows).list();
    Section::new("strategies", "Strategies").table(table).only(Forms::DETAILED)
}
