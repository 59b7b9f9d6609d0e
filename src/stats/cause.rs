//! Why one strategy is slower than another in the mix: its operations cost more, or its calls wait for each other.
//!
//! Three kinds predict a ratio of the two strategies without looking at the measured one: the CPU budget, the own times times
//! their shares, and the stretch of calls under load. A kind explains the difference if it accounts for at least half of the
//! measured log ratio in the same direction; the CPU budget goes first, because own times contain it. What own times do not
//! predict arises only while other calls run. A ratio of own times is explained by own times alone.

use std::collections::BTreeMap;

use crate::record::Part;
use crate::results::RunRecord;

use super::answer::Criterion;
use super::budget::{CpuBudget, mix_shares};
use super::mechanism::{Mechanism, mechanisms};
use super::view::{all_operations, inspected, loaded, operations};
use super::{MixEstimate, outcome_totals, own_cost, service_mean, window_cost};

/// The part of the measured log ratio that a kind must account for.
const EXPLAINED: f64 = 0.5;

/// Operations are named until they make up this part of the gap.
const NAMED: f64 = 0.6;

/// An operation below this part of the gap is not named beside another.
const MINOR: f64 = 0.2;

/// The most operations that are named.
const MOST_NAMED: usize = 2;

/// A counter is evidence if the slower strategy has this many times as much per call.
const EVIDENCE: f64 = 1.5;

/// Waits and retries per call below this are no evidence.
const RARE: f64 = 0.05;

/// Bytes per call below this are no evidence.
const FEW_BYTES: f64 = 100.0;

/// What one read into the cache reads at least, as far as counts are compared: a leaf page of WiredTiger, 32 KB by default.
const PAGE: f64 = 32_768.0;

/// Why a strategy is slower than another.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// Some of its operations cost more by themselves: the largest part first.
    Operations(Vec<CostlyOperation>),
    /// By themselves its operations are not as slow as in the mix.
    Waiting(Waiting),
}

/// An operation that makes up much of a difference.
#[derive(Debug, Clone, PartialEq)]
pub struct CostlyOperation {
    /// The operation.
    pub operation: usize,
    /// Its share (0 to 1) of the calls.
    pub calls: f64,
    /// Why it takes longer, the first reason first.
    pub mechanisms: Vec<Mechanism>,
}

/// A counter per call of the slower and the faster strategy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// The counter, or `round_trips`.
    pub counter: &'static str,
    /// Per call.
    pub per_call: [f64; 2],
}

/// How calls wait in the mix.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The service time of a call in the mix divided by what own times predict, of the slower and the faster strategy.
    pub stretch: [f64; 2],
    /// What they wait for.
    pub reason: WaitReason,
}

/// What calls wait for.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitReason {
    /// Calls of an operation are repeated after a conflict.
    Retries {
        /// The operation.
        operation: usize,
        /// Repeated attempts per call of it, of the slower and the faster strategy.
        per_call: [f64; 2],
    },
    /// The operation that is stretched most is the same program in both strategies.
    Behind {
        /// The operation.
        operation: usize,
        /// The other operation with most of the slower strategy's CPU time.
        behind: usize,
        /// The share (0 to 1) of that one.
        cpu: f64,
    },
    /// What the server counts of waits, the most different first; empty without any.
    Counted(Vec<Evidence>),
}

/// What one call costs, as the columns of own costs have it; `journal` and cache are not per operation.
const OWN_EVIDENCE: [&str; 5] = ["documents_examined", "keys_examined", "oplog_bytes", "bytes_out", "bytes_in"];

/// What makes calls of the mix wait.
const MIX_EVIDENCE: [&str; 3] = ["write_conflicts", "transactions_aborted", CACHE_READS];

/// Bytes read into the cache.
const CACHE_READS: &str = "cache_bytes_read";

/// Finds why `slower` takes `measured` times as long as `faster` by a criterion (or makes that many times fewer calls), from the
/// records of all parts; `None` where own costs are missing or nothing explains it.
pub fn cause(
    parts: &BTreeMap<Part, RunRecord>,
    by: Criterion,
    [slower, faster]: [usize; 2],
    measured: f64,
) -> Option<Cause> {
    if measured.is_nan() || measured <= 1.0 {
        return None;
    }
    let (own, pair) = (parts.get(&Part::Own)?, [slower, faster]);
    let explains = |ratio: f64| ratio.ln() / measured.ln() >= EXPLAINED;
    if by.part != Part::Own {
        let budgets = CpuBudget::new(own, slower).zip(CpuBudget::new(own, faster));
        if let Some((slow, fast)) = budgets.filter(|(slow, fast)| explains(slow.total / fast.total)) {
            return costly(parts, pair, [&slow.parts, &fast.parts]);
        }
    }
    let estimate = MixEstimate::new(own);
    let estimated = [estimate.mean(slower)?, estimate.mean(faster)?];
    if explains(estimated[0] / estimated[1]) {
        let part = |strategy, (operation, share): (usize, &f64)| match share {
            0.0 => Some(0.0),
            share => Some(share * estimate.time(strategy, operation)?),
        };
        let parts_of = |strategy| estimate.shares.iter().enumerate().map(|one| part(strategy, one)).collect();
        let (slow, fast): (Option<Vec<f64>>, Option<Vec<f64>>) = (parts_of(slower), parts_of(faster));
        return costly(parts, pair, [&slow?, &fast?]);
    }
    let mix = parts.get(&by.part).filter(|_| by.part != Part::Own).or(loaded(parts))?;
    let service = |strategy| service_mean(all_operations(mix, strategy));
    let stretch = [service(slower)? / estimated[0], service(faster)? / estimated[1]];
    explains(stretch[0] / stretch[1]).then(|| Cause::Waiting(Waiting { stretch, reason: wait_reason(own, mix, pair) }))
}

