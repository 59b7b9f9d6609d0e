//! One number of a strategy in the rounds of all runs, and what became of it.

use crate::record::Metric;
use crate::results::{CellRecord, Part, PublishedMetric, Reason, RunRecord, Verdict};
use crate::stats::compare::{ArmTimes, MINIMUM_ROUNDS};
use crate::stats::estimate::{ConfidenceInterval, Estimate, log_ratios};
use crate::stats::latency::{arithmetic_mean, geometric_mean};
use crate::stats::series::{RoundSeries, SeriesKey, repeat_estimate};
use crate::stats::session_spread::{SessionSpread, published_spread};
use crate::stats::welch::Shift;
use crate::stats::{cells, outcome_totals, selected};

use super::{ComparedUnit, Sides, TimeChange, position};

/// The chance (0 to 1) that an interval of a family misses its true ratio.
const FAMILY_ERROR: f64 = 0.05;

/// The fewest failures of an operation that are not put down to chance.
const FEW_FAILURES: u64 = 10;

/// How a number is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judging {
    /// By its values.
    AsTheyAre,
    /// By its values divided by those of the reference in the same rounds.
    Relative,
    /// Not at all: it is the reference's.
    Reference,
    /// Not at all: the strategy is unsafe, or a shared cache distorts its times.
    NotJudged,
}

/// Which number, and how it is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) strategy: &'a str,
    /// `None` for the mix.
    pub(crate) operation: Option<usize>,
    /// The strategy that it is compared with in each run.
    pub(crate) reference: Option<&'a str>,
    pub(crate) judging: Judging,
    pub(crate) unit: ComparedUnit,
}

/// Values of rounds, run after run, before and after.
type Values = [Vec<Vec<Option<f64>>>; 2];

/// One number per round of all runs.
pub(crate) struct Numbers<'a> {
    asked: Asked<'a>,
    values: Values,
    /// The values divided by those of the reference; `None` for the reference itself.
    relative: Option<Values>,
    /// How far the repeats of the runs show that noise alone moves its log ratio.
    noise: f64,
    obstacles: [Option<Reason>; 2],
    /// Why the reference says nothing about it.
    unusable: Option<Reason>,
    /// How far another session moves it, where that is part of its uncertainty.
    sessions: Option<SessionSpread>,
}

