//! What a run says of the scenario's claims.
//!
//! Nothing is measured for them: times are those of the comparisons, counts those of the cost pass and of the sizes.

use crate::record::{Metric, MetricUse, TimeMetric};
use crate::results::{ClaimRecord, CollectionSizes, CostRecord, LoadModel, Preset, Relation, RunRecord, Than};

use super::compare::{ArmTimes, Comparison, InconclusiveReason, Limits, MINIMUM_ROUNDS, obstacle};
use super::cost::single_cost;
use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::latency::{Distribution, geometric_mean, means};
use super::{cells, collection_growth, invalid_reasons, operations, t_quantile};

/// A count equals a number that it is this close to (0.005 for 0.5 %): numbers in scenarios are rounded.
const ROUNDING: f64 = 0.005;

/// Counts are below or above one another when they differ by more than this.
pub const DEAD_ZONE: f64 = 0.02;

/// What was found of a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimResult {
    /// Whether it holds.
    pub outcome: ClaimOutcome,
    /// The strategy's number: nanoseconds, calls per second, a count or bytes per call, or bytes.
    pub value: Option<f64>,
    /// The number that it is compared with.
    pub against: Option<f64>,
    /// For what is measured over rounds: the one in relation to the other.
    pub ratio: Option<f64>,
    /// Where that lies.
    pub interval: Option<ConfidenceInterval>,
    /// Whether the interval is that of the report's comparisons, which holds for all of them at once; else it is a 95 % t
    /// interval of this pair alone.
    pub is_simultaneous: bool,
}

/// Whether a claim holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimOutcome {
    /// It does.
    Confirmed,
    /// The opposite does.
    Refuted,
    /// This run cannot tell.
    Undecided(UndecidedReason),
}

/// Why a run cannot tell.
#[derive(Debug, Clone, PartialEq)]
pub enum UndecidedReason {
    /// These strategies or operations are not part of it.
    NotInRun(Vec<String>),
    /// It is not valid.
    InvalidRun,
    /// It only showed that everything runs.
    SmokePreset,
    /// The times of the two cannot be compared.
    NotComparable(InconclusiveReason),
    /// In too many rounds too few calls lie beyond the quantile.
    FewCalls,
    /// The server does not tell it, or the run did not get that far.
    NotReported,
    /// Files were read without a flush and lag behind.
    NotCheckpointed,
    /// Calls fell due at a rate, which is then the throughput of all.
    OpenLoad,
    /// The interval of the ratio holds 1.
    IncludesOne,
    /// The difference is within the run's noise floor, or what its control shows.
    WithinNoise,
    /// The counts differ by no more than [`DEAD_ZONE`].
    WithinDeadZone,
    /// This build does not know the metric, or not compared like that.
    UnknownMetric,
}

impl ClaimResult {
    fn undecided(reason: UndecidedReason) -> ClaimResult {
        let (value, against, ratio, interval) = (None, None, None, None);
        ClaimResult {
            outcome: ClaimOutcome::Undecided(reason),
            value,
            against,
            ratio,
            interval,
            is_simultaneous: false,
        }
    }
}

/// A claim_result per claim of the run. `comparison` gives what the report says of an operation and a strategy against the
/// baseline.
pub fn claim_results(record: &RunRecord, comparison: &dyn Fn(usize, usize) -> Option<Comparison>) -> Vec<ClaimResult> {
    if record.claims.is_empty() {
        return Vec::new();
    }
    let is_invalid = !invalid_reasons(record).is_empty();
    record.claims.iter().map(|claim| claim_result(record, claim, is_invalid, comparison)).collect()
}

