//! What calls cost the server.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{COUNTERS, Counter, Metric, ROUND_TRIPS};
use crate::results::{CellRecord, DeferredCost, RoundRecord, RunRecord, TimesRecord};

use super::Distribution;
use super::latency::{answered, totals};
use super::series::{RoundSeries, SeriesKey};
use super::student::t_quantile;
use super::view::{cells, operations};

/// What a call of the mix costs, by one counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The mean over rounds, per call.
    pub per_call: f64,
    /// How far the mean may be off by the rounds' spread: t(0.975) standard errors; 0 where all rounds agree, `None` with a
    /// single round.
    pub half_width: Option<f64>,
    /// The mean divided by the first strategy's; `None` where that has none.
    pub ratio: Option<f64>,
}

/// The counters that the server reported for any cell.
pub fn counters(record: &RunRecord) -> BTreeSet<&str> {
    let cells = record.rounds.iter().flat_map(|round| &round.cells);
    cells.flat_map(|cell| cell.counters.keys()).map(String::as_str).collect()
}

/// A counter's growth per measured call of the mix; `None` where no round has it.
pub fn window_cost(record: &RunRecord, strategy: usize, counter: &str) -> Option<Cost> {
    let (per_call, half_width) = over_rounds(record, strategy, counter)?;
    let baseline = over_rounds(record, 0, counter).map(|(mean, _)| mean).filter(|mean| *mean > 0.0);
    let ratio = baseline.map(|baseline| per_call / baseline).filter(|ratio| ratio.is_finite());
    Some(Cost { per_call, half_width, ratio })
}

fn over_rounds(record: &RunRecord, strategy: usize, counter: &str) -> Option<(f64, Option<f64>)> {
    let per_call = |cell: &CellRecord| Some(cell.counter(counter)? / cell.calls as f64);
    let values: Vec<f64> = cells(record, strategy).filter_map(per_call).filter(|value| value.is_finite()).collect();
    let rounds = values.len() as f64;
    let mean = values.iter().sum::<f64>() / rounds;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half_width = (values.len() > 1).then(|| match squares {
        0.0 => 0.0,
        squares => t_quantile(0.975, values.len() - 1) * (squares / (rounds - 1.0) / rounds).sqrt(),
    });
    mean.is_finite().then_some((mean, half_width))
}

/// What a call of one operation of one strategy costs when nothing else runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnCost {
    /// Measured calls.
    pub calls: u64,
    /// Messages exchanged per call.
    pub round_trips: f64,
    /// The growth per call of the counters that the server reported in every round.
    pub counters: BTreeMap<String, f64>,
}

impl OwnCost {
    /// The growth of a counter per call; `None` where the server did not report it.
    pub fn per_call(&self, counter: &str) -> Option<f64> {
        self.counters.get(counter).copied()
    }

    /// The same of a column of own costs, which may be the round trips.
    pub fn of(&self, column: &Counter) -> Option<f64> {
        if column.name == ROUND_TRIPS.name { Some(self.round_trips) } else { self.per_call(column.name) }
    }
}

/// The own cost of one operation of one strategy, from the record of the part that measures own costs; `None` without calls.
pub fn own_cost(record: &RunRecord, strategy: usize, operation: usize) -> Option<OwnCost> {
    let of = |metric| RoundSeries::of(record, SeriesKey::new(metric, strategy, Some(operation)));
    let calls = operations(record, strategy, operation).map(|one| one.calls).sum();
    let round_trips = of(Metric::RoundTrips).value?;
    let called = |round: &RoundRecord| Some(round.cells.get(strategy)?.operations.get(operation)?.calls > 0);
    let is_called = |round: &RoundRecord| called(round) == Some(true);
    let per_call = |counter: &Counter| {
        let series = of(Metric::Counter(Counter::named(counter.name)?));
        let is_reported = |(value, round): (&Option<f64>, &RoundRecord)| value.is_some() || !is_called(round);
        let is_reported = series.rounds.iter().zip(&record.rounds).all(is_reported);
        Some((counter.name.to_owned(), series.value.filter(|_| is_reported)?))
    };
    Some(OwnCost { calls, round_trips, counters: COUNTERS.iter().filter_map(per_call).collect() })
}

/// What 1,000 calls of a strategy left for the server to write, over all rounds; `None` where it was not measured in all of them.
pub fn deferred(record: &RunRecord, strategy: usize) -> Option<DeferredCost> {
    let thousands = cells(record, strategy).map(|cell| cell.calls as f64).sum::<f64>() / 1e3;
    let costs: Vec<_> = cells(record, strategy).map(|cell| cell.deferred).collect::<Option<_>>()?;
    let seconds: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let bytes: Option<f64> = costs.iter().map(|cost| cost.bytes).sum();
    (thousands > 0.0)
        .then(|| DeferredCost { seconds: seconds / thousands, bytes: bytes.map(|bytes| bytes / thousands) })
}

/// From the first write acknowledged to the last, of all calls that wrote more than once; `None` without any.
pub fn inconsistency(record: &RunRecord, strategy: usize, operation: usize) -> Option<Distribution> {
    some_of(operations(record, strategy, operation).filter_map(|operation| operation.inconsistency.as_ref()))
}

/// The answered calls of an operation while a job ran, and the others.
#[derive(Debug, Clone)]
pub struct BesideJob {
    /// The times while a job ran: with open load from the intended start.
    pub times: Distribution,
    /// Their exact mean in nanoseconds.
    pub mean: f64,
    /// That of the calls without a job; `None` where there were none.
    pub alone: Option<f64>,
}

