//! Databases: named, made, filled, and dropped when an earlier part of the run has left them.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::time::Instant;

use crate::server::Target;
use crate::server::meter::Usage;
use crate::server::namespace;

use super::audit::CallCounts;
use super::cell::Cell;
use super::error::RunError;
use super::event::Phase;
use super::experiment::Experiment;
use super::load::Loader;
use super::machine::Machine;

/// What a database is made for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// The pilot.
    Pilot,
    /// The cost pass.
    Costs,
    /// A round, from 0.
    Round(u64),
}

impl<T: Target, G: Target + 'static> Experiment<'_, T, G> {
    /// Drops what a part of this run that was killed has left of its pilot, its cost pass and a round.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn drop_left(&self, round: u64) -> Result<(), RunError> {
        for arm in 0..self.plan.arms.len() {
            for purpose in [Purpose::Pilot, Purpose::Costs, Purpose::Round(round)] {
                namespace::drop_of_run(self.target, &self.database(purpose, arm), &self.settings.id).await?;
            }
        }
        Ok(())
    }

    /// The name of an arm's database.
    fn database(&self, purpose: Purpose, arm: usize) -> String {
        let mark = match purpose {
            Purpose::Pilot => "p".to_owned(),
            Purpose::Costs => "c".to_owned(),
            Purpose::Round(round) => format!("r{round}"),
        };
        let id = format!("{}{mark}", self.settings.id);
        namespace::database_name(&self.plan.name, &self.plan.arms[arm].name, &id)
    }

    /// A fresh database, filled.
    pub(super) async fn provision(
        &self,
        purpose: Purpose,
        arm: usize,
        databases: &mut Vec<Arc<str>>,
    ) -> Result<Cell, RunError> {
        self.check_stop()?;
        let plan = &self.plan;
        let (round, phase) = match purpose {
            Purpose::Pilot => (None, Phase::Load),
            Purpose::Costs => (None, Phase::Costs),
            Purpose::Round(round) => (Some(round), Phase::Load),
        };
        self.phase(round, arm, phase);
        let database: Arc<str> = self.database(purpose, arm).into();
        databases.push(Arc::clone(&database));
        namespace::create(self.target, &database, &self.settings.id).await?;
        let begun = Instant::now();
        let loader = Loader {
            plan,
            arm: &plan.arms[arm],
            target: self.target,
            database: &database,
            observer: self.observer,
            stop: &|| self.stop.is_set(),
        };
        let loaded = loader.run().await?;
        self.check_stop()?;
        let (recorder, paced) = self.measures(round);
        Ok(Cell {
            database,
            loaded,
            load_seconds: begun.elapsed().as_secs_f64(),
            next: Arc::new(AtomicU64::new(0)),
            recorders: vec![(recorder, None); self.generators.len()],
            calls: 0,
            seconds: 0.0,
            connections_created: 0,
            paced,
            before: Vec::new(),
            growth: Vec::new(),
            slices: Vec::new(),
            warm_up: Vec::new(),
            usage: Usage::default(),
            machine: Machine::default(),
            forgotten: CallCounts::new(plan.operations.len()),
            is_dropped: false,
        })
    }
}
