//! Which writing calls are made two at a time: those on the same records, in waves of independent pairs.

use std::collections::HashSet;
use std::sync::Arc;

use crate::engine::RunError;
use crate::plan::{Expression, Plan, Value, written};

use super::call::{arguments, creates, records_of, writes};
use super::call_order::serial_keys;

/// Two calls on the same records, and earlier calls on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallPair {
    /// The two calls, in their order.
    pub calls: [u64; 2],
    /// Calls that are made before, so that the two find what they need.
    pub before: Vec<u64>,
}

/// The calls that are made before a pair, at most.
const MOST_BEFORE: usize = 4;

/// A call and what it touches.
struct Candidate {
    call: u64,
    keys: HashSet<String>,
}

/// Divides the first `calls` calls into waves of at most `size` pairs. No two pairs of a wave touch the same records.
///
/// # Errors
/// When a `serial` has no value.
pub fn waves(plan: &Plan, calls: u64, size: usize) -> Result<Vec<Vec<CallPair>>, RunError> {
    let mut all = Vec::new();
    for call in 0..calls {
        if writes(plan, plan.mix.draw(plan.round_seed(0), call)) {
            all.push(Candidate { call, keys: keys(plan, call)? });
        }
    }
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut waves = Vec::new();
    loop {
        let wave = next_wave(plan, &all, &mut left, size);
        if wave.is_empty() {
            return Ok(waves);
        }
        waves.push(wave);
    }
}

/// What a call touches: its `serial` values, and the records among its arguments but the one that it creates.
fn keys(plan: &Plan, call: u64) -> Result<HashSet<String>, RunError> {
    let mut keys: HashSet<String> = serial_keys(plan, call)?.into_iter().map(|key| format!("serial {key}")).collect();
    let Some((operation, frame)) = arguments(plan, call) else { return Ok(keys) };
    let records = plan.operations[operation].arguments.iter().flat_map(|each| records_of(frame.slot(each.slot)));
    let others = records.filter(|record| !creates(call, &**record));
    keys.extend(others.map(|record| format!("{} {}", record.entity(), record.ordinal())));
    Ok(keys)
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

/// Takes independent pairs out of the calls that are left, and calls without any partner.
fn next_wave(plan: &Plan, all: &[Candidate], left: &mut Vec<usize>, size: usize) -> Vec<CallPair> {
    let (mut wave, mut taken, mut used) = (Vec::new(), HashSet::new(), HashSet::new());
    for (place, first) in left.iter().enumerate() {
        if wave.len() == size {
            break;
        }
        let one = &all[*first];
        if taken.contains(first) || !one.keys.is_disjoint(&used) {
            continue;
        }
        taken.insert(*first);
        let is_partner = |other: &&usize| {
            let Candidate { call, keys } = &all[**other];
            let is_free = !taken.contains(*other) && !keys.is_disjoint(&one.keys) && keys.is_disjoint(&used);
            is_free && !follows(plan, one.call, *call)
        };
        let Some(second) = left[place + 1..].iter().find(is_partner).copied() else { continue };
        taken.insert(second);
        let both: HashSet<String> = one.keys.union(&all[second].keys).cloned().collect();
        let calls = [one.call, all[second].call];
        let before = all.iter().filter(|other| other.call < calls[1] && other.call != calls[0]);
        let mut before: Vec<u64> = before
            .rev()
            .filter(|other| !other.keys.is_disjoint(&both))
            .map(|other| other.call)
            .take(MOST_BEFORE)
            .collect();
        before.reverse();
        used.extend(both);
        wave.push(CallPair { calls, before });
    }
    left.retain(|candidate| !taken.contains(candidate));
    wave
}
