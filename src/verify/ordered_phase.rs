//! The second phase: concurrent calls, those with equal `serial` in their order.

use std::cell::RefCell;

use crate::engine::RunError;
use crate::results::verification::{PhaseFindings, Problem, VerifyPhase};
use crate::server::Target;

use super::call::{self, CallResult, PhaseCounts};
use super::call_order::CallOrder;
use super::difference::differences;
use super::{BaselineState, Databases, Verifier, is_same};

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy. The results of its writes and its final state must be those of the sequential phase, and so must
    /// the results of its reads once no call runs any more.
    pub(super) async fn ordered(
        &self,
        arm: usize,
        baseline: &BaselineState,
        databases: &Databases,
    ) -> Result<PhaseFindings, RunError> {
        (self.progress)(VerifyPhase::Ordered, Some(&self.plan.arms[arm].name));
        let place = &self.provision(arm, self.concurrent_database(arm), databases).await?;
        let order = CallOrder::new(self.plan, baseline.calls)?;
        let findings = RefCell::new(PhaseFindings::new(VerifyPhase::Ordered));
        let counts = RefCell::new(PhaseCounts::new(self.plan.operations.len()));
        let make = async |call| {
            order.wait_for_predecessors(call).await;
            let finished = self.call(place, call).await;
            order.finish(call);
            let finished = finished?;
            counts.borrow_mut().add(&finished);
            self.compare_write(call, &finished.result, baseline, &mut findings.borrow_mut());
            Ok(())
        };
        self.concurrently(baseline.calls, self.settings.clients, make).await?;
        let (mut findings, counts) = (findings.into_inner(), counts.into_inner());
        counts.write_totals(&mut findings);
        self.compare_state(place, &baseline.state, &mut findings).await?;
        self.reread(place, baseline, &mut findings).await?;
        self.audit(place, &counts, &mut findings).await?;
        Ok(findings)
    }

    /// Returns the problem of a concurrent call without a result; it may depend on the other calls, a deadlock for example.
    pub(super) fn without_result(&self, call: u64, result: &CallResult) -> Option<Problem> {
        let title = match result {
            CallResult::Value(_) => return None,
            CallResult::Failed(_) => "calls fail",
            CallResult::Unknown(_) => "calls have an unknown outcome",
        };
        let problem = Problem { title: title.into(), ..self.failure(call, result) };
        Some(problem.under(&call::describe(self.plan, call)))
    }

    /// Compares the result of a call that writes with the baseline's.
    fn compare_write(&self, call: u64, result: &CallResult, baseline: &BaselineState, findings: &mut PhaseFindings) {
        if let Some(problem) = self.without_result(call, result) {
            findings.add(problem);
        } else if let Some(Some(expected)) = baseline.outcomes.get(call as usize) {
            let expected = CallResult::Value(expected.clone());
            if !is_same(&expected, result) {
                let title = "writes return something else than in the sequential phase";
                let problem = Problem::of_call(call, title, differences(&expected, result));
                findings.add(problem.under(&call::describe(self.plan, call)));
            }
        }
    }
}

impl Problem {
    /// Returns the problem that a call shows.
    pub(super) fn of_call(call: u64, title: impl Into<String>, lines: Vec<String>) -> Problem {
        Problem { title: title.into(), lines, call: Some(call), count: 1 }
    }

    /// Puts the call that shows the problem on its first line.
    pub(super) fn under(mut self, call: &str) -> Problem {
        if let Some(number) = self.call {
            self.lines.insert(0, format!("call      {number}: {call}"));
        }
        self
    }
}