/// What jobs do to an operation; `None` where no call of it met one.
pub fn beside_job(record: &RunRecord, strategy: usize, operation: usize) -> Option<BesideJob> {
    let beside = || operations(record, strategy, operation).filter_map(|operation| operation.beside_job.as_ref());
    let all = operations(record, strategy, operation).flat_map(answered);
    let all = all.map(|outcome| (outcome.headline(outcome.sum, |times| times.sum), outcome.count));
    let (met, all) = (totals(beside().map(|times| (times.sum, times.count))), totals(all));
    let others = (all.0.saturating_sub(met.0), all.1.saturating_sub(met.1));
    let mean = |(sum, count): (u128, u128)| (count > 0).then(|| sum as f64 / count as f64);
    Some(BesideJob { times: some_of(beside())?, mean: mean(met)?, alone: mean(others) })
}

fn some_of<'r>(times: impl Iterator<Item = &'r TimesRecord>) -> Option<Distribution> {
    let times = Distribution::merged(times.map(|times| &times.histogram));
    (times.calls() > 0).then_some(times)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::sample;
    use super::*;
    use crate::record::{CallOutcome, LatencyHistogram};
    use crate::results::OutcomeRecord;

    #[test]
    fn a_cost_is_per_call_and_its_spread_is_that_of_rounds() {
        let mut run = sample::run(3);
        for (round, grown) in run.rounds.iter_mut().zip([915.0, 1_830.0, 2_745.0]) {
            round.cells[0].counters.insert("requests".into(), 1_830.0);
            round.cells[1].counters.insert("requests".into(), grown);
        }
        assert!(counters(&run).contains("requests"));
        let baseline = window_cost(&run, 0, "requests").unwrap();
        assert_eq!(baseline, Cost { per_call: 2.0, half_width: Some(0.0), ratio: Some(1.0) });
        // 1, 2 and 3 per call: deviation 1, t(0.975, 2) = 4.3027, over the root of 3.
        let other = window_cost(&run, 1, "requests").unwrap();
        assert_eq!((other.per_call, other.ratio), (2.0, Some(1.0)));
        assert!((other.half_width.unwrap() - 2.4842).abs() < 1e-3, "{other:?}");
        assert_eq!(window_cost(&run, 2, "requests"), None);
    }

    #[test]
    fn one_round_has_no_spread_and_a_baseline_of_0_no_ratio() {
        let mut run = sample::run(1);
        run.rounds[0].cells[0].counters.insert("collection_scans".into(), 0.0);
        run.rounds[0].cells[1].counters.insert("collection_scans".into(), 915.0);
        let cost = window_cost(&run, 1, "collection_scans");
        assert_eq!(cost, Some(Cost { per_call: 1.0, half_width: None, ratio: None }));
    }

    fn times(calls: u64, each: u64) -> TimesRecord {
        let mut times = LatencyHistogram::new(Duration::from_secs(10));
        (0..calls).for_each(|_| times.record(each));
        TimesRecord::new(&times)
    }

    /// Of the 300 calls of operation 1 in a round, 100 met a job and took `met` of the `sum` of all.
    fn with_job(run: &mut RunRecord, round: usize, met: u64, sum: u64) {
        let operation = &mut run.rounds[round].cells[1].operations[1];
        operation.beside_job = Some(times(100, met / 100));
        let outcome = &mut operation.outcomes[0];
        (outcome.count, outcome.sum, outcome.response) = (300, sum, None);
        operation.outcomes.truncate(1);
    }

    #[test]
    fn calls_beside_a_job_are_told_from_the_others() {
        let mut run = sample::run(2);
        assert!(beside_job(&run, 1, 1).is_none(), "no call met a job");
        // 100 of 300 calls took 4 ms each, the others 1 ms each; in the other round it was 2 ms and 1 ms.
        with_job(&mut run, 0, 400_000_000, 600_000_000);
        with_job(&mut run, 1, 200_000_000, 400_000_000);
        let found = beside_job(&run, 1, 1).unwrap();
        assert_eq!((found.times.calls(), found.mean, found.alone), (200, 3_000_000.0, Some(1_000_000.0)));
        assert!(beside_job(&run, 0, 1).is_none() && beside_job(&run, 1, 0).is_none(), "others did not");
    }

    #[test]
    fn beside_a_job_failures_do_not_count_and_open_load_counts_from_the_start() {
        let mut run = sample::run(1);
        with_job(&mut run, 0, 400_000_000, 600_000_000);
        let outcomes = &mut run.rounds[0].cells[1].operations[1].outcomes;
        // Waiting for a free client is part of it: 5 ms on average instead of 2.
        outcomes[0].response = Some(TimesRecord { sum: 1_500_000_000, ..times(300, 5_000_000) });
        let failed = OutcomeRecord { outcome: CallOutcome::Failed, sum: 1 << 40, ..outcomes[0].clone() };
        outcomes.push(failed);
        let found = beside_job(&run, 1, 1).unwrap();
        assert_eq!((found.mean, found.alone), (4_000_000.0, Some(5_500_000.0)));
    }

    #[test]
    fn where_all_calls_met_a_job_there_is_nothing_to_compare_with() {
        let mut run = sample::run(1);
        with_job(&mut run, 0, 400_000_000, 400_000_000);
        let operation = &mut run.rounds[0].cells[1].operations[1];
        operation.outcomes[0].count = 100;
        assert_eq!(beside_job(&run, 1, 1).unwrap().alone, None);
    }
}
