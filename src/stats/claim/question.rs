//! What a claim asks of a run.

use std::collections::BTreeMap;

use crate::record::{Metric, OutcomeKind, Part};
use crate::results::{ClaimName, ClaimRecord, Reason, Relation, RunRecord, Than, Verdict};
use crate::stats::shared_cache::SharedCache;
use crate::stats::view::operations;
use crate::stats::{Distribution, InvalidReason, RoundSeries, SeriesKey, inconsistency, inspected, invalid_reasons};

use super::ClaimDecision;
use super::count::{self, counted};
use super::pair::StrategyPair;

/// The number that decides a claim.
enum DecidingNumber<'c> {
    /// A metric, of times with the outcome of the calls that count.
    Metric(Metric, Option<OutcomeKind>),
    /// The anomalies of an audit.
    Audit(&'c str),
    /// The share of the calls with an outcome.
    Outcome(OutcomeKind),
}

impl DecidingNumber<'_> {
    /// `None` where this build does not know it.
    fn of(claim: &ClaimRecord) -> Option<DecidingNumber<'_>> {
        let outcome = || claim.outcome.as_deref().map(|name| OutcomeKind::named(name).ok_or(())).transpose().ok();
        if let Some(audit) = &claim.audit {
            return Some(DecidingNumber::Audit(audit));
        }
        if claim.metric.is_empty() {
            return outcome()?.map(DecidingNumber::Outcome);
        }
        Some(DecidingNumber::Metric(claim.known_metric()?, outcome()?))
    }
}

/// One side of a comparison.
#[derive(Clone, Copy)]
pub(super) struct ClaimSide {
    /// The strategy's position in the run.
    pub(super) strategy: usize,
    /// The operation's position; `None` for a number of the whole strategy.
    pub(super) operation: Option<usize>,
}

impl ClaimSide {
    pub(super) fn key(self, metric: Metric) -> SeriesKey {
        SeriesKey::new(metric, self.strategy, self.operation)
    }
}

/// What a number is compared with.
#[derive(Clone, Copy)]
enum OtherSide {
    Number(f64),
    /// A side and the factor by which its number is multiplied.
    Side(ClaimSide, f64),
}

/// A run and its parts.
#[derive(Clone, Copy)]
pub(super) struct MeasuredRun<'r> {
    pub(super) record: &'r RunRecord,
    pub(super) parts: &'r BTreeMap<Part, RunRecord>,
    pub(super) cache: &'r SharedCache,
}

