//! Whether a strategy kept up with calls that fall due at fixed times.

use crate::results::{OpenRecord, RunRecord};

use super::view::{all_operations, cells};
use super::{Distribution, response_mean, service_mean};

/// A call that waits longer than this for a client is not sent in time, in nanoseconds.
const LATE: u64 = 1_000_000_000;

/// What only calls with intended times have, of one strategy over all rounds.
#[derive(Debug, Clone)]
pub struct OpenLoad {
    /// Calls that fell due per second.
    pub offered: f64,
    /// Calls that were sent in time per second.
    pub achieved: f64,
    /// The share (0 to 1) of the calls that were sent in time, see [`achieved_share`].
    pub share: f64,
    /// Calls that waited longer than the timeout.
    pub skipped: u64,
    /// Calls that were given up when the window was over.
    pub never_started: u64,
    /// From the intended time to the release by the pacer.
    pub pacer_lag: Distribution,
    /// From the release until a client was free.
    pub queue_wait: Distribution,
    /// The mean service time of all successful calls in nanoseconds.
    pub service_mean: Option<f64>,
    /// The mean response time of all successful calls in nanoseconds.
    pub response_mean: Option<f64>,
}

/// The open load of a strategy; `None` with closed load, and where no call fell due.
pub fn open_load(record: &RunRecord, strategy: usize) -> Option<OpenLoad> {
    let all: Vec<&OpenRecord> = cells(record, strategy).filter_map(|cell| cell.open.as_ref()).collect();
    let calls = || all_operations(record, strategy);
    let offered: u64 = all.iter().map(|open| open.offered).sum();
    let achieved: f64 = all.iter().map(|open| achieved_share(open) * open.offered as f64).sum();
    let seconds: f64 = all.iter().map(|open| open.seconds).sum();
    (offered > 0 && seconds > 0.0).then(|| OpenLoad {
        offered: offered as f64 / seconds,
        achieved: achieved / seconds,
        share: achieved / offered as f64,
        skipped: all.iter().map(|open| open.skipped).sum(),
        never_started: all.iter().map(|open| open.never_started).sum(),
        pacer_lag: Distribution::merged(all.iter().map(|open| &open.pacer_lag.histogram)),
        queue_wait: Distribution::merged(all.iter().map(|open| &open.queue_wait.histogram)),
        service_mean: service_mean(calls()),
        response_mean: response_mean(calls()),
    })
}

/// The share (0 to 1) of the calls of a cell that were sent in time; 1 when none fell due.
///
/// Not in time are those that still waited when the last one fell due, those that were not sent at all (skipped or never
/// started), or those that waited for more than a second for a client, whichever are most: a server that pauses for
/// seconds in the midst of a window did not keep up, although it works off the backlog. They are not added, since most
/// calls of the one kind are among those of another.
pub fn achieved_share(open: &OpenRecord) -> f64 {
    let unsent = open.skipped.saturating_add(open.never_started);
    let waits = open.queue_wait.histogram.open();
    let slow = (waits.count() - waits.count_up_to(LATE)).saturating_add(open.never_started);
    let late = open.waiting.max(unsent).max(slow).min(open.offered);
    1.0 - late as f64 / open.offered.max(1) as f64
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::sample;
    use super::*;
    use crate::record::LatencyHistogram;
    use crate::results::TimesRecord;

    fn open(offered: u64, waiting: u64, skipped: u64, never_started: u64) -> OpenRecord {
        let times = TimesRecord::new(&LatencyHistogram::new(Duration::from_secs(10)));
        let (pacer_lag, queue_wait) = (times.clone(), times);
        OpenRecord { offered, seconds: 4.0, waiting, skipped, never_started, pacer_lag, queue_wait }
    }

    #[test]
    fn no_call_is_late_twice() {
        assert_eq!(achieved_share(&open(1_000, 0, 0, 0)), 1.0);
        assert_eq!(achieved_share(&open(1_000, 400, 0, 0)), 0.6, "worked off, but late");
        assert_eq!(achieved_share(&open(1_000, 400, 100, 250)), 0.6, "those that were not sent had waited");
        assert_eq!(achieved_share(&open(1_000, 400, 300, 300)), 0.4, "skipped long before the end");
        assert_eq!(achieved_share(&open(0, 0, 0, 0)), 1.0);
        let mut waits = LatencyHistogram::new(Duration::from_secs(10));
        (0..1_000).for_each(|call| waits.record(if call < 250 { 2_000_000_000 } else { 1_000_000 }));
        let stalled = |never_started| {
            achieved_share(&OpenRecord { queue_wait: TimesRecord::new(&waits), ..open(1_000, 300, 0, never_started) })
        };
        assert_eq!((stalled(0), stalled(150)), (0.7, 0.6), "a quarter of the calls waited for two seconds");
    }

    #[test]
    fn rounds_add_up() {
        let mut run = sample::run(2);
        assert!(open_load(&run, 0).is_none(), "the closed model has none");
        run.rounds[0].cells[0].open = Some(open(1_000, 400, 0, 0));
        run.rounds[1].cells[0].open = Some(open(3_000, 0, 7, 5));
        let load = open_load(&run, 0).unwrap();
        assert_eq!((load.offered, load.skipped, load.never_started), (500.0, 7, 5));
        assert!((load.achieved - 3_588.0 / 8.0).abs() < 1e-9 && (load.share - 0.897).abs() < 1e-12, "{load:?}");
        assert!(load.service_mean.is_some() && load.response_mean.is_none());
    }
}