fn claim_result(
    record: &RunRecord,
    claim: &ClaimRecord,
    is_invalid: bool,
    comparison: &dyn Fn(usize, usize) -> Option<Comparison>,
) -> ClaimResult {
    let strategy = |name: &str| record.strategies.iter().position(|entry| entry.name == name);
    let other = match &claim.than {
        Than::Strategy(name) => Some(name.as_str()),
        Than::Number(_) => None,
    };
    let named = [Some(claim.strategy.as_str()), other].into_iter().flatten();
    let mut absent: Vec<String> = named.filter(|name| strategy(name).is_none()).map(str::to_owned).collect();
    let operation = claim.operation.as_deref().map(|name| (name, called(record, name)));
    absent.extend(operation.filter(|(_, place)| place.is_none()).map(|(name, _)| name.to_owned()));
    if !absent.is_empty() {
        return ClaimResult::undecided(UndecidedReason::NotInRun(absent));
    }
    if is_invalid {
        return ClaimResult::undecided(UndecidedReason::InvalidRun);
    }
    let Some(place) = strategy(&claim.strategy) else { return ClaimResult::undecided(UndecidedReason::UnknownMetric) };
    match (measured(&claim.metric), other.and_then(strategy), &claim.than) {
        (Some(metric), Some(other), _) if claim.relation != Relation::Equals => {
            let operation = operation.and_then(|(_, place)| place);
            StrategyPair { record, metric, operation, arms: (place, other) }.compare(claim.relation, comparison)
        }
        (Some(_), ..) => ClaimResult::undecided(UndecidedReason::UnknownMetric),
        (None, Some(other), _) => {
            let against = count(record, claim, other);
            counted(count(record, claim, place), against, claim.relation)
        }
        (None, None, Than::Number(number)) => counted(count(record, claim, place), Ok(*number), claim.relation),
        (None, None, Than::Strategy(_)) => ClaimResult::undecided(UndecidedReason::UnknownMetric),
    }
}

/// A metric that is compared over rounds.
fn measured(name: &str) -> Option<Metric> {
    Metric::named(name, MetricUse::Claim).filter(|metric| metric.is_measured())
}

/// The place of an operation that was called in this run, be it in the cost pass alone.
fn called(record: &RunRecord, name: &str) -> Option<usize> {
    let place = record.operations.iter().position(|operation| operation == name)?;
    let measured = (0..record.strategies.len()).flat_map(|strategy| operations(record, strategy, place));
    let is_called = measured.map(|operation| operation.calls).any(|calls| calls > 0)
        || record.own_costs.iter().any(|cost| cost.operation == name && cost.calls > 0);
    is_called.then_some(place)
}

/// Two strategies, and what of them is compared over rounds.
struct StrategyPair<'r> {
    record: &'r RunRecord,
    metric: Metric,
    operation: Option<usize>,
    arms: (usize, usize),
}

impl StrategyPair<'_> {
    fn compare(&self, relation: Relation, comparison: &dyn Fn(usize, usize) -> Option<Comparison>) -> ClaimResult {
        let StrategyPair { record, metric, arms: (mine, theirs), .. } = *self;
        let (values, others) = (self.rounds(mine), self.rounds(theirs));
        let Some(estimate) = Estimate::of(&log_ratios(&values, &others)) else {
            return ClaimResult::undecided(self.without_rounds());
        };
        let reported = self.reported(comparison);
        let own = || estimate.interval(t_quantile(0.975, estimate.rounds.max(2) - 1));
        let interval = reported.unwrap_or_else(own);
        let interval = interval.filter(|_| estimate.rounds >= MINIMUM_ROUNDS);
        let limits = Limits::of(&record.settings);
        let is_noise = estimate.mean.abs() <= limits.floor().max(self.band().unwrap_or(0.0));
        let arm = |strategy: usize| ArmTimes::of(record, strategy, self.operation);
        let outcome = if record.settings.preset == Preset::Smoke {
            ClaimOutcome::Undecided(UndecidedReason::SmokePreset)
        } else if metric == Metric::Throughput && record.settings.load != LoadModel::Closed {
            ClaimOutcome::Undecided(UndecidedReason::OpenLoad)
        } else if let Some(reason) = obstacle(&arm(mine), &arm(theirs), limits) {
            ClaimOutcome::Undecided(UndecidedReason::NotComparable(reason))
        } else if estimate.rounds < MINIMUM_ROUNDS {
            ClaimOutcome::Undecided(self.without_rounds())
        } else {
            match interval.filter(|interval| interval.high < 1.0 || interval.low > 1.0) {
                None => ClaimOutcome::Undecided(UndecidedReason::IncludesOne),
                Some(_) if is_noise => ClaimOutcome::Undecided(UndecidedReason::WithinNoise),
                Some(interval) if (interval.high < 1.0) == (relation == Relation::Below) => ClaimOutcome::Confirmed,
                Some(_) => ClaimOutcome::Refuted,
            }
        };
        ClaimResult {
            outcome,
            value: geometric_mean(&values),
            against: geometric_mean(&others),
            ratio: Some(estimate.ratio()),
            interval,
            is_simultaneous: reported.is_some(),
        }
    }

    /// The metric per round.
    fn rounds(&self, strategy: usize) -> Vec<Option<f64>> {
        let quantile = |share: f64, round: usize| {
            let cell = self.record.rounds[round].cells.get(strategy)?;
            let times = Distribution::of(self.operation.and_then(|place| cell.operations.get(place)).into_iter());
            times.quantile(share).map(|time| time as f64)
        };
        let of_round = |round: usize| match self.metric {
            Metric::Time(TimeMetric::Quantile(share)) => quantile(share, round),
            _ => self.record.rounds[round].cells.get(strategy).map(|cell| cell.calls as f64 / cell.seconds),
        };
        let values = match (self.metric, self.operation) {
            (Metric::Time(TimeMetric::Mean), Some(operation)) => means(self.record, strategy, operation),
            _ => (0..self.record.rounds.len()).map(of_round).collect(),
        };
        values.into_iter().map(|value| value.filter(|value| value.is_finite() && *value > 0.0)).collect()
    }

    /// Why there are too few rounds with a ratio.
    fn without_rounds(&self) -> UndecidedReason {
        match (self.record.rounds.len(), self.metric) {
            (rounds, _) if rounds < MINIMUM_ROUNDS => {
                UndecidedReason::NotComparable(InconclusiveReason::TooFewRounds(rounds))
            }
            (_, Metric::Time(TimeMetric::Quantile(_))) => UndecidedReason::FewCalls,
            _ => UndecidedReason::NotReported,
        }
    }

    /// How far the control says that this metric's log ratio may be from 0 by noise alone.
    fn band(&self) -> Option<f64> {
        let control = self.record.strategies.iter().position(|strategy| strategy.is_repeat)?;
        Estimate::of(&log_ratios(&self.rounds(control), &self.rounds(0)))?.band()
    }

    /// The report's interval of a mean against the baseline's; `None` where the report has no such comparison.
    fn reported(&self, comparison: &dyn Fn(usize, usize) -> Option<Comparison>) -> Option<Option<ConfidenceInterval>> {
        let operation = self.operation.filter(|_| self.metric == Metric::Time(TimeMetric::Mean))?;
        let (mine, theirs) = self.arms;
        let reported = |strategy: usize, against: usize| {
            let comparison = comparison(operation, strategy).filter(|comparison| comparison.against == against)?;
            Some(comparison.ratio?.interval)
        };
        let turned =
            |interval: ConfidenceInterval| ConfidenceInterval { low: 1.0 / interval.high, high: 1.0 / interval.low };
        reported(mine, theirs).or_else(|| reported(theirs, mine).map(|interval| interval.map(turned)))
    }
}

