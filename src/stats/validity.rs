//! Whether a run is valid: the reasons why not, overloaded strategies, and warnings about the machine.
//!
//! An unsafe strategy never makes a run invalid: it is a negative control, expected to fail, and takes no part in the
//! verdict. The repeat does count: it is the baseline, and without it the noise band is unknown.

use crate::results::{CellRecord, OpenRecord, Part, RoundRecord, RunRecord, ServerSharing, TimesRecord};

use super::compare::Limits;
use super::latency::arithmetic_mean;
use super::view::{all_operations, cells, judged};
use super::{Distribution, achieved_share, anomalies, outcome_totals, service_mean};

/// A share of the calls due below which an arm counts as overloaded.
pub const ACHIEVED: f64 = 0.98;

/// The lag of the pacer in nanoseconds above which a run is invalid, unless the service p99 is greater.
const PACER_LAG: f64 = 2e6;

/// The share of the processors' time given to others above which times are too long to be quoted.
pub(crate) const STEAL: f64 = 0.05;

/// A load thread that computes for more of its time than this may be what limits the throughput.
const BUSY: f64 = 0.9;

/// The mean wait for a connection, as a share of the mean service time, above which there is a warning.
const CHECK_OUT: f64 = 0.1;

/// Why the numbers of a run must not be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InvalidReason {
    /// Connections were made while calls were measured, this many: some calls waited for one.
    Connections(u64),
    /// More calls failed than the error budget allows: failed calls per call.
    Errors(f64),
    /// Audits found anomalies, this many over all audits and cells: the data are wrong, so the strategy did not do the same
    /// work.
    Anomalies(u64),
    /// This many calls took longer than can be recorded, so that means and maxima are too low.
    Saturated(u64),
    /// The strategy did not keep up while the primary changed: the share (0 to 1) of the calls due that it answered.
    Disturbed(f64),
    /// Calls were released too late, so that their times are not those of the arrivals asked for.
    PacerLag {
        /// The median over cells of its p99 in nanoseconds.
        lag: f64,
        /// The greatest that is allowed.
        allowed: f64,
    },
}

/// What the machine or the pool may have added to the numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum EnvironmentWarning {
    /// The hypervisor gave processor time to others, so much that it could move a ratio or a time: the strategy from which it took
    /// the most, and the one from which it took the least, each with the share (0 to 1), the mean over rounds.
    Steal {
        /// The most.
        most: (usize, f64),
        /// The least.
        least: (usize, f64),
    },
    /// A load thread hardly ever waited.
    LoadThread {
        /// The strategies.
        strategies: Vec<usize>,
        /// The greatest median over cells of the share (0 to 1) of its time for which it was computing.
        busy: f64,
    },
    /// Calls waited for a connection of the pool: the strategies, each with the share (0 to 1) of its service time that this
    /// took, the median over cells.
    CheckOut(Vec<(usize, f64)>),
    /// Connections were made, or calls took longer than can be recorded, in this unsafe strategy.
    Unsafe(usize, InvalidReason),
    /// All strategies' data together are more than half of the server's cache, and they shared it.
    Cache {
        /// Data and indexes of all strategies, in bytes.
        data: u64,
        /// The cache, in bytes.
        cache: u64,
    },
}

/// The strategies that make a run invalid, and why; none for a valid one. The ends of the curve of response times are only
/// described, and decide nothing: what is wrong there is said where they are shown.
pub fn invalid_reasons(record: &RunRecord) -> Vec<(usize, InvalidReason)> {
    if record.part.is_some_and(Part::is_end_of_curve) { Vec::new() } else { wrong(record) }
}

/// The strategies whose numbers of a part are wrong, and why.
pub fn wrong(record: &RunRecord) -> Vec<(usize, InvalidReason)> {
    strategies(record, false).flat_map(|strategy| faults(record, strategy)).collect()
}

/// The strategies that are unsafe, or those that are not.
fn strategies(record: &RunRecord, is_unsafe: bool) -> impl Iterator<Item = usize> + '_ {
    (0..record.strategies.len()).filter(move |strategy| record.strategies[*strategy].is_unsafe == is_unsafe)
}

