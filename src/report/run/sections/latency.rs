//! The times of calls: means and percentiles.

use std::sync::Arc;

use crate::record::{MetricRow, Shown};
use crate::report::document::format::{NOTHING, capitalised, enumerated, interval, three, time};
use crate::report::document::{Cell, Column, Forms, Kind, Row, Section, Table, Tone, column};
use crate::report::run::{Evaluation, OperationResults, charts, histogram};
use crate::stats::Verdict;

use super::{Entry, operation_rows, strategy_row, times_id};

/// The main table of numbers, and the latency of every operation.
pub(crate) fn section(run: &Arc<Evaluation>) -> Section {
    let (times, baseline) = (capitalised(run.times()), run.baseline());
    let lead = format!(
        "{times} times of the successful calls. Both axes are logarithmic: 90, 99 and 99.9 % are equally far apart. \
         Charts in a row share their time axis. A line ends where fewer than 10 calls exceed the percentile."
    );
    let is_known = |row: &OperationResults| row.cells.iter().any(|cell| cell.quantile(0.5).is_some());
    let unknown = enumerated(run.mix_first().filter(|row| !is_known(row)).map(|row| row.label().to_owned()));
    let unknown =
        unknown.map(|names| format!("Too few calls for any percentile: {names}. A longer preset makes more calls."));
    let section = Section::new("latency", format!("{times} time per call")).lead(lead);
    let has_differences = run.cells().any(|cell| run.difference(cell).is_some());
    let marks = if has_differences { " ▼ ▲ reported difference." } else { "" };
    let has_blanks = run.cells().any(|cell| cell.quantile(0.99).is_none());
    let blanks = if has_blanks { format!(" {NOTHING} fewer than 10 calls exceed it.") } else { String::new() };
    let note = format!("ratio: mean / mean of {baseline}, below 1 is faster.{marks}{blanks}");
    let section = unknown.into_iter().fold(section, Section::lead);
    section
        .charts(charts::charts(run, charts::percentiles::percentiles, "percentiles.svg", 2).with_texts({
            let run = Arc::clone(run);
            move || histogram::draw(&run)
        }))
        .table(table(run))
        .note_in(Forms::TERMINAL.and(Forms::HTML), note)
}

fn table(run: &Evaluation) -> Table {
    let means = [
        column("mean_ns", "mean", "The mean time: the geometric mean over rounds.")
            .number(time, |one: &Entry| one.measured.mean),
        column("ratio", "ratio", "The mean divided by the baseline's.")
            .cell(ratio)
            .only(Forms::TERMINAL.and(Forms::HTML)),
        column("ci", "95 % CI", "The ratio's confidence interval.")
            .cell(|one: &Entry| {
                let bounds = one.measured.ratio().and_then(|ratio| ratio.interval);
                Cell::text(bounds.map_or_else(String::new, |bounds| interval(bounds.low, bounds.high)))
            })
            .only(Forms::TERMINAL.and(Forms::HTML)),
    ];
    let quantiles = MetricRow::quantiles().map(|(metric, share)| {
        let [key, about] = metric.column;
        let forms = match metric.shown {
            Shown::Everywhere => Forms::ALL,
            Shown::OnPage => Forms::HTML,
            Shown::InFull | Shown::Nowhere => Forms::DETAILED,
        };
        let cell = move |one: &Entry| Cell::number(one.measured.quantile(share), time);
        column(key, metric.name, about).measure(Kind::Number, cell).only(forms)
    });
    let others = [
        column("max_ns", "max", "The longest.")
            .time(|one: &Entry| one.measured.distribution.max())
            .only(Forms::DETAILED),
        column("calls", "calls", "Successful calls.")
            .count(|one: &Entry| one.measured.distribution.calls())
            .only(Forms::DETAILED),
        column("round_trips_per_call", "round trips", "Messages exchanged per call.")
            .number(three, |one: &Entry| one.measured.totals.round_trips_per_call())
            .only(Forms::DETAILED),
    ];
    let metrics: Vec<_> = means.into_iter().chain(quantiles).chain(others).collect();
    let rows = operation_rows(run).map(|(row, one)| (row.id(Some(times_id(one.operation, one.place))), one));
    let title = "Means, percentiles and round trips";
    let mut table = Table::new("times", title, Column::strategy(), &metrics, rows);
    table.rows.extend(run.without_repeat().map(|(place, strategy)| {
        let row = strategy_row(run, place).group("calls per second").only(Forms::TERMINAL);
        Row { cells: vec![Cell::number(strategy.calls_per_second, three)], ..row }
    }));
    table.grouped(Column::operation()).side_by_side(Forms::TERMINAL).folded()
}

fn ratio(one: &Entry) -> Cell {
    if one.place == 0 {
        return Cell::default();
    }
    let (mark, tone) = match one.run.difference(one.measured) {
        Some(Verdict::Faster) => ("▼ ", Tone::Good),
        Some(_) => ("▲ ", Tone::Bad),
        None => ("", Tone::Plain),
    };
    Cell::number(one.measured.ratio().map(|ratio| ratio.mean), |ratio| format!("{mark}{}", three(ratio))).tone(tone)
}
