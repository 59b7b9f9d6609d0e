//! Whether strategies do the same: the same calls on the same data, one after the other and at once.
//!
//! Three phases, each on fresh databases. *Sequential*: every call's result and the final state are compared, call by
//! call. *Ordered*: many calls at once, but calls with equal `serial` in their order; what writes came to and the final
//! state must be those of the sequential phase, then all reads are made again on the quiet data. *Free*: many calls at once
//! in no order; audits judge, and readers count what they see meanwhile.

mod call;
mod difference;
mod free;
mod ledger;
mod live;
mod ordered;
mod replay;
mod sequential;
mod show;
mod state;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::engine::{Fatal, Loader, RunError, Stop, audits};
use crate::plan::{Plan, Value};
use crate::results::verification::{Phase, PhaseFindings, Problem, StrategyFindings, Verification};
use crate::server::Target;
use crate::server::namespace;

use call::Answer;
pub use show::Shown;
use state::State;

/// Strategies whose concurrent phases run side by side.
pub const STRATEGIES_AT_ONCE: usize = 4;

/// How the check is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tells the databases of this check from those of others.
    pub id: String,
    /// The command line that makes this check, without strategies, seed and call.
    pub command: String,
    /// Calls per phase and strategy.
    pub calls: u64,
    /// Calls in flight in the concurrent phases.
    pub workers: usize,
    /// After which the outcome of a call is unknown.
    pub timeout: Duration,
}

impl Settings {
    /// Commands that may run at once: those of the workers of several strategies, and of a reader for each.
    pub fn connections(&self) -> u32 {
        (STRATEGIES_AT_ONCE * (self.workers + 1)) as u32
    }
}

/// The check of one plan on one server. The first arm is the reference; it should be safe.
pub struct Verifier<'v, T> {
    /// The scenario.
    pub plan: &'v Arc<Plan>,
    /// How.
    pub settings: Settings,
    /// The server, with [`Settings::connections`].
    pub target: &'v T,
    /// Is told which phase begins for which strategy (`None`: for all of them).
    pub progress: &'v dyn Fn(Phase, Option<&str>),
    /// Set when the user wants to stop.
    pub stop: Stop,
}

/// What the sequential phase leaves for the others to be compared with.
struct Reference {
    /// The reference's database, quiet now.
    database: String,
    /// What every call that writes came to.
    outcomes: Vec<Option<Value>>,
    state: State,
    /// Calls that were compared.
    calls: u64,
}

