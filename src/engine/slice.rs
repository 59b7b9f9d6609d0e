//! A slice of calls: which, where and how, and why it could not go on.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::time::Instant;

use crate::generate::Seed;
use crate::plan::Plan;
use crate::record::{IntervalHistogram, Recorder};
use crate::server::{FailureKind, ReplyKind, Target};

use super::queue::DueQueue;
use super::stop::Stop;

/// Intervals of the latency log.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// How long a server may take to answer a ping after a connection broke, before it counts as lost.
const LOST_AFTER: Duration = Duration::from_secs(5);

/// Why a slice could not go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fatal {
    /// A mistake of the scenario.
    #[error("strategy {arm}, operation {operation}: {words}")]
    Scenario {
        /// The strategy.
        arm: String,
        /// The operation.
        operation: String,
        /// What is wrong.
        words: String,
    },
    /// The server is gone.
    #[error("the server was lost: {0}; see that it runs, its log may tell more, then run again")]
    Lost(String),
}

/// One slice: which calls, of which arm, where, and how.
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
    /// The next call; shared by all load threads, so that together they make every call once.
    pub next: Arc<AtomicU64>,
    /// The first call that is not made; `u64::MAX` in timed slices.
    pub end: u64,
    /// The length of timed slices.
    pub length: Option<Duration>,
    /// Where the calls come from in the open model, shared by all load threads; `next`, `end` and `length` mean nothing
    /// then. `None` in the closed model.
    pub due: Option<Arc<DueQueue>>,
    /// Calls in flight on this load thread: all the time in the closed model, at most in the open one.
    pub workers: usize,
    /// After which a call has failed.
    pub timeout: Duration,
    /// Set when the user wants to stop.
    pub stop: Stop,
    /// When the open interval began; it may span several slices.
    pub interval: Instant,
    /// The length of an interval.
    pub every: Duration,
}

/// The successful calls of one operation in one interval.
#[derive(Debug)]
pub struct SliceInterval {
    /// The operation.
    pub operation: usize,
    /// When the interval began.
    pub start: Instant,
    /// Its length.
    pub length: Duration,
    /// Service times; in the open model response times.
    pub histogram: IntervalHistogram,
}

/// A broken connection may be a failover, a late answer may be load; a server that does not answer a ping either is gone.
pub async fn answers(target: &impl Target) -> bool {
    let ping = target.run("admin", bson::rawdoc! { "ping": 1 }, ReplyKind::Single);
    // Any answer is one, also a refusal.
    match tokio::time::timeout(LOST_AFTER, ping).await {
        Ok(Err(failure)) => !matches!(failure.kind, FailureKind::Network | FailureKind::Timeout),
        Ok(Ok(_)) => true,
        Err(_) => false,
    }
}

/// Ends the open interval of a recorder; gives the moment, when the next begins.
pub fn close(recorder: &mut Recorder, start: Instant, emit: &dyn Fn(SliceInterval)) -> Instant {
    let now = Instant::now();
    for (operation, histogram) in recorder.rotate() {
        emit(SliceInterval { operation, start, length: now - start, histogram });
    }
    now
}
