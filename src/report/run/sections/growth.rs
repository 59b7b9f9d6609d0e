//! The size of single documents while calls are made.

use std::sync::Arc;

use crate::report::document::cell::Cell;
use crate::report::document::format::{bytes, interval, three, time};
use crate::report::document::section::Section;
use crate::report::document::table::{Column, Forms, Kind, Measure, Row, Table};
use crate::report::run::charts;
use crate::report::run::evaluation::{Evaluation, FOLLOWED_STEPS};
use crate::stats::{FollowedGrowth, QuarterTimes, t_quantile};

use super::strategy_cell;

type GrowthMeasure<'r> = Measure<&'r FollowedGrowth>;

/// The followed documents; `None` without any.
pub(crate) fn section(run: &Arc<Evaluation>) -> Option<Section> {
    let metrics = [
        GrowthMeasure::text("collection", "collection", "Its collection.", |one: &&FollowedGrowth| {
            Cell::text(&one.collection)
        }),
        at("0 %", |one| size(one, 0)),
        at("25 %", |one| size(one, 1)),
        at("50 %", |one| size(one, 2)),
        at("75 %", |one| size(one, 3)),
        at("100 %", |one| size(one, 4)),
        GrowthMeasure::data(
            "bytes",
            "Its size before the calls and after each sixteenth of them: means over rounds.",
            |one| Cell::value(one.bytes.clone()),
        )
        .of(Kind::Numbers),
    ];
    let rows = run.strategies.iter().enumerate().flat_map(|(place, strategy)| {
        let row = move |growth: &FollowedGrowth| {
            Row::new(growth.label.as_str()).group(strategy_cell(run, place)).series(place)
        };
        strategy.followed.iter().map(move |growth| (row(growth), growth))
    });
    let name = Column::text("document", "document", "Entity and number; number 0 is the most popular.");
    let table =
        Table::new("growth", "Sizes by share of the calls", name, &metrics, rows).grouped(Column::strategy()).folded();
    Section::new("growth", "Growth of single documents")
        .charts(charts::charts(run, charts::growth, "growth.svg", 2))
        .table(times(run))
        .table(table)
        .note("By share of the calls. Number 0 is the most popular. Read between slices, means over the rounds.")
        .note(
            "Times per call are of the whole mix with all clients busy; whatever else changes during a window, such as the cache and \
             the number of documents, is in them. `docshape grow` measures times against the size of one document.",
        )
        .only(Forms::DETAILED)
        .with_rows()
}

/// What calls take while documents are small and while they are large.
fn times(run: &Evaluation) -> Table {
    type QuarterMeasure<'r> = Measure<(&'r FollowedGrowth, &'r QuarterTimes)>;
    let metrics = [
        QuarterMeasure::text("document", "document", "The followed document that grew most.", |one| {
            Cell::text(&one.0.label)
        }),
        QuarterMeasure::new("size_before", "from", "Its size before the calls, a mean over rounds.", |one| {
            size(one.0, 0)
        }),
        QuarterMeasure::new("size_after", "to", "Its size after the calls.", |one| size(one.0, 4)),
        QuarterMeasure::new(
            "first_ns",
            "first quarter",
            "Clients divided by calls per second in the first quarter of the slices.",
            |one| Cell::number(Some(one.1.first), time),
        ),
        QuarterMeasure::new("last_ns", "last quarter", "The same in the last quarter.", |one| {
            Cell::number(Some(one.1.last), time)
        }),
        QuarterMeasure::text(
            "change",
            "times",
            "The last divided by the first, with its 95 % CI over rounds.",
            |one| {
                let change = &one.1.change;
                let ends = (change.rounds > 1).then(|| change.interval(t_quantile(0.975, change.rounds - 1))).flatten();
                let ends = ends.map(|ends| format!(" ({})", interval(ends.low, ends.high)));
                Cell::text(format!("{}{}", three(change.ratio()), ends.unwrap_or_default()))
            },
        ),
    ];
    let rows = run.strategies.iter().enumerate().filter_map(|(place, strategy)| {
        let grown = |one: &&FollowedGrowth| one.bytes.last().unwrap_or(&0.0) - one.bytes.first().unwrap_or(&0.0);
        let largest = strategy.followed.iter().max_by(|one, other| grown(one).total_cmp(&grown(other)))?;
        Some((Row::new(strategy_cell(run, place)).series(place), (largest, strategy.quarters.as_ref()?)))
    });
    Table::new("growth_times", "Time per call while documents grow", Column::strategy(), &metrics, rows)
}

fn at<'r>(share: &'static str, cell: fn(&&'r FollowedGrowth) -> Cell) -> Measure<&'r FollowedGrowth> {
    Measure::new(share, share, "Its size after this share of the calls.", cell).only(Forms::DOCUMENT)
}

fn size(growth: &FollowedGrowth, quarter: usize) -> Cell {
    Cell::number(growth.bytes.get(quarter * FOLLOWED_STEPS as usize / 4).copied(), bytes)
}
