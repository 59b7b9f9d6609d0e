//! Final states: the logical rows of every entity, compared as multisets.

use std::collections::HashMap;

use crate::plan::{Value, brief, written};
use crate::results::verification::Problem;

use super::difference;

pub use crate::engine::FinalState;

/// Returns a problem per entity whose rows differ; `what` says which rows.
pub fn compare(what: &str, expected: &FinalState, actual: &FinalState) -> Vec<Problem> {
    let pairs = expected.iter().zip(actual);
    pairs.filter_map(|((entity, ours), (_, theirs))| of_entity(what, entity, ours, theirs)).collect()
}

fn of_entity(what: &str, entity: &str, ours: &[Value], theirs: &[Value]) -> Option<Problem> {
    let (missing, extra) = (without(ours, theirs), without(theirs, ours));
    if missing.is_empty() && extra.is_empty() {
        return None;
    }
    let is_same = |one: &Value, other: &Value| has_id(one) && id_of(one) == id_of(other);
    let pair = missing.iter().find_map(|row| Some((row, extra.iter().find(|other| is_same(row, other))?)));
    let mut lines = Vec::new();
    if let Some((one, other)) = pair {
        lines.push(format!("of        {entity} {}", id_of(one)));
        lines.extend(difference::values(one, other));
    } else {
        lines.extend(missing.first().map(|row| format!("missing   {}", brief(row))));
        lines.extend(extra.first().map(|row| format!("extra     {}", brief(row))));
    }
    let title = format!("the {what} of {entity} differ");
    let count = missing.len().max(extra.len()) as u64;
    Some(Problem { title, lines, call: None, count })
}

/// The rows of every `_id` of an entity, written.
pub type RowsById = HashMap<String, Vec<String>>;

/// The rows of every entity by their `_id`s.
pub fn by_ids(state: &FinalState) -> Vec<RowsById> {
    state.iter().map(|(_, rows)| by_id(rows)).collect()
}

/// Whether the rows of every `_id` are those of one of these states.
pub fn is_made_of(rows: &[RowsById], states: &[Vec<RowsById>]) -> bool {
    // What could not be read has no entities.
    let is_read = states.iter().all(|state| state.len() == rows.len());
    is_read
        && rows.iter().enumerate().all(|(entity, own)| {
            let others: Vec<_> = states.iter().filter_map(|state| state.get(entity)).collect();
            let mut ids = own.keys().chain(others.iter().flat_map(|other| other.keys()));
            ids.all(|id| others.iter().any(|other| other.get(id) == own.get(id)))
        })
}

fn by_id(rows: &[Value]) -> RowsById {
    let mut by_id = RowsById::new();
    for row in rows {
        by_id.entry(id_of(row)).or_default().push(written(row));
    }
    // Rows without `_id` are found in any order.
    by_id.values_mut().for_each(|rows| rows.sort_unstable());
    by_id
}

fn has_id(row: &Value) -> bool {
    row.plain_field("_id").is_some()
}

/// The text of a row's `_id`.
pub fn id_of(row: &Value) -> String {
    written(&row.plain_field("_id").unwrap_or(Value::Null))
}

/// Returns the rows of one multiset that the other lacks.
fn without<'r>(rows: &'r [Value], others: &[Value]) -> Vec<&'r Value> {
    let mut left = counts(others, written);
    let mut take = |row: &Value| left.get_mut(&written(row)).filter(|count| **count > 0).map(|count| *count -= 1);
    rows.iter().filter(|row| take(row).is_none()).collect()
}

/// How often each text of the rows occurs.
pub fn counts(rows: &[Value], text: impl Fn(&Value) -> String) -> HashMap<String, u64> {
    let mut counts = HashMap::new();
    for row in rows {
        *counts.entry(text(row)).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn rows(rows: &[(i64, i64)]) -> FinalState {
        let row = |(id, n): &(i64, i64)| {
            Value::Map(Arc::new([(Arc::from("_id"), Value::Int(*id)), (Arc::from("n"), Value::Int(*n))]))
        };
        vec![("thing".to_owned(), rows.iter().map(row).collect())]
    }

    #[test]
    fn rows_are_a_multiset() {
        assert_eq!(compare("final rows", &rows(&[(1, 1), (2, 2)]), &rows(&[(2, 2), (1, 1)])), []);
        let twice = compare("final rows", &rows(&[(1, 1)]), &rows(&[(1, 1), (1, 1)]));
        assert_eq!((twice[0].count, twice[0].lines[0].as_str()), (1, "extra     {_id: 1, n: 1}"));
        let lost = compare("final rows", &rows(&[(1, 1), (2, 2)]), &rows(&[(2, 2)]));
        assert_eq!((lost[0].count, lost[0].lines[0].as_str()), (1, "missing   {_id: 1, n: 1}"));
    }

    #[test]
    fn a_row_that_changed_is_shown_by_its_field() {
        let changed = compare("final rows", &rows(&[(1, 1), (2, 2)]), &rows(&[(1, 1), (2, 3)]));
        assert_eq!(changed[0].lines, ["of        thing 2", "at        n", "expected  2", "actual    3"]);
    }

    #[test]
    fn rows_without_an_id_are_shown_whole_and_have_no_order() {
        let rows = |numbers: &[i64]| -> FinalState {
            let row = |n: &i64| Value::Map(Arc::new([(Arc::from("n"), Value::Int(*n))]));
            vec![("thing".to_owned(), numbers.iter().map(row).collect())]
        };
        let changed = compare("final rows", &rows(&[1, 2]), &rows(&[1, 3]));
        assert_eq!(changed[0].lines, ["missing   {n: 2}", "extra     {n: 3}"]);
        assert!(is_made_of(&by_ids(&rows(&[2, 1])), &[by_ids(&rows(&[1, 2]))]));
    }
}