fn faults(record: &RunRecord, strategy: usize) -> Vec<(usize, InvalidReason)> {
    // A failover is an event of the run; connections are then made to the new primary.
    let rounds = record.rounds.iter().filter(|round| record.events.iter().all(|event| event.round != round.index));
    let quiet = rounds.filter_map(|round| round.cells.get(strategy));
    let created = quiet.map(|cell| cell.connections_created).fold(0, u64::saturating_add);
    let totals = outcome_totals(all_operations(record, strategy));
    let (share, calls) = (totals.failed_share(), totals.saturated);
    let count = anomalies(record, strategy).iter().map(|audit| audit.total).sum();
    let faults = [
        (created > 0).then_some(InvalidReason::Connections(created)),
        (share > record.settings.error_budget).then_some(InvalidReason::Errors(share)),
        (count > 0).then_some(InvalidReason::Anomalies(count)),
        (calls > 0).then_some(InvalidReason::Saturated(calls)),
        behind(record, strategy, true).map(InvalidReason::Disturbed),
        pacer_lag(record, strategy),
    ];
    faults.into_iter().flatten().map(|reason| (strategy, reason)).collect()
}

fn pacer_lag(record: &RunRecord, strategy: usize) -> Option<InvalidReason> {
    let lag = median(opened(record, strategy).filter_map(|open| p99(&open.pacer_lag)))?;
    if lag <= PACER_LAG {
        return None;
    }
    let service = median(cells(record, strategy).filter_map(|cell| {
        // Not the headline: a response time contains the lag that is judged here.
        let outcomes = cell.operations.iter().flat_map(|operation| &operation.outcomes);
        let times = Distribution::merged(outcomes.filter(|one| !one.outcome.is_failure()).map(|one| &one.service));
        times.quantile(0.99).or(times.max()).map(|time| time as f64)
    }));
    let allowed = service.unwrap_or(0.0).max(PACER_LAG);
    (lag > allowed).then_some(InvalidReason::PacerLag { lag, allowed })
}

fn opened(record: &RunRecord, strategy: usize) -> impl Iterator<Item = &OpenRecord> {
    cells(record, strategy).filter_map(|cell| cell.open.as_ref())
}

fn p99(times: &TimesRecord) -> Option<f64> {
    (times.count > 0).then(|| times.histogram.open().quantile(0.99) as f64)
}

/// The middle value; the mean of both middle ones of an even number.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let above = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { above } else { f64::midpoint(values[middle - 1], above) })
}

/// The share (0 to 1) of the calls due that an arm answered, when it is so small that the arm did not keep up: its
/// times are then those of a queue that grew. `None` for an arm that kept up, and with closed load. A round in which
/// the primary changed says nothing of it.
pub fn overloaded(record: &RunRecord, strategy: usize) -> Option<f64> {
    behind(record, strategy, false)
}

/// The share (0 to 1) of the calls due that an arm answered in the rounds in which the primary changed while it was
/// measured, or in the others, when it did not keep up there.
fn behind(record: &RunRecord, strategy: usize, is_disturbed: bool) -> Option<f64> {
    let has_event = |round: u64| record.events.iter().any(|event| event.is_in(round, strategy, record.part));
    let rounds = record.rounds.iter().filter(|round| has_event(round.index) == is_disturbed);
    let (mut offered, mut achieved) = (0.0, 0.0);
    for open in rounds.filter_map(|round| round.cells.get(strategy)?.open.as_ref()) {
        offered += open.offered as f64;
        achieved += achieved_share(open) * open.offered as f64;
    }
    let share = achieved / offered;
    (offered > 0.0 && share < ACHIEVED).then_some(share)
}

/// Whether the numbers of a whole run may be used.
pub fn is_valid(run: &RunRecord) -> bool {
    run.all_parts().values().all(|part| invalid_reasons(part).is_empty())
}

