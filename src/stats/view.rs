//! What the statistics read of a record: the cells and operations of a strategy.

use std::collections::BTreeMap;

use crate::results::{CellRecord, OperationRecord, Part, RunRecord};

/// A quantile with fewer calls beyond it says more about chance than about the strategy.
pub(crate) const CALLS_BEYOND: f64 = 10.0;

/// The cells of a strategy, round after round.
pub fn cells(record: &RunRecord, strategy: usize) -> impl Iterator<Item = &CellRecord> {
    record.rounds.iter().filter_map(move |round| round.cells.get(strategy))
}

/// The part with the whole mix under load whose numbers depend on no rate: saturation, else open load.
pub fn loaded(parts: &BTreeMap<Part, RunRecord>) -> Option<&RunRecord> {
    [Part::Saturation, Part::Rate].iter().find_map(|part| parts.get(part))
}

/// The record of the part whose cells have the sizes and audits.
pub fn inspected(parts: &BTreeMap<Part, RunRecord>) -> Option<&RunRecord> {
    parts.get(&Part::inspected(parts.keys().copied())?)
}

/// What an arm takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It gets verdicts.
    Judged,
    /// It is unsafe: its ratio is shown without a verdict.
    Described,
    /// The baseline measured a second time: any difference is noise.
    Repeat,
}

/// What a strategy takes part in.
pub fn role(record: &RunRecord, strategy: usize) -> Role {
    match record.strategies.get(strategy) {
        Some(entry) if entry.is_repeat => Role::Repeat,
        Some(entry) if entry.is_unsafe => Role::Described,
        Some(_) | None => Role::Judged,
    }
}

/// The positions of the strategies that get verdicts.
pub fn judged(record: &RunRecord) -> impl Iterator<Item = usize> {
    (0..record.strategies.len()).filter(|place| role(record, *place) == Role::Judged)
}

/// The operations of a strategy, round after round.
pub fn all_operations(record: &RunRecord, strategy: usize) -> impl Iterator<Item = &OperationRecord> {
    cells(record, strategy).flat_map(|cell| &cell.operations)
}

/// One operation of a strategy, round after round.
pub fn operations(record: &RunRecord, strategy: usize, operation: usize) -> impl Iterator<Item = &OperationRecord> {
    cells(record, strategy).filter_map(move |cell| cell.operations.get(operation))
}

/// One operation of a cell or trial, or all of them.
pub(crate) fn selected(operations: &[OperationRecord], operation: Option<usize>) -> &[OperationRecord] {
    match operation {
        Some(place) => operations.get(place..=place).unwrap_or_default(),
        None => operations,
    }
}

/// Returns the values of every key, keys and values in their order.
pub(crate) fn grouped<K: PartialEq, V>(items: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in items {
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// Returns the items without repetitions, in their order.
pub(crate) fn distinct<I: PartialEq>(items: impl Iterator<Item = I>) -> Vec<I> {
    items.fold(Vec::new(), |mut distinct, item| {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
        distinct
    })
}
