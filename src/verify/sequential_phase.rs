//! The first phase: one call at a time. All strategies must return the same results and end in the same state.

use futures_util::future::join_all;

use crate::engine::{ExplainTarget, RunError};
use crate::plan::{Operation, OutcomeCounts, Value};
use crate::results::verification::{
    OperationCoverage, PhaseFindings, Problem, ReceivedBytes, Verification, VerifyPhase,
};
use crate::server::Target;

use super::call::{self, ArmDatabase, CallResult, FinishedCall, PhaseCounts};
use super::difference::differences;
use super::records::{ExpectedRecords, NewRecords};
use super::state::{self, FinalState};
use super::{BaselineState, Databases, Verifier, is_same, readable};

/// A strategy while it is compared.
struct Runner<'t, T> {
    place: ArmDatabase,
    /// Ask for the plans of the commands of each operation.
    explaining: Vec<ExplainTarget<'t, T>>,
    counts: PhaseCounts,
    new: NewRecords,
    findings: PhaseFindings,
    /// Whether its results are still compared.
    is_compared: bool,
}

impl<T: Target> Verifier<'_, T> {
    /// Runs every call on all strategies before the next call. `None` when the baseline itself fails, so that there is
    /// nothing to compare with.
    pub(super) async fn sequential(
        &self,
        findings: &mut Verification,
        databases: &Databases,
    ) -> Result<Option<BaselineState>, RunError> {
        (self.progress)(VerifyPhase::Sequential, None);
        let generated = self.generated()?;
        let mut runners = Vec::new();
        for arm in self.arms() {
            let mut runner = Runner {
                place: self.provision(arm, self.sequential_database(arm), databases).await?,
                explaining: self.plan.operations.iter().map(|_| ExplainTarget::new(self.target)).collect(),
                counts: PhaseCounts::new(self.plan.operations.len()),
                new: NewRecords::default(),
                findings: PhaseFindings::new(VerifyPhase::Sequential),
                is_compared: true,
            };
            self.compare_loaded(&generated, &mut runner).await?;
            runners.push(runner);
        }
        let mut outcomes = Vec::new();
        for call in 0..self.settings.calls {
            self.stop.check()?;
            match self.step(call, &mut runners, findings).await? {
                Some(outcome) => outcomes.push(outcome.filter(|_| self.writes(call))),
                None => break,
            }
        }
        findings.coverage = self.coverage(&runners);
        let baseline = self.compare_states(&mut runners, outcomes, generated, findings).await?;
        findings.received = self.received(&runners);
        for runner in runners {
            let own = &mut findings.strategies[runner.place.arm];
            own.phases.push(runner.findings);
            for (operation, explained) in self.plan.operations.iter().zip(runner.explaining) {
                findings.warnings.extend(
                    explained
                        .into_plans()
                        .flat_map(|plan| plan.warnings(&own.name, &operation.name).collect::<Vec<_>>()),
                );
            }
        }
        Ok(baseline)
    }

    /// Returns the operations with a result for which safe strategies that made all calls receive very different numbers of bytes.
    fn received(&self, runners: &[Runner<'_, T>]) -> Vec<ReceivedBytes> {
        let is_whole = |runner: &&Runner<'_, T>| runner.is_compared && !self.plan.arms[runner.place.arm].is_unsafe;
        let operations = self.plan.operations.iter().enumerate().filter(|(_, operation)| operation.returns.is_some());
        let of_operation = |(at, operation): (usize, &Operation)| {
            let of_strategy = |runner: &Runner<'_, T>| {
                let known = &runner.counts.calls.known[at];
                let calls = known.ok + known.same + known.not_found + known.rejected;
                let name = self.plan.arms[runner.place.arm].name.clone();
                (calls > 0).then(|| (name, runner.explaining[at].received() / calls))
            };
            let strategies = runners.iter().filter(is_whole).filter_map(of_strategy).collect();
            ReceivedBytes::new(&operation.name, strategies)
        };
        operations.filter_map(of_operation).collect()
    }

    /// Makes one call on every strategy that is still compared. Returns the baseline's result, or `None` when the baseline
    /// has none to compare with.
    async fn step(
        &self,
        call: u64,
        runners: &mut [Runner<'_, T>],
        findings: &mut Verification,
    ) -> Result<Option<Option<Value>>, RunError> {
        let operation = self.plan.mix.draw(self.plan.round_seed(0), call);
        let calls = runners.iter().map(async |runner| {
            let Some(explaining) = runner.explaining.get(operation).filter(|_| runner.is_compared) else {
                return Ok(None);
            };
            self.call_through(explaining, &runner.place, call).await.map(Some)
        });
        let finished: Vec<Option<FinishedCall>> = join_all(calls).await.into_iter().collect::<Result<_, _>>()?;
        let Some(Some(expected)) = finished.first() else { return Ok(None) };
        let expected = expected.result.clone();
        if let Some(problem) = self.unusable(call, &expected) {
            runners[0].findings.add(problem);
            runners[0].is_compared = false;
            return Ok(None);
        }
        for (runner, finished) in runners.iter_mut().zip(&finished) {
            let Some(finished) = finished else { continue };
            runner.counts.add(finished);
            runner.new.add(self.plan, call, finished);
            let result = &finished.result;
            if let CallResult::Failed(_) | CallResult::Unknown(_) = result {
                runner.is_compared = false;
                runner.findings.add(self.failure(call, result));
            } else if result.is_rejected_for_size() {
                runner.is_compared = false;
                findings.strategies[runner.place.arm].rejected_at = Some(call);
            } else if !is_same(&expected, result) {
                runner.is_compared = false;
                let title = format!("call {call} differs: {}", call::describe(self.plan, call));
                runner.findings.add(Problem::of_call(call, title, differences(&expected, result)));
            }
        }
        Ok(Some(expected.into_value()))
    }

    /// Whether a call writes, in any strategy.
    fn writes(&self, call: u64) -> bool {
        call::writes(self.plan, self.plan.mix.draw(self.plan.round_seed(0), call))
    }

    /// Returns the problem of a baseline's result that no other can be compared with.
    fn unusable(&self, call: u64, result: &CallResult) -> Option<Problem> {
        match result {
            CallResult::Failed(_) | CallResult::Unknown(_) => Some(self.failure(call, result)),
            CallResult::Value(_) => result.is_rejected_for_size().then(|| {
                let title = format!("call {call} is rejected for its size: {}", call::describe(self.plan, call));
                let advice = "later calls cannot be compared with it: choose another baseline";
                Problem::of_call(call, title, vec![advice.into()])
            }),
        }
    }

    /// Returns the problem of a call without a result.
    pub(super) fn failure(&self, call: u64, result: &CallResult) -> Problem {
        let lines = match result {
            CallResult::Failed(message) => vec![format!("error     {message}")],
            CallResult::Unknown(message) => vec![format!("unknown   {message}")],
            CallResult::Value(_) => Vec::new(),
        };
        Problem::of_call(call, format!("call {call} fails: {}", call::describe(self.plan, call)), lines)
    }

    /// Audits every strategy and compares its final state with the baseline's.
    async fn compare_states(
        &self,
        runners: &mut [Runner<'_, T>],
        outcomes: Vec<Option<Value>>,
        generated: FinalState,
        findings: &mut Verification,
    ) -> Result<Option<BaselineState>, RunError> {
        let mut expected = None;
        let is_usable = runners.first().is_some_and(|baseline| baseline.is_compared);
        for runner in runners.iter_mut() {
            self.stop.check()?;
            runner.counts.write_totals(&mut runner.findings);
            self.audit(&runner.place, &runner.counts, &mut runner.findings).await?;
            if runner.place.arm == 0 {
                expected = Some(self.state(&runner.place).await?);
                continue;
            }
            // A strategy that is not compared any more has made fewer calls.
            if let (Some(expected), true) = (&expected, runner.is_compared && is_usable) {
                self.compare_state(&runner.place, expected, &mut runner.findings).await?;
            }
        }
        let (Some(baseline), Some(state)) = (runners.first(), expected) else { return Ok(None) };
        let calls = outcomes.len() as u64;
        let expected = ExpectedRecords::learn(self.plan, &generated, &state, &baseline.new);
        findings.notes.extend(expected.notes(&state, &baseline.new));
        let place = baseline.place.clone();
        Ok(is_usable.then(|| BaselineState { place, outcomes, state, calls, generated, expected }))
    }

    /// Compares the rows of a strategy right after loading with those that were generated.
    async fn compare_loaded(&self, generated: &FinalState, runner: &mut Runner<'_, T>) -> Result<(), RunError> {
        let rows = self.state(&runner.place).await;
        let rows = readable(rows, &mut runner.findings)?;
        let problems = rows.map(|rows| state::compare("rows right after loading", generated, &rows));
        problems.into_iter().flatten().for_each(|problem| runner.findings.add(problem));
        Ok(())
    }

    /// What the calls of every operation returned.
    fn coverage(&self, runners: &[Runner<'_, T>]) -> Vec<OperationCoverage> {
        let Some(baseline) = runners.first() else { return Vec::new() };
        let of = |(operation, this): (usize, &Operation)| {
            let OutcomeCounts { ok, same, not_found, rejected } = baseline.counts.calls.known[operation];
            OperationCoverage {
                operation: this.name.to_string(),
                calls: ok + same + not_found + rejected,
                ok,
                same,
                not_found,
                rejected,
                empty: baseline.counts.empty[operation],
                is_vacuous: runners.iter().all(|runner| runner.counts.effective(operation) == 0),
            }
        };
        self.plan.operations.iter().enumerate().map(of).collect()
    }
}
