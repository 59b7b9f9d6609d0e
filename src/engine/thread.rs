//! Load threads: each a current-thread runtime with a client of its own, so that nothing on the way of a call is
//! shared between cores.

use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::LocalOptions;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::record::Recorder;
use crate::server::Target;
use crate::server::client::{ConnectError, MongoTarget, WarmError};

use super::crew;
use super::machine::thread_time;
use super::slice::{Fatal, Slice, SliceInterval};

/// What a slice gave on one load thread.
#[derive(Debug)]
pub struct SliceResult {
    /// The recorder that went in, with the slice's calls added.
    pub recorder: Recorder,
    /// When its open interval began.
    pub interval: Instant,
    /// Seconds that the slice took.
    pub seconds: f64,
    /// Connections made meanwhile.
    pub connections_created: u64,
    /// Processor time that the thread used meanwhile; `None` where that is not known, and in tests.
    pub computing: Option<Duration>,
    /// Why it ended early, when it did.
    pub fatal: Option<Fatal>,
}

/// A slice to run.
#[derive(Debug)]
pub struct Job {
    /// The slice.
    pub slice: Slice,
    /// Takes the calls.
    pub recorder: Recorder,
    /// Takes the intervals; dropped when the slice is over.
    pub intervals: mpsc::UnboundedSender<SliceInterval>,
}

impl Job {
    /// Runs it on a target, as local tasks of the current runtime.
    pub async fn run<T: Target + 'static>(self, target: &Rc<T>) -> SliceResult {
        let emit = |interval| {
            // Nobody listens any more when the run is being given up.
            let _ = self.intervals.send(interval);
        };
        let mut interval = self.slice.interval;
        let (recorder, result) = crew::run(self.slice, Rc::clone(target), self.recorder, &emit).await;
        let (seconds, fatal) = match result {
            Ok((time, edge)) => {
                interval = edge;
                (time.as_secs_f64(), None)
            }
            Err(fatal) => (0.0, Some(fatal)),
        };
        SliceResult { recorder, interval, seconds, connections_created: 0, computing: None, fatal }
    }
}

/// A load thread that cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ThreadError {
    /// The operating system made no thread or runtime.
    #[error("cannot start a load thread: {0}; use fewer with --threads")]
    Spawn(std::io::Error),
    /// No connection to the server.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The pool did not fill.
    #[error(transparent)]
    Warm(#[from] WarmError),
    /// The thread is gone.
    #[error("a load thread ended too early; this is a mistake in docshape, please report what was printed before")]
    Gone,
}

type Order = (Job, oneshot::Sender<SliceResult>);

/// A running load thread. It ends when this value is dropped and the slice that it may be running is over; nobody waits
/// for that, so that a call in flight cannot hold up a user who wants to end at once.
#[derive(Debug)]
pub struct LoadThread {
    orders: mpsc::UnboundedSender<Order>,
}

impl LoadThread {
    /// Starts a thread whose client holds `connections` open connections, and waits until they are open.
    ///
    /// # Errors
    /// When the thread, the client or its connections cannot be made.
    pub async fn start(uri: String, connections: u32) -> Result<LoadThread, ThreadError> {
        let (orders, receiver) = mpsc::unbounded_channel();
        let (ready, started) = oneshot::channel();
        let body = move || serve(uri, connections, receiver, ready);
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
    orders: mpsc::UnboundedReceiver<Order>,
    ready: oneshot::Sender<Result<(), ThreadError>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = ready.send(Err(ThreadError::Spawn(error)));
            return;
        }
    };
    // In a task, since what wakes a task only puts it into a queue. Whatever wakes the future of `block_on` makes the runtime
    // look at its sockets first, which happens several times per call.
    let served = runtime.spawn_local(async move {
        match connect(&uri, connections).await {
            Ok(target) => {
                let _ = ready.send(Ok(()));
                run(&Rc::new(target), orders).await;
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        }
    });
    // An error is a panic, which has printed its words; who waits for the thread sees that it is gone.
    let _ = runtime.block_on(served);
    // Connections of the driver must not hold up the end.
    runtime.shutdown_background();
}

/// Runs slices until nobody can order more.
async fn run(target: &Rc<MongoTarget>, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some((job, reply)) = orders.recv().await {
        let (before, idle) = (target.connections_created(), thread_time());
        target.take_check_outs(|_| ());
        let mut result = job.run(target).await;
        result.computing = thread_time().zip(idle).map(|(now, then)| now.saturating_sub(then));
        result.connections_created = target.connections_created() - before;
        target.take_check_outs(|times| result.recorder.add_check_outs(times));
        let _ = reply.send(result);
    }
}

async fn connect(uri: &str, connections: u32) -> Result<MongoTarget, ThreadError> {
    let target = MongoTarget::connect(uri, connections).await?;
    target.warm().await?;
    Ok(target)
}
