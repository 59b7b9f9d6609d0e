//! Why one strategy is slower than another in the mix: its operations cost more CPU time, they take longer for another reason,
//! or its calls wait for each other.
//!
//! Each kind predicts a ratio of the two strategies without looking at the measured one: the CPU budget, and the own times
//! times their shares. A kind explains the difference if it accounts for at least half of the measured log ratio in the same
//! direction; the CPU budget goes first, because own times contain it. What own times do not predict arises only while other
//! calls run.

use crate::results::RunRecord;

use super::budget::{CpuBudget, mix_shares};
use super::view::all_operations;
use super::{MixEstimate, outcome_totals, own_cost, service_mean, window_cost};

/// The part of the measured log ratio that a kind must account for.
const EXPLAINED: f64 = 0.5;

/// Operations are named until they make up this part of the gap.
const NAMED: f64 = 0.6;

/// The most operations that are named.
const MOST_NAMED: usize = 2;

/// A counter is evidence if the slower strategy has this many times as much per call.
const EVIDENCE: f64 = 1.5;

/// Waits per call below this are no evidence.
const RARE: f64 = 0.05;

/// Bytes per call below this are no evidence.
const FEW_BYTES: f64 = 100.0;

/// What one read into the cache reads at least, as far as counts are compared: a leaf page of WiredTiger, 32 KB by default.
const PAGE: f64 = 32_768.0;

/// Why a strategy is slower than another.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// Its operations cost the server more CPU time.
    Cpu(CostGap),
    /// Its operations take longer by themselves, but not by CPU time: round trips, the journal, reads from disk.
    OwnTime(CostGap),
    /// By themselves its operations are not as slow as in the mix.
    Waiting(Waiting),
}

/// Where two strategies differ by themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct CostGap {
    /// The operations that make up most of it, the largest first.
    pub operations: Vec<CostGapOperation>,
    /// The share (0 to 1) of these operations in the calls.
    pub calls: f64,
    /// Their share of the slower strategy's CPU time, or of its time.
    pub cost: f64,
    /// The CPU time, or the time, of a call of the mix with the slower strategy, divided by that with the faster one.
    pub times: f64,
}

/// One operation of a [`CostGap`].
#[derive(Debug, Clone, PartialEq)]
pub struct CostGapOperation {
    /// The operation.
    pub operation: usize,
    /// What one call costs the slower and the faster strategy: CPU time in microseconds, or time in nanoseconds.
    pub costs: [f64; 2],
    /// Counters per call of the slower and the faster strategy that differ, the most different first.
    pub evidence: Vec<Evidence>,
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
    /// What repeats or stalls calls, per call of the mix.
    pub evidence: Vec<Evidence>,
}

/// What one call costs, as the columns of own costs have it; `journal` and cache are not per operation.
const OWN_EVIDENCE: [&str; 5] = ["documents_examined", "keys_examined", "oplog_bytes", "bytes_out", "bytes_in"];

/// What makes calls of the mix wait.
const MIX_EVIDENCE: [&str; 3] = ["write_conflicts", "transactions_aborted", CACHE_READS];

/// Bytes read into the cache.
const CACHE_READS: &str = "cache_bytes_read";