/// Whether the user named a rate with which a judged strategy of the whole run could not keep up.
pub fn misses_named_rate(run: &RunRecord) -> bool {
    let parts = run.all_parts();
    let rate = parts.get(&Part::Rate).filter(|rate| rate.settings.is_named_rate);
    rate.is_some_and(|rate| judged(rate).any(|strategy| overloaded(rate, strategy).is_some()))
}

/// What a reader should know of the machine, the pool and the cache while a run was measured.
pub fn environment_warnings(record: &RunRecord) -> Vec<EnvironmentWarning> {
    let waits: Vec<(usize, f64)> =
        (0..record.strategies.len()).filter_map(|strategy| check_out(record, strategy)).collect();
    let waits = (!waits.is_empty()).then_some(EnvironmentWarning::CheckOut(waits));
    let of_unsafe = strategies(record, true).flat_map(|strategy| faults(record, strategy));
    let of_unsafe = of_unsafe.filter_map(|(strategy, reason)| match reason {
        // An unsafe strategy is expected to fail; its errors are reported with its calls.
        InvalidReason::Errors(_) | InvalidReason::Anomalies(_) => None,
        reason => Some(EnvironmentWarning::Unsafe(strategy, reason)),
    });
    let first = [steal(record), load_thread(record), waits].into_iter().flatten();
    first.chain(of_unsafe).chain(cache(record)).collect()
}

fn steal(record: &RunRecord) -> Option<EnvironmentWarning> {
    let mean = |strategy| arithmetic_mean(cells(record, strategy).filter_map(|cell| cell.machine.steal));
    let shares = (0..record.strategies.len()).filter_map(|strategy| Some((strategy, mean(strategy)?)));
    let mut shares: Vec<(usize, f64)> = shares.collect();
    shares.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (least, most) = (*shares.first()?, *shares.last()?);
    let matters = most.1 > STEAL || most.1 - least.1 > Limits::of(&record.settings).floor();
    matters.then_some(EnvironmentWarning::Steal { most, least })
}

fn load_thread(record: &RunRecord) -> Option<EnvironmentWarning> {
    let busy = |strategy: usize| median(cells(record, strategy).filter_map(|cell| cell.machine.load_thread_busy));
    let found = (0..record.strategies.len()).filter_map(|strategy| Some((strategy, busy(strategy)?)));
    let found: Vec<(usize, f64)> = found.filter(|(_, busy)| *busy > BUSY).collect();
    let busiest = found.iter().map(|(_, busy)| *busy).fold(0.0, f64::max);
    let strategies = found.into_iter().map(|(strategy, _)| strategy).collect::<Vec<_>>();
    (!strategies.is_empty()).then_some(EnvironmentWarning::LoadThread { strategies, busy: busiest })
}

/// The mean wait for a connection as a share of the mean service time.
fn check_out(record: &RunRecord, strategy: usize) -> Option<(usize, f64)> {
    let wait = median(cells(record, strategy).filter_map(|cell| cell.check_out?.mean()))?;
    let share = wait / service_mean(all_operations(record, strategy))?;
    (share > CHECK_OUT).then_some((strategy, share))
}

