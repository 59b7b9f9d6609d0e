//! Databases: named, created and loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::plan::Arm;
use crate::record::Recorder;
use crate::results::{CellRecord, LoadModel};
use crate::server::Target;
use crate::server::database_names::DatabaseNames;
use crate::server::deployment::SINGLE_SERVER_PATIENCE;
use crate::server::meter::Usage;
use crate::server::steady::SteadyTarget;

use super::audit::CallCounts;
use super::cell::ArmRound;
use super::error::RunError;
use super::event::RunPhase;
use super::experiment::{Experiment, RunDatabase};
use super::loader::Loader;
use super::machine::MachineSampler;

/// What a database is created for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Pilot,
    Explain,
    /// A round, from 0.
    Round(u64),
}

/// Returns the name of an arm's database, one at a time for all purposes.
pub fn arm_database(names: &DatabaseNames, arm: &Arm) -> String {
    if arm.is_repeat { names.repeat() } else { names.strategy(&arm.name) }
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Creates an arm's database and loads its data.
    pub(super) async fn provision(
        &self,
        purpose: Purpose,
        arm: usize,
        databases: &mut Vec<RunDatabase>,
    ) -> Result<ArmRound, RunError> {
        self.stop.check()?;
        let (round, phase) = match purpose {
            Purpose::Pilot => (None, RunPhase::Load),
            Purpose::Explain => (None, RunPhase::Explain),
            Purpose::Round(round) => (Some(round), RunPhase::Load),
        };
        self.phase(round, arm, phase);
        let database: Arc<str> = arm_database(&self.namespace.names, &self.plan.arms[arm]).into();
        self.turn(arm).await?;
        if self.keep && round.is_some() {
            // Of the round before.
            self.namespace.drop(&SteadyTarget(self.target(arm)), &database).await?;
        }
        // First, so that it is dropped even when the work is interrupted in between; one of somebody else never is.
        databases.push(RunDatabase { arm, name: Arc::clone(&database) });
        let earlier = self.changes(arm);
        let (loaded, load_seconds) = match self.load(arm, &database).await {
            Err(error) if error.is_interrupted_load() && self.target(arm).patience() > SINGLE_SERVER_PATIENCE => {
                return Err(self.load_interrupted(arm, format!(" ({error})")));
            }
            Ok(_) if !self.changes(arm).is_empty() => return Err(self.load_interrupted(arm, String::new())),
            loaded => loaded?,
        };
        self.stop.check()?;
        Ok(ArmRound {
            arm,
            round,
            database,
            loaded,
            load_seconds,
            warm_up: Vec::new(),
            before: Vec::new(),
            next: Arc::default(),
            pacing: None,
            recorders: self.recorders(arm, LoadModel::Closed),
            machine: MachineSampler::default(),
            usage: Usage::default(),
            own_usage: Vec::new(),
            earlier: CallCounts::new(self.plan.operations.len()),
            events: round.map_or_else(Vec::new, |round| self.change_records(round, arm, None, earlier)),
            is_dropped: false,
            record: CellRecord::default(),
            parts: BTreeMap::new(),
        })
    }

    /// Creates an arm's database and loads its data. Returns the number of documents, and the seconds that loading them took.
    async fn load(&self, arm: usize, database: &str) -> Result<(u64, f64), RunError> {
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
        vec![(recorder, None); self.load_threads(arm).count()]
    }
}
