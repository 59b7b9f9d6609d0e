//! Databases: named, created and loaded.

use std::sync::Arc;

use tokio::time::Instant;

use crate::plan::Arm;
use crate::record::Recorder;
use crate::results::{CellRecord, LoadModel};
use crate::server::Target;
use crate::server::database_names::DatabaseNames;
use crate::server::deployment::SINGLE_SERVER_PATIENCE;
use crate::server::steady::SteadyTarget;

use super::audit::CallCounts;
use super::cell::ArmRound;
use super::error::{Result, RunError};
use super::event::RunPhase;
use super::experiment::Experiment;
use super::loader::Loader;

/// Returns the name of an arm's database, one at a time for all purposes.
pub fn arm_database(names: &DatabaseNames, arm: &Arm) -> String {
    if arm.is_repeat { names.repeat() } else { names.strategy(&arm.name) }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Creates an arm's database and loads its data, for a round or before the first.
    pub(super) async fn provision(&self, round: Option<u64>, phase: RunPhase, arm: usize) -> Result<ArmRound> {
        self.stop.check()?;
        self.phase(round, arm, phase);
        let database: Arc<str> = arm_database(&self.namespace.names, &self.plan.arms[arm]).into();
        self.turn(arm).await?;
        if self.keep && round.is_some() {
            // Of the round before.
            self.namespace.drop(&SteadyTarget(self.target(arm)), &database).await?;
        }
        let changes = || self.changes(round.unwrap_or(0), arm, None);
        let earlier = changes();
        let (loaded, load_seconds) = match self.load(arm, &database).await {
            Err(error) if error.is_interrupted_load() && self.target(arm).patience() > SINGLE_SERVER_PATIENCE => {
                return Err(self.load_interrupted(arm, format!(" ({error})")));
            }
            Ok(_) if !changes().is_empty() => return Err(self.load_interrupted(arm, String::new())),
            loaded => loaded?,
        };
        self.stop.check()?;
        Ok(ArmRound {
            arm,
            round,
            database,
            prepared: CellRecord { loaded, load_seconds, ..CellRecord::default() },
            recorders: self.recorders(arm, LoadModel::Closed),
            earlier: CallCounts::new(self.plan.operations.len()),
            events: round.map(|_| earlier).unwrap_or_default(),
            ..ArmRound::default()
        })
    }

    /// Creates an arm's database and loads its data. Returns the number of documents, and the seconds that loading them took.
    async fn load(&self, arm: usize, database: &str) -> Result<(u64, f64)> {
        self.namespace.create(self.target(arm), database).await?;
        let started = Instant::now();
        let loader = Loader {
            plan: &self.plan,
            arm: &self.plan.arms[arm],
            target: self.target(arm),
            database,
            observer: self.observer,
            stop: &self.stop,
        };
        let loaded = loader.run().await?;
        Ok((loaded, started.elapsed().as_secs_f64()))
    }

    fn load_interrupted(&self, arm: usize, reason: String) -> RunError {
        RunError::LoadInterrupted { strategy: self.plan.arms[arm].name.clone(), reason }
    }

    /// An empty recorder for every load thread of an arm.
    pub(super) fn recorders(&self, arm: usize, load: LoadModel) -> Vec<(Recorder, Option<Instant>)> {
        let (operations, timeout) = (self.plan.operations.len(), self.settings.timeout());
        let recorder = match load {
            LoadModel::Open { .. } => Recorder::open(operations, timeout),
            LoadModel::Closed => Recorder::new(operations, timeout),
        };
        vec![(recorder, None); self.servers.load_threads(arm).count()]
    }
}
