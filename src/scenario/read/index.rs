//! The `indexes` of a collection.

use crate::scenario::{Diagnostics, Node};

use super::entry::{Entry, wrong_type};

/// Reports every index that is not a mapping of keys or options.
pub(super) fn check_indexes(entry: &Entry, diagnostics: &Diagnostics) {
    for item in entry.1.as_list().unwrap_or_default().iter().filter(|item| !is_index(item)) {
        let item = (entry.0.clone(), item.clone());
        wrong_type(&item, "a key document", "indexes: [{ post: 1, created_on: -1 }]", diagnostics);
    }
}

pub(super) fn is_index(item: &Node) -> bool {
    item.as_mapping().is_some_and(|entries| !entries.is_empty())
}
