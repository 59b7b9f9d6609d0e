//! What makes the calls: load threads, or in tests the current runtime.

use std::rc::Rc;
use std::sync::Arc;

use tokio::task::LocalSet;

use crate::server::Target;

use super::pacer::{Paced, Pacer, Pacing, pace};
use super::thread::{Job, LoadThread, SliceResult, ThreadError};

/// What makes the calls.
#[derive(Debug)]
pub enum Generators<T> {
    /// Threads with clients of their own: the real thing.
    Threads(Vec<LoadThread>),
    /// The current runtime, on this target: for tests on a paused clock.
    Here(Rc<T>),
}

impl<G: Target + 'static> Generators<G> {
    /// How many load threads.
    pub fn len(&self) -> usize {
        match self {
            Generators::Threads(threads) => threads.len(),
            Generators::Here(_) => 1,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs a job on every thread at once; in the open model beside a pacer that makes their calls due.
    ///
    /// # Errors
    /// When a thread is gone or cannot be made.
    pub(super) async fn run(
        &self,
        jobs: Vec<Job>,
        pacing: Option<Pacing>,
    ) -> Result<(Vec<SliceResult>, Option<Paced>), ThreadError> {
        match self {
            Generators::Here(target) => Ok(run_here(target, jobs, pacing).await),
            Generators::Threads(threads) => {
                let pacer = pacing.map(Pacer::start).transpose().map_err(ThreadError::Spawn)?;
                let running = threads.iter().zip(jobs).map(|(thread, job)| thread.run(job));
                let results = futures_util::future::join_all(running).await;
                let results = results.into_iter().collect::<Result<_, _>>()?;
                let paced = match pacer {
                    Some(pacer) => Some(pacer.finished().await.map_err(|_| ThreadError::Gone)?),
                    None => None,
                };
                Ok((results, paced))
            }
        }
    }
}

/// Runs jobs and pacer as tasks of the current runtime.
async fn run_here<T: Target + 'static>(
    target: &Rc<T>,
    jobs: Vec<Job>,
    pacing: Option<Pacing>,
) -> (Vec<SliceResult>, Option<Paced>) {
    let queue = pacing.as_ref().map(|pacing| Arc::clone(&pacing.queue));
    let pacing = async {
        match pacing {
            Some(pacing) => Some(pace(pacing).await),
            None => None,
        }
    };
    let jobs = async {
        let mut results = Vec::new();
        for job in jobs {
            results.push(job.run(target).await);
        }
        results
    };
    let (results, paced) = LocalSet::new().run_until(async { tokio::join!(jobs, pacing) }).await;
    let left = queue.map_or(0, |queue| queue.left());
    (results, paced.map(|paced| Paced { never_started: left, ..paced }))
}

/// The workers of each of `threads` threads; together all.
pub fn share(workers: usize, threads: usize) -> impl Iterator<Item = usize> {
    (0..threads).map(move |thread| workers / threads + usize::from(thread < workers % threads))
}
