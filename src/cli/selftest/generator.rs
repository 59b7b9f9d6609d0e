//! What the load generator can do on this machine, with a server that answers at once.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::runtime::LocalOptions;
use tokio::time::Instant;

use crate::engine::{ArrivalTimes, DueQueue, Job, Paced, Pacer, Pacing, Slice, SliceResult, Stop};
use crate::generate::Label;
use crate::plan::Plan;
use crate::record::Recorder;
use crate::results::Arrivals;
use crate::server::idle::Idle;

use super::super::exit::CliError;
use super::{Finding, ready};

/// Seconds per question.
const SECONDS: f64 = 2.0;
const TIMEOUT: Duration = Duration::from_secs(10);
const WORKERS: usize = 64;

/// The latest that half of the calls at 10,000 per second may be released after their intended time.
const LATENESS: Duration = Duration::from_micros(250);

/// How late calls are at some rates, and how many calls one load thread makes at most.
pub(super) fn questions() -> Result<Vec<Finding>, CliError> {
    let plan = Arc::new(ready("reads", &["one"], false)?.plan);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.map_err(|error| CliError::server(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        Ok(vec![
            lateness(&plan, 1_000.0, "pacer at 1,000 calls/s").await?,
            lateness(&plan, 10_000.0, "pacer at 10,000 calls/s").await?,
            ceiling(&plan).await?,
        ])
    })
}

async fn lateness(plan: &Arc<Plan>, rate: f64, name: &'static str) -> Result<Finding, CliError> {
    let paced = paced(plan, rate).await?;
    let micros = |share| paced.lag.quantile(share) as f64 / 1e3;
    Ok(Finding {
        name,
        found: format!("calls are released {:.0} us late (p50), {:.0} us (p99)", micros(0.5), micros(0.99)),
        wanted: format!("p50 at most {} us", LATENESS.as_micros()),
        passed: paced.lag.quantile(0.5) <= LATENESS.as_nanos() as u64,
    })
}

async fn paced(plan: &Arc<Plan>, rate: f64) -> Result<Paced, CliError> {
    let queue = Arc::new(DueQueue::new(rate, TIMEOUT));
    let slice = slice(plan, Some(Arc::clone(&queue)), 0);
    let (seed, stop) = (slice.seed, slice.stop.clone());
    let job = job(slice, Recorder::open(plan.operations.len(), TIMEOUT));
    let times = ArrivalTimes::new((rate, Arrivals::Poisson), seed, Label::new("selftest"), 0);
    let calls = 0..(rate * SECONDS) as u64;
    let pacer = Pacer::start(Pacing { queue, times, calls, timeout: TIMEOUT, stop });
    let pacer = pacer.map_err(|error| CliError::server(format!("cannot start the pacer: {error}")))?;
    sound(job.run(&Rc::new(Idle)).await)?;
    pacer.finished().await.map_err(|_| CliError::server("the pacer ended too early"))
}

async fn ceiling(plan: &Arc<Plan>) -> Result<Finding, CliError> {
    let mut slice = slice(plan, None, u64::MAX);
    slice.length = Some(Duration::from_secs_f64(SECONDS));
    slice.workers = 8;
    let job = job(slice, Recorder::new(plan.operations.len(), TIMEOUT));
    let result = sound(job.run(&Rc::new(Idle)).await)?;
    let calls: u64 = result.recorder.finish().iter().map(|operation| operation.calls).sum();
    Ok(Finding {
        name: "ceiling",
        found: format!(
            "one load thread makes {:.0} calls/s when they are answered at once",
            calls as f64 / result.seconds
        ),
        wanted: String::new(),
        passed: true,
    })
}

/// Reads of the selftest's scenario.
pub(super) fn slice(plan: &Arc<Plan>, due: Option<Arc<DueQueue>>, end: u64) -> Slice {
    Slice {
        plan: Arc::clone(plan),
        arm: 0,
        database: "selftest".into(),
        seed: plan.round_seed(0),
        next: Arc::new(AtomicU64::new(0)),
        end,
        length: None,
        due,
        workers: WORKERS,
        timeout: TIMEOUT,
        stop: Stop::default(),
        interval: Instant::now(),
        every: Duration::from_secs(1),
    }
}

/// A slice whose intervals nobody listens to.
pub(super) fn job(slice: Slice, recorder: Recorder) -> Job {
    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
    Job { slice, recorder, intervals }
}

/// What a slice gave; an error when it ended early. Its scenario is docshape's own, so that is no mistake of the user's.
pub(super) fn sound(result: SliceResult) -> Result<SliceResult, CliError> {
    match &result.fatal {
        None => Ok(result),
        Some(fatal) => Err(CliError::server(fatal.to_string())),
    }
}
