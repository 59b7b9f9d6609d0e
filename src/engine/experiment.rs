//! A run on one server: its settings, and what all its parts share.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::plan::Plan;
use crate::results::{LoadModel, RoundRecord};
use crate::server::Target;
use crate::server::namespace;

use super::error::{RunError, lost};
use super::event::{Event, Observer, Phase};
use super::generators::Generators;
use super::inspect;
use super::schedule::Window;
use super::slice::answers;
use super::stop::Stop;

/// How a run is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tells the databases of this run from those of others.
    pub id: String,
    /// When calls begin. The pilot is closed in any case.
    pub load: LoadModel,
    /// Calls in flight, over all load threads: all the time in the closed model, at most in the open one.
    pub workers: usize,
    /// Slices per window; fewer where a slice would have hardly any calls.
    pub slices: u64,
    /// Whether each arm runs whole and alone on the server, instead of in slices that alternate.
    pub isolated: bool,
    /// After which a call has failed.
    pub timeout: Duration,
    /// Leave the databases of the finished rounds; those of the pilot and of a round that fails are dropped.
    pub keep: bool,
}

/// A run on one server.
pub struct Experiment<'e, T, G> {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// How it is made.
    pub settings: Settings,
    /// Makes and reads databases.
    pub target: &'e T,
    /// Makes the calls.
    pub generators: &'e Generators<G>,
    /// Is told what happens.
    pub observer: &'e dyn Observer,
    /// Set when the user wants to stop.
    pub stop: Stop,
    /// When the run began.
    pub started: Instant,
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Runs one round: every arm filled, warmed up, measured and inspected.
    ///
    /// # Errors
    /// As [`RunError`] says. The round's databases are dropped in any case, unless they are to be kept.
    pub async fn round(&self, index: u64, window: Window) -> Result<(RoundRecord, Vec<String>), RunError> {
        let mut databases = Vec::new();
        let round = self.measured(index, window, &mut databases).await;
        let round = self.finish(round, (&databases, self.settings.keep)).await?;
        self.observer.event(&Event::Round(&round.0));
        Ok(round)
    }

    pub(super) fn phase(&self, round: Option<u64>, arm: usize, phase: Phase) {
        self.observer.event(&Event::Phase { round, arm: &self.plan.arms[arm].name, phase });
    }

    pub(super) fn check_stop(&self) -> Result<(), RunError> {
        if self.stop.is_set() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    pub(super) async fn flush(&self) -> Result<bool, RunError> {
        let flushed = inspect::flush(self.target).await;
        flushed.map_err(|failure| RunError::Inspect { arm: "(all)".into(), failure })
    }

    /// Drops the databases, unless they are to be kept. When something went wrong before, that is what the user must
    /// hear of. A server that is gone is not asked once per database, as each answer would have to be waited for.
    pub(super) async fn finish<R>(
        &self,
        result: Result<R, RunError>,
        (databases, keep): (&[Arc<str>], bool),
    ) -> Result<R, RunError> {
        match result {
            Ok(_) if keep => return result,
            Err(error) if !answers(self.target).await => return Err(lost(error)),
            _ => {}
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
