//! Databases: named, created, loaded, and dropped when an earlier part of the run has left them behind.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::record::Recorder;
use crate::results::{CellRecord, LoadModel};
use crate::server::meter::Usage;
use crate::server::{Target, namespace};

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

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Drops what a killed part of this run has left of its pilot, its own costs and a round.
    ///
    /// # Errors
    /// When the server fails.
    pub async fn drop_left(&self, round: u64) -> Result<(), RunError> {
        for arm in 0..self.plan.arms.len() {
            self.turn(arm).await?;
            for purpose in [Purpose::Pilot, Purpose::Explain, Purpose::Round(round)] {
                namespace::drop_of_run(self.target(arm), &self.database(purpose, arm), &self.id).await?;
            }
        }
        Ok(())
    }

    /// The name of an arm's database.
    fn database(&self, purpose: Purpose, arm: usize) -> String {
        let mark = match purpose {
            Purpose::Pilot => "p".to_owned(),
            Purpose::Explain => "e".to_owned(),
            Purpose::Round(round) => format!("r{round}"),
        };
        let id = format!("{}{mark}", self.id);
        namespace::database_name(&self.plan.name, &self.plan.arms[arm].name, &id)
    }

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
        let database: Arc<str> = self.database(purpose, arm).into();
        databases.push(RunDatabase { arm, name: Arc::clone(&database) });
        self.turn(arm).await?;
        namespace::create(self.target(arm), &database, &self.id).await?;
        let started = Instant::now();
        let loader = Loader {
            plan: &self.plan,
            arm: &self.plan.arms[arm],
            target: self.target(arm),
            database: &database,
            observer: self.observer,
            stop: &self.stop,
        };
        let loaded = loader.run().await?;
        self.stop.check()?;
        Ok(ArmRound {
            arm,
            round,
            database,
            loaded,
            load_seconds: started.elapsed().as_secs_f64(),
            warm_up: Vec::new(),
            before: Vec::new(),
            next: Arc::default(),
            pacing: None,
            recorders: self.recorders(arm, LoadModel::Closed),
            machine: MachineSampler::default(),
            usage: Usage::default(),
            own_usage: Vec::new(),
            earlier: CallCounts::new(self.plan.operations.len()),
            events: Vec::new(),
            is_dropped: false,
            record: CellRecord::default(),
            parts: BTreeMap::new(),
        })
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
