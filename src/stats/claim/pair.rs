//! Two strategies or operations, compared over rounds.

use crate::record::{Metric, OutcomeKind, TimeMetric};
use crate::results::{Preset, Relation, RunRecord};
use crate::stats::compare::{ArmTimes, InconclusiveReason, Judge, Limits, MINIMUM_ROUNDS, Quantity, Verdict, obstacle};
use crate::stats::estimate::{Estimate, log_ratios};
use crate::stats::series::{RoundSeries, SeriesKey};
use crate::stats::shared_cache::SharedCache;

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
            value: self.series(mine).value,
            against: self.series(theirs).value.map(|value| value * times),
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
        let scaled = |value: &Option<f64>| value.map(|value| value * self.times);
        let theirs: Vec<Option<f64>> = self.series(self.theirs).rounds.iter().map(scaled).collect();
        let ratios = log_ratios(&self.series(self.mine).rounds, &theirs);
        // A counter of the server may not have grown in a round.
        ratios.into_iter().map(|ratio| ratio.filter(|ratio| ratio.is_finite())).collect()
    }

    fn key(&self, side: ClaimSide) -> SeriesKey {
        SeriesKey { outcome: self.outcome, ..side.key(self.metric) }
    }

    fn series(&self, side: ClaimSide) -> RoundSeries {
        RoundSeries::of(self.record, self.key(side))
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
        let repeat = self.record.strategies.iter().position(|strategy| strategy.is_repeat);
        let band = |side: ClaimSide| {
            let alone = |strategy| RoundSeries::alone(self.record, SeriesKey { strategy, ..self.key(side) }).rounds;
            Estimate::of(&log_ratios(&alone(repeat?), &alone(0)))?.band()
        };
        let (mine, theirs) = (band(self.mine), band(self.theirs));
        mine.into_iter().chain(theirs).reduce(f64::max)
    }
}
