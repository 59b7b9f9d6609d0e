//! What makes the calls: load threads, or in tests the current runtime.

use crate::server::Target;

use super::thread::{Job, LoadThread, SliceResult, ThreadError};

/// What makes the calls.
#[derive(Debug)]
pub enum Generators<T> {
    /// Threads with clients of their own: the real thing.
    Threads(Vec<LoadThread>),
    /// The current runtime, on this target: for tests on a paused clock.
    Here(T),
}

impl<G: Target> Generators<G> {
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

    /// Runs a job on every thread at once.
    ///
    /// # Errors
    /// When a thread is gone.
    pub(super) async fn run(&self, jobs: Vec<Job>) -> Result<Vec<SliceResult>, ThreadError> {
        match self {
            Generators::Here(target) => {
                let mut results = Vec::new();
                for job in jobs {
                    results.push(job.run(target).await);
                }
                Ok(results)
            }
            Generators::Threads(threads) => {
                let running = threads.iter().zip(jobs).map(|(thread, job)| thread.run(job));
                let results = futures_util::future::join_all(running).await;
                results.into_iter().collect()
            }
        }
    }
}

/// The workers of each of `threads` threads; together all.
pub fn share(workers: usize, threads: usize) -> impl Iterator<Item = usize> {
    (0..threads).map(move |thread| workers / threads + usize::from(thread < workers % threads))
}