fn cache(record: &RunRecord) -> Option<EnvironmentWarning> {
    let is_shared = record.settings.isolated.is_none() && record.server.servers == ServerSharing::Shared;
    let cache = record.server.cache_bytes.filter(|_| is_shared)?;
    let bytes = |cell: &CellRecord| {
        let sizes = cell.before.iter().map(|one| one.size.saturating_add(one.indexes_in_use()));
        sizes.fold(0, u64::saturating_add)
    };
    let together = |round: &RoundRecord| round.cells.iter().map(bytes).fold(0, u64::saturating_add);
    let data = record.rounds.iter().map(together).max()?;
    (data > cache / 2).then_some(EnvironmentWarning::Cache { data, cache })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::sample;
    use super::*;
    use crate::record::{LatencyHistogram, StoredHistogram, Waits};
    use crate::results::{EventKind, EventRecord};

    fn times(values: &[u64]) -> TimesRecord {
        let mut made = LatencyHistogram::new(Duration::from_secs(10));
        values.iter().for_each(|value| made.record(*value));
        let (count, saturated, sum) = (made.count(), made.saturated(), made.sum());
        TimesRecord { count, saturated, sum, histogram: StoredHistogram::new(&made) }
    }

    fn open(offered: u64, waiting: u64, lag: &[u64]) -> OpenRecord {
        let queue_wait = times(&[]);
        OpenRecord { offered, seconds: 1.0, waiting, skipped: 0, never_started: 0, pacer_lag: times(lag), queue_wait }
    }

    /// Changes every cell of one strategy.
    fn changed(rounds: u64, strategy: usize, change: impl Fn(&mut CellRecord)) -> RunRecord {
        let mut run = sample::run(rounds);
        run.rounds.iter_mut().for_each(|round| change(&mut round.cells[strategy]));
        run
    }

    #[test]
    fn a_run_without_faults_is_valid_and_without_warnings() {
        let run = sample::run(8);
        assert_eq!((invalid_reasons(&run), environment_warnings(&run), overloaded(&run, 0)), (vec![], vec![], None));
        assert_eq!(invalid_reasons(&sample::run(0)), []);
    }

    #[test]
    fn connections_errors_and_saturated_histograms_invalidate() {
        let mut run = sample::run(2);
        run.rounds[1].cells[0].connections_created = 3;
        assert_eq!(invalid_reasons(&run), [(0, InvalidReason::Connections(3))]);
        let mut run = sample::run(2);
        run.rounds[0].cells[1].operations[1].outcomes[0].saturated = 4;
        assert_eq!(invalid_reasons(&run), [(1, InvalidReason::Saturated(4))]);
        let mut run = sample::run(2);
        // Linked fails in 2 of 915 calls.
        run.settings.error_budget = 0.002;
        assert_eq!(invalid_reasons(&run), [(1, InvalidReason::Errors(2.0 / 915.0))]);
        run.settings.error_budget = 2.0 / 915.0;
        assert_eq!(invalid_reasons(&run), []);
    }

    #[test]
    fn unsafe_strategies_cause_warnings_and_invalidate_nothing() {
        let mut run = sample::run(2);
        run.rounds[1].cells[2].connections_created = 3;
        run.rounds[1].cells[2].operations[0] = run.rounds[1].cells[1].operations[0].clone();
        run.settings.error_budget = 0.0;
        run.strategies.remove(1);
        run.rounds.iter_mut().for_each(|round| drop(round.cells.remove(1)));
        assert_eq!(invalid_reasons(&run), []);
        assert_eq!(environment_warnings(&run), [EnvironmentWarning::Unsafe(1, InvalidReason::Connections(3))]);
        // The repeat is the baseline and counts.
        (run.strategies[1].is_unsafe, run.strategies[1].is_repeat) = (false, true);
        assert_eq!(invalid_reasons(&run).len(), 2);
    }

    #[test]
    fn a_late_pacer_invalidates_by_the_median_of_cells() {
        let late = |late_rounds: usize, lag: u64| {
            let mut run = sample::run(3);
            for (place, round) in run.rounds.iter_mut().enumerate() {
                let lag = if place < late_rounds { lag } else { 1_000 };
                round.cells[1].open = Some(open(1_000, 0, &[lag; 100]));
                // A response time contains the lag.
                for outcome in round.cells[1].operations.iter_mut().flat_map(|operation| &mut operation.outcomes) {
                    outcome.response = Some(times(&vec![lag + 1_000_000; outcome.count as usize]));
                }
            }
            invalid_reasons(&run)
        };
        // The longest of linked's calls, which are too few for a p99, took more than 8 ms and less than 50.
        assert_eq!(late(3, 1_900_000), []);
        assert_eq!(late(3, 4_000_000), [], "later than 2 ms, but not than the calls take");
        assert_eq!(late(1, 50_000_000), [], "one cell of three");
        let found = late(2, 50_000_000);
        assert!(
            matches!(found[..], [(1, InvalidReason::PacerLag { lag, .. })] if (lag / 50e6 - 1.0).abs() < 1e-2),
            "{found:?}"
        );
    }

    #[test]
    fn an_arm_that_does_not_keep_up_is_overloaded() {
        let with = |waiting: u64| overloaded(&changed(2, 1, |cell| cell.open = Some(open(1_000, waiting, &[]))), 1);
        assert_eq!((with(20), with(21)), (None, Some(0.979)));
        let mut both = open(1_000, 30, &[]);
        (both.skipped, both.never_started) = (25, 15);
        let run = changed(1, 1, |cell| cell.open = Some(both.clone()));
        assert_eq!(overloaded(&run, 1), Some(0.96), "40 were given up, among them those that waited");
        assert_eq!(overloaded(&changed(1, 1, |cell| cell.open = Some(open(0, 5, &[]))), 1), None);
    }

    #[test]
    fn calls_that_waited_for_a_new_primary_are_no_overload() {
        let mut run = changed(1, 1, |cell| cell.open = Some(open(1_000, 600, &[])));
        run.part = Some(Part::Rate);
        let share = overloaded(&run, 1).unwrap();
        let kind = EventKind::PrimaryChanged { from: "a:1".into(), to: "b:1".into(), without: 2.0 };
        run.events = vec![EventRecord { round: 0, strategy: 1, part: Some(Part::Rate), seconds: 3.0, kind }];
        assert_eq!(overloaded(&run, 1), None);
        assert_eq!(invalid_reasons(&run), [(1, InvalidReason::Disturbed(share))]);
    }

    #[test]
    fn steal_and_busy_load_threads_are_found_by_strategy() {
        let mut run = sample::run(3);
        run.rounds[1].cells[0].machine.steal = Some(0.04);
        run.rounds[2].cells[1].machine.steal = Some(0.2);
        run.rounds[2].cells[0].machine.steal = Some(0.06);
        for (round, busy) in run.rounds.iter_mut().zip([0.95, 0.5, 0.97]) {
            round.cells[1].machine.load_thread_busy = Some(busy);
            round.cells[0].machine.load_thread_busy = Some(busy - 0.1);
        }
        let expected = [
            EnvironmentWarning::Steal { most: (1, 0.2), least: (0, 0.05) },
            EnvironmentWarning::LoadThread { strategies: vec![1], busy: 0.95 },
        ];
        assert_eq!(environment_warnings(&run), expected);
    }

    #[test]
    fn waits_for_connections_are_measured_by_the_service_time() {
        // The mix of embedded takes about 1.5 ms per call.
        let with = |wait: u64| {
            environment_warnings(&changed(2, 0, |cell| cell.check_out = Some(Waits { count: 200, sum: 200 * wait })))
        };
        assert_eq!(with(100_000), []);
        assert!(
            matches!(&with(400_000)[..], [EnvironmentWarning::CheckOut(waits)] if waits.len() == 1 && waits[0].0 == 0)
        );
    }

    #[test]
    fn data_beyond_half_of_a_shared_cache_cause_a_warning() {
        let mut run = sample::run(1);
        // Documents and indexes: embedded, linked with its comments, and the unsafe one with its buckets.
        let data = (4_600_000 + 4_000) + (126_400 + 4_360_000 + 400_000) + (126_400 + 4_160_000 + 8_000);
        run.server.cache_bytes = Some(2 * data);
        assert_eq!(environment_warnings(&run), []);
        run.server.cache_bytes = Some(2 * data - 2);
        assert_eq!(environment_warnings(&run), [EnvironmentWarning::Cache { data, cache: 2 * data - 2 }]);
        run.settings.isolated = Some("asked for".into());
        assert_eq!(environment_warnings(&run), []);
    }

    #[test]
    fn medians_by_hand() {
        let median = |values: &[f64]| median(values.iter().copied());
        assert_eq!(
            (median(&[]), median(&[3.0]), median(&[4.0, 1.0]), median(&[9.0, 1.0, 2.0])),
            (None, Some(3.0), Some(2.5), Some(2.0))
        );
    }
}
