//! A run: its settings, and what all its parts share.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use tokio::time::Instant;

use crate::engine::load::slice::{FatalError, is_alive};
use crate::engine::load::stop::StopFlag;
use crate::plan::Plan;
use crate::record::Part;
use crate::results::{EventKind, EventRecord, RunSettings};
use crate::server::flush::flush;
use crate::server::meter::Meter;
use crate::server::namespace::Namespace;
use crate::server::primary::PrimaryChange;
use crate::server::steady::SteadyTarget;
use crate::server::turns::EndedServer;
use crate::server::{Failure, Target};

use super::cell::ArmRound;
use super::error::{Result, RunError};
use super::event::{Event, Observer, RunPhase};
use super::provision::arm_database;
use super::servers::Servers;

/// A run.
pub struct Experiment<'e, T, G> {
    /// The scenario.
    pub plan: Arc<Plan>,
    /// The settings of the run. The pilot has closed load in any case.
    pub settings: RunSettings,
    /// Its databases.
    pub namespace: Namespace,
    /// Whether to keep the databases of the last round; all others are dropped.
    pub keep: bool,
    /// Where its strategies are measured.
    pub servers: Servers<'e, T, G>,
    /// Receives the events.
    pub observer: &'e dyn Observer,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
    /// When the run started.
    pub started: Instant,
}

impl<'e, T: Target, G: Target + 'static> Experiment<'e, T, G> {
    /// Where an arm's databases are created and read. Needs its turn.
    pub fn target(&self, arm: usize) -> &'e T {
        self.servers.target(arm)
    }

    /// Lets an arm's server work and stops those of the others. No effect where all arms share a server, or when the arm is
    /// on turn already.
    ///
    /// # Errors
    /// When a server has ended.
    pub async fn turn(&self, arm: usize) -> Result<()> {
        let lost = |EndedServer { server, reason }| format!("strategy {}: {reason}", self.plan.arms[server].name);
        Ok(self.servers.turn(arm).await.map_err(|ended| FatalError::ServerLost(lost(ended)))?)
    }

    /// The same run, for another plan or observer.
    pub(super) fn share(&self) -> Self {
        let (plan, settings) = (Arc::clone(&self.plan), self.settings.clone());
        Experiment { plan, settings, namespace: self.namespace.clone(), stop: self.stop.clone(), ..*self }
    }

    /// Adds the changes of the primary since the last time to the events of an arm; `part` is what was measured meanwhile.
    pub(super) fn note_changes(&self, cell: &mut ArmRound, part: Option<Part>) {
        if let Some(round) = cell.round {
            cell.events.extend(self.changes(round, cell.arm, part));
        }
    }

    /// The changes of the primary of an arm's server since the last time, as events.
    pub(super) fn changes(&self, round: u64, strategy: usize, part: Option<Part>) -> Vec<EventRecord> {
        let event = |PrimaryChange { at, from, to, without }| EventRecord {
            round,
            strategy,
            part,
            seconds: at.saturating_duration_since(self.started).as_secs_f64(),
            kind: EventKind::PrimaryChanged { from, to, without: without.as_secs_f64() },
        };
        self.target(strategy).take_primary_changes().into_iter().map(event).collect()
    }

    pub(super) fn phase(&self, round: Option<u64>, arm: usize, phase: RunPhase) {
        self.observer.event(&Event::Phase { round, arm: &self.plan.arms[arm].name, phase });
    }

    /// Flushes the servers of some arms, each once, and returns whether it was possible.
    pub(super) async fn flush(&self, arms: &[usize]) -> Result<bool> {
        let (mut servers, mut is_flushed) = (BTreeSet::new(), true);
        for &arm in arms {
            if servers.insert(self.servers.position(arm)) {
                self.turn(arm).await?;
                is_flushed &= flush(&SteadyTarget(self.target(arm))).await.map_err(self.inspect_error(arm))?;
            }
        }
        Ok(is_flushed)
    }

    /// Gives cells the meters of their servers, which are idle now. Every server has its own counters and its own cost of
    /// reading them.
    pub(super) async fn attach_meters(&self, cells: &mut [ArmRound]) -> Result<()> {
        let mut meters = BTreeMap::new();
        for cell in cells {
            let meter = match meters.entry(self.servers.position(cell.arm)) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    self.turn(cell.arm).await?;
                    entry.insert(Rc::new(Meter::new(self.target(cell.arm)).await.into()))
                }
            };
            cell.meter = Rc::clone(meter);
        }
        Ok(())
    }

    /// The error of a failed inspection of an arm.
    pub(super) fn inspect_error(&self, arm: usize) -> impl Fn(Failure) -> RunError {
        move |failure| RunError::Inspect { strategy: self.plan.arms[arm].name.clone(), failure }
    }

    /// Does some work on fresh databases, and drops them unless they are to be kept. An earlier error takes precedence over one from
    /// dropping. A lost server is not asked once per database, as each attempt would run into a timeout.
    pub(super) async fn on_databases<R>(&self, keep: bool, work: impl Future<Output = Result<R>>) -> Result<R> {
        let result = work.await;
        match result {
            Ok(_) if keep => return result,
            Err(error) if error.is_server_lost() || !is_alive(self.servers.on_turn()).await => {
                return Err(error.with_lost_server());
            }
            Ok(_) | Err(_) => {}
        }
        let mut dropped = Ok(());
        for (arm, strategy) in self.plan.arms.iter().enumerate() {
            let database = arm_database(&self.namespace.names, strategy);
            if self.namespace.left().contains(&database) {
                dropped = dropped.and(self.drop_database(arm, &database).await);
            }
        }
        result.and_then(|value| dropped.map(|()| value))
    }

    async fn drop_database(&self, arm: usize, name: &str) -> Result<()> {
        self.turn(arm).await?;
        Ok(self.namespace.drop(&SteadyTarget(self.target(arm)), name).await?)
    }
}
