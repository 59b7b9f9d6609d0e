//! The sections of a run, a file each.

mod break_even;
pub(crate) mod claims;
mod cost;
mod differences;
pub(crate) mod events;
pub(crate) mod heat_map;
mod latency;
mod load;
pub(crate) mod method;
mod mix;
mod outcomes;
pub(crate) mod sizes;
mod strategies;
pub(crate) mod thresholds;
mod throughput;
pub(crate) mod verdict;
mod what_if;

use crate::report::document::format::percent;
use crate::report::document::{Cell, Column, Forms, Row, Section, column};
use crate::results::{Part, RunRecord};

use super::{Evaluation, Measured, OperationResults, RunDetails, StrategyResults};

/// The sections of a run without a complete round.
const WITHOUT_ROUNDS: [&str; 8] =
    ["thresholds", "events", "strategies", "claims", "claims_by_design", "shapes", "warnings", "method"];

/// The sections of a run, in their order. `others` are runs of other mixes.
pub(crate) fn all(record: &RunRecord, details: &RunDetails, others: &[RunRecord]) -> Vec<Section> {
    let parts = &details.parts;
    let (main, last) = (parts.main(), parts.last());
    let [own, rate, saturation] = [Part::Own, Part::Rate, Part::Saturation].map(|part| parts.get(part));
    let shapes = Section::new("shapes", "Shapes and commands").only(Forms::HTML);
    let shapes = Section { source: Some(record.scenario.text.clone()), ..shapes };
    let shapes = shapes.lead("The scenario defines the documents and commands of every strategy; `docshape show` prints them with sample values.");
    let [measured_claims, claims_by_design] = claims::sections(record, parts);
    let sections = [
        thresholds::section(&details.thresholds),
        events::section(record, main),
        what_if::section(record, parts, others),
        Some(strategies::section(last)),
        mix::section(parts),
        own.and_then(differences::section),
        parts.record(Part::Own).and_then(break_even::section),
        measured_claims,
        claims_by_design,
        Some(latency::section(main)),
        load::section(parts),
        saturation.and_then(mix::saturation),
        saturation.map(throughput::section),
        sizes::section(last),
        saturation.or(rate).map(cost::of_mix),
        own.zip(parts.record(Part::Own)).and_then(|(run, record)| cost::of_operations(run, record)),
        cost::inconsistency(main),
        saturation.or(rate).and_then(|run| cost::beside_job(run)),
        Some(outcomes::section(main)),
        outcomes::audits(last),
        Some(shapes),
        warnings(method::warnings(record, parts)),
        Some(method::section(record, &details.facts.command)),
    ];
    let repeat = last.strategies.iter().position(|strategy| strategy.is_repeat);
    let shown = sections.into_iter().flatten().map(|section| section.without(repeat));
    shown.filter(|section| main.rounds > 0 || WITHOUT_ROUNDS.contains(&section.id)).collect()
}

/// Warnings; `None` without any.
pub(crate) fn warnings(warnings: Vec<String>) -> Option<Section> {
    (!warnings.is_empty()).then(|| Section::new("warnings", "Warnings").items(warnings))
}

/// A strategy's name and role.
fn strategy_cell(run: &Evaluation, place: usize) -> Cell {
    let strategy = &run.strategies[place];
    let role = match (place, strategy.is_unsafe) {
        (_, true) => "unsafe",
        (0, _) if run.strategies.len() > 1 => "baseline",
        _ => "",
    };
    Cell::text(&strategy.name).remark(role)
}

/// The row of a strategy, in its colour.
fn strategy_row(run: &Evaluation, place: usize) -> Row {
    Row::new(strategy_cell(run, place)).series(place)
}

/// A row per strategy and thing that it has.
fn strategy_rows<'r, T, I: IntoIterator<Item = T>>(
    run: &'r Evaluation,
    things: impl Fn(&'r StrategyResults) -> I,
) -> impl Iterator<Item = (Row, T)> {
    let all = run.strategies.iter().enumerate();
    all.flat_map(move |(place, one)| things(one).into_iter().map(move |thing| (strategy_row(run, place), thing)))
}

/// A strategy in an operation or in the mix.
struct Entry<'r> {
    run: &'r Evaluation,
    row: &'r OperationResults,
    measured: &'r Measured,
    /// The place of the operation, the mix being 0.
    operation: usize,
    /// The place of the strategy.
    place: usize,
}

/// A row per strategy for the mix and each operation.
fn operation_rows(run: &Evaluation) -> impl Iterator<Item = (Row, Entry<'_>)> {
    run.mix_first().enumerate().flat_map(move |(operation, row)| {
        row.cells.iter().enumerate().map(move |(place, measured)| {
            (strategy_row(run, place).group(operation_cell(row)), Entry { run, row, measured, operation, place })
        })
    })
}

/// The column of operations without the mix.
fn operation_column() -> Column {
    column("operation", "operation", "The operation.")
}

/// An operation's name and its share of the mix.
fn operation_cell(row: &OperationResults) -> Cell {
    Cell::text(&row.name).remark(row.share.map_or_else(String::new, |share| format!("{} of calls", percent(share))))
}

/// The row of the times of an operation, the mix being 0.
fn times_id(operation: usize, strategy: usize) -> String {
    format!("row-times-{operation}-{strategy}")
}

fn sizes_id(strategy: usize) -> String {
    format!("row-sizes-{strategy}")
}

fn cost_id(operation: usize, strategy: usize) -> String {
    format!("row-cost-{operation}-{strategy}")
}

fn strategy_id(strategy: usize) -> String {
    format!("strategy-{strategy}")
}
