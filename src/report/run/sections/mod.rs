//! The sections of a run, a file each.

mod break_even;
pub(crate) mod claims;
mod cost;
mod differences;
pub(crate) mod events;
pub(crate) mod heat_map;
mod latency;
pub(crate) mod method;
mod mix;
mod open_load;
mod outcomes;
mod sizes;
mod strategies;
pub(crate) mod thresholds;
mod throughput;
pub(crate) mod verdict;
mod what_if;

use crate::report::document::cell::Cell;
use crate::report::document::format::percent;
use crate::report::document::section::Section;
use crate::report::document::table::Forms;
use crate::results::{Part, RunRecord};

use super::details::RunDetails;
use super::evaluation::{Evaluation, OperationResults};

/// The sections of a run, in their order. `others` are runs of other mixes.
pub(crate) fn all(record: &RunRecord, details: &RunDetails, others: &[RunRecord]) -> Vec<Section> {
    let parts = &details.parts;
    let (main, last) = (parts.main(), parts.last());
    let has_rounds = main.rounds > 0;
    let rounds = |section: Option<Section>| section.filter(|_| has_rounds);
    let own = || parts.get(Part::Own);
    let saturation = || parts.get(Part::Saturation);
    let shapes =
        Section { source: Some(record.scenario.text.clone()), ..Section::new("shapes", "Shapes and commands") };
    let shapes = shapes.lead("The scenario defines the documents and commands of every strategy; `docshape show` prints them with sample values.");
    let [measured_claims, claims_by_design] = claims::sections(&claims::linked(record, parts));
    let sections = [
        thresholds::section(&details.thresholds),
        events::section(record, main),
        rounds(what_if::section(record, parts, others)),
        Some(strategies::section(last)),
        rounds(mix::section(parts)),
        own().and_then(differences::section),
        parts.record(Part::Own).and_then(break_even::section),
        measured_claims,
        claims_by_design,
        latency::section(main),
        parts.get(Part::Rate).and_then(|run| rounds(open_load::section(run))),
        saturation().and_then(mix::saturation),
        saturation().and_then(throughput::section),
        rounds(sizes::section(last)),
        rounds(saturation().or(parts.get(Part::Rate)).and_then(cost::of_mix)),
        own().and_then(|run| rounds(cost::of_operations(run))),
        rounds(cost::inconsistency(main)),
        outcomes::section(main),
        outcomes::audits(last),
        Some(shapes.only(Forms::HTML)),
        warnings(method::warnings(record, parts)),
        Some(method::section(record, &details.facts.command)),
    ];
    let repeat = last.strategies.iter().position(|strategy| strategy.is_repeat);
    sections.into_iter().flatten().map(|section| section.without(repeat)).collect()
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

/// An operation's name and its share of the mix.
fn operation_cell(row: &OperationResults) -> Cell {
    let share = row.share.filter(|_| !row.is_mix);
    Cell::text(&row.name).remark(share.map_or_else(String::new, |share| format!("{} of calls", percent(share))))
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
