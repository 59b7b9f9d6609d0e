//! The load generator on this machine, with a target that replies immediately.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::LocalOptions;

use crate::cli::exit::CliError;
use crate::engine::{ArrivalTimes, Job, Load, Pacer, Pacing, Slice, SliceEnd, SliceResult, StopFlag};
use crate::generate::Label;
use crate::plan::Plan;
use crate::record::{Paced, Recorder};
use crate::results::Arrivals;
use crate::server::noop::NoopTarget;

use super::{MachineCheck, ready};

/// Seconds per check.
const SECONDS: f64 = 2.0;
const TIMEOUT: Duration = Duration::from_secs(10);
const CLIENTS: usize = 64;

/// How late the median call at 10,000 per second may be released.
const LATENESS: Duration = Duration::from_micros(250);

/// Returns how late calls are released at two rates, and the most calls that one load thread makes.
pub(super) fn checks() -> Result<Vec<MachineCheck>, CliError> {
    let plan = ready("reads", &["one"], false)?.plan;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.map_err(|error| CliError::failure(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        Ok(vec![
            lateness(&plan, 1_000.0, "pacer at 1,000 calls/s").await?,
            lateness(&plan, 10_000.0, "pacer at 10,000 calls/s").await?,
            ceiling(&plan).await?,
        ])
    })
}

async fn lateness(plan: &Arc<Plan>, rate: f64, name: &'static str) -> Result<MachineCheck, CliError> {
    let paced = paced(plan, rate).await?;
    let micros = |share| paced.lag.quantile(share) as f64 / 1e3;
    Ok(MachineCheck {
        name,
        found: format!("calls are released {:.0} us (p50) and {:.0} us (p99) late", micros(0.5), micros(0.99)),
        expected: format!("p50 at most {} us", LATENESS.as_micros()),
        passed: paced.lag.quantile(0.5) <= LATENESS.as_nanos() as u64,
    })
}

async fn paced(plan: &Arc<Plan>, rate: f64) -> Result<Paced, CliError> {
    let stop = StopFlag::default();
    let times = ArrivalTimes::new(rate, Arrivals::Poisson, plan.round_seed(0), Label::new("selftest"));
    let pacing = Pacing::new(times, 0..(rate * SECONDS) as u64, TIMEOUT, stop.clone());
    let slice = Slice { stop, ..Slice::new(plan, "selftest", Load::Open(pacing.queue()), CLIENTS) };
    let job = job(slice, Recorder::open(plan.operations.len(), TIMEOUT));
    let failed = |error| CliError::failure(format!("cannot start the pacer: {error}"));
    let pacer = Pacer::start(pacing).map_err(failed)?;
    check_fatal(job.run(&Rc::new(NoopTarget)).await)?;
    let slice = pacer.finished().await.map_err(|_| CliError::failure("the pacer ended early"))?;
    Ok(slice.paced)
}

async fn ceiling(plan: &Arc<Plan>) -> Result<MachineCheck, CliError> {
    let end = SliceEnd::After(Duration::from_secs_f64(SECONDS));
    let slice = Slice::new(plan, "selftest", Load::Closed { next: Arc::default(), end, listed: None }, 8);
    let job = job(slice, Recorder::new(plan.operations.len(), TIMEOUT));
    let result = check_fatal(job.run(&Rc::new(NoopTarget)).await)?;
    let calls: u64 = result.recorder.finish().iter().map(|operation| operation.calls).sum();
    let rate = calls as f64 / result.seconds;
    let found = format!("one load thread makes {rate:.0} calls/s when replies are immediate");
    Ok(MachineCheck::note("ceiling", found))
}

/// Returns a job whose intervals are not logged.
pub(super) fn job(slice: Slice, recorder: Recorder) -> Job {
    let (intervals, _) = tokio::sync::mpsc::unbounded_channel();
    Job { slice, recorder, intervals }
}

/// Returns a slice's result, or why it ended early. The scenario is docshape's own, so a mistake in it is not the user's.
pub(super) fn check_fatal(result: SliceResult) -> Result<SliceResult, CliError> {
    result.fatal.as_ref().map_or(Ok(()), |fatal| Err(CliError::failure(fatal.to_string())))?;
    Ok(result)
}
