//! Whether a run confirms the scenario's claims.
//!
//! Nothing is measured for them: times come from the comparisons, counts from the own costs and the sizes.

use crate::record::{Metric, MetricUse, TimeMetric};
use crate::results::{
    CellRecord, ClaimRecord, CollectionSizes, LoadModel, OwnCostRecord, Preset, Relation, RoundRecord, RunRecord, Than,
};

use super::compare::{ArmTimes, Comparison, InconclusiveReason, Limits, MINIMUM_ROUNDS, obstacle};
use super::cost::own_cost;
use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::latency::{Distribution, geometric_mean, mean};
use super::{cells, collection_growth, invalid_reasons, operations, selected, t_quantile};

/// Counts are equal when they differ by at most this share (0.005 for 0.5 %): numbers in scenarios are rounded.
const ROUNDING: f64 = 0.005;

/// A count is below or above another when they differ by more than this share.
pub const DEAD_ZONE: f64 = 0.02;

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
    /// The 95 % CI of the ratio.
    pub interval: Option<ConfidenceInterval>,
    /// Whether the interval is simultaneous, as in the report's comparisons; else it is Student's t interval of this pair.
    pub is_simultaneous: bool,
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
    /// With open load the rate sets the throughput of every strategy.
    OpenLoad,
    /// The interval of the ratio includes 1.
    IncludesOne,
    /// The difference is within the noise floor, or within the noise that the repeat shows.
    WithinNoise,
    /// The counts differ by no more than [`DEAD_ZONE`].
    WithinDeadZone,
    /// This build does not know the metric, or cannot compare it in this way.
    UnknownMetric,
}

impl ClaimResult {
    /// A result without numbers.
    fn new(outcome: ClaimOutcome) -> ClaimResult {
        ClaimResult { outcome, value: None, against: None, ratio: None, interval: None, is_simultaneous: false }
    }
}

/// Returns the report's comparison of an operation in a strategy with the baseline.
type Reported<'c> = dyn Fn(usize, usize) -> Option<Comparison> + 'c;

/// Decides every claim of the run. `reported` returns the report's comparison of an operation in a strategy with the baseline.
pub fn claim_results(record: &RunRecord, reported: &Reported) -> Vec<ClaimResult> {
    if record.claims.is_empty() {
        return Vec::new();
    }
    let is_invalid = !invalid_reasons(record).is_empty();
    let decided = record.claims.iter().map(|claim| claim_result(record, claim, is_invalid, reported));
    decided.map(|result| result.unwrap_or_else(|reason| ClaimResult::new(ClaimOutcome::Undecided(reason)))).collect()
}

fn claim_result(
    record: &RunRecord,
    claim: &ClaimRecord,
    is_invalid: bool,
    reported: &Reported,
) -> Result<ClaimResult, UndecidedReason> {
    let strategy = |name: &str| record.strategies.iter().position(|entry| entry.name == name);
    let mine = strategy(&claim.strategy);
    let other = match &claim.than {
        Than::Strategy(name) => Some((name, strategy(name))),
        Than::Number(_) => None,
    };
    let operation = claim.operation.as_ref().map(|name| (name, called(record, name)));
    let named = [Some((&claim.strategy, mine)), other, operation].into_iter().flatten();
    let absent: Vec<String> = named.filter(|(_, place)| place.is_none()).map(|(name, _)| name.clone()).collect();
    if !absent.is_empty() {
        return Err(UndecidedReason::NotInRun(absent));
    }
    if is_invalid {
        return Err(UndecidedReason::InvalidRun);
    }
    let mine = mine.ok_or(UndecidedReason::UnknownMetric)?;
    let theirs = other.and_then(|(_, place)| place).ok_or(UndecidedReason::UnknownMetric);
    if let Some(metric) = measured(&claim.metric) {
        if claim.relation == Relation::Equals {
            return Err(UndecidedReason::UnknownMetric);
        }
        let operation = operation.and_then(|(_, place)| place);
        return StrategyPair { record, metric, operation, mine, theirs: theirs? }.compare(claim.relation, reported);
    }
    let value = count(record, claim, mine)?;
    let against = match claim.than {
        Than::Number(number) => number,
        Than::Strategy(_) => count(record, claim, theirs?)?,
    };
    Ok(counted(value, against, claim.relation))
}

