//! Whether a run confirms the scenario's claims.
//!
//! Nothing is measured for them: times come from the rounds, counts from the own costs and the sizes.

use std::collections::BTreeMap;

use crate::record::{Metric, MetricUse, Part, TimeMetric};
use crate::results::{CellRecord, ClaimRecord, CollectionSizes, Preset, Relation, RoundRecord, RunRecord, Than};

use super::compare::{
    ArmTimes, InconclusiveReason, Judge, Limits, MINIMUM_ROUNDS, Quantity, Verdict, obstacle, pooled_means,
};
use super::cost::{OwnCost, own_cost};
use super::estimate::{ConfidenceInterval, Estimate, log_ratios};
use super::family::Family;
use super::latency::{Distribution, geometric_mean, mean};
use super::shared_cache::SharedCache;
use super::{cell_rate, cells, collection_growth, invalid_reasons, operations, selected};

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
    /// Counts, which are exact.
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
    let is_invalid = parts.values().any(|part| !invalid_reasons(part).is_empty());
    let run = MeasuredRun { record, parts, cache: &SharedCache::of(parts), is_invalid };
    let decisions: Vec<_> = record.claims.iter().map(|claim| run.decision(claim)).collect();
    let tested = decisions.iter().filter_map(|decision| match decision {
        Ok(Decision::Rounds(pair, _)) => pair.tested(),
        Ok(Decision::Counts(_)) | Err(_) => None,
    });
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

/// A run and its parts.
#[derive(Clone, Copy)]
struct MeasuredRun<'r> {
    record: &'r RunRecord,
    parts: &'r BTreeMap<Part, RunRecord>,
    cache: &'r SharedCache,
    is_invalid: bool,
}

impl<'r> MeasuredRun<'r> {
    /// The part that decides a metric: means and counts of an operation by itself, quantiles at the common rate (or under
    /// load at all), throughput at saturation, and sizes after the last part.
    fn part_of(self, metric: Metric) -> Option<&'r RunRecord> {
        let find = |parts: &[Part]| parts.iter().find_map(|part| self.parts.get(part));
        match metric {
            Metric::Time(TimeMetric::Mean) | Metric::RoundTrips | Metric::Counter(_) => find(&[Part::Own]),
            Metric::Time(TimeMetric::Quantile(_)) | Metric::Max | Metric::Failed => {
                find(&[Part::Rate, Part::Saturation])
            }
            Metric::Throughput => find(&[Part::Saturation]),
            Metric::StorageBytes => self.parts.values().next_back(),
        }
    }

    fn decision(self, claim: &ClaimRecord) -> Result<Decision<'r>, UndecidedReason> {
        let record = self.record;
        let strategy = |name: &str| record.strategies.iter().position(|entry| entry.name == name);
        let mine = strategy(&claim.strategy);
        let other = match &claim.than {
            Than::Strategy(name) => Some((name, strategy(name))),
            Than::Number(_) => None,
        };
        let operation = claim.operation.as_ref().map(|name| (name, self.called(name)));
        let named = [Some((&claim.strategy, mine)), other, operation].into_iter().flatten();
        let absent: Vec<String> = named.filter(|(_, place)| place.is_none()).map(|(name, _)| name.clone()).collect();
        if !absent.is_empty() {
            return Err(UndecidedReason::NotInRun(absent));
        }
        if self.is_invalid {
            return Err(UndecidedReason::InvalidRun);
        }
        let metric = Metric::named(&claim.metric, MetricUse::Claim).ok_or(UndecidedReason::UnknownMetric)?;
        let part = self.part_of(metric).ok_or(UndecidedReason::NotReported)?;
        let mine = mine.ok_or(UndecidedReason::UnknownMetric)?;
        let theirs = other.and_then(|(_, place)| place).ok_or(UndecidedReason::UnknownMetric);
        if metric.is_measured() {
            if claim.relation == Relation::Equals {
                return Err(UndecidedReason::UnknownMetric);
            }
            let operation = operation.and_then(|(_, place)| place);
            let pair = StrategyPair { record: part, cache: self.cache, metric, operation, mine, theirs: theirs? };
            return Ok(Decision::Rounds(pair, claim.relation));
        }
        let operation = operation.and_then(|(_, place)| place);
        let value = count(part, metric, operation, mine)?;
        let against = match claim.than {
            Than::Number(number) => number,
            Than::Strategy(_) => count(part, metric, operation, theirs?)?,
        };
        Ok(Decision::Counts(counted(value, against, claim.relation)))
    }

    /// The place of an operation that was called in this run.
    fn called(self, name: &str) -> Option<usize> {
        let place = self.record.operations.iter().position(|operation| operation == name)?;
        let calls =
            |part: &RunRecord, strategy| -> u64 { operations(part, strategy, place).map(|one| one.calls).sum() };
        let is_called = |part: &RunRecord| (0..part.strategies.len()).any(|strategy| calls(part, strategy) > 0);
        self.parts.values().any(is_called).then_some(place)
    }
}

