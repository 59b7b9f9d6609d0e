//! Documents whose keys are data.

use std::collections::HashMap;

use super::tree::{SeenNode, ValueKind};

/// The fewest documents and names that tell a map from a document.
const FEWEST: (u64, usize) = (5, 8);
/// So many names are a map, where the other rules hold.
const MANY_NAMES: usize = 50;

/// Whether the documents of a node are maps: many names with values of one type, few of which are in most documents, and
/// either names that occur once, names of one form, or very many.
pub fn is_map(node: &SeenNode) -> bool {
    let (documents, names) = (node.of_kind(ValueKind::Object), node.fields.len());
    if documents < FEWEST.0 || names < FEWEST.1 {
        return false;
    }
    let fields = || node.fields.iter().map(|(_, field)| field);
    let once = fields().filter(|field| field.seen == 1).count() as f64;
    let common = fields().filter(|field| field.seen * 2 >= documents).count();
    let same = most(fields().filter_map(|field| Some(field.main_kind()?.0 as u8)));
    let alike = most(node.fields.iter().map(|(name, _)| mask(name)));
    let entries = fields().map(|field| field.seen).sum::<u64>().max(1) as f64;
    same * 10 >= names * 9
        && common * 4 <= names
        && (once / entries > 0.01 || alike * 10 >= names * 8 || names >= MANY_NAMES)
}

/// How often the most frequent one occurs.
fn most<T: std::hash::Hash + Eq>(all: impl Iterator<Item = T>) -> usize {
    let mut counts = HashMap::new();
    all.for_each(|one| *counts.entry(one).or_insert(0) += 1);
    counts.into_values().max().unwrap_or(0)
}

/// The form of a name: digits are alike, and so are long hexadecimal numbers.
fn mask(name: &str) -> String {
    if name.len() >= 16 && name.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return "H".to_owned();
    }
    let mut made = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_digit() { '9' } else { c };
        if c != '9' || !made.ends_with('9') {
            made.push(c);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Document, doc};

    use super::super::tree::SeenTree;
    use super::*;

    fn is(documents: impl Iterator<Item = Document>) -> bool {
        let mut tree = SeenTree::default();
        documents.for_each(|one| tree.add(&bson::RawDocumentBuf::try_from(&doc! { "m": one }).unwrap()));
        is_map(tree.root.field("m").unwrap())
    }

    #[test]
    fn keys_that_are_data_are_told_from_names() {
        let stock = |n: i32| (0..3).map(|k| (format!("wh{}", (n * 7 + k * 5) % 12), Bson::Int32(n))).collect();
        assert!(is((0..50).map(stock)), "a few keys of one form");
        let hashes = |n: i32| (0..2).map(|k| (format!("{:024x}", n * 2 + k), Bson::Int32(n))).collect();
        assert!(is((0..50).map(hashes)), "keys that occur once");
        let address = |n: i32| (0..9).map(|k| (format!("line{k}"), Bson::String(n.to_string()))).collect();
        assert!(!is((0..50).map(address)), "names that all documents have");
        assert!(!is((0..50).map(|n| doc! { "street": "x", "city": n, "zip": "y" })), "few names");
    }
}
