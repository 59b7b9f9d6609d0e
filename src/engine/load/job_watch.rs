//! Which calls run at the same time as a job.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::plan::Plan;

/// Counts the calls of jobs, on all load threads. A call of another operation asks before and after whether one ran meanwhile, which
/// takes two loads.
#[derive(Debug, Default)]
pub struct JobWatch {
    started: AtomicU64,
    ended: AtomicU64,
}

/// The calls of jobs when another call began.
#[derive(Debug, Clone, Copy)]
pub(super) struct JobsBefore {
    started: u64,
    is_running: bool,
}

impl JobWatch {
    /// A watch for a scenario with jobs.
    pub fn of(plan: &Plan) -> Option<Arc<JobWatch>> {
        plan.operations.iter().any(|operation| operation.is_job).then(Arc::default)
    }

    /// A job begins.
    pub(super) fn start(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    /// A job has ended.
    pub(super) fn end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Another call begins.
    pub(super) fn before(&self) -> JobsBefore {
        // In this order a job that ends in between counts as running; the other one could miss a job.
        let ended = self.ended.load(Ordering::Relaxed);
        let started = self.started.load(Ordering::Relaxed);
        JobsBefore { started, is_running: started > ended }
    }

    /// Whether a job ran while a call did that has ended.
    pub(super) fn ran_since(&self, before: JobsBefore) -> bool {
        before.is_running || self.started.load(Ordering::Relaxed) > before.started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_meet_a_job_are_known() {
        let watch = JobWatch::default();
        let (alone, into) = (watch.before(), watch.before());
        assert!(!watch.ran_since(alone));
        watch.start();
        assert!(watch.ran_since(into), "it began meanwhile");
        let within = watch.before();
        watch.end();
        assert!(watch.ran_since(within), "it ended meanwhile");
        assert!(!watch.ran_since(watch.before()));
    }
}
