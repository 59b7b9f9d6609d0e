//! Which statements are one call of an operation: those of a transaction, and pairs that always come together.

use std::collections::{BTreeMap, HashMap};

use bson::{Bson, Document};

use crate::infer::layout::Layout;

use super::access::without_keys;
use super::observations::Observations;
use super::shape::StatementShape;

/// Statements that follow each other after more than this are no pair.
const ADJACENT_MILLIS: i64 = 50;
/// The share of both statements that has to be in pairs: true pairs had 0.99 or more, the best false one 0.34.
const PAIRED: f64 = 0.85;
/// Fewer pairs than this may be chance.
const FEWEST_PAIRS: u64 = 20;
/// A smaller share of all calls is left out.
const SMALLEST_SHARE: f64 = 0.002;

/// How statements belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupKind {
    Single,
    Transaction,
    /// The second statement came after the first in so many of the calls of the first and of the second.
    Pair {
        together: u64,
        first: u64,
        second: u64,
    },
}

/// Calls of which all have the same shapes in the same order.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) kind: GroupKind,
    pub(super) parts: Vec<GroupPart>,
    pub(super) calls: u64,
}

/// The statements of one shape in a group.
#[derive(Debug)]
pub(super) struct GroupPart {
    /// The number of the shape.
    pub(super) shape: usize,
    /// The numbers of the statements.
    pub(super) statements: Vec<usize>,
}

/// All calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) shapes: Vec<StatementShape>,
    pub(super) groups: Vec<Group>,
    /// All calls, also those that are left out.
    pub(super) all: u64,
    /// Calls of shapes that are too rare, and how many shapes these are.
    pub(super) rare: (u64, u64),
    /// Statements of transactions that were aborted, or whose commit was not recorded.
    pub(super) aborted: u64,
}

/// Groups the statements.
pub(super) fn calls(observations: &Observations, layout: &Layout) -> Calls {
    let (shapes, numbers) = normalised(observations, layout);
    let shape_of = |statement: usize| numbers[observations.statements[statement].shape];
    let mut calls = Calls { shapes, ..Calls::default() };
    let mut transactions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut single: Vec<usize> = Vec::new();
    for (number, statement) in observations.statements.iter().enumerate() {
        match statement.transaction {
            Some(transaction) => transactions.entry(transaction).or_default().push(number),
            None => single.push(number),
        }
    }
    let mut groups: HashMap<(bool, Vec<usize>), Group> = HashMap::new();
    let ends_are_known = observations.transactions.contains(&Some(true));
    for (transaction, statements) in transactions {
        let end = observations.transactions[transaction];
        if end == Some(false) || (end.is_none() && ends_are_known) {
            calls.aborted += statements.len() as u64;
            continue;
        }
        let mut shapes: Vec<usize> = Vec::new();
        for statement in &statements {
            if !shapes.contains(&shape_of(*statement)) {
                shapes.push(shape_of(*statement));
            }
        }
        let group = groups.entry((true, shapes.clone())).or_insert_with(|| Group::new(GroupKind::Transaction, &shapes));
        group.calls += 1;
        for statement in statements {
            group.add(shape_of(statement), statement);
        }
    }
    for chain in chains(observations, &single, &shape_of, calls.shapes.len()) {
        groups.insert((false, chain.parts.iter().map(|part| part.shape).collect()), chain);
    }
    let mut found: Vec<Group> = groups.into_values().collect();
    found.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.first_statement().cmp(&b.first_statement())));
    calls.all = found.iter().map(|group| group.calls).sum::<u64>() + observations.unattributed;
    let is_rare = |group: &Group| (group.calls as f64) < SMALLEST_SHARE * calls.all as f64;
    calls.rare = found.iter().filter(|g| is_rare(g)).fold((0, 0), |(calls, n), group| (calls + group.calls, n + 1));
    calls.groups = found.into_iter().filter(|group| !is_rare(group)).collect();
    calls
}

impl Group {
    fn new(kind: GroupKind, shapes: &[usize]) -> Group {
        let part = |shape: &usize| GroupPart { shape: *shape, statements: Vec::new() };
        Group { kind, parts: shapes.iter().map(part).collect(), calls: 0 }
    }

    fn add(&mut self, shape: usize, statement: usize) {
        if let Some(part) = self.parts.iter_mut().find(|part| part.shape == shape) {
            part.statements.push(statement);
        }
    }

    fn first_statement(&self) -> Option<usize> {
        self.parts.first().and_then(|part| part.statements.first().copied())
    }
}

