//! Reads per write from which a strategy pays that reads faster and writes slower.

use crate::report::document::format::{interval, plain, three, time};
use crate::report::document::{Cell, Forms, Measure, Row, Section, Table, column};
use crate::results::RunRecord;
use crate::stats::{self, BreakEven};

/// A trade and the names of its write and its read.
type NamedTrade = (BreakEven, String, String);

/// The section; `None` where no strategy trades writes for reads.
pub(crate) fn section(own: &RunRecord) -> Option<Section> {
    let measures = [
        column("write", "write", "What it pays with.").text(|one: &NamedTrade| Cell::text(one.1.as_str())),
        column("paid_ns", "costs more", "The time that a write takes longer.").number(time, |one| one.0.paid),
        column("read", "read", "What it saves.").text(|one| Cell::text(one.2.as_str())),
        column("saved_ns", "saves", "The time that a read takes less.").number(time, |one| one.0.saved),
        column("reads_per_write", "reads per write", "From how many reads per write it takes less time in all.")
            .number(three, |one| one.0.reads),
        column("ci", "95 % CI", "Its confidence interval.")
            .text(|one: &NamedTrade| interval(one.0.interval.0, one.0.interval.1))
            .only(Forms::READ),
        Measure::data("low", "The lower bound of its 95 % CI.", |one| one.0.interval.0),
        Measure::data("high", "The upper bound.", |one| one.0.interval.1),
    ];
    let strategy = |place: usize| plain(&own.strategies[place].name);
    let operation = |place: usize| plain(&own.operations[place]);
    let rows = stats::break_evens(own).into_iter().map(|one| {
        let pair = format!("{} instead of {}", strategy(one.strategy), strategy(one.against));
        (Row::new(pair), (one, operation(one.write), operation(one.read)))
    });
    let about = "The strategy that reads faster and writes slower, and the one that it is compared with.";
    let name = column("pair", "strategy", about);
    let table = Table::new("break_even", "Break-even", name, &measures, rows);
    let section = Section::new("break_even", "Break-even: reads per write").table(table).note(
        "From the own times of one write and one read alone: other operations, waiting and retries are left out. The interval covers \
         the rounds (Fieller); price and saving are each shown, corrected for all pairs and operations. `docshape sweep` with the share of an operation measures the mix itself.",
    );
    section.only(Forms::DETAILED).with_rows()
}
