//! The order of records: fields with directions.

use crate::scenario::{Node, Scalar, Tree};

/// Fields with directions.
pub(super) fn directions(node: Option<&Node>) -> Vec<(String, i64)> {
    let entries = node.and_then(Node::as_mapping).unwrap_or_default().iter();
    let direction = |node: &Node| if node.tree == Tree::Scalar(Scalar::Int(-1)) { -1 } else { 1 };
    entries.map(|(field, node)| (field.value.clone(), direction(node))).collect()
}

/// The expression of a sorted list.
pub(super) fn sorted(list: &str, sort: &[(String, i64)]) -> String {
    let keys: Vec<String> =
        sort.iter().map(|(field, direction)| format!("'{}{field}'", if *direction < 0 { "-" } else { "" })).collect();
    format!("sort_by({list}, [{}])", keys.join(", "))
}
