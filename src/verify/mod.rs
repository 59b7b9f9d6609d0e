//! Verification: do all strategies return the same results and end in the same state?
//!
//! It has four phases, each on fresh databases. *Sequential*: one call at a time; every result and the final states are
//! compared. *Ordered*: concurrent calls, those with equal `serial` in their order; the results of writes and the final
//! states must be those of the sequential phase, then all reads are repeated while nothing writes. *Unordered*: concurrent
//! calls in any order, judged by the records that must be stored and by audits, some of which also run meanwhile. *Pairs*: two
//! writing calls at a time on the same records, which must lead to the results of one of their orders.
//!
//! Where operations say what they do, an `Oracle` executes that in memory, and all strategies are compared with it; otherwise with
//! the baseline.
//!
//! On request a [`Fault`] happens to the server in the middle of every strategy's unordered calls. Calls that fail for it are what
//! the verification wants to see; what they leave is judged as without it.

mod call;
mod call_order;
mod database;
mod difference;
mod fault;
mod live_audits;
mod meeting;
mod oracle;
mod ordered_phase;
mod pairs;
mod pairs_phase;
mod past;
mod records;
mod reread;
mod row;
mod sequential_phase;
mod show_call;
mod state;
mod unordered_phase;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use crate::engine::{FatalError, Loader, RunError, StopFlag, arm_database, audits};
use crate::plan::{EvalError, Plan, Value, written};
use crate::results::verification::{PhaseFindings, Problem, StrategyFindings, Verification, VerifyPhase};
use crate::server::namespace::Namespace;
use crate::server::steady::SteadyTarget;
use crate::server::{Db, Target};

use call::{ArmDatabase, CallResult, PhaseSoFar};
use difference::differences;
pub use fault::Fault;
use oracle::Oracle;
use past::Past;
use records::ExpectedRecords;
pub use show_call::SingleCall;
use state::FinalState;

/// Strategies whose concurrent phases run at the same time.
pub const PARALLEL_STRATEGIES: usize = 4;

/// The settings of a verification.
#[derive(Debug, Clone)]
pub struct VerifySettings {
    /// Its databases.
    pub namespace: Namespace,
    /// The command line that repeats it, without strategies, seed and call.
    pub command: String,
    /// Calls per phase and strategy.
    pub calls: u64,
    /// Clients in the concurrent phases.
    pub clients: usize,
    /// The timeout of a call, after which its outcome is unknown.
    pub timeout: Duration,
}

impl VerifySettings {
    /// Returns how many connections it needs: one per client of the parallel strategies, and one for their live audits.
    pub fn connections(&self) -> u32 {
        (PARALLEL_STRATEGIES * (self.clients + 1)) as u32
    }
}

/// The verification of a plan on a server. The first arm is the baseline; it should be safe.
pub struct Verifier<'v, T> {
    /// The scenario.
    pub plan: &'v Arc<Plan>,
    /// The settings.
    pub settings: VerifySettings,
    /// The server, with [`VerifySettings::connections`].
    pub target: &'v T,
    /// Called when a phase starts, with its strategy (`None`: all of them).
    pub progress: &'v dyn Fn(VerifyPhase, Option<&str>),
    /// What happens to the server in the middle of the unordered calls; `None` for nothing.
    pub fault: Option<Fault<'v>>,
    /// Set when the user wants to stop.
    pub stop: StopFlag,
}

/// What the concurrent phases are compared with.
struct BaselineState<'v> {
    /// The baseline's database, to which nothing writes any more.
    place: ArmDatabase,
    /// The results of calls; `None` for those that only read.
    outcomes: Vec<Option<CallResult>>,
    state: FinalState,
    /// How many calls were compared.
    calls: u64,
    /// The rows right after loading.
    generated: FinalState,
    expected: ExpectedRecords,
    /// The model right after loading; `None` without one.
    loaded: Option<Oracle<'v>>,
    /// The model after the calls.
    oracle: Option<Oracle<'v>>,
}

