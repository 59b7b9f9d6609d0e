//! A run on one server: its settings, and what all its parts share.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::load::load_threads::LoadThreads;
use crate::engine::load::slice::is_alive;
use crate::engine::load::stop::StopFlag;
use crate::plan::Plan;
use crate::results::{LoadModel, RunSettings};
use crate::server::{Failure, Target, namespace};

use super::error::RunError;
use super::event::{Event, Observer, RunPhase};
use super::inspect;

/// The settings of the load of a run.
#[derive(Debug, Clone)]
pub struct LoadSettings {
    /// Tells the databases of this run from those of others.
    pub id: String,
    /// Open or closed load. The pilot is always closed.
    pub load: LoadModel,
    /// Clients on all load threads together: with closed load the calls in flight, with open load the most of them.
    pub clients: usize,
    /// Slices per window; fewer where a slice would have hardly any calls.
    pub slices: u64,
    /// Whether each arm runs its whole window with nothing else on the server, instead of alternating slices.
    pub isolated: bool,
    /// The time after which a call has failed.
    pub timeout: Duration,
    /// Whether to keep the databases of finished rounds; those of the pilot and of a failed round are dropped.
    pub keep: bool,
}

impl LoadSettings {
    /// The load of a run with these settings, whose databases are dropped.
    pub fn new(id: &str, settings: &RunSettings) -> LoadSettings {
        LoadSettings {
            id: id.to_owned(),
            load: settings.load,
            clients: settings.clients,
            slices: settings.slices,
            isolated: settings.isolated.is_some(),
            timeout: settings.timeout(),
            keep: false,
        }
    }
}

/// A run on one server.
pub struct Experiment<'e, T, G> {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// The settings of the load.
    pub settings: LoadSettings,
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