/// A metric that is compared over rounds.
fn measured(name: &str) -> Option<Metric> {
    Metric::named(name, MetricUse::Claim).filter(|metric| metric.is_measured())
}

/// The place of an operation that was called in this run, if only for its own cost.
fn called(record: &RunRecord, name: &str) -> Option<usize> {
    let place = record.operations.iter().position(|operation| operation == name)?;
    let measured = (0..record.strategies.len()).flat_map(|strategy| operations(record, strategy, place));
    let is_called = measured.map(|operation| operation.calls).any(|calls| calls > 0)
        || record.own_costs.iter().any(|cost| cost.operation == name && cost.calls > 0);
    is_called.then_some(place)
}

/// Two strategies, and the metric that is compared over rounds.
struct StrategyPair<'r> {
    record: &'r RunRecord,
    metric: Metric,
    operation: Option<usize>,
    mine: usize,
    theirs: usize,
}

impl StrategyPair<'_> {
    fn compare(&self, relation: Relation, reported: &Reported) -> Result<ClaimResult, UndecidedReason> {
        let StrategyPair { record, metric, mine, theirs, .. } = *self;
        let (values, others) = (self.rounds(mine), self.rounds(theirs));
        let estimate = Estimate::of(&log_ratios(&values, &others)).ok_or_else(|| self.without_rounds())?;
        let reported = self.reported(reported);
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
            match interval.filter(ConfidenceInterval::excludes_one) {
                None => ClaimOutcome::Undecided(UndecidedReason::IncludesOne),
                Some(_) if is_noise => ClaimOutcome::Undecided(UndecidedReason::WithinNoise),
                Some(interval) if (interval.high < 1.0) == (relation == Relation::Below) => ClaimOutcome::Confirmed,
                Some(_) => ClaimOutcome::Refuted,
            }
        };
        Ok(ClaimResult {
            outcome,
            value: geometric_mean(&values),
            against: geometric_mean(&others),
            ratio: Some(estimate.ratio()),
            interval,
            is_simultaneous: reported.is_some(),
        })
    }

    /// The metric per round.
    fn rounds(&self, strategy: usize) -> Vec<Option<f64>> {
        let quantile = |cell: &CellRecord, share: f64| {
            let operations = self.operation.map_or(&[][..], |place| selected(&cell.operations, Some(place)));
            Distribution::of(operations.iter()).quantile(share).map(|time| time as f64)
        };
        let in_round = |round: &RoundRecord| {
            let cell = round.cells.get(strategy)?;
            match self.metric {
                Metric::Time(TimeMetric::Quantile(share)) => quantile(cell, share),
                Metric::Time(TimeMetric::Mean) => mean(cell.operations.get(self.operation?)?),
                Metric::Throughput => Some(cell.calls as f64 / cell.seconds),
                Metric::Max | Metric::Failed | Metric::RoundTrips | Metric::Counter(_) | Metric::StorageBytes => None,
            }
        };
        let values = self.record.rounds.iter().map(in_round);
        values.map(|value| value.filter(|value| value.is_finite() && *value > 0.0)).collect()
    }

    /// Why there are too few rounds with a ratio.
    fn without_rounds(&self) -> UndecidedReason {
        let rounds = self.record.rounds.len();
        if rounds < MINIMUM_ROUNDS {
            UndecidedReason::NotComparable(InconclusiveReason::TooFewRounds(rounds))
        } else if matches!(self.metric, Metric::Time(TimeMetric::Quantile(_))) {
            UndecidedReason::FewCalls
        } else {
            UndecidedReason::NotReported
        }
    }

    /// How far the repeat shows that noise alone moves this metric's log ratio from 0.
    fn band(&self) -> Option<f64> {
        let repeat = self.record.strategies.iter().position(|strategy| strategy.is_repeat)?;
        Estimate::of(&log_ratios(&self.rounds(repeat), &self.rounds(0)))?.band()
    }

    /// The report's interval of a mean against the baseline's; `None` where the report has no such comparison.
    fn reported(&self, reported: &Reported) -> Option<Option<ConfidenceInterval>> {
        let operation = self.operation.filter(|_| self.metric == Metric::Time(TimeMetric::Mean))?;
        let interval = |strategy: usize, against: usize| {
            let comparison = reported(operation, strategy).filter(|comparison| comparison.against == against)?;
            Some(comparison.ratio?.interval)
        };
        let inverse = |of: ConfidenceInterval| ConfidenceInterval { low: 1.0 / of.high, high: 1.0 / of.low };
        let (mine, theirs) = (self.mine, self.theirs);
        interval(mine, theirs).or_else(|| interval(theirs, mine).map(|interval| interval.map(inverse)))
    }
}