impl<'v, T: Target> Verifier<'v, T> {
    /// A verification without a fault that does not report its progress.
    pub fn new(plan: &'v Arc<Plan>, settings: VerifySettings, target: &'v T, stop: StopFlag) -> Verifier<'v, T> {
        Verifier { plan, settings, target, progress: &|_, _| {}, fault: None, stop }
    }

    /// Runs all phases.
    ///
    /// # Errors
    /// When the server or the scenario ends it. The databases are dropped in any case, as long as the server answers.
    pub async fn run(&self) -> Result<Verification, RunError> {
        let mut findings = self.findings();
        self.cleaned_up(self.phases(&mut findings)).await?;
        Ok(findings)
    }

    /// Runs the sequential phase only.
    ///
    /// # Errors
    /// As [`Verifier::run`].
    pub async fn run_sequential(&self) -> Result<Verification, RunError> {
        let mut findings = self.findings();
        self.cleaned_up(self.sequential(&mut findings)).await?;
        Ok(findings)
    }

    async fn phases(&self, findings: &mut Verification) -> Result<(), RunError> {
        let Some(baseline) = self.sequential(findings).await? else { return Ok(()) };
        let strategies = findings.strategies.iter_mut().enumerate();
        let strategies = strategies.map(|(arm, own)| self.concurrent(arm, &baseline, own));
        // Most of the time is spent waiting for the journal. A fault hits one strategy at a time.
        let parallel = if self.fault.is_some() { 1 } else { PARALLEL_STRATEGIES };
        stream::iter(strategies).buffer_unordered(parallel).try_collect::<()>().await
    }

    /// Runs the concurrent phases of one strategy.
    async fn concurrent(
        &self,
        arm: usize,
        baseline: &BaselineState<'_>,
        own: &mut StrategyFindings,
    ) -> Result<(), RunError> {
        if own.rejected_at.is_none() {
            own.phases.push(self.ordered(arm, baseline).await?);
            self.drop_concurrent(arm).await?;
        }
        self.unordered(arm, baseline, own).await?;
        if !self.plan.arms[arm].tolerates_pairs {
            self.drop_concurrent(arm).await?;
            self.pairs(arm, baseline.loaded.as_ref(), own).await?;
        }
        Ok(())
    }

    /// Drops the database of a concurrent phase: the next phase has one of the same name.
    async fn drop_concurrent(&self, arm: usize) -> Result<(), RunError> {
        Ok(self.settings.namespace.drop(self.target, &self.concurrent_database(arm)).await?)
    }

    /// Runs `make` for every call below `count`, `clients` at a time.
    async fn concurrently(
        &self,
        count: u64,
        clients: usize,
        make: impl AsyncFn(u64) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let make = &make;
        let calls = stream::iter(0..count).map(async |call| {
            self.stop.check()?;
            make(call).await
        });
        calls.buffer_unordered(clients).try_collect::<()>().await
    }

    /// Returns the arms without the repeat, which would be compared with itself.
    fn arms(&self) -> impl Iterator<Item = usize> + use<'_, T> {
        (0..self.plan.arms.len()).filter(|arm| !self.plan.arms[*arm].is_repeat)
    }

    fn findings(&self) -> Verification {
        let plan = self.plan;
        let strategies = self.arms().map(|arm| &plan.arms[arm]).map(|arm| StrategyFindings {
            name: arm.name.clone(),
            family: arm.family.clone(),
            is_unsafe: arm.is_unsafe,
            ..StrategyFindings::default()
        });
        Verification {
            scenario: plan.name.clone(),
            mix: plan.mix.name.clone(),
            seed: plan.seed,
            command: self.settings.command.clone(),
            calls: self.settings.calls,
            clients: self.settings.clients,
            fault: self.fault.map(|fault| fault.kind),
            baseline: plan.arms.first().map(|arm| arm.name.clone()).unwrap_or_default(),
            strategies: strategies.collect(),
            ..Verification::default()
        }
    }

    /// The database of an arm's concurrent phases.
    fn concurrent_database(&self, arm: usize) -> String {
        self.settings.namespace.names.concurrent(&self.plan.arms[arm].name)
    }

    /// The database of an arm's sequential calls.
    fn sequential_database(&self, arm: usize) -> String {
        arm_database(&self.settings.namespace.names, &self.plan.arms[arm])
    }

    /// Creates and fills a fresh database of an arm.
    async fn provision(&self, arm: usize, database: String) -> Result<ArmDatabase, RunError> {
        let Verifier { plan, target, stop, .. } = self;
        stop.check()?;
        self.settings.namespace.create(*target, &database).await?;
        Loader { plan, arm: &plan.arms[arm], target: *target, database: &database, observer: &(), stop }.run().await?;
        stop.check()?;
        Ok(ArmDatabase { arm, database })
    }

    /// Does some work, and drops its databases unless the connection is lost. The first error is returned.
    async fn cleaned_up<R>(&self, work: impl Future<Output = Result<R, RunError>>) -> Result<R, RunError> {
        let result = work.await;
        if result.as_ref().is_err_and(RunError::is_server_lost) {
            return result;
        }
        let namespace = &self.settings.namespace;
        let mut left = namespace.left();
        left.retain(|database| *database != namespace.names.reservation());
        let dropped = join_all(left.iter().map(|database| namespace.drop(self.target, database))).await;
        let value = result?;
        dropped.into_iter().collect::<Result<(), _>>()?;
        Ok(value)
    }

    /// Adds the audits of a database to what a phase found.
    async fn audit(&self, place: &ArmDatabase, phase: &mut PhaseSoFar) -> Result<(), RunError> {
        let db = Db { target: &SteadyTarget(self.target), name: &place.database };
        let records = audits(&db, self.plan, place.arm, &phase.calls).await;
        phase.findings.audits = readable(records, &mut phase.findings)?.unwrap_or_default();
        Ok(())
    }

    /// Adds the problems that `check` sees in the rows of a strategy to a phase's findings.
    async fn check_state(
        &self,
        place: &ArmDatabase,
        findings: &mut PhaseFindings,
        check: impl FnOnce(&FinalState) -> Vec<Problem>,
    ) -> Result<(), RunError> {
        let problems = readable(self.state(place).await, findings)?.map(|rows| check(&rows));
        problems.into_iter().flatten().for_each(|problem| findings.add(problem));
        Ok(())
    }

    /// Returns the problem of a call without a result.
    fn failure(&self, call: u64, result: &CallResult) -> Option<Problem> {
        let line = match result {
            CallResult::Value(_) => return None,
            CallResult::Failed(message) => format!("error     {message}"),
            CallResult::Unknown(message) => format!("unknown   {message}"),
        };
        Some(self.problem_of(call, "fails", vec![line]))
    }

    /// The records of the model; `None` without one, or where a note says which calls it cannot follow.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    fn oracle(&self, notes: &mut Vec<String>) -> Result<Option<Oracle<'v>>, RunError> {
        let plan = self.plan;
        let Some(model) = &plan.model else { return Ok(None) };
        for (position, operation) in plan.operations.iter().enumerate() {
            let Err(reason) = &model.operations[position] else { continue };
            let name = &operation.name;
            if call::writes(plan, position) {
                notes.push(format!("No answer is compared with the model: {name} writes, and {reason}."));
                return Ok(None);
            }
            notes.push(format!("The answers of {name} are not compared with the model: {reason}."));
        }
        Oracle::new(plan).map(Some).map_err(|error| FatalError::in_all("model", &error).into())
    }

    /// The rows of the model.
    ///
    /// # Errors
    /// When a record cannot be drawn.
    fn rows(&self, oracle: &Oracle<'_>) -> Result<FinalState, RunError> {
        oracle.rows().map_err(|error| FatalError::in_all("model", &error).into())
    }

    /// What the model answers to a call; `None` without an answer.
    ///
    /// # Errors
    /// When an expression of `does` has no value.
    fn answer(&self, oracle: Option<&mut Oracle<'_>>, call: u64) -> Result<Option<CallResult>, RunError> {
        let Some(oracle) = oracle else { return Ok(None) };
        let answer = oracle.call(call);
        let answer = answer.map_err(|error| self.in_does(call, &error))?;
        Ok(answer.map(CallResult::Value))
    }

    /// The parts of the model's answer to a call that may be old; `None` without such parts.
    ///
    /// # Errors
    /// When an expression of `does` has no value.
    fn old_parts(&self, oracle: &mut Oracle<'_>, call: u64) -> Result<Option<Value>, RunError> {
        oracle.past(call).map_err(|error| self.in_does(call, &error))
    }

    /// The error of an expression of `does`.
    fn in_does(&self, call: u64, error: &EvalError) -> RunError {
        FatalError::in_all(format!("does: {}", call::describe(self.plan, call)), error).into()
    }

    /// Returns the problem of a call with another result than expected.
    fn differs(&self, call: u64, expected: &CallResult, actual: &CallResult) -> Problem {
        self.problem_of(call, "differs", differences(expected, actual))
    }

    /// Returns the problem of one call.
    fn problem_of(&self, call: u64, what: &str, lines: Vec<String>) -> Problem {
        let title = format!("call {call} {what}: {}", call::describe(self.plan, call));
        Problem { title, lines, call: Some(call), count: 1 }
    }

    /// Returns the same problem as one that several calls may have, of which this is the first.
    fn in_general(&self, problem: Problem, title: &str) -> Problem {
        let call = problem.call.unwrap_or_default();
        let first = format!("call      {call}: {}", call::describe(self.plan, call));
        let lines = std::iter::once(first).chain(problem.lines).collect();
        Problem { title: title.to_owned(), lines, ..problem }
    }

    /// Returns the problem of a concurrent call without a result; it may depend on the other calls, a deadlock for example.
    fn without_result(&self, call: u64, result: &CallResult) -> Option<Problem> {
        let is_unknown = matches!(result, CallResult::Unknown(_));
        let title = if is_unknown { "calls have an unknown outcome" } else { "calls fail" };
        self.failure(call, result).map(|problem| self.in_general(problem, title))
    }
}

/// Turns an error of reading a strategy's data, which it may have damaged, into a finding.
fn readable<R>(result: Result<R, RunError>, findings: &mut PhaseFindings) -> Result<Option<R>, RunError> {
    match result {
        Err(RunError::Fatal(FatalError::Scenario { operation, message, .. })) => {
            let lines = vec![format!("error     {message}")];
            findings.add(Problem { title: format!("{operation} cannot be read"), lines, call: None, count: 1 });
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// Whether two calls returned the same.
fn is_same(expected: &CallResult, actual: &CallResult) -> bool {
    matches!((expected, actual), (CallResult::Value(one), CallResult::Value(other)) if written(one) == written(other))
}
