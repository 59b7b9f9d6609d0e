//! Two strategies or operations, compared over rounds.

use std::borrow::Cow;

use crate::record::{Metric, OutcomeKind, TimeMetric};
use crate::results::{CellRecord, OperationRecord, Preset, Relation, RoundRecord, RunRecord};
use crate::stats::cell_rate;
use crate::stats::compare::{
    ArmTimes, InconclusiveReason, Judge, Limits, MINIMUM_ROUNDS, Quantity, Verdict, obstacle, pooled_means,
};
use crate::stats::estimate::{Estimate, log_ratios};
use crate::stats::latency::{Distribution, geometric_mean, mean};
use crate::stats::shared_cache::SharedCache;

use super::count::counter_per_call;
use super::question::ClaimSide;
use super::{ClaimOutcome, ClaimResult, UndecidedReason};

/// Two strategies or operations, and the metric that is compared over rounds.
pub(super) struct StrategyPair<'r> {
    pub(super) record: &'r RunRecord,
    pub(super) cache: &'r SharedCache,
    pub(super) metric: Metric,
    /// The outcome of the calls whose times count; `None`: all answered calls.
    pub(super) outcome: Option<OutcomeKind>,
    pub(super) mine: ClaimSide,
    pub(super) theirs: ClaimSide,
    /// The factor by which theirs is multiplied.
    pub(super) times: f64,
}