impl<'a> Numbers<'a> {
    /// From one part of the runs.
    pub(crate) fn new(sides: &Sides, metric: Metric, asked: Asked<'a>) -> Numbers<'a> {
        let Asked { strategy, operation, reference, .. } = asked;
        let of = |record: &RunRecord, name: &str| {
            let key = |place| SeriesKey::new(metric, place, operation);
            position(record, name).map_or_else(Vec::new, |place| RoundSeries::of(record, key(place)).rounds)
        };
        let relative = |reference: &str| {
            sides.map(|record| {
                let ratios = log_ratios(&of(record, strategy), &of(record, reference));
                ratios.into_iter().map(|log| log.map(f64::exp)).collect()
            })
        };
        // A reference that cannot be compared says nothing about the others.
        let reference = reference.filter(|reference| *reference != strategy);
        let unusable =
            reference.and_then(|reference| obstacles(sides, reference, operation).into_iter().flatten().next());
        let usable = reference.filter(|_| unusable.is_none());
        Numbers {
            values: sides.map(|record| of(record, strategy)),
            relative: usable.map(relative),
            noise: sides
                .all()
                .filter_map(|record| repeat_estimate(record, SeriesKey::new(metric, 0, operation))?.band())
                .fold(0.0, f64::max),
            obstacles: obstacles(sides, strategy, operation),
            unusable,
            sessions: sessions(sides, asked.unit),
            asked,
        }
    }

    /// Whether every run has enough rounds with this number.
    pub(super) fn have_rounds(&self) -> bool {
        self.fewest_rounds() >= MINIMUM_ROUNDS
    }

    /// The rounds with this number of the run that has fewest.
    fn fewest_rounds(&self) -> usize {
        self.values.iter().flatten().map(|rounds| rounds.iter().flatten().count()).min().unwrap_or(0)
    }

    /// Whether it is a member of the family.
    pub(super) fn are_judged(&self) -> bool {
        self.have_rounds() && self.obstacles == [None; 2] && self.judged().is_some()
    }

    /// The values that are judged.
    fn judged(&self) -> Option<&Values> {
        match self.asked.judging {
            Judging::AsTheyAre => Some(&self.values),
            Judging::Relative => self.relative.as_ref(),
            Judging::Reference | Judging::NotJudged => None,
        }
    }

    /// The change of the number, judged in a family of this many.
    pub(super) fn change(&self, tolerance: f64, family: usize) -> TimeChange {
        let is_comparable = self.obstacles == [None; 2];
        let shift = |values: &Values| {
            let shift = shift(values, self.asked.unit).filter(|_| is_comparable)?;
            Some(self.sessions.map_or(shift, |spread| spread.widened(shift)))
        };
        let ratio = |values: &Values| Some(mean_shift(values)?.exp()).filter(|_| is_comparable);
        let judged = self.judged().filter(|_| self.have_rounds()).and_then(shift);
        let logs = judged.map(|shift| (shift, shift.interval(FAMILY_ERROR / family.max(1) as f64)));
        let obstacle = self.obstacles.into_iter().flatten().next();
        let verdict = match (self.asked.judging, obstacle, logs) {
            (Judging::NotJudged, _, _) => Verdict::Inconclusive(Reason::NotJudged),
            (_, Some(reason), _) => Verdict::Inconclusive(reason),
            (Judging::Reference, None, _) => Verdict::Inconclusive(Reason::Reference),
            (_, None, Some((shift, logs))) => verdict(logs, shift.mean, tolerance.ln_1p(), self.noise),
            (_, None, None) => {
                Verdict::Inconclusive(self.unusable.unwrap_or(Reason::TooFewRounds(self.fewest_rounds())))
            }
        };
        let all = |side: usize| geometric_mean(&self.values[side].concat());
        TimeChange {
            before: all(0),
            after: all(1),
            ratio: ratio(&self.values),
            relative: self.relative.as_ref().and_then(ratio),
            interval: logs.map(|(_, logs)| ConfidenceInterval { low: logs.low.exp(), high: logs.high.exp() }),
            verdict,
            obstacles: self.obstacles,
        }
    }
}

/// The mean of the logarithms of every run's values.
fn run_means(runs: &[Vec<Option<f64>>]) -> Vec<f64> {
    runs.iter().filter_map(|rounds| Some(geometric_mean(rounds)?.ln())).collect()
}

/// How far the logarithms after are from those before, each run counting alike.
fn mean_shift([before, after]: &Values) -> Option<f64> {
    let mean = |runs| arithmetic_mean(run_means(runs).into_iter());
    Some(mean(after)? - mean(before)?)
}

/// The same with its uncertainty; `None` where nothing is known of that.
fn shift([before, after]: &Values, unit: ComparedUnit) -> Option<Shift> {
    let logs =
        |runs: &[Vec<Option<f64>>]| runs.iter().flatten().flatten().map(|value| value.ln()).collect::<Vec<f64>>();
    match unit {
        ComparedUnit::PairedRounds => Shift::paired(&Estimate::of(&log_ratios(after.first()?, before.first()?))?),
        ComparedUnit::Rounds => Shift::of(&logs(before), &logs(after)),
        ComparedUnit::Runs => Shift::pooled(&run_means(before), &run_means(after)),
    }
}

/// What sessions do to a ratio, where single runs with other data and calls are compared: those are sessions. `None` for others,
/// and where no result has a second session.
pub(crate) fn sessions(sides: &Sides, unit: ComparedUnit) -> Option<SessionSpread> {
    let (before, after) = (sides.before.first()?, sides.after.first()?);
    let is_session = unit == ComparedUnit::Rounds && before.settings.seed != after.settings.seed;
    let metric = match before.part? {
        Part::Own => PublishedMetric::OWN_TIME,
        Part::Saturation => PublishedMetric::CALLS_PER_SECOND,
        Part::Light | Part::Rate | Part::Heavy => PublishedMetric::RESPONSE_MEAN,
    };
    published_spread(metric).filter(|_| is_session).map(SessionSpread::from)
}

/// All arguments are logarithms: the interval of the ratio, the ratio, the tolerance, and what noise alone does.
fn verdict(interval: ConfidenceInterval, mean: f64, tolerance: f64, noise: f64) -> Verdict {
    let is_beyond = interval.low > tolerance || interval.high < -tolerance;
    if interval.low >= -tolerance && interval.high <= tolerance {
        Verdict::Same { within: tolerance.exp_m1() }
    } else if !is_beyond {
        Verdict::Inconclusive(Reason::Open)
    } else if mean.abs() <= noise {
        Verdict::NoDifference { within_noise: true, mde: noise.exp_m1() }
    } else if mean > 0.0 {
        Verdict::Slower
    } else {
        Verdict::Faster
    }
}

/// The first reason on each side for which the times of a strategy cannot be compared.
fn obstacles(sides: &Sides, name: &str, operation: Option<usize>) -> [Option<Reason>; 2] {
    let reason = |record: &RunRecord| obstacle(record, position(record, name)?, operation);
    sides.map(reason).map(|reasons| reasons.into_iter().flatten().next())
}

fn obstacle(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Option<Reason> {
    let arm = ArmTimes::of(record, strategy, operation);
    let is_without = |(cell, mean): (&CellRecord, &Option<f64>)| {
        let calls = operation.map_or(cell.calls, |place| cell.operations.get(place).map_or(0, |one| one.calls));
        calls > 0 && mean.is_none()
    };
    let failed = || {
        let operations = cells(record, strategy).flat_map(|cell| selected(&cell.operations, operation));
        outcome_totals(operations).failed()
    };
    if let Some(achieved) = arm.overloaded {
        Some(Reason::Overloaded { strategy, achieved })
    } else if arm.failed_share > record.settings.error_budget && failed() >= FEW_FAILURES {
        Some(Reason::Failures { strategy, share: arm.failed_share })
    } else {
        cells(record, strategy).zip(&arm.alone).any(is_without).then_some(Reason::NoSuccess { strategy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_is_where_the_whole_interval_must_lie() {
        let ends = |low: f64, high: f64| verdict(ConfidenceInterval { low, high }, f64::midpoint(low, high), 0.05, 0.0);
        assert_eq!(ends(0.051, 0.2), Verdict::Slower);
        assert_eq!(ends(0.049, 0.2), Verdict::Inconclusive(Reason::Open));
        assert_eq!(ends(-0.049, 0.049), Verdict::Same { within: 0.05_f64.exp_m1() });
        assert_eq!(ends(0.01, 0.02), Verdict::Same { within: 0.05_f64.exp_m1() });
        assert_eq!(ends(-0.2, -0.051), Verdict::Faster);
        assert_eq!(ends(-0.2, -0.049), Verdict::Inconclusive(Reason::Open));
        let interval = ConfidenceInterval { low: 0.06, high: 0.1 };
        assert_eq!(verdict(interval, 0.08, 0.05, 0.09).id(), "within_noise", "a repeat differs as much");
        assert_eq!(verdict(interval, 0.08, 0.05, 0.07), Verdict::Slower);
    }
}
