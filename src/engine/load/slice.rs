//! A slice of calls: which, where and how, and why it could not continue.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bson::rawdoc;
use tokio::time::Instant;

use crate::generate::Seed;
use crate::plan::{Arm, Plan};
use crate::record::{IntervalHistogram, Recorder};
use crate::server::steady::SteadyTarget;
use crate::server::{Db, Failure, FailureKind, ReplyKind, Target};

use super::job_watch::JobWatch;
use super::queue::DueQueue;
use super::stop::StopFlag;

/// The length of the intervals of the latency log.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// An error that ends a run.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FatalError {
    /// The scenario has a mistake.
    #[error("strategy {strategy}, operation {operation}: {message}")]
    Scenario {
        /// The strategy.
        strategy: String,
        /// The operation, or what else was run.
        operation: String,
        /// What is wrong.
        message: String,
    },
    /// The server does not answer any more.
    #[error("the server was lost: {0}; check that it is running and read its log, then run again")]
    ServerLost(String),
}

impl FatalError {
    /// Returns the error of a mistake that no single strategy makes.
    pub fn in_all(operation: impl Into<String>, error: &dyn Display) -> FatalError {
        FatalError::in_strategy("(all)", operation, error)
    }

    /// Returns the error of a strategy's mistake. `operation` may be what else was run, such as an audit.
    pub fn in_strategy(strategy: &str, operation: impl Into<String>, error: &dyn Display) -> FatalError {
        FatalError::Scenario { strategy: strategy.into(), operation: operation.into(), message: error.to_string() }
    }
}

/// When a slice of closed load ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceEnd {
    /// Before the call of this index.
    AtCall(u64),
    /// After a length of time.
    After(Duration),
}

/// Where the clients of a slice get their calls from.
#[derive(Debug, Clone)]
pub enum Load {
    /// Each client sends its next call when it has the reply to its last one.
    Closed {
        /// The index of the next call, shared by all load threads, so that together they make every call once.
        next: Arc<AtomicU64>,
        /// When no more calls are made.
        end: SliceEnd,
        /// The indexes of the calls, when they are not consecutive: `next` and `end` then count positions in this list.
        listed: Option<Arc<[u64]>>,
    },
    /// The clients of all load threads take the calls that a pacer releases.
    Open(Arc<DueQueue>),
}

impl Load {
    /// Closed load of these calls.
    pub fn closed(calls: Range<u64>) -> Load {
        let next = Arc::new(AtomicU64::new(calls.start));
        Load::Closed { next, end: SliceEnd::AtCall(calls.end), listed: None }
    }

    /// Closed load of the calls of a list, until this position or moment.
    pub fn listed(calls: Arc<[u64]>, end: SliceEnd) -> Load {
        Load::Closed { next: Arc::default(), end, listed: Some(calls) }
    }

    /// When closed load that starts now ends by time.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let Load::Closed { end: SliceEnd::After(length), .. } = self else { return None };
        Some(Instant::now() + *length)
    }
}

/// One slice: which calls of which arm are made where, and how.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// The strategy's position in the plan.
    pub arm: usize,
    /// Its database.
    pub database: Arc<str>,
    /// The seed of the round's calls.
    pub seed: Seed,
    /// Where the calls come from.
    pub load: Load,
    /// Clients of this load thread: with closed load the calls in flight, with open load the most of them.
    pub clients: usize,
    /// The time after which a call has failed.
    pub timeout: Duration,
    /// The time by which every reply is delayed.
    pub round_trip: Duration,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
    /// When the open interval started, which may span several slices.
    pub interval: Instant,
    /// The length of an interval.
    pub every: Duration,
    /// Knows which jobs run, on all load threads; `None` for a scenario without jobs.
    pub jobs: Option<Arc<JobWatch>>,
}

impl Slice {
    /// Calls of the first arm in round 0, with a timeout of 10 s and intervals of 1 s.
    pub fn new(plan: &Arc<Plan>, database: &str, load: Load, clients: usize) -> Slice {
        Slice {
            plan: Arc::clone(plan),
            arm: 0,
            database: database.into(),
            seed: plan.round_seed(0),
            load,
            clients,
            timeout: Duration::from_secs(10),
            round_trip: Duration::ZERO,
            stop: StopFlag::default(),
            interval: Instant::now(),
            every: INTERVAL,
            jobs: JobWatch::of(plan),
        }
    }
}