/// What is counted of a strategy.
fn count(record: &RunRecord, claim: &ClaimRecord, strategy: usize) -> Result<f64, UndecidedReason> {
    let name = record.strategies.get(strategy).map(|entry| entry.name.as_str());
    let cost = || single_cost(record, name?, claim.operation.as_deref()?);
    let per_call = |cost: &CostRecord, sum: f64| Some(sum / cost.calls as f64).filter(|value| value.is_finite());
    let counter = |name: &str| cost().and_then(|cost| per_call(cost, *cost.counters.get(name)?));
    let value = match Metric::named(&claim.metric, MetricUse::Claim) {
        Some(Metric::RoundTrips) => cost().and_then(|cost| per_call(cost, cost.round_trips as f64)),
        Some(Metric::Counter(known)) => counter(known.name),
        Some(Metric::StorageBytes) => return storage(record, strategy),
        Some(Metric::Time(_) | Metric::Max | Metric::Throughput | Metric::Failed) | None => {
            return Err(UndecidedReason::UnknownMetric);
        }
    };
    value.ok_or(UndecidedReason::NotReported)
}

/// The files of collections and indexes after the calls, means over rounds.
fn storage(record: &RunRecord, strategy: usize) -> Result<f64, UndecidedReason> {
    let is_lagging = |sizes: &CollectionSizes| !sizes.checkpointed;
    if cells(record, strategy).flat_map(|cell| &cell.after).any(is_lagging) {
        return Err(UndecidedReason::NotCheckpointed);
    }
    let growth = collection_growth(record, strategy);
    match growth.is_empty() {
        true => Err(UndecidedReason::NotReported),
        false => Ok(growth.iter().map(|growth| growth.storage.after + growth.indexes.after).sum()),
    }
}