impl<'r> MeasuredRun<'r> {
    /// What decides a claim in this run.
    pub(super) fn decision(self, claim: &ClaimRecord) -> Result<ClaimDecision<'r>, Reason> {
        self.check_settings(claim)?;
        let (side, other) = self.sides(claim)?;
        let number = DecidingNumber::of(claim).ok_or(Reason::UnknownMetric)?;
        self.check_validity(&number)?;
        match number {
            DecidingNumber::Metric(metric, outcome) if metric.is_measured() => {
                self.measured(claim.relation, metric, outcome, (side, other))
            }
            DecidingNumber::Metric(metric, _) if metric.is_varying() => {
                let part = self.part(metric.parts())?;
                let rounds = |side: ClaimSide| RoundSeries::of(part, side.key(metric)).rounds;
                let against = match other {
                    OtherSide::Number(number) => vec![Some(number); part.rounds.len()],
                    OtherSide::Side(side, times) => {
                        rounds(side).into_iter().map(|value| value.map(|value| value * times)).collect()
                    }
                };
                count::varying(&rounds(side), &against, claim.relation).map(ClaimDecision::Counts)
            }
            DecidingNumber::Metric(metric, _) => {
                let part = self.part(metric.parts())?;
                Self::counts(claim.relation, (side, other), |side| count::number(part, metric, side))
            }
            DecidingNumber::Audit(audit) => {
                let last = inspected(self.parts).ok_or(Reason::NotReported)?;
                let anomalies = |side: ClaimSide| count::anomalies(last, audit, side.strategy);
                let mut decision = Self::counts(claim.relation, (side, other), anomalies)?;
                // Chance decides whether a race happens: none that did does not refute that one can.
                if let ClaimDecision::Counts(result) = &mut decision
                    && (claim.relation, result.value) == (Relation::Above, Some(0.0))
                {
                    result.verdict = Verdict::Inconclusive(Reason::NotSeen);
                }
                Ok(decision)
            }
            DecidingNumber::Outcome(outcome) => {
                let parts = [Part::Rate, Part::Saturation, Part::Own].map(|part| self.parts.get(&part));
                Self::counts(claim.relation, (side, other), |side| {
                    let shares = parts.iter().flatten().find_map(|part| count::share(part, outcome, side));
                    shares.ok_or(Reason::NotReported)
                })
            }
        }
    }

    /// Whether the run has the mix, the clients and the parameters of the claim.
    fn check_settings(self, claim: &ClaimRecord) -> Result<(), Reason> {
        let RunRecord { mix, settings, parameters, server, .. } = self.record;
        if matches!(claim.known_metric(), Some(Metric::Shards(_))) {
            return Err(Reason::NeedsShardKeys);
        }
        if claim.needs_cluster && !server.is_sharded() {
            return Err(Reason::NeedsCluster);
        }
        let is_set = |setting: &(String, serde_json::Value)| parameters.contains(setting);
        let has_mix = claim.mix.as_ref().is_none_or(|name| *name == mix.name);
        let has_clients = claim.clients.is_none_or(|clients| clients == settings.clients as u64);
        if has_mix && has_clients && claim.set.iter().all(is_set) {
            return Ok(());
        }
        Err(Reason::OtherSettings)
    }

    /// Anomalies make a run invalid, but they are what an audit counts.
    fn check_validity(self, number: &DecidingNumber) -> Result<(), Reason> {
        let is_audit = matches!(number, DecidingNumber::Audit(_));
        let matters =
            |(_, reason): &(usize, InvalidReason)| !(is_audit && matches!(reason, InvalidReason::Anomalies(_)));
        let is_invalid = self.parts.values().any(|part| invalid_reasons(part).iter().any(matters));
        if is_invalid { Err(Reason::InvalidRun) } else { Ok(()) }
    }

    /// The first of these parts that was measured.
    fn part(self, parts: &[Part]) -> Result<&'r RunRecord, Reason> {
        parts.iter().find_map(|part| self.parts.get(part)).ok_or(Reason::NotReported)
    }

    /// The strategies and operations of a claim, which all must be part of the run.
    fn sides(self, claim: &ClaimRecord) -> Result<(ClaimSide, OtherSide), Reason> {
        let strategy = |name: &str, which| {
            self.record.strategies.iter().position(|entry| entry.name == name).ok_or(Reason::NotInRun(which))
        };
        let operation =
            |name: Option<&str>, which| name.map(|name| self.called(name).ok_or(Reason::NotInRun(which))).transpose();
        let mine = ClaimSide {
            strategy: strategy(&claim.strategy, ClaimName::Strategy)?,
            operation: operation(claim.operation.as_deref(), ClaimName::Operation)?,
        };
        let other = match &claim.than {
            Than::Number(number) | Than::Evaluated { number, .. } => OtherSide::Number(*number),
            Than::Strategy(name) => {
                OtherSide::Side(ClaimSide { strategy: strategy(name, ClaimName::OtherStrategy)?, ..mine }, 1.0)
            }
            Than::Other { strategy: name, operation: called, times, .. } => {
                let strategy = strategy(name, ClaimName::OtherStrategy)?;
                let operation = operation(called.as_deref(), ClaimName::OtherOperation)?;
                OtherSide::Side(ClaimSide { strategy, operation }, *times)
            }
        };
        Ok((mine, other))
    }

    /// The place of an operation that was called in this run.
    fn called(self, name: &str) -> Option<usize> {
        let place = self.record.operations.iter().position(|operation| operation == name)?;
        let calls =
            |part: &RunRecord, strategy| -> u64 { operations(part, strategy, place).map(|one| one.calls).sum() };
        let is_called = |part: &RunRecord| (0..part.strategies.len()).any(|strategy| calls(part, strategy) > 0);
        self.parts.values().any(is_called).then_some(place)
    }

    /// A claim on what is measured over rounds.
    fn measured(
        self,
        relation: Relation,
        metric: Metric,
        outcome: Option<OutcomeKind>,
        (mine, other): (ClaimSide, OtherSide),
    ) -> Result<ClaimDecision<'r>, Reason> {
        let record = self.part(metric.parts())?;
        let OtherSide::Side(theirs, times) = other else { return Err(Reason::UnknownMetric) };
        if relation == Relation::Equals {
            return Err(Reason::UnknownMetric);
        }
        if metric == Metric::InconsistencyP99 {
            let window = |side: ClaimSide| inconsistency(record, side.strategy, side.operation?);
            let (mine, theirs) = (window(mine), window(theirs));
            if mine.is_none() || theirs.is_none() {
                // Calls that write once have no window: it is 0, of which there is no ratio.
                // With too few calls for a percentile it is the longest.
                let p99 = |times: Distribution| times.quantile(0.99).or(times.max());
                let time = |window: Option<Distribution>| window.and_then(p99).unwrap_or(0) as f64;
                return Ok(ClaimDecision::Counts(counted(time(mine), time(theirs) * times, relation)));
            }
        }
        let pair = StrategyPair { record, cache: self.cache, metric, outcome, mine, theirs, times };
        Ok(ClaimDecision::Rounds(pair))
    }

    /// A claim on counts.
    fn counts(
        relation: Relation,
        (side, other): (ClaimSide, OtherSide),
        count: impl Fn(ClaimSide) -> Result<f64, Reason>,
    ) -> Result<ClaimDecision<'r>, Reason> {
        let against = match other {
            OtherSide::Number(number) => number,
            OtherSide::Side(side, times) => count(side)? * times,
        };
        Ok(ClaimDecision::Counts(counted(count(side)?, against, relation)))
    }
}
