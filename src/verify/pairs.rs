//! Which writing calls are made two at a time: those on the same records, in waves of independent pairs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::engine::RunError;
use crate::plan::call_id::creator;
use crate::plan::{Expression, Plan, Value, brief, written};

use super::call::{arguments, creates, records_of, writes};
use super::call_order::serial_keys;

/// Two calls on the same records, and the calls that create these, or else earlier ones on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPair {
    /// The two calls, in their order.
    pub calls: [u64; 2],
    /// Calls that are made before, so that the two find what they need.
    pub before: Vec<u64>,
}

/// The calls that are made before a pair whose records are all loaded, at most.
const MOST_BEFORE: usize = 4;

/// The pairs of two operations that a wave chooses among; better ones than the others wait for the next wave.
const CHOICE: usize = 3;

/// A call and what it touches.
struct Candidate {
    call: u64,
    operation: usize,
    keys: HashSet<String>,
    /// Those of records that are arguments themselves, not only inside of the arguments of an earlier call.
    own_records: HashSet<String>,
    /// The calls that create records among its arguments.
    creators: Vec<u64>,
    /// Its arguments, written.
    arguments: Vec<String>,
}

/// The pairs of two operations' calls that are left.
struct Combination {
    /// Whether both are calls of one operation.
    is_one_operation: bool,
    /// How many were taken.
    uses: usize,
    /// Positions among the candidates: calls on common records with other arguments, those with the most in common first; calls
    /// with the same arguments; calls that only `serial` connects.
    pairs: [Vec<[usize; 2]>; 3],
}

/// Divides calls below `calls` into at most `most` waves of at most `size` pairs. No two pairs of a wave touch the same records,
/// no call is in two pairs, and the combinations of operations take turns.
///
/// # Errors
/// When a `serial` has no value.
pub fn waves(plan: &Plan, calls: u64, size: usize, most: usize) -> Result<Vec<Vec<CallPair>>, RunError> {
    let drawn = (0..calls).map(|call| (call, plan.mix.draw(plan.round_seed(0), call)));
    let writing = drawn.filter(|(_, operation)| writes(plan, *operation));
    let all = writing.map(|(call, operation)| candidate(plan, call, operation)).collect::<Result<Vec<_>, _>>()?;
    let (mut left, mut taken) = (combinations(&all), HashSet::new());
    let waves = std::iter::repeat_with(|| next_wave(plan, &all, &mut left, &mut taken, size));
    Ok(waves.take(most).take_while(|wave| !wave.is_empty()).collect())
}

impl Combination {
    /// Two calls of one operation are most likely to be in each other's way, and have two turns first.
    fn turn(&self) -> usize {
        if self.is_one_operation { self.uses } else { 2 * self.uses + 1 }
    }

    /// The pairs to take the next one from: the first two kinds take turns.
    fn next(&mut self) -> &mut Vec<[usize; 2]> {
        let order = if self.uses.is_multiple_of(2) { [0, 1, 2] } else { [1, 0, 2] };
        let kind = order.into_iter().find(|kind| !self.pairs[*kind].is_empty()).unwrap_or_default();
        &mut self.pairs[kind]
    }
}

fn combinations(all: &[Candidate]) -> Vec<Combination> {
    let mut pairs: BTreeMap<[usize; 2], Vec<[usize; 2]>> = BTreeMap::new();
    for (second, two) in all.iter().enumerate() {
        for (first, one) in all[..second].iter().enumerate().filter(|(_, one)| !one.keys.is_disjoint(&two.keys)) {
            let mut operations = [one.operation, two.operation];
            operations.sort_unstable();
            pairs.entry(operations).or_default().push([first, second]);
        }
    }
    let has_same_arguments = |pair: &[usize; 2]| all[pair[0]].arguments == all[pair[1]].arguments;
    let common = |pair: &[usize; 2]| all[pair[0]].own_records.intersection(&all[pair[1]].own_records).count();
    let ordered = |(operations, pairs): ([usize; 2], Vec<[usize; 2]>)| {
        let (same, others): (Vec<_>, Vec<_>) = pairs.into_iter().partition(has_same_arguments);
        let (mut on_record, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|pair| common(pair) > 0);
        on_record.sort_by_cached_key(|pair| Reverse(common(pair)));
        let is_one_operation = operations[0] == operations[1];
        Combination { is_one_operation, uses: 0, pairs: [on_record, same, others] }
    };
    pairs.into_iter().map(ordered).collect()
}