/// The value of a counted metric in a strategy.
fn count(record: &RunRecord, claim: &ClaimRecord, strategy: usize) -> Result<f64, UndecidedReason> {
    let name = record.strategies.get(strategy).map(|entry| entry.name.as_str());
    let cost = || own_cost(record, name?, claim.operation.as_deref()?);
    let per_call = |cost: &OwnCostRecord, sum: f64| Some(sum / cost.calls as f64).filter(|value| value.is_finite());
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
    if growth.is_empty() {
        return Err(UndecidedReason::NotReported);
    }
    Ok(growth.iter().map(|growth| growth.storage.after + growth.indexes.after).sum())
}

fn counted(value: f64, against: f64, relation: Relation) -> ClaimResult {
    let is_within = |share: f64| (value - against).abs() <= against.abs() * share;
    let decided = |is_confirmed: bool| if is_confirmed { ClaimOutcome::Confirmed } else { ClaimOutcome::Refuted };
    let outcome = match relation {
        Relation::Equals => decided(is_within(ROUNDING)),
        Relation::Below | Relation::Above if is_within(DEAD_ZONE) => {
            ClaimOutcome::Undecided(UndecidedReason::WithinDeadZone)
        }
        Relation::Below => decided(value < against),
        Relation::Above => decided(value > against),
    };
    ClaimResult { value: Some(value), against: Some(against), ..ClaimResult::new(outcome) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Arrivals, RunRecord};
    use crate::stats::{compare, sample};

    /// A claim in short form: `p50 read_post linked below embedded`; `-` for no operation.
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
        for (text, expected) in [
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
            assert_eq!(outcome(run(), text), expected, "{text}");
        }
    }

    #[test]
    fn means_against_the_baseline_have_the_interval_of_the_table() {
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
        // 940 to 610 µs, times the place of the typical call in the distribution.
        assert!((quantile.ratio.unwrap() / (940.0 / 610.0) - 1.0).abs() < 0.02, "{quantile:?}");
    }

    #[test]
    fn times_that_cannot_be_compared_are_undecided() {
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
        // A repeat with the times of linked makes its difference noise.
        let repeat = with(&|run| {
            (run.strategies[2].is_repeat, run.strategies[2].is_unsafe) = (true, false);
            run.rounds.iter_mut().for_each(|round| round.cells[2] = round.cells[1].clone());
        });
        assert_eq!(reason(repeat, text), UndecidedReason::WithinNoise);
        // Its mean is above in some rounds and below in others.
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
        for (text, expected) in [
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
            assert_eq!(outcome(run(), text), expected, "{text}");
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
    fn files_without_a_checkpoint_decide_nothing() {
        let mut run = sample::run(2);
        run.rounds[1].cells[1].after[1].checkpointed = false;
        assert_eq!(reason(run, "storage_bytes - linked below embedded"), UndecidedReason::NotCheckpointed);
        assert_eq!(reason(sample::run(0), "storage_bytes - linked below embedded"), UndecidedReason::NotReported);
    }
}
