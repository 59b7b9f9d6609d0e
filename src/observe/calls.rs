//! Which statements are one call of an operation: those of a transaction, and pairs that always come together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::infer::layout::Layout;

use super::access::without_keys;
use super::observations::Observations;
use super::shape::{ShapeNumbers, Statement, StatementShape};

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
    /// The second statement came so often after the first.
    Pair(u64),
}

/// Calls of which all have the same shapes.
#[derive(Debug)]
pub(super) struct Group<'o> {
    pub(super) kind: GroupKind,
    pub(super) parts: Vec<GroupPart<'o>>,
    pub(super) calls: u64,
}

/// The statements of one shape in a group.
#[derive(Debug)]
pub(super) struct GroupPart<'o> {
    pub(super) shape: &'o StatementShape,
    pub(super) statements: Vec<&'o Statement>,
}

impl GroupPart<'_> {
    pub(super) fn calls(&self) -> u64 {
        self.statements.iter().map(|statement| statement.calls).sum()
    }

    /// The values of a slot.
    pub(super) fn values(&self, slot: usize) -> Vec<u64> {
        self.statements.iter().filter_map(|statement| statement.values.get(slot).copied()).collect()
    }
}

/// Groups by the numbers of their shapes, which keeps the order of the observations, and whether they are transactions.
type GroupsByShapes<'o> = BTreeMap<(Vec<usize>, bool), Group<'o>>;

/// All calls.
#[derive(Debug)]
pub(super) struct Calls<'o> {
    /// The most frequent first.
    pub(super) groups: Vec<Group<'o>>,
    /// All calls, also those that are left out.
    pub(super) all: u64,
    /// Calls of groups that are too rare, and how many groups these are.
    pub(super) rare: (u64, u64),
    /// Statements of transactions that were aborted, or whose commit was not recorded.
    pub(super) aborted: u64,
}

/// The shapes of observations in the terms of a layout.
#[derive(Debug)]
pub(super) struct LayoutShapes {
    shapes: Vec<StatementShape>,
    /// By number of the observed shape.
    numbers: Vec<usize>,
}

impl LayoutShapes {
    /// Takes keys of maps out of the paths, and names where comments are those of requests.
    pub(super) fn new(observations: &Observations, layout: &Layout) -> LayoutShapes {
        let mut shapes = ShapeNumbers::default();
        let number = |observed: &StatementShape| {
            let name = observed.name.clone().filter(|_| observations.has_names());
            let mut shape = StatementShape { name, ..observed.clone() };
            shape.paths().for_each(|path| *path = without_keys(layout, &observed.collection, path));
            shapes.number(shape)
        };
        let numbers = observations.shapes.all.iter().map(number).collect();
        LayoutShapes { shapes: shapes.all, numbers }
    }

    fn number(&self, statement: &Statement) -> usize {
        self.numbers[statement.shape]
    }

    /// A group with no statement yet.
    fn group(&self, kind: GroupKind, shapes: &[usize]) -> Group<'_> {
        let part = |shape: &usize| GroupPart { shape: &self.shapes[*shape], statements: Vec::new() };
        Group { kind, parts: shapes.iter().map(part).collect(), calls: 0 }
    }
}

/// Groups the statements.
pub(super) fn calls<'o>(observations: &'o Observations, shapes: &'o LayoutShapes) -> Calls<'o> {
    let mut groups = GroupsByShapes::new();
    let mut add = |kind: GroupKind, statements: &[&'o Statement], calls: u64| {
        let mut seen = HashSet::new();
        let numbers = statements.iter().map(|statement| shapes.number(statement));
        let key: Vec<usize> = numbers.filter(|number| seen.insert(*number)).collect();
        let new = || shapes.group(kind, &key);
        let group = groups.entry((key.clone(), kind == GroupKind::Transaction)).or_insert_with(new);
        group.calls += calls;
        for statement in statements {
            let part = key.iter().position(|number| *number == shapes.number(statement)).unwrap_or_default();
            group.parts[part].statements.push(statement);
        }
    };
    let mut transactions: BTreeMap<usize, Vec<&Statement>> = BTreeMap::new();
    for statement in &observations.statements {
        match statement.transaction {
            Some(transaction) => transactions.entry(transaction).or_default().push(statement),
            None => add(GroupKind::Single, &[statement], statement.calls),
        }
    }
    let mut aborted = 0;
    let ends_are_known = observations.ends.values().any(|commits| *commits);
    for (transaction, statements) in transactions {
        if observations.ends.get(&transaction).copied().unwrap_or(!ends_are_known) {
            add(GroupKind::Transaction, &statements, 1);
        } else {
            aborted += statements.len() as u64;
        }
    }
    join_pairs(&mut groups, observations, shapes);
    let mut found: Vec<Group<'o>> = groups.into_values().collect();
    found.sort_by_key(|group| Reverse(group.calls));
    let all = observations.unattributed + found.iter().map(|group| group.calls).sum::<u64>();
    let is_frequent = |group: &Group<'_>| group.calls as f64 >= SMALLEST_SHARE * all as f64;
    let (groups, rare): (Vec<_>, Vec<_>) = found.into_iter().partition(is_frequent);
    let rare = (rare.iter().map(|group| group.calls).sum(), rare.len() as u64);
    Calls { groups, all, rare, aborted }
}

/// Makes one group of two whose statements come together.
fn join_pairs(groups: &mut GroupsByShapes<'_>, observations: &Observations, shapes: &LayoutShapes) {
    let key = |shape: usize| (vec![shape], false);
    let count = |shape: usize| groups.get(&key(shape)).map_or(0, |group| group.calls);
    for ((first, second), together) in pairs(observations, shapes, count) {
        // Of three that follow each other, the first two are taken.
        let is_free = |shape: usize| groups.get(&key(shape)).is_some_and(|group| group.kind == GroupKind::Single);
        if is_free(first) && is_free(second) {
            let second = groups.remove(&key(second));
            if let (Some(first), Some(second)) = (groups.get_mut(&key(first)), second) {
                first.kind = GroupKind::Pair(together);
                first.parts.extend(second.parts);
            }
        }
    }
}

/// Statements of two shapes that come together outside of transactions, and how often.
fn pairs(
    observations: &Observations,
    shapes: &LayoutShapes,
    count: impl Fn(usize) -> u64,
) -> Vec<((usize, usize), u64)> {
    let mut last: HashMap<usize, &Statement> = HashMap::new();
    let mut followed: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for statement in observations.statements.iter().filter(|statement| statement.transaction.is_none()) {
        let before = statement.connection.and_then(|connection| last.insert(connection, statement));
        if let Some(before) = before.filter(|before| statement.at - before.at <= ADJACENT_MILLIS) {
            *followed.entry((shapes.number(before), shapes.number(statement))).or_default() += 1;
        }
    }
    // Where calls follow each other closely, the first statement also follows the second, but less often.
    let is_forward = |first: usize, second: usize, together: u64| {
        let back = followed.get(&(second, first)).copied().unwrap_or_default();
        together > back || (together == back && first < second)
    };
    let is_pair = |&(&(first, second), &together): &(&(usize, usize), &u64)| {
        let enough = |shape: usize| together as f64 >= PAIRED * count(shape) as f64;
        let is_often = together >= FEWEST_PAIRS && enough(first) && enough(second);
        first != second && is_often && is_forward(first, second, together)
    };
    followed.iter().filter(is_pair).map(|(pair, together)| (*pair, *together)).collect()
}
