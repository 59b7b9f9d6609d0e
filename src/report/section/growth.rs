//! The size of single documents while calls are made.

use std::sync::Arc;

use crate::report::cell::Cell;
use crate::report::chart::{self, Charts};
use crate::report::evaluation::{Evaluation, FOLLOWED_STEPS};
use crate::report::format::bytes;
use crate::report::section::{Section, strategy_cell};
use crate::report::table::{Column, Forms, Kind, Measure, Row, Table};
use crate::stats::FollowedGrowth;

type GrowthMeasure<'r> = Measure<&'r FollowedGrowth>;

/// The followed documents; `None` without any.
pub(super) fn section(run: &Arc<Evaluation>) -> Option<Section> {
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
        .charts(Charts::new(run, chart::growth, "growth.svg", 2))
        .table(table)
        .note("By share of the calls. Number 0 is the most popular. Read between slices, means over the rounds.")
        .only(Forms::DETAILED)
        .with_rows()
}

fn at<'r>(share: &'static str, cell: fn(&&'r FollowedGrowth) -> Cell) -> Measure<&'r FollowedGrowth> {
    Measure::new(share, share, "Its size after this share of the calls.", cell).only(Forms::DOCUMENT)
}

fn size(growth: &FollowedGrowth, quarter: usize) -> Cell {
    Cell::number(growth.bytes.get(quarter * FOLLOWED_STEPS as usize / 4).copied(), bytes)
}