/// The part of a slice of closed load in which no client was without a call: until the first found none left.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SaturatedPart {
    /// Calls that had ended by then.
    pub calls: u64,
    /// Its length.
    pub seconds: f64,
}

impl SaturatedPart {
    /// The parts of several load threads as one, whose rate is the sum of theirs.
    pub(crate) fn combined(parts: impl Iterator<Item = SaturatedPart>) -> SaturatedPart {
        let (mut calls, mut rate) = (0, 0.0);
        for part in parts.filter(|part| part.calls > 0) {
            calls += part.calls;
            rate += part.calls as f64 / part.seconds;
        }
        SaturatedPart { calls, seconds: if calls > 0 { calls as f64 / rate } else { 0.0 } }
    }
}

/// The result of a slice on one load thread.
#[derive(Debug)]
pub struct SliceResult {
    /// The job's recorder with the slice's calls added.
    pub recorder: Recorder,
    /// When its open interval started.
    pub interval: Instant,
    /// Duration of the slice in seconds.
    pub seconds: f64,
    /// Nothing with open load.
    pub saturated: SaturatedPart,
    /// Connections created meanwhile.
    pub connections_created: u64,
    /// CPU time that the thread used meanwhile; `None` where the system does not report it, and in tests.
    pub cpu_time: Option<Duration>,
    /// Why it ended early.
    pub fatal: Option<FatalError>,
}

/// The successful calls of one operation in one interval of a window.
#[derive(Debug)]
pub struct Interval {
    /// The operation's position in the plan.
    pub operation: usize,
    /// When the interval started.
    pub start: Instant,
    /// Its length.
    pub length: Duration,
    /// Service times; with open load response times.
    pub histogram: IntervalHistogram,
}

/// Whether the server answers a ping. A broken connection may be a failover and a late reply may be load, but a server
/// that does not answer a ping is lost.
pub async fn is_alive(target: &impl Target) -> bool {
    let ping = target.run("admin", rawdoc! { "ping": 1 }, ReplyKind::Single);
    let reply = tokio::time::timeout(target.patience(), ping).await;
    reply.is_ok_and(|reply| !reply.is_err_and(|failure| failure.is_lost()))
}

/// Returns an error with this message if there is one and the server is lost, or a shard with data of this arm.
pub(crate) async fn check_alive(
    db: &Db<'_, impl Target>,
    arm: &Arm,
    message: Option<String>,
) -> Result<(), FatalError> {
    let Some(message) = message else { return Ok(()) };
    if !is_alive(db.target).await {
        return Err(FatalError::ServerLost(message));
    }
    // The router of a cluster answers a ping whatever its shards do.
    let Some(sharded) = arm.collections.iter().find(|collection| collection.sharding.is_some()) else { return Ok(()) };
    match asks_shards(db, &sharded.name).await {
        Err(failure) if failure.is_interruption() => {
            let message = format!("a shard with documents of {} does not answer: {}", sharded.name, failure.message);
            Err(FatalError::ServerLost(message))
        }
        _ => Ok(()),
    }
}

/// Asks all shards with documents of a collection for something small, for as long as a failover may take.
async fn asks_shards(db: &Db<'_, impl Target>, collection: &str) -> Result<(), Failure> {
    let command = rawdoc! { "aggregate": collection, "pipeline": [{ "$collStats": { "count": {} } }], "cursor": {} };
    let target = SteadyTarget(db.target);
    let asked = tokio::time::timeout(2 * db.target.patience(), target.run(db.name, command, ReplyKind::Cursor)).await;
    let no_reply = |_| Err(Failure::new(FailureKind::Timeout, "no reply"));
    asked.unwrap_or_else(no_reply).map(drop)
}

/// Ends the open interval of a recorder and returns the moment, when the next one starts.
pub(crate) fn close_interval(recorder: &mut Recorder, start: Instant, emit: &dyn Fn(Interval)) -> Instant {
    let now = Instant::now();
    for (operation, histogram) in recorder.rotate() {
        emit(Interval { operation, start, length: now - start, histogram });
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_load_threads_add_up() {
        let part = |calls, seconds| SaturatedPart { calls, seconds };
        let combined = SaturatedPart::combined([part(100, 1.0), part(300, 2.0), part(0, 0.0)].into_iter());
        assert_eq!(combined, part(400, 1.6), "250 calls per second");
        assert_eq!(SaturatedPart::combined([].into_iter()), SaturatedPart::default());
    }
}