/// Two strategies, and the metric that is compared over rounds.
struct StrategyPair<'r> {
    record: &'r RunRecord,
    cache: &'r SharedCache,
    metric: Metric,
    operation: Option<usize>,
    mine: usize,
    theirs: usize,
}

impl StrategyPair<'_> {
    fn compare(
        &self,
        relation: Relation,
        critical: Option<f64>,
        p: Option<f64>,
    ) -> Result<ClaimResult, UndecidedReason> {
        let StrategyPair { record, mine, theirs, .. } = *self;
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
            against: geometric_mean(&self.rounds(theirs)),
            ratio: Some(estimate.ratio()),
            interval,
        })
    }

    /// The log ratios of a member of the claims' family; `None` for a claim that nothing can decide.
    fn tested(&self) -> Option<Vec<Option<f64>>> {
        let log_ratios = self.log_ratios();
        let rounds = log_ratios.iter().flatten().count();
        (self.obstacle().is_none() && rounds >= MINIMUM_ROUNDS).then_some(log_ratios)
    }

    /// Why nothing over rounds can decide the claim.
    fn obstacle(&self) -> Option<UndecidedReason> {
        let settings = &self.record.settings;
        let arm = |strategy: usize| ArmTimes::of(self.record, strategy, self.operation).beside_others(self.cache);
        if settings.preset == Preset::Smoke {
            Some(UndecidedReason::SmokePreset)
        } else {
            let obstacle = obstacle(&arm(self.mine), &arm(self.theirs), Limits::of(settings));
            obstacle.map(UndecidedReason::NotComparable)
        }
    }

    fn log_ratios(&self) -> Vec<Option<f64>> {
        log_ratios(&self.pooled(self.mine), &self.pooled(self.theirs))
    }

    /// The metric per round; of the baseline, together with its repeat.
    fn pooled(&self, strategy: usize) -> Vec<Option<f64>> {
        let (values, again) = (self.rounds(strategy), self.repeat().filter(|_| strategy == 0));
        let pooled = again.map(|again| pooled_means(&values, &self.rounds(again)));
        let count = |values: &[Option<f64>]| values.iter().flatten().count();
        pooled.filter(|pooled| count(pooled) == count(&values)).unwrap_or(values)
    }

    fn repeat(&self) -> Option<usize> {
        self.record.strategies.iter().position(|strategy| strategy.is_repeat)
    }

    /// The metric per round.
    fn rounds(&self, strategy: usize) -> Vec<Option<f64>> {
        let quantile = |cell: &CellRecord, share: f64| {
            let operations = self.operation.map_or(&[][..], |place| selected(&cell.operations, Some(place)));
            Distribution::of(operations.iter(), self.record.settings.timeout()).quantile(share).map(|time| time as f64)
        };
        let in_round = |round: &RoundRecord| {
            let cell = round.cells.get(strategy)?;
            match self.metric {
                Metric::Time(TimeMetric::Quantile(share)) => quantile(cell, share),
                Metric::Time(TimeMetric::Mean) => mean(cell.operations.get(self.operation?)?),
                Metric::Throughput => cell_rate(cell, &self.record.settings),
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
        Estimate::of(&log_ratios(&self.rounds(self.repeat()?), &self.rounds(0)))?.band()
    }
}

/// The value of a counted metric in a strategy.
fn count(
    record: &RunRecord,
    metric: Metric,
    operation: Option<usize>,
    strategy: usize,
) -> Result<f64, UndecidedReason> {
    let cost = || own_cost(record, strategy, operation?);
    let per_call = |cost: &OwnCost, sum: f64| Some(sum / cost.calls as f64).filter(|value| value.is_finite());
    let value = match metric {
        Metric::RoundTrips => cost().and_then(|cost| per_call(&cost, cost.round_trips as f64)),
        Metric::Counter(known) => cost().and_then(|cost| per_call(&cost, *cost.counters.get(known.name)?)),
        Metric::StorageBytes => return storage(record, strategy),
        Metric::Time(_) | Metric::Max | Metric::Throughput | Metric::Failed => {
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
    use crate::results::RunRecord;
    use crate::stats::sample;

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
        let run = if run.parts.is_empty() { sample::whole(&run) } else { run };
        claim_results(&run, &run.all_parts()).remove(0)
    }

    /// The counters of embedded in the first round, per operation.
    fn own_counters(run: &mut RunRecord) -> &mut Vec<BTreeMap<String, f64>> {
        &mut run.parts.get_mut(&Part::Own).unwrap()[0].cells[0].own_counters
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
    fn claims_over_rounds_are_one_family() {
        let alone = "mean read_post linked above embedded";
        let one = found(sample::run(8), alone);
        let mut run = sample::run(8);
        run.claims =
            [alone, "mean count linked below embedded", "round_trips count linked equals 1"].map(claim).to_vec();
        let run = sample::whole(&run);
        let together = claim_results(&run, &run.all_parts());
        let width = |result: &ClaimResult| result.interval.map(|interval| interval.high / interval.low).unwrap();
        assert!(width(&together[0]) > width(&one), "{one:?} {together:?}");
        let turned = found(sample::run(8), "mean read_post embedded below linked");
        let (interval, turned) = (one.interval.unwrap(), turned.interval.unwrap());
        assert!((interval.low * turned.high - 1.0).abs() < 1e-12 && interval.low > 1.0);
        let quantile = found(sample::run(8), "p50 read_post linked above embedded");
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
        assert_eq!(reason(sample::run(0), text), UndecidedReason::NotInRun(vec!["add_comment".into()]));
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
    fn a_shared_cache_decides_no_claim_over_rounds() {
        let mut run = sample::whole(&sample::run(8));
        for cell in run.parts.values_mut().flatten().flat_map(|round| &mut round.cells) {
            for counters in cell.own_counters.iter_mut().chain([&mut cell.counters]) {
                counters.insert("cache_bytes_written".into(), 90e6);
                counters.insert("oplog_bytes".into(), 0.0);
            }
        }
        let found = reason(run.clone(), "mean read_post linked above embedded");
        assert!(
            matches!(found, UndecidedReason::NotComparable(InconclusiveReason::WriteBack { strategy: 1, .. })),
            "{found:?}"
        );
        assert_eq!(outcome(run, "round_trips read_post linked equals 2"), ClaimOutcome::Confirmed);
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
        let mut run = sample::whole(&run());
        for (grown, documents) in own_counters(&mut run).iter_mut().zip([420.0, 0.0, 0.0]) {
            grown.insert("documents_examined".into(), documents);
            grown.insert("oplog_bytes".into(), documents);
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