fn counted(
    value: Result<f64, UndecidedReason>,
    against: Result<f64, UndecidedReason>,
    relation: Relation,
) -> ClaimResult {
    let (value, against) = match (value, against) {
        (Ok(value), Ok(against)) => (value, against),
        (Err(reason), _) | (_, Err(reason)) => return ClaimResult::undecided(reason),
    };
    let holds = |holds: bool| if holds { ClaimOutcome::Confirmed } else { ClaimOutcome::Refuted };
    let outcome = match relation {
        Relation::Equals => holds((value - against).abs() <= against.abs() * ROUNDING),
        _ if (value - against).abs() <= against.abs() * DEAD_ZONE => {
            ClaimOutcome::Undecided(UndecidedReason::WithinDeadZone)
        }
        Relation::Below => holds(value < against),
        Relation::Above => holds(value > against),
    };
    let (value, against) = (Some(value), Some(against));
    ClaimResult { outcome, value, against, ratio: None, interval: None, is_simultaneous: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Arrivals, RunRecord};
    use crate::stats::{compare, sample};

    /// A claim as the scenario writes it: `p50 read_post linked below embedded`; `-` for no operation.
    fn claim(text: &str) -> ClaimRecord {
        let words: Vec<&str> = text.split(' ').collect();
        ClaimRecord {
            id: "C1".into(),
            says: "It is so.".into(),
            source: None,
            metric: words[0].into(),
            operation: (words[1] != "-").then(|| words[1].to_owned()),
            strategy: words[2].into(),
            relation: match words[3] {
                "below" => Relation::Below,
                "above" => Relation::Above,
                _ => Relation::Equals,
            },
            than: words[4].parse().map_or_else(|_| Than::Strategy(words[4].into()), Than::Number),
        }
    }

    fn found(mut run: RunRecord, text: &str) -> ClaimResult {
        run.claims = vec![claim(text)];
        let arms = |operation: usize| (0..3).map(|strategy| ArmTimes::of(&run, strategy, Some(operation))).collect();
        let compared = compare(&[arms(0), arms(1), arms(2)], Limits::of(&run.settings));
        let reported = |operation: usize, strategy: usize| {
            compared[operation].iter().find(|comparison| comparison.strategy == strategy).cloned()
        };
        claim_results(&run, &reported).remove(0)
    }

    fn outcome(run: RunRecord, text: &str) -> ClaimOutcome {
        found(run, text).outcome
    }

    fn reason(run: RunRecord, text: &str) -> UndecidedReason {
        match outcome(run, text) {
            ClaimOutcome::Undecided(reason) => reason,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn measured_metrics_are_decided_by_their_interval() {
        let run = || sample::run(8);
        for (text, wanted) in [
            ("p50 add_comment linked below embedded", ClaimOutcome::Confirmed),
            ("p50 add_comment linked above embedded", ClaimOutcome::Refuted),
            ("p50 add_comment embedded above linked", ClaimOutcome::Confirmed),
            ("mean read_post linked above embedded", ClaimOutcome::Confirmed),
            ("mean read_post embedded below linked", ClaimOutcome::Confirmed),
            ("mean read_post linked below embedded", ClaimOutcome::Refuted),
            ("mean read_post bucket_rmw below linked", ClaimOutcome::Confirmed),
            ("throughput - linked above embedded", ClaimOutcome::Confirmed),
            ("throughput - embedded above linked", ClaimOutcome::Refuted),
        ] {
            assert_eq!(outcome(run(), text), wanted, "{text}");
        }
    }

    #[test]
    fn a_mean_against_the_reference_has_the_interval_of_the_table() {
        let run = sample::run(8);
        let one = found(run.clone(), "mean read_post linked above embedded");
        let other = found(run.clone(), "mean read_post embedded below linked");
        let (interval, turned) = (one.interval.unwrap(), other.interval.unwrap());
        assert!((interval.low * turned.high - 1.0).abs() < 1e-12 && interval.low > 1.0);
        assert!(one.is_simultaneous && other.is_simultaneous);
        // Neither is the baseline: the interval is that of the pair, as for quantiles.
        assert!(!found(run.clone(), "mean read_post bucket_rmw below linked").is_simultaneous);
        let quantile = found(run, "p50 read_post linked above embedded");
        assert!(!quantile.is_simultaneous && quantile.interval.is_some());
        // 940 to 610 µs, times the typical call's place in the made distribution.
        assert!((quantile.ratio.unwrap() / (940.0 / 610.0) - 1.0).abs() < 0.02, "{quantile:?}");
    }

    #[test]
    fn what_cannot_be_told_of_times_is_undecided() {
        let text = "p50 add_comment linked below embedded";
        let run = || sample::run(8);
        let with = |change: &dyn Fn(&mut RunRecord)| {
            let mut run = run();
            change(&mut run);
            run
        };
        assert_eq!(reason(sample::run(5), text), UndecidedReason::NotComparable(InconclusiveReason::TooFewRounds(5)));
        assert_eq!(reason(sample::run(0), text), UndecidedReason::NotComparable(InconclusiveReason::TooFewRounds(0)));
        assert_eq!(reason(with(&|run| run.settings.preset = Preset::Smoke), text), UndecidedReason::SmokePreset);
        assert_eq!(
            reason(with(&|run| run.rounds[0].cells[0].connections_created = 1), text),
            UndecidedReason::InvalidRun
        );
        assert_eq!(reason(with(&|run| run.settings.noise = 5.0), text), UndecidedReason::WithinNoise);
        assert_eq!(
            reason(run(), "p50 add_comment other below linked"),
            UndecidedReason::NotInRun(vec!["other".into()])
        );
        assert_eq!(reason(run(), "p50 remove linked below embedded"), UndecidedReason::NotInRun(vec!["remove".into()]));
        assert_eq!(reason(run(), "p99 read_post linked above embedded"), UndecidedReason::FewCalls);
        assert_eq!(reason(run(), "p50 add_comment linked equals embedded"), UndecidedReason::UnknownMetric);
        assert_eq!(reason(run(), "p50 add_comment linked below 5"), UndecidedReason::UnknownMetric);
        let paced = LoadModel::Open { rate: 500.0, arrivals: Arrivals::Poisson };
        assert_eq!(
            reason(with(&|run| run.settings.load = paced), "throughput - linked above embedded"),
            UndecidedReason::OpenLoad
        );
        // A control that is linked itself calls its difference noise.
        let control = with(&|run| {
            (run.strategies[2].is_repeat, run.strategies[2].is_unsafe) = (true, false);
            run.rounds.iter_mut().for_each(|round| round.cells[2] = round.cells[1].clone());
        });
        assert_eq!(reason(control, text), UndecidedReason::WithinNoise);
        // Its mean is now above, now below.
        assert_eq!(reason(run(), "mean count linked below embedded"), UndecidedReason::IncludesOne);
        let refused = with(&|run| {
            run.rounds[3].cells[1].operations[0].outcomes.remove(0);
        });
        assert_eq!(
            reason(refused, text),
            UndecidedReason::NotComparable(InconclusiveReason::NoSuccess { strategy: 1 })
        );
    }

    #[test]
    fn counts_are_exact() {
        let run = || sample::run(1);
        for (text, wanted) in [
            ("round_trips read_post linked equals 2", ClaimOutcome::Confirmed),
            ("round_trips read_post linked equals 1", ClaimOutcome::Refuted),
            ("round_trips read_post embedded below linked", ClaimOutcome::Confirmed),
            ("round_trips read_post embedded above linked", ClaimOutcome::Refuted),
            ("round_trips read_post linked above 1", ClaimOutcome::Confirmed),
            ("round_trips add_comment linked equals embedded", ClaimOutcome::Confirmed),
            ("round_trips add_comment linked below embedded", ClaimOutcome::Undecided(UndecidedReason::WithinDeadZone)),
            ("keys_examined count linked equals 1.004", ClaimOutcome::Confirmed),
            ("bytes_out count linked above 36400", ClaimOutcome::Undecided(UndecidedReason::WithinDeadZone)),
            ("documents_examined count linked equals 0", ClaimOutcome::Undecided(UndecidedReason::NotReported)),
            ("oplog_bytes count linked below embedded", ClaimOutcome::Undecided(UndecidedReason::NotReported)),
            ("storage_bytes - linked below embedded", ClaimOutcome::Confirmed),
            ("sunshine count linked below embedded", ClaimOutcome::Undecided(UndecidedReason::UnknownMetric)),
        ] {
            assert_eq!(outcome(run(), text), wanted, "{text}");
        }
        let mut run = run();
        for (cost, documents) in run.own_costs.iter_mut().zip([4_200.0, 0.0, 0.0]) {
            cost.counters.insert("documents_examined".into(), documents);
            cost.counters.insert("oplog_bytes".into(), documents);
        }
        assert_eq!(outcome(run.clone(), "documents_examined add_comment embedded equals 21"), ClaimOutcome::Confirmed);
        assert_eq!(outcome(run.clone(), "oplog_bytes read_post embedded equals 0"), ClaimOutcome::Confirmed);
        assert_eq!(found(run, "documents_examined add_comment embedded equals 20").value, Some(21.0));
    }

    #[test]
    fn files_that_lag_behind_decide_nothing() {
        let mut run = sample::run(2);
        run.rounds[1].cells[1].after[1].checkpointed = false;
        assert_eq!(reason(run, "storage_bytes - linked below embedded"), UndecidedReason::NotCheckpointed);
        assert_eq!(reason(sample::run(0), "storage_bytes - linked below embedded"), UndecidedReason::NotReported);
    }
}
