//! Load threads: each is a current-thread runtime with its own connections, so that nothing that a call needs is shared
//! between cores. In tests the current runtime takes their place.

use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{OptionFuture, join_all};
use tokio::runtime::LocalOptions;
use tokio::sync::{mpsc, oneshot};
use tokio::task::LocalSet;

use crate::error::KindedError;
use crate::record::Recorder;
use crate::server::Target;
use crate::server::client::{ConnectError, MongoTarget};

use super::pacer::{PacedSlice, Pacer, Pacing, pace};
use super::slice::{Interval, Slice, SliceResult};

/// Where the clients run.
#[derive(Debug)]
pub enum LoadThreads<T> {
    /// On threads with their own connections.
    Threads(Vec<LoadThread>),
    /// On the current runtime and this target, for tests on a paused clock.
    Inline(Rc<T>),
}

impl<G: Target + 'static> LoadThreads<G> {
    /// The number of load threads.
    pub fn count(&self) -> usize {
        match self {
            LoadThreads::Threads(threads) => threads.len(),
            LoadThreads::Inline(_) => 1,
        }
    }

    /// Runs a job on every thread at once, and with open load the pacer that releases their calls. Its measurements are added
    /// to the first recorder, and `pacing` is then that of the next slice.
    ///
    /// # Errors
    /// When a thread is gone or cannot be created.
    pub(crate) async fn run(
        &self,
        jobs: Vec<Job>,
        pacing: &mut Option<Pacing>,
    ) -> Result<Vec<SliceResult>, ThreadError> {
        let (mut results, paced) = match self {
            LoadThreads::Inline(target) => run_inline(target, jobs, pacing.take()).await,
            LoadThreads::Threads(threads) => {
                let pacer = pacing.take().map(Pacer::start).transpose().map_err(ThreadError::Spawn)?;
                let running = threads.iter().zip(jobs).map(|(thread, job)| thread.run(job));
                let results = join_all(running).await;
                let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
                let paced = OptionFuture::from(pacer.map(Pacer::finished)).await.transpose();
                (results, paced.map_err(|_| ThreadError::Gone)?)
            }
        };
        if let (Some(slice), Some(first)) = (paced, results.first_mut()) {
            first.recorder.add_paced(&slice.paced);
            *pacing = Some(slice.pacing);
        }
        Ok(results)
    }
}

/// Runs the jobs and the pacer as tasks of the current runtime.
async fn run_inline<T: Target + 'static>(
    target: &Rc<T>,
    jobs: Vec<Job>,
    pacing: Option<Pacing>,
) -> (Vec<SliceResult>, Option<PacedSlice>) {
    let pacing = OptionFuture::from(pacing.map(pace));
    let jobs = join_all(jobs.into_iter().map(|job| job.run(target)));
    LocalSet::new().run_until(async { tokio::join!(jobs, pacing) }).await
}

/// Splits clients between threads: the clients of each thread.
pub fn split_clients(clients: usize, threads: usize) -> impl Iterator<Item = usize> {
    (0..threads).map(move |thread| clients / threads + usize::from(thread < clients % threads))
}

/// A slice to run on one load thread.
#[derive(Debug)]
pub struct Job {
    /// The slice.
    pub slice: Slice,
    /// Where its calls are recorded.
    pub recorder: Recorder,
    /// Where its intervals are sent; dropped when the slice is over.
    pub intervals: mpsc::UnboundedSender<Interval>,
}

/// Why a load thread cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// The operating system cannot create a thread or runtime.
    #[error("cannot start a load thread: {0}; try fewer load threads")]
    Spawn(#[source] std::io::Error),
    /// The thread has no connection to the server, or not all that it needs.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The thread is gone.
    #[error("a load thread ended too early; this is a bug in docshape, please report what was printed before")]
    Gone,
}

type Order = (Job, oneshot::Sender<SliceResult>);

/// A running load thread. It ends when this value is dropped and its current slice is over, which is not awaited, so that a
/// call in flight cannot delay a user who wants to quit immediately.
#[derive(Debug)]
pub struct LoadThread {
    orders: mpsc::UnboundedSender<Order>,
}

impl LoadThread {
    /// Starts a thread with this number of connections, and waits until they are open. A server that does not answer for the
    /// time `patience` is lost.
    ///
    /// # Errors
    /// When the thread or its connections cannot be created.
    pub async fn start(uri: String, connections: u32, patience: Duration) -> Result<LoadThread, ThreadError> {
        let (orders, receiver) = mpsc::unbounded_channel();
        let (ready, started) = oneshot::channel();
        let body = move || serve(uri, connections, patience, receiver, ready);
        std::thread::Builder::new().name("load".into()).spawn(body).map_err(ThreadError::Spawn)?;
        started.await.unwrap_or(Err(ThreadError::Gone))?;
        Ok(LoadThread { orders })
    }

    /// Runs a slice on the thread.
    ///
    /// # Errors
    /// When the thread is gone.
    pub async fn run(&self, job: Job) -> Result<SliceResult, ThreadError> {
        let (reply, result) = oneshot::channel();
        self.orders.send((job, reply)).map_err(|_| ThreadError::Gone)?;
        result.await.map_err(|_| ThreadError::Gone)
    }
}

fn serve(
    uri: String,
    connections: u32,
    patience: Duration,
    orders: mpsc::UnboundedReceiver<Order>,
    ready: oneshot::Sender<Result<(), ThreadError>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    {
        Ok(runtime) => runtime,
        Err(error) => return drop(ready.send(Err(ThreadError::Spawn(error)))),
    };
    // In a task, since waking a task only puts it into a queue. Waking the future of `block_on` makes the runtime poll its
    // sockets first, several times per call.
    let served = runtime.spawn_local(async move {
        match MongoTarget::connect_warm(&uri, connections, patience).await {
            Ok(target) => {
                let _ = ready.send(Ok(()));
                run(&Rc::new(target), orders).await;
            }
            Err(error) => drop(ready.send(Err(error.into()))),
        }
    });
    // An error is a panic, which has printed its message; whatever waits for the thread sees that it is gone.
    let _ = runtime.block_on(served);
    // Connections of the driver must not delay the end.
    runtime.shutdown_background();
}

/// Runs slices until no more can be ordered.
async fn run(target: &Rc<MongoTarget>, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some((job, reply)) = orders.recv().await {
        let (connections, cpu_time) = (target.connections_created(), cpu_time());
        target.take_check_outs();
        let mut result = job.run(target).await;
        result.cpu_time = self::cpu_time().zip(cpu_time).map(|(now, then)| now.saturating_sub(then));
        result.connections_created = target.connections_created() - connections;
        result.recorder.add_check_outs(target.take_check_outs());
        let _ = reply.send(result);
    }
}

/// The CPU time that this thread has used so far.
fn cpu_time() -> Option<Duration> {
    nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID.now().ok().map(Duration::from)
}

impl KindedError for ThreadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_thread_uses_cpu_time() {
        let before = cpu_time().unwrap();
        let mut sum = 0_u64;
        while cpu_time().unwrap() - before < Duration::from_millis(2) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(sum > 0);
    }
}