/// A call touches its `serial` values, and the records among its arguments but the one that it creates.
fn candidate(plan: &Plan, call: u64, operation: usize) -> Result<Candidate, RunError> {
    let mut keys: HashSet<String> = serial_keys(plan, call)?.into_iter().map(|key| format!("serial {key}")).collect();
    let (mut own_records, mut creators, mut texts) = (HashSet::new(), Vec::new(), Vec::new());
    if let Some((_, frame)) = arguments(plan, call) {
        for value in plan.operations[operation].arguments.iter().map(|argument| frame.slot(argument.slot)) {
            texts.push(brief(value));
            let is_earlier = matches!(value, Value::Map(_));
            for record in records_of(value).into_iter().filter(|record| !creates(call, &**record)) {
                let name = format!("{} {}", record.entity(), record.ordinal());
                own_records.extend((!is_earlier).then(|| name.clone()));
                keys.insert(name);
                creators.extend(creator(record.ordinal()));
            }
        }
    }
    Ok(Candidate { call, operation, keys, own_records, creators, arguments: texts })
}

/// Whether the second call has the arguments of the first one from `earlier`. An application makes it only after the reply.
fn follows(plan: &Plan, first: u64, second: u64) -> bool {
    let (Some((first, made)), Some((second, frame))) = (arguments(plan, first), arguments(plan, second)) else {
        return false;
    };
    let (first, second) = (&plan.operations[first], &plan.operations[second]);
    let looks_back = |part: &Expression| match part {
        Expression::Generate(call) => call.earlier_calls().is_some_and(|calls| calls.name == first.name),
        _ => false,
    };
    if !second.arguments.iter().any(|argument| argument.value.any(&looks_back)) {
        return false;
    }
    let given: Vec<(Arc<str>, String)> =
        first.arguments.iter().map(|each| (Arc::clone(&each.name), written(made.slot(each.slot)))).collect();
    let mut maps = second.arguments.iter().filter_map(|argument| match frame.slot(argument.slot) {
        Value::Map(entries) if entries.iter().map(|(name, _)| name).eq(given.iter().map(|(name, _)| name)) => {
            Some(entries)
        }
        _ => None,
    });
    // Only a part of the arguments is there, such as `earlier(reserve).cart`: it may be of any call.
    let Some(taken) = maps.next() else { return true };
    taken.iter().zip(&given).all(|((_, value), (_, given))| written(value) == *given)
}

/// Takes independent pairs out of those that are left.
fn next_wave(
    plan: &Plan,
    all: &[Candidate],
    left: &mut [Combination],
    taken: &mut HashSet<usize>,
    size: usize,
) -> Vec<CallPair> {
    let (mut wave, mut used) = (Vec::new(), HashSet::new());
    while wave.len() < size {
        left.sort_by_key(|combination| (combination.turn(), !combination.is_one_operation));
        let next = left.iter_mut().find_map(|combination| {
            combination
                .pairs
                .iter_mut()
                .for_each(|pairs| pairs.retain(|pair| pair.iter().all(|call| !taken.contains(call))));
            let is_free = |pair: &[usize; 2]| pair.iter().all(|call| all[*call].keys.is_disjoint(&used));
            while let Some(position) = combination.next().iter().take(CHOICE).position(is_free) {
                let pair = combination.next().remove(position);
                if !follows(plan, all[pair[0]].call, all[pair[1]].call) {
                    combination.uses += 1;
                    return Some(pair);
                }
            }
            None
        });
        let Some(pair) = next else { break };
        taken.extend(pair);
        let [one, two] = pair.map(|call| &all[call]);
        let both: HashSet<String> = one.keys.union(&two.keys).cloned().collect();
        let is_before = |call: u64| call < two.call && call != one.call;
        let mut before: BTreeSet<u64> = [one, two].into_iter().flat_map(|of| of.creators.iter().copied()).collect();
        before.retain(|call| is_before(*call));
        // Others may remove the records again.
        if before.is_empty() {
            let others = all.iter().rev().filter(|other| is_before(other.call) && !other.keys.is_disjoint(&both));
            before.extend(others.map(|other| other.call).take(MOST_BEFORE));
        }
        let before = before.into_iter().collect();
        used.extend(both);
        wave.push(CallPair { calls: [one.call, two.call], before });
    }
    wave
}