/// Groups of single statements, and of those that follow each other so often that they are one call.
fn chains(
    observations: &Observations,
    single: &[usize],
    shape_of: &impl Fn(usize) -> usize,
    shapes: usize,
) -> Vec<Group> {
    let mut by_shape: Vec<Vec<usize>> = vec![Vec::new(); shapes];
    let mut last: HashMap<usize, usize> = HashMap::new();
    let mut followed: HashMap<(usize, usize), u64> = HashMap::new();
    for statement in single {
        let this = &observations.statements[*statement];
        by_shape[shape_of(*statement)].push(*statement);
        let before = this.connection.and_then(|connection| last.insert(connection, *statement));
        let is_adjacent = |before: &usize| this.at - observations.statements[*before].at <= ADJACENT_MILLIS;
        if let Some(before) = before.filter(is_adjacent) {
            *followed.entry((shape_of(before), shape_of(*statement))).or_default() += 1;
        }
    }
    let count =
        |shape: usize| by_shape[shape].iter().map(|statement| observations.statements[*statement].calls).sum::<u64>();
    // Where calls follow each other closely, the first statement also follows the second, but less often.
    let is_forward = |first: usize, second: usize, together: u64| {
        let back = followed.get(&(second, first)).copied().unwrap_or_default();
        together > back || (together == back && by_shape[first] < by_shape[second])
    };
    let is_pair = |((first, second), together): &(&(usize, usize), &u64)| {
        let enough = |shape: usize| **together as f64 >= PAIRED * count(shape) as f64;
        let is_often = **together >= FEWEST_PAIRS && enough(*first) && enough(*second);
        first != second && is_often && is_forward(*first, *second, **together)
    };
    let pairs: BTreeMap<usize, (usize, u64)> =
        followed.iter().filter(is_pair).map(|((first, second), n)| (*first, (*second, *n))).collect();
    let seconds: Vec<usize> = pairs.values().map(|(second, _)| *second).collect();
    let mut groups = Vec::new();
    for shape in 0..shapes {
        // The second of a pair comes with its first; of a third, the pair of the last two is not taken as well.
        if by_shape[shape].is_empty() || (seconds.contains(&shape) && !is_third(shape, &pairs)) {
            continue;
        }
        let pair = pairs.get(&shape).filter(|_| !seconds.contains(&shape));
        let kind = pair.map_or(GroupKind::Single, |(second, together)| GroupKind::Pair {
            together: *together,
            first: count(shape),
            second: count(*second),
        });
        let shapes: Vec<usize> = [shape].into_iter().chain(pair.map(|(second, _)| *second)).collect();
        let mut group = Group::new(kind, &shapes);
        group.calls = count(shape);
        for part in &mut group.parts {
            part.statements.clone_from(&by_shape[part.shape]);
        }
        groups.push(group);
    }
    groups
}

/// Whether a shape follows one that is itself the second of a pair.
fn is_third(shape: usize, pairs: &BTreeMap<usize, (usize, u64)>) -> bool {
    let first_of = |shape: usize| pairs.iter().find(|(_, (second, _))| *second == shape).map(|(first, _)| *first);
    first_of(shape).and_then(first_of).is_some()
}

/// The shapes without keys of maps, and without names where comments are those of requests; and the new number of each.
fn normalised(observations: &Observations, layout: &Layout) -> (Vec<StatementShape>, Vec<usize>) {
    let mut shapes: Vec<StatementShape> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut numbers = Vec::new();
    for shape in &observations.shapes {
        let mut shape = shape.clone();
        if !observations.has_names() {
            shape.name = None;
        }
        let collection = shape.collection.clone();
        let renamed = |document: &Document| with_keys_renamed(layout, &collection, document);
        (shape.filter, shape.sort, shape.projection) =
            (renamed(&shape.filter), renamed(&shape.sort), renamed(&shape.projection));
        if let Bson::Document(update) = &shape.update {
            let operator = |(operator, fields): (&String, &Bson)| match fields {
                Bson::Document(fields) => (operator.clone(), Bson::Document(renamed(fields))),
                fields => (operator.clone(), fields.clone()),
            };
            shape.update = Bson::Document(update.iter().map(operator).collect());
        }
        let number = *known.entry(format!("{shape:?}")).or_insert(shapes.len());
        if number == shapes.len() {
            shapes.push(shape);
        }
        numbers.push(number);
    }
    (shapes, numbers)
}

fn with_keys_renamed(layout: &Layout, collection: &str, document: &Document) -> Document {
    let key = |key: &String| if key.starts_with('$') { key.clone() } else { without_keys(layout, collection, key) };
    document.iter().map(|(name, value)| (key(name), value.clone())).collect()
}
