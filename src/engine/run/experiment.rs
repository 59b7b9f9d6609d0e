//! A run on one server: its settings, and what all its parts share.

use std::sync::Arc;

use tokio::time::Instant;

use crate::engine::load::load_threads::LoadThreads;
use crate::engine::load::slice::is_alive;
use crate::engine::load::stop::StopFlag;
use crate::plan::Plan;
use crate::results::RunSettings;
use crate::server::{Failure, Target, namespace};

use super::error::RunError;
use super::event::{Event, Observer, RunPhase};
use super::inspect;

/// A run on one server.
pub struct Experiment<'e, T, G> {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// The settings of the run. The pilot has closed load in any case.
    pub settings: RunSettings,
    /// Part of the names of the databases, which distinguishes them from those of other runs.
    pub id: String,
    /// Whether to keep the databases of complete rounds; those of the pilot and of a failed round are dropped.
    pub keep: bool,
    /// Where databases are created and read.
    pub target: &'e T,
    /// Where the clients run.
    pub load_threads: &'e LoadThreads<G>,
    /// Receives the events.
    pub observer: &'e dyn Observer,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
    /// When the run started.
    pub started: Instant,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    pub(super) fn phase(&self, round: Option<u64>, arm: usize, phase: RunPhase) {
        self.observer.event(&Event::Phase { round, arm: &self.plan.arms[arm].name, phase });
    }

    pub(super) async fn flush(&self) -> Result<bool, RunError> {
        let flushed = inspect::flush(self.target).await;
        flushed.map_err(|failure| RunError::Inspect { strategy: "(all)".into(), failure })
    }

    /// The error of a failed inspection of an arm.
    pub(super) fn inspect_error(&self, arm: usize) -> impl Fn(Failure) -> RunError {
        move |failure| RunError::Inspect { strategy: self.plan.arms[arm].name.clone(), failure }
    }

    /// Does some work on fresh databases, and drops those that it has listed as [`Experiment::finish`] does.
    pub(super) async fn on_databases<R>(
        &self,
        keep: bool,
        work: impl AsyncFnOnce(&mut Vec<Arc<str>>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let mut databases = Vec::new();
        let result = work(&mut databases).await;
        self.finish(result, &databases, keep).await
    }

    /// Drops the databases unless they are to be kept. An earlier error takes precedence over one from dropping. A lost
    /// server is not asked once per database, as each attempt would run into a timeout.
    pub(super) async fn finish<R>(
        &self,
        result: Result<R, RunError>,
        databases: &[Arc<str>],
        keep: bool,
    ) -> Result<R, RunError> {
        match result {
            Ok(_) if keep => return result,
            Err(error) if !is_alive(self.target).await => return Err(error.with_lost_server()),
            Ok(_) | Err(_) => {}
        }
        let mut dropped = Ok(());
        for database in databases {
            dropped = dropped.and(namespace::drop_marked(self.target, database).await);
        }
        let value = result?;
        dropped?;
        Ok(value)
    }
}
