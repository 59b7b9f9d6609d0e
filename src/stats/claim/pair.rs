//! Two strategies or operations, compared over rounds.

use crate::record::{Metric, OutcomeKind, TimeMetric};
use crate::results::{ClaimResult, Preset, Reason, RunRecord, Verdict};
use crate::stats::compare::{ArmTimes, Judge, Limits, MINIMUM_ROUNDS, Quantity, SIGNIFICANCE, obstacle};
use crate::stats::estimate::{Estimate, log_ratios};
use crate::stats::series::{RoundSeries, SeriesKey, repeat_estimate};
use crate::stats::shared_cache::SharedCache;

use super::question::ClaimSide;

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
    pub(super) fn compare(&self, critical: Option<f64>, p: Option<f64>) -> Result<ClaimResult, Reason> {
        let StrategyPair { record, mine, theirs, times, .. } = *self;
        let estimate = Estimate::of(&self.log_ratios()).ok_or_else(|| self.without_rounds())?;
        let quantity = Quantity::of(self.metric);
        let judge = Judge { quantity, critical, band: self.band(), limits: Limits::of(&record.settings) };
        let verdict = match (self.obstacle(), p) {
            (Some(reason), _) => Verdict::Inconclusive(reason),
            (None, Some(p)) => judge.verdict(&estimate, p < SIGNIFICANCE),
            (None, None) => Verdict::Inconclusive(self.without_rounds()),
        };
        Ok(ClaimResult {
            verdict,
            value: self.series(mine).value,
            against: self.series(theirs).value.map(|value| value * times),
            ratio: Some(estimate.ratio()),
            interval: judge.interval(&estimate).map(|interval| [interval.low, interval.high]),
        })
    }

    /// The log ratios of a member of the claims' family; `None` for a claim that nothing can decide.
    pub(super) fn tested(&self) -> Option<Vec<Option<f64>>> {
        let log_ratios = self.log_ratios();
        let rounds = log_ratios.iter().flatten().count();
        (self.obstacle().is_none() && rounds >= MINIMUM_ROUNDS).then_some(log_ratios)
    }

    /// Why nothing over rounds can decide the claim.
    fn obstacle(&self) -> Option<Reason> {
        let settings = &self.record.settings;
        let arm = |side: ClaimSide| ArmTimes::of(self.record, side.strategy, side.operation).beside_others(self.cache);
        if settings.preset == Preset::Smoke {
            Some(Reason::SmokePreset)
        } else {
            obstacle(&arm(self.mine), &arm(self.theirs), Limits::of(settings))
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
    fn without_rounds(&self) -> Reason {
        let rounds = self.record.rounds.len();
        if rounds < MINIMUM_ROUNDS {
            Reason::TooFewRounds(rounds)
        } else if matches!(self.metric, Metric::Time(TimeMetric::Quantile(_)) | Metric::InconsistencyP99) {
            Reason::FewCalls
        } else {
            Reason::NotReported
        }
    }

    /// How far the repeat shows that noise alone moves this metric's log ratio from 0, in the noisier of two operations.
    fn band(&self) -> Option<f64> {
        let sides = [self.mine, self.theirs].into_iter();
        sides.filter_map(|side| repeat_estimate(self.record, self.key(side))?.band()).reduce(f64::max)
    }
}
