//! Operations for which strategies do the same.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::{Arm, Plan, Program};

/// The hexadecimal digits of a fingerprint.
const DIGITS: usize = 16;

impl Plan {
    /// Returns the strategies and operations, by position, for which the strategy does exactly as the baseline does: the same
    /// commands over collections of the same documents and indexes. A difference between their times shows what the other
    /// operations of the mix do to this one. By strategy, then by operation. The repeat of the baseline is left out: it is the
    /// same in all.
    pub fn identical_programs(&self) -> Vec<(usize, usize)> {
        let Some(baseline) = self.arms.first() else { return Vec::new() };
        let others = self.arms.iter().enumerate().skip(1).filter(|(_, other)| !other.is_repeat);
        let known = baseline.fingerprints();
        let of = |(arm, other): (usize, &Arm)| {
            let same =
                other.fingerprints().into_iter().zip(&known).enumerate().filter(|(_, (own, known))| own == *known);
            same.map(|(operation, _)| (arm, operation)).collect::<Vec<_>>()
        };
        others.flat_map(of).collect()
    }
}

impl Arm {
    /// For each operation a digest of its commands, and of the documents and indexes of the collections that they name: of two
    /// strategies of a scenario, also if they are compiled apart, an operation with equal ones does the same.
    ///
    /// It is made of their whole structure. Values are equal when they would be written alike, unlike those of expressions,
    /// where 1 equals 1.0 and the order of keys does not count.
    pub fn fingerprints(&self) -> Vec<String> {
        let of = |program: &Program| {
            let text = format!("{program:?} {}", self.data(program.collections.as_ref()));
            hex::encode(Sha256::digest(text.as_bytes()))[..DIGITS].to_owned()
        };
        self.operations.iter().map(of).collect()
    }

    /// How the collections of these names, or all, are made.
    fn data(&self, names: Option<&BTreeSet<String>>) -> String {
        let is_used = |name: &String| names.is_none_or(|names| names.contains(name));
        let mut used: Vec<_> = self.collections.iter().filter(|collection| is_used(&collection.name)).collect();
        used.sort_by_key(|collection| &collection.name);
        let touched = |load: &&Program| load.collections.as_ref().is_none_or(|touched| touched.iter().any(is_used));
        format!("{used:?} {:?}", self.load.as_ref().filter(touched))
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    /// The names of the operations of strategy `other` that are those of strategy `base`.
    fn identical(other: &str) -> Vec<String> {
        let text = format!(
            "
format: 1
name: test
title: Test
entities:
  post: {{ count: 3, fields: {{ _id: index }} }}
  comment: {{ of: post, as: comments, count: 2, fields: {{ _id: index }} }}
operations:
  read: {{ arguments: {{ post: uniform(post) }}, returns: value }}
  write: {{ arguments: {{ made: new(comment) }} }}
  both: {{ arguments: {{ post: uniform(post) }}, returns: value }}
  raw: {{ returns: value }}
mixes: {{ default: {{ read: 1, write: 1, both: 1, raw: 1 }} }}
strategies:
  base:
    parameters: {{ n: 1 }}
    collections: {{ posts: {{ each: post }}, comments: {{ each: comment, indexes: [{{ a: 1, b: 1 }}] }} }}
    operations:
      read: {{ findOne: posts, filter: {{ _id: <post> }}, as: found }}
      write: {{ insertOne: comments, document: {{ ...: <made>, n: <n> }} }}
      both: {{ aggregate: posts, pipeline: [{{ $lookup: {{ from: comments, as: c, pipeline: [] }} }}] }}
      raw: {{ command: {{ count: posts }} }}
  other: {{ like: base, {other} }}
"
        );
        let plan = chosen(&text, &Choice { repeat: true, ..Choice::default() });
        assert_eq!(plan.arms.len(), 3);
        let found = plan.identical_programs();
        assert!(found.iter().all(|(arm, _)| *arm == 1));
        found.iter().map(|(_, operation)| plan.operations[*operation].name.to_string()).collect()
    }

    #[test]
    fn inherited_operations_are_identical_whatever_the_others_write() {
        assert_eq!(identical("about: The same."), ["read", "write", "both", "raw"]);
        let writes = "operations: { write: { insertOne: posts, document: <made> } }";
        assert_eq!(identical(writes), ["read", "both", "raw"]);
        assert_eq!(identical("operations: { read: { findOne: posts, filter: { _id: <post> }, as: found } }").len(), 4);
        assert_eq!(identical("operations: { read: { findOne: posts, filter: { _id: <post> } } }").len(), 3);
        let same = "raw: { command: { count: posts } }, both: { aggregate: posts, pipeline: [{ $merge: comments }] }";
        assert_eq!(identical(&format!("operations: {{ {same} }}")), ["read", "write", "raw"]);
    }

    #[test]
    fn other_documents_or_indexes_make_another_program() {
        let of_comments = |definition: &str| identical(&format!("collections: {{ comments: {{ {definition} }} }}"));
        assert_eq!(of_comments("each: comment, indexes: [{ a: 1, b: 1 }]").len(), 4);
        assert_eq!(of_comments("each: comment, indexes: [{ b: 1, a: 1 }]"), ["read"]);
        assert_eq!(of_comments("each: comment"), ["read"]);
        assert_eq!(
            of_comments("each: comment, document: { ...: <comment>, n: 1 }, indexes: [{ a: 1, b: 1 }]"),
            ["read"]
        );
        assert_eq!(identical("collections: { more: { each: post } }"), ["read", "write", "both"]);
    }

    #[test]
    fn values_that_are_written_otherwise_make_another_program() {
        assert_eq!(identical("parameters: { n: 1.0 }"), ["read", "both", "raw"]);
        assert_eq!(identical("parameters: { n: 1 }").len(), 4);
    }

    #[test]
    fn load_steps_count_for_the_collections_that_they_name() {
        let load = |steps: &str| identical(&format!("load: [{steps}]"));
        assert_eq!(load("{ updateMany: comments, filter: {}, update: { $set: { a: 1 } } }"), ["read"]);
        assert!(load("{ command: { createIndexes: comments, indexes: [{ key: { c: 1 }, name: c }] } }").is_empty());
    }

    #[test]
    fn a_join_inherits_all_but_its_reads() {
        let strategies = ["child_refs_applookup", "child_refs_lookup", "denorm_many_to_one_txn"].map(str::to_owned);
        let text = include_str!("../../scenarios/parts-products.yaml");
        let plan = chosen(text, &Choice { strategies: strategies.into(), ..Choice::default() });
        let names = |arm| {
            let same = plan.identical_programs().into_iter().filter(move |found| found.0 == arm);
            same.map(|(_, operation)| &*plan.operations[operation].name).collect::<Vec<_>>()
        };
        let inherited =
            ["part", "where_used", "rename_part", "rename_product", "adjust_qty", "add_part", "remove_part"];
        assert_eq!(names(1), inherited);
        assert_eq!(names(2), ["part", "adjust_qty"]);
    }
}
