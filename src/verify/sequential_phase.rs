//! The first phase: one call at a time. All strategies must return the same results and end in the same state.

use futures_util::future::join_all;

use crate::engine::{ExplainTarget, MissingIndex, RunError};
use crate::plan::{Operation, OutcomeCounts};
use crate::results::verification::{OperationCoverage, Problem, ReceivedBytes, Verification, VerifyPhase};
use crate::server::Target;

use super::call::{self, ArmDatabase, CallResult, FinishedCall, PhaseSoFar};
use super::difference::differences;
use super::records::ExpectedRecords;
use super::state::{self, FinalState};
use super::{BaselineState, Oracle, Past, Verifier, is_same};

/// A strategy while it is compared.
struct Runner<'t, T> {
    place: ArmDatabase,
    /// Ask for the plans of the commands of each operation.
    explaining: Vec<ExplainTarget<'t, T>>,
    phase: PhaseSoFar,
    /// Whether its results are still compared.
    is_compared: bool,
}

impl<'v, T: Target> Verifier<'v, T> {
    /// Runs every call on all strategies before the next call. `None` when the baseline itself fails, so that there is
    /// nothing to compare with.
    pub(super) async fn sequential(&self, findings: &mut Verification) -> Result<Option<BaselineState<'v>>, RunError> {
        (self.progress)(VerifyPhase::Sequential, None);
        let generated = self.generated()?;
        let mut runners = Vec::new();
        for arm in self.arms() {
            let mut runner = Runner {
                place: self.provision(arm, self.sequential_database(arm)).await?,
                explaining: self.plan.operations.iter().map(|_| ExplainTarget::new(self.target)).collect(),
                phase: PhaseSoFar::new(self.plan, VerifyPhase::Sequential),
                is_compared: true,
            };
            let compare = |rows: &FinalState| state::compare("rows right after loading", &generated, rows);
            self.check_state(&runner.place, &mut runner.phase.findings, compare).await?;
            runners.push(runner);
        }
        let loaded = self.oracle(&mut findings.notes)?;
        let mut oracle = loaded.clone();
        findings.model_calls = oracle.as_ref().map(|_| 0);
        let mut past = loaded.as_ref().and_then(|loaded| Past::new(self.plan, loaded));
        let mut outcomes = Vec::new();
        for call in 0..self.settings.calls {
            self.stop.check()?;
            let Some(outcome) = self.step(call, &mut runners, (oracle.as_mut(), past.as_mut()), findings).await? else {
                break;
            };
            let writes = call::writes(self.plan, self.plan.mix.draw(self.plan.round_seed(0), call));
            outcomes.push(writes.then_some(outcome));
        }
        findings.coverage = self.coverage(&runners);
        let baseline = self.compare_states(&mut runners, outcomes, generated, [loaded, oracle], findings).await?;
        findings.received = self.received(&runners);
        let mut missing = Vec::new();
        for runner in runners {
            let own = &mut findings.strategies[runner.place.arm];
            own.phases.push(runner.phase.findings);
            for (operation, explained) in self.plan.operations.iter().zip(runner.explaining) {
                let lacks = explained.into_plans().flat_map(|mut plan| plan.take_missing());
                missing.extend(lacks.map(|one| (own.name.clone(), operation.name.to_string(), one)));
            }
        }
        findings.warnings.extend(MissingIndex::warnings(missing));
        Ok(baseline)
    }

    /// Returns the operations with a result for which safe strategies that made all calls receive very different numbers of bytes.
    fn received(&self, runners: &[Runner<'_, T>]) -> Vec<ReceivedBytes> {
        let is_whole = |runner: &&Runner<'_, T>| runner.is_compared && !self.plan.arms[runner.place.arm].is_unsafe;
        let operations = self.plan.operations.iter().enumerate().filter(|(_, operation)| operation.returns.is_some());
        let of_operation = |(at, operation): (usize, &Operation)| {
            let of_strategy = |runner: &Runner<'_, T>| {
                let known = &runner.phase.calls.known[at];
                let calls = known.ok + known.same + known.not_found + known.rejected;
                let name = self.plan.arms[runner.place.arm].name.clone();
                (calls > 0).then(|| (name, runner.explaining[at].received() / calls))
            };
            let strategies = runners.iter().filter(is_whole).filter_map(of_strategy).collect();
            ReceivedBytes::new(&operation.name, strategies)
        };
        operations.filter_map(of_operation).collect()
    }

    /// Makes one call on every strategy that is still compared. Returns the model's result or else the baseline's; `None` when
    /// there is nothing to compare with.
    async fn step(
        &self,
        call: u64,
        runners: &mut [Runner<'_, T>],
        (mut oracle, mut past): (Option<&mut Oracle<'v>>, Option<&mut Past<'v>>),
        findings: &mut Verification,
    ) -> Result<Option<CallResult>, RunError> {
        let operation = self.plan.mix.draw(self.plan.round_seed(0), call);
        let calls = runners.iter().map(async |runner| {
            let Some(explaining) = runner.explaining.get(operation).filter(|_| runner.is_compared) else {
                return Ok(None);
            };
            self.call_through(explaining, &runner.place, call).await.map(Some)
        });
        let finished: Vec<Option<FinishedCall>> = join_all(calls).await.into_iter().collect::<Result<_, _>>()?;
        let baseline = finished.first().and_then(|finished| Some(&finished.as_ref()?.result));
        let unusable = baseline.and_then(|result| self.unusable(call, result));
        if let Some(problem) = unusable {
            runners[0].phase.findings.add(problem);
            runners[0].is_compared = false;
            return Ok(None);
        }
        let answer = self.answer(oracle.as_deref_mut(), call)?;
        if let (Some(past), Some(oracle)) = (&mut past, oracle) {
            past.add(call, oracle);
        }
        let is_model = answer.is_some();
        findings.model_calls = findings.model_calls.map(|calls| calls + u64::from(is_model));
        let Some(expected) = answer.or_else(|| baseline.cloned()) else { return Ok(None) };
        for (runner, finished) in runners.iter_mut().zip(&finished) {
            let Some(finished) = finished else { continue };
            runner.phase.add(self.plan, call, finished);
            let result = &finished.result;
            let is_same = is_same(&expected, result);
            let too_old = if is_same { self.too_old(past.as_deref_mut(), call, finished)? } else { None };
            if is_same && too_old.is_none() {
                continue;
            }
            runner.is_compared = false;
            if let Some(problem) = too_old {
                runner.phase.findings.add(problem);
            } else if result.is_rejected_for_size() {
                findings.strategies[runner.place.arm].rejected_at = Some(call);
            } else {
                let what = if is_model { "differs from the model" } else { "differs" };
                let differs = || self.problem_of(call, what, differences(&expected, result));
                runner.phase.findings.add(self.failure(call, result).unwrap_or_else(differs));
            }
        }
        Ok(runners.iter().any(|runner| runner.is_compared).then_some(expected))
    }

    /// Returns the problem of a baseline's result that no other can be compared with.
    fn unusable(&self, call: u64, result: &CallResult) -> Option<Problem> {
        let advice = "later calls cannot be compared with it: choose another baseline";
        let rejected = || self.problem_of(call, "is rejected for its size", vec![advice.to_owned()]);
        self.failure(call, result).or_else(|| result.is_rejected_for_size().then(rejected))
    }

    /// Audits every strategy and compares its final state with the model's or else the baseline's.
    async fn compare_states(
        &self,
        runners: &mut [Runner<'_, T>],
        outcomes: Vec<Option<CallResult>>,
        generated: FinalState,
        [loaded, oracle]: [Option<Oracle<'v>>; 2],
        findings: &mut Verification,
    ) -> Result<Option<BaselineState<'v>>, RunError> {
        let mut expected = oracle.as_ref().map(|oracle| self.rows(oracle)).transpose()?;
        let from = if oracle.is_some() { " from the model" } else { "" };
        let is_usable = runners.first().is_some_and(|baseline| baseline.is_compared);
        for runner in runners.iter_mut() {
            self.stop.check()?;
            self.audit(&runner.place, &mut runner.phase).await?;
            if runner.place.arm == 0 && expected.is_none() {
                expected = Some(self.state(&runner.place).await?);
                continue;
            }
            // A strategy that is not compared any more has made fewer calls.
            if let (Some(expected), true) = (&expected, runner.is_compared && (is_usable || oracle.is_some())) {
                let compare = |rows: &FinalState| {
                    let problems = state::compare("final rows", expected, rows).into_iter();
                    problems.map(|one| Problem { title: one.title + from, ..one }).collect()
                };
                self.check_state(&runner.place, &mut runner.phase.findings, compare).await?;
            }
        }
        let (Some(baseline), Some(state)) = (runners.first(), expected) else { return Ok(None) };
        let calls = outcomes.len() as u64;
        let (expected, notes) = ExpectedRecords::learn(self.plan, &generated, &state, &baseline.phase.new);
        findings.notes.extend(notes);
        let place = baseline.place.clone();
        Ok(is_usable.then(|| BaselineState { place, outcomes, state, calls, generated, expected, loaded, oracle }))
    }

    /// What the calls of every operation returned.
    fn coverage(&self, runners: &[Runner<'_, T>]) -> Vec<OperationCoverage> {
        let Some(baseline) = runners.first() else { return Vec::new() };
        let of = |(operation, this): (usize, &Operation)| {
            let OutcomeCounts { ok, same, not_found, rejected } = baseline.phase.calls.known[operation];
            OperationCoverage {
                operation: this.name.to_string(),
                calls: ok + same + not_found + rejected,
                ok,
                same,
                not_found,
                rejected,
                empty: baseline.phase.empty[operation],
                is_vacuous: runners.iter().all(|runner| runner.phase.effective(operation) == 0),
            }
        };
        self.plan.operations.iter().enumerate().map(of).collect()
    }
}