impl<T: Target> Verifier<'_, T> {
    /// Goes through all phases.
    ///
    /// # Errors
    /// When the server or the scenario ends it. The databases are dropped in any case, as long as the server answers.
    pub async fn run(&self) -> Result<Verification, RunError> {
        let mut findings = self.findings();
        let mut databases = Vec::new();
        let result = self.phases(&mut findings, &mut databases).await;
        self.drop(&databases, result).await?;
        Ok(findings)
    }

    /// The sequential phase alone.
    ///
    /// # Errors
    /// As [`Verifier::run`].
    pub async fn run_sequential(&self) -> Result<Verification, RunError> {
        let mut findings = self.findings();
        let mut databases = Vec::new();
        let result = self.sequential(&mut findings, &RefCell::new(&mut databases)).await.map(|_| ());
        self.drop(&databases, result).await?;
        Ok(findings)
    }

    async fn phases(&self, findings: &mut Verification, databases: &mut Vec<String>) -> Result<(), RunError> {
        let made = RefCell::new(databases);
        let Some(reference) = self.sequential(findings, &made).await? else { return Ok(()) };
        let at_once = findings.strategies.iter_mut().enumerate();
        let at_once = at_once.map(|(arm, own)| self.concurrent(arm, &reference, &made, own));
        // Most of the time is spent waiting for the journal.
        stream::iter(at_once).buffer_unordered(STRATEGIES_AT_ONCE).try_collect::<()>().await
    }

    /// The phases of one strategy in which many calls run at once.
    async fn concurrent(
        &self,
        arm: usize,
        reference: &Reference,
        databases: &RefCell<&mut Vec<String>>,
        own: &mut StrategyFindings,
    ) -> Result<(), RunError> {
        if own.refused_at.is_none() {
            own.phases.push(self.ordered(arm, reference, databases).await?);
        }
        let (phase, live) = self.free(arm, databases).await?;
        own.phases.push(phase);
        own.live = live;
        Ok(())
    }

    /// The arms, without the reference's second, which comes last and would only be compared with itself.
    fn arms(&self) -> impl Iterator<Item = usize> + use<'_, T> {
        (0..self.plan.arms.len()).filter(|arm| !self.plan.arms[*arm].is_control)
    }

    fn findings(&self) -> Verification {
        let plan = self.plan;
        let calls = self.settings.calls;
        let mut called = vec![false; plan.operations.len()];
        (0..calls).for_each(|call| called[plan.mix.draw(plan.round_seed(0), call)] = true);
        let uncalled = plan.operations.iter().zip(called).filter(|(_, called)| !called);
        Verification {
            scenario: plan.name.clone(),
            mix: plan.mix.name.clone(),
            seed: plan.seed,
            command: self.settings.command.clone(),
            calls,
            workers: self.settings.workers,
            reference: plan.arms.first().map(|arm| arm.name.clone()).unwrap_or_default(),
            uncalled: uncalled.map(|(operation, _)| operation.name.to_string()).collect(),
            strategies: self
                .arms()
                .map(|arm| &plan.arms[arm])
                .map(|arm| StrategyFindings {
                    name: arm.name.clone(),
                    is_unsafe: arm.is_unsafe,
                    refused_at: None,
                    phases: Vec::new(),
                    live: Vec::new(),
                })
                .collect(),
        }
    }

    fn check_stop(&self) -> Result<(), RunError> {
        if self.stop.is_set() { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// A fresh database of an arm for a phase, filled.
    async fn provision(
        &self,
        phase: Phase,
        arm: usize,
        databases: &RefCell<&mut Vec<String>>,
    ) -> Result<String, RunError> {
        self.check_stop()?;
        let mark = match phase {
            Phase::Sequential => "s",
            Phase::Ordered => "o",
            Phase::Free => "f",
        };
        let arm = &self.plan.arms[arm];
        let database = namespace::database_name(&self.plan.name, &arm.name, &format!("{}{mark}", self.settings.id));
        // First, so that it is dropped even when this is given up in between.
        databases.borrow_mut().push(database.clone());
        namespace::create(self.target, &database, &self.settings.id).await?;
        let loader = Loader {
            plan: self.plan,
            arm,
            target: self.target,
            database: &database,
            observer: &(),
            stop: &|| self.stop.is_set(),
        };
        loader.run().await?;
        self.check_stop()?;
        Ok(database)
    }

    async fn drop(&self, databases: &[String], result: Result<(), RunError>) -> Result<(), RunError> {
        if let Err(error) = result {
            if call::is_lost(&error) {
                return Err(error);
            }
            // The first error is what the user must hear of.
            let _ = self.drop_all(databases).await;
            return Err(error);
        }
        self.drop_all(databases).await
    }

    async fn drop_all(&self, databases: &[String]) -> Result<(), RunError> {
        let dropped = join_all(databases.iter().map(|database| namespace::drop_marked(self.target, database))).await;
        Ok(dropped.into_iter().collect::<Result<(), _>>()?)
    }

    /// Adds the audits of a quiet database to a phase's findings.
    async fn audit(
        &self,
        (arm, database): (usize, &str),
        counts: &call::Counts,
        findings: &mut PhaseFindings,
    ) -> Result<(), RunError> {
        let made = audits(self.plan, arm, (self.target, database), &counts.calls).await;
        findings.audits = self.borne(arm, made, findings)?.unwrap_or_default();
        Ok(())
    }

    /// What was read of a strategy's data. A negative control may have spoilt them so that they cannot be read, which is a
    /// finding.
    fn borne<R>(
        &self,
        arm: usize,
        made: Result<R, RunError>,
        findings: &mut PhaseFindings,
    ) -> Result<Option<R>, RunError> {
        match made {
            Err(RunError::Fatal(Fatal::Scenario { operation, words, .. })) if self.plan.arms[arm].is_unsafe => {
                let lines = vec![format!("error     {words}")];
                findings.add(Problem { title: format!("{operation} cannot be read"), lines, call: None, count: 1 });
                Ok(None)
            }
            made => made.map(Some),
        }
    }

    /// The operation and arguments of a call, short enough for a line.
    fn describe(&self, call: u64) -> String {
        call::describe(self.plan, call)
    }
}

/// Whether the answers of two calls are the same result.
fn is_same(expected: &Answer, actual: &Answer) -> bool {
    match (expected, actual) {
        (Answer::Value(expected), Answer::Value(actual)) => {
            crate::plan::written(expected) == crate::plan::written(actual)
        }
        _ => false,
    }
}