/// Finds why `slower` takes `measured` times as long as `faster` in the mix (or makes that many times fewer calls). `mix` is the
/// part in which that was measured; `None` where own costs are missing or nothing explains it.
pub fn cause(own: &RunRecord, mix: &RunRecord, slower: usize, faster: usize, measured: f64) -> Option<Cause> {
    if measured.is_nan() || measured <= 1.0 {
        return None;
    }
    let explains = |ratio: f64| ratio.ln() / measured.ln() >= EXPLAINED;
    let pair = [slower, faster];
    let budgets = CpuBudget::new(own, slower).zip(CpuBudget::new(own, faster));
    if let Some((slow, fast)) = budgets.filter(|(slow, fast)| explains(slow.total / fast.total)) {
        let per_call =
            |strategy: usize, operation: usize| Some(own_cost(own, strategy, operation)?.per_call("cpu_us"))?;
        return gap(own, pair, [&slow.parts, &fast.parts], per_call).map(Cause::Cpu);
    }
    let estimate = MixEstimate::new(own);
    let estimated = [estimate.mean(slower)?, estimate.mean(faster)?];
    if explains(estimated[0] / estimated[1]) {
        let part = |strategy, (operation, share): (usize, &f64)| match share {
            0.0 => Some(0.0),
            share => Some(share * estimate.time(strategy, operation)?),
        };
        let parts = |strategy| estimate.shares.iter().enumerate().map(|one| part(strategy, one)).collect();
        let (slow, fast): (Option<Vec<f64>>, Option<Vec<f64>>) = (parts(slower), parts(faster));
        let per_call = |strategy, operation| estimate.time(strategy, operation);
        return gap(own, pair, [&slow?, &fast?], per_call).map(Cause::OwnTime);
    }
    let service = |strategy| service_mean(all_operations(mix, strategy));
    let stretch = [service(slower)? / estimated[0], service(faster)? / estimated[1]];
    explains(stretch[0] / stretch[1]).then(|| Cause::Waiting(Waiting { stretch, evidence: waits(mix, pair) }))
}

/// The operations that make up most of the difference of two lists of parts.
fn gap(
    own: &RunRecord,
    pair: [usize; 2],
    [slow, fast]: [&[f64]; 2],
    per_call: impl Fn(usize, usize) -> Option<f64>,
) -> Option<CostGap> {
    let mut gaps: Vec<(usize, f64)> = slow.iter().zip(fast).map(|(slow, fast)| slow - fast).enumerate().collect();
    gaps.retain(|(_, gap)| *gap > 0.0);
    gaps.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let whole: f64 = gaps.iter().map(|(_, gap)| gap).sum();
    let (mut named, mut covered) = (Vec::new(), 0.0);
    for (operation, gap) in gaps {
        if covered >= NAMED * whole || named.len() == MOST_NAMED {
            break;
        }
        covered += gap;
        named.push(operation);
    }
    let shares = mix_shares(own);
    let total: f64 = slow.iter().sum();
    let times = total / fast.iter().sum::<f64>();
    let calls = named.iter().map(|operation| shares[*operation]).sum();
    let cost = named.iter().map(|operation| slow[*operation]).sum::<f64>() / total;
    let of = |operation: usize| {
        let costs = [per_call(pair[0], operation)?, per_call(pair[1], operation)?];
        Some(CostGapOperation { operation, costs, evidence: own_evidence(own, pair, operation) })
    };
    let operations: Vec<CostGapOperation> = named.into_iter().map(of).collect::<Option<_>>()?;
    (!operations.is_empty()).then_some(CostGap { operations, calls, cost, times })
}

/// The counters of one operation of which the slower strategy has clearly more.
fn own_evidence(own: &RunRecord, pair: [usize; 2], operation: usize) -> Vec<Evidence> {
    let [Some(slow), Some(fast)] = pair.map(|strategy| own_cost(own, strategy, operation)) else { return Vec::new() };
    let trips = [&slow, &fast].map(|cost| cost.round_trips);
    let counted = |counter: &'static str| {
        Some(Evidence { counter, per_call: [slow.per_call(counter)?, fast.per_call(counter)?] })
    };
    let trips = Evidence { counter: "round_trips", per_call: trips };
    strongest(std::iter::once(trips).chain(OWN_EVIDENCE.into_iter().filter_map(counted)).collect())
}

/// What repeats or stalls calls of the mix more often in the slower strategy.
fn waits(mix: &RunRecord, pair: [usize; 2]) -> Vec<Evidence> {
    let retries = pair.map(|strategy| {
        let totals = outcome_totals(all_operations(mix, strategy));
        totals.retries.values().sum::<u64>() as f64 / totals.calls.max(1) as f64
    });
    let counted = |counter: &'static str| {
        let per_call = pair.map(|strategy| window_cost(mix, strategy, counter).map(|cost| cost.per_call));
        Some(Evidence { counter, per_call: [per_call[0]?, per_call[1]?] })
    };
    let retries = Evidence { counter: "retries", per_call: retries };
    strongest(std::iter::once(retries).chain(MIX_EVIDENCE.into_iter().filter_map(counted)).collect())
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