/// The operations that make up most of the difference of two lists of parts, the largest first. Identical programs are left
/// out: by themselves they differ by noise.
fn costly(parts: &BTreeMap<Part, RunRecord>, pair: [usize; 2], [slow, fast]: [&[f64]; 2]) -> Option<Cause> {
    let (own, inspected) = (parts.get(&Part::Own)?, inspected(parts)?);
    let mut gaps: Vec<(usize, f64)> = slow.iter().zip(fast).map(|(slow, fast)| slow - fast).enumerate().collect();
    gaps.retain(|(operation, gap)| *gap > 0.0 && !own.is_identical(pair[0], pair[1], *operation));
    gaps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let whole: f64 = gaps.iter().map(|(_, gap)| gap).sum();
    let (mut named, mut covered) = (Vec::new(), 0.0);
    for (operation, gap) in gaps {
        let is_enough = covered >= NAMED * whole || !named.is_empty() && gap < MINOR * whole;
        if is_enough || named.len() == MOST_NAMED {
            break;
        }
        covered += gap;
        named.push(operation);
    }
    let calls = mix_shares(own);
    let of = |operation: usize| {
        let mechanisms = mechanisms(own, inspected, pair, operation)?;
        Some(CostlyOperation { operation, calls: calls[operation], mechanisms })
    };
    let operations: Vec<CostlyOperation> = named.into_iter().map(of).collect::<Option<_>>()?;
    (!operations.is_empty()).then_some(Cause::Operations(operations))
}

/// The counters of one operation of which the slower strategy has clearly more.
pub(super) fn own_evidence(own: &RunRecord, pair: [usize; 2], operation: usize) -> Vec<Evidence> {
    let [Some(slow), Some(fast)] = pair.map(|strategy| own_cost(own, strategy, operation)) else { return Vec::new() };
    let trips = [&slow, &fast].map(|cost| cost.round_trips);
    let counted = |counter: &'static str| {
        Some(Evidence { counter, per_call: [slow.per_call(counter)?, fast.per_call(counter)?] })
    };
    let trips = Evidence { counter: "round_trips", per_call: trips };
    strongest(std::iter::once(trips).chain(OWN_EVIDENCE.into_iter().filter_map(counted)).collect())
}

/// What calls of the mix wait for.
fn wait_reason(own: &RunRecord, mix: &RunRecord, pair: [usize; 2]) -> WaitReason {
    let counted = |counter: &'static str| {
        let per_call = pair.map(|strategy| window_cost(mix, strategy, counter).map(|cost| cost.per_call));
        Some(Evidence { counter, per_call: [per_call[0]?, per_call[1]?] })
    };
    let counted = || WaitReason::Counted(strongest(MIX_EVIDENCE.into_iter().filter_map(counted).collect()));
    retries(mix, pair).or_else(|| behind(own, mix, pair)).unwrap_or_else(counted)
}

/// The operation with most retries, if they are frequent and rarer in the faster strategy.
fn retries(mix: &RunRecord, pair: [usize; 2]) -> Option<WaitReason> {
    let per_call = |strategy: usize, operation: usize| {
        let totals = outcome_totals(operations(mix, strategy, operation));
        totals.retries.values().sum::<u64>() as f64 / totals.calls.max(1) as f64
    };
    let shares = mix_shares(mix);
    let of = |operation: usize| (operation, pair.map(|strategy| per_call(strategy, operation)));
    let most = (0..shares.len())
        .map(of)
        .max_by(|(one, a), (other, b)| (a[0] * shares[*one]).total_cmp(&(b[0] * shares[*other])));
    let (operation, per_call) = most?;
    let is_frequent = per_call[0] * shares[operation] >= RARE && per_call[0] >= EVIDENCE * per_call[1];
    is_frequent.then_some(WaitReason::Retries { operation, per_call })
}

/// If the operation that the mix stretches most is the same program in both strategies, what it waits behind.
fn behind(own: &RunRecord, mix: &RunRecord, pair: [usize; 2]) -> Option<WaitReason> {
    let (shares, budget) = (mix_shares(mix), CpuBudget::new(own, pair[0])?);
    let gap = |operation: usize| {
        let [slow, fast] = pair.map(|strategy| service_mean(operations(mix, strategy, operation)));
        Some((operation, shares[operation] * (slow? - fast?)))
    };
    let (operation, _) = (0..shares.len()).filter_map(gap).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let others = (0..shares.len()).filter(|one| !own.is_identical(pair[0], pair[1], *one));
    let behind = others.max_by(|one, other| budget.parts[*one].total_cmp(&budget.parts[*other]))?;
    let cpu = budget.share(behind);
    own.is_identical(pair[0], pair[1], operation).then_some(WaitReason::Behind { operation, behind, cpu })
}

/// The evidence that is strong enough, the strongest first.
fn strongest(mut all: Vec<Evidence>) -> Vec<Evidence> {
    let rare = |one: &Evidence| match one.counter {
        CACHE_READS => RARE * PAGE,
        counter if counter.contains("bytes") => FEW_BYTES,
        _ => RARE,
    };
    let factor = |one: &Evidence| one.per_call[0] / one.per_call[1].max(rare(one));
    all.retain(|one| one.per_call[0] >= rare(one) && factor(one) >= EVIDENCE);
    all.sort_by(|a, b| factor(b).total_cmp(&factor(a)));
    all
}