impl StrategyPair<'_> {
    pub(super) fn compare(
        &self,
        relation: Relation,
        critical: Option<f64>,
        p: Option<f64>,
    ) -> Result<ClaimResult, UndecidedReason> {
        let StrategyPair { record, mine, theirs, times, .. } = *self;
        let estimate = Estimate::of(&self.log_ratios()).ok_or_else(|| self.without_rounds())?;
        // Below is a time's faster, whatever the metric: the relation says which of the two is claimed.
        let quantity = Quantity::Time;
        let judge = Judge { quantity, critical, band: self.band(), limits: Limits::of(&record.settings) };
        let verdict = match (self.obstacle(), p) {
            (Some(reason), _) => Err(reason),
            (None, Some(p)) => Ok(judge.verdict(&estimate, p)),
            (None, None) => Err(self.without_rounds()),
        };
        let interval = judge.interval(&estimate);
        let is_claimed = |is_below: bool| is_below == (relation == Relation::Below);
        let decided = |is_below| if is_claimed(is_below) { ClaimOutcome::Confirmed } else { ClaimOutcome::Refuted };
        let outcome = match verdict {
            Err(reason) => ClaimOutcome::Undecided(reason),
            Ok(Verdict::Faster) => decided(true),
            Ok(Verdict::Slower) => decided(false),
            Ok(Verdict::Same { .. } | Verdict::NoDifference { .. } | Verdict::Inconclusive(_)) => {
                let is_noise = interval.is_some_and(|interval| interval.excludes_one());
                let reason = if is_noise { UndecidedReason::WithinNoise } else { UndecidedReason::IncludesOne };
                ClaimOutcome::Undecided(reason)
            }
        };
        Ok(ClaimResult {
            outcome,
            value: geometric_mean(&self.rounds(mine)),
            against: geometric_mean(&self.rounds(theirs)).map(|value| value * times),
            ratio: Some(estimate.ratio()),
            interval,
        })
    }

    /// The log ratios of a member of the claims' family; `None` for a claim that nothing can decide.
    pub(super) fn tested(&self) -> Option<Vec<Option<f64>>> {
        let log_ratios = self.log_ratios();
        let rounds = log_ratios.iter().flatten().count();
        (self.obstacle().is_none() && rounds >= MINIMUM_ROUNDS).then_some(log_ratios)
    }

    /// Why nothing over rounds can decide the claim.
    fn obstacle(&self) -> Option<UndecidedReason> {
        let settings = &self.record.settings;
        let arm = |side: ClaimSide| ArmTimes::of(self.record, side.strategy, side.operation).beside_others(self.cache);
        if settings.preset == Preset::Smoke {
            Some(UndecidedReason::SmokePreset)
        } else {
            let obstacle = obstacle(&arm(self.mine), &arm(self.theirs), Limits::of(settings));
            obstacle.map(UndecidedReason::NotComparable)
        }
    }

    fn log_ratios(&self) -> Vec<Option<f64>> {
        let scaled = |value: Option<f64>| value.map(|value| value * self.times);
        let theirs: Vec<Option<f64>> = self.pooled(self.theirs).into_iter().map(scaled).collect();
        log_ratios(&self.pooled(self.mine), &theirs)
    }

    /// The metric per round; of the baseline, together with its repeat.
    fn pooled(&self, side: ClaimSide) -> Vec<Option<f64>> {
        let (values, again) = (self.rounds(side), self.repeat().filter(|_| side.strategy == 0));
        let again = again.map(|strategy| self.rounds(ClaimSide { strategy, ..side }));
        let pooled = again.map(|again| pooled_means(&values, &again));
        let count = |values: &[Option<f64>]| values.iter().flatten().count();
        pooled.filter(|pooled| count(pooled) == count(&values)).unwrap_or(values)
    }

    fn repeat(&self) -> Option<usize> {
        self.record.strategies.iter().position(|strategy| strategy.is_repeat)
    }

    /// The metric per round.
    fn rounds(&self, side: ClaimSide) -> Vec<Option<f64>> {
        let timeout = self.record.settings.timeout();
        let in_round = |round: &RoundRecord| {
            let cell = round.cells.get(side.strategy)?;
            match self.metric {
                Metric::Time(TimeMetric::Quantile(share)) => {
                    let operation = self.counting(cell, side)?;
                    Distribution::of(std::iter::once(operation.as_ref()), timeout)
                        .quantile(share)
                        .map(|time| time as f64)
                }
                Metric::Time(TimeMetric::Mean) => mean(self.counting(cell, side)?.as_ref()),
                Metric::Throughput => cell_rate(cell, &self.record.settings),
                Metric::Counter(counter) => counter_per_call(cell, counter, side.operation),
                Metric::InconsistencyP99 => {
                    let windows = cell.operations.get(side.operation?)?.inconsistency.as_ref()?;
                    let windows = Distribution::merged(std::iter::once(&windows.histogram));
                    windows.quantile(0.99).map(|time| time as f64)
                }
                Metric::Max | Metric::Failed | Metric::RoundTrips | Metric::Retries | Metric::Size(_) => None,
            }
        };
        let values = self.record.rounds.iter().map(in_round);
        values.map(|value| value.filter(|value| value.is_finite() && *value > 0.0)).collect()
    }

    /// The calls of an operation whose times count.
    fn counting<'c>(&self, cell: &'c CellRecord, side: ClaimSide) -> Option<Cow<'c, OperationRecord>> {
        let operation = cell.operations.get(side.operation?)?;
        let Some(kind) = self.outcome else { return Some(Cow::Borrowed(operation)) };
        let outcomes = operation.outcomes.iter().filter(|one| kind.is(&one.outcome)).cloned().collect();
        Some(Cow::Owned(OperationRecord { outcomes, ..operation.clone() }))
    }

    /// Why there are too few rounds with a ratio.
    fn without_rounds(&self) -> UndecidedReason {
        let rounds = self.record.rounds.len();
        if rounds < MINIMUM_ROUNDS {
            UndecidedReason::NotComparable(InconclusiveReason::TooFewRounds(rounds))
        } else if matches!(self.metric, Metric::Time(TimeMetric::Quantile(_)) | Metric::InconsistencyP99) {
            UndecidedReason::FewCalls
        } else {
            UndecidedReason::NotReported
        }
    }

    /// How far the repeat shows that noise alone moves this metric's log ratio from 0, in the noisier of two operations.
    fn band(&self) -> Option<f64> {
        let band = |side: ClaimSide| {
            let of = |strategy| self.rounds(ClaimSide { strategy, ..side });
            Estimate::of(&log_ratios(&of(self.repeat()?), &of(0)))?.band()
        };
        let (mine, theirs) = (band(self.mine), band(self.theirs));
        mine.into_iter().chain(theirs).reduce(f64::max)
    }
}
