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
use crate::results::{Relation, RunRecord};

use super::compare::InconclusiveReason;
use super::estimate::ConfidenceInterval;
use super::family::Family;
use super::shared_cache::SharedCache;

pub use count::DEAD_ZONE;
use pair::StrategyPair;
use question::MeasuredRun;

/// The result of a claim in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimResult {
    /// Whether the run confirms it.
    pub outcome: ClaimOutcome,
    /// The strategy's number: nanoseconds, calls per second, a count or bytes per call, or bytes.
    pub value: Option<f64>,
    /// The number that it is compared with.
    pub against: Option<f64>,
    /// The value divided by the other, for a metric that is measured over rounds.
    pub ratio: Option<f64>,
    /// The 95 % CI of the ratio, simultaneous for all claims that are decided over rounds.
    pub interval: Option<ConfidenceInterval>,
}

/// Whether a run confirms a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimOutcome {
    /// The numbers confirm it.
    Confirmed,
    /// The numbers show the opposite.
    Refuted,
    /// The run does not decide it.
    Undecided(UndecidedReason),
}

/// Why a run does not decide a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum UndecidedReason {
    /// It needs a run with these options.
    NotMeasured(Vec<String>),
    /// These strategies or operations are not part of it.
    NotInRun(Vec<String>),
    /// The run is invalid.
    InvalidRun,
    /// The smoke preset is too short for verdicts.
    SmokePreset,
    /// The times of the two strategies cannot be compared.
    NotComparable(InconclusiveReason),
    /// In too many rounds too few calls lie beyond the quantile.
    FewCalls,
    /// The server does not report the metric, or the run ended before it was measured.
    NotReported,
    /// File sizes were read without a flush before.
    NotCheckpointed,
    /// The interval of the ratio includes 1.
    IncludesOne,
    /// The difference is within the noise floor, or within the noise that the repeat shows.
    WithinNoise,
    /// A count that varies is lower in some rounds and higher in others.
    RoundsDisagree,
    /// The counts differ by no more than [`DEAD_ZONE`].
    WithinDeadZone,
    /// This build does not know the metric, or cannot compare it in this way.
    UnknownMetric,
}

impl ClaimResult {
    /// A result without numbers.
    fn new(outcome: ClaimOutcome) -> ClaimResult {
        ClaimResult { outcome, value: None, against: None, ratio: None, interval: None }
    }
}

/// What decides a claim.
enum Decision<'r> {
    /// Counts, which need no test.
    Counts(ClaimResult),
    /// Two strategies over rounds, and what the claim says of the first.
    Rounds(StrategyPair<'r>, Relation),
}

/// Decides every claim of the run. Those on a metric that is measured over rounds are one family: fewer than the report's
/// comparisons, and written before the run.
pub fn claim_results(record: &RunRecord, parts: &BTreeMap<Part, RunRecord>) -> Vec<ClaimResult> {
    if record.claims.is_empty() {
        return Vec::new();
    }
    let run = MeasuredRun { record, parts, cache: &SharedCache::of(parts) };
    let decisions: Vec<_> = record.claims.iter().map(|claim| run.decision(claim)).collect();
    let tested = decisions.iter().flatten().filter_map(Decision::tested);
    let members: Vec<Vec<Option<f64>>> = tested.collect();
    let family = Family::new(&members);
    let critical = (!members.is_empty()).then_some(family.critical);
    let mut adjusted = family.p.into_iter();
    let mut decided = |decision| match decision {
        Ok(Decision::Counts(result)) => Ok(result),
        Ok(Decision::Rounds(pair, relation)) => {
            let p = pair.tested().and_then(|_| adjusted.next());
            pair.compare(relation, critical, p)
        }
        Err(reason) => Err(reason),
    };
    let results = decisions.into_iter().map(&mut decided);
    results.map(|result| result.unwrap_or_else(|reason| ClaimResult::new(ClaimOutcome::Undecided(reason)))).collect()
}
