//! Whether a run confirms the scenario's claims.
//!
//! Nothing is measured for them: times come from the rounds, counts from the own costs, the sizes, the audits and the outcomes.

mod count;
mod pair;
mod question;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::record::Part;
use crate::results::{ClaimResult, RunRecord, Verdict};

use super::family::Family;
use super::shared_cache::SharedCache;

pub use count::counted;
use pair::StrategyPair;
use question::MeasuredRun;

fn without_numbers(verdict: Verdict) -> ClaimResult {
    ClaimResult { verdict, value: None, against: None, ratio: None, interval: None }
}

/// What decides a claim.
enum ClaimDecision<'r> {
    /// Counts, which need no test.
    Counts(ClaimResult),
    /// Two strategies over rounds.
    Rounds(StrategyPair<'r>),
}

/// Decides every claim of the run. Those on a metric that is measured over rounds are one family: fewer than the report's
/// comparisons, and written before the run.
pub fn claim_results(record: &RunRecord, parts: &BTreeMap<Part, RunRecord>) -> Vec<ClaimResult> {
    if record.claims.is_empty() {
        return Vec::new();
    }
    let run = MeasuredRun { record, parts, cache: &SharedCache::of(parts) };
    let decisions: Vec<_> = record.claims.iter().map(|claim| run.decision(claim)).collect();
    let tested = |decision: &ClaimDecision| match decision {
        ClaimDecision::Counts(_) => None,
        ClaimDecision::Rounds(pair) => pair.tested(),
    };
    let members: Vec<Vec<Option<f64>>> = decisions.iter().flatten().filter_map(tested).collect();
    let family = Family::new(&members);
    let critical = (!members.is_empty()).then_some(family.critical);
    let mut adjusted = family.p.into_iter();
    let mut decided = |decision: ClaimDecision| match decision {
        ClaimDecision::Counts(result) => Ok(result),
        ClaimDecision::Rounds(pair) => pair.compare(critical, pair.tested().and_then(|_| adjusted.next())),
    };
    let undecided = |reason| without_numbers(Verdict::Inconclusive(reason));
    decisions.into_iter().map(|decision| decision.and_then(&mut decided).unwrap_or_else(undecided)).collect()
}
