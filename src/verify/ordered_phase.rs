//! The second phase: concurrent calls, those with equal `serial` in their order.

use std::cell::RefCell;

use crate::engine::RunError;
use crate::results::verification::{PhaseFindings, VerifyPhase};
use crate::server::Target;

use super::call::{CallResult, PhaseSoFar};
use super::call_order::CallOrder;
use super::state::{self, FinalState};
use super::{BaselineState, Verifier, is_same};

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy. The results of its writes and its final state must be those of the sequential phase, and so must
    /// the results of its reads once no call runs any more.
    pub(super) async fn ordered(&self, arm: usize, baseline: &BaselineState<'_>) -> Result<PhaseFindings, RunError> {
        (self.progress)(VerifyPhase::Ordered, Some(&self.plan.arms[arm].name));
        let place = &self.provision(arm, self.concurrent_database(arm)).await?;
        let order = CallOrder::new(self.plan, baseline.calls)?;
        let phase = RefCell::new(PhaseSoFar::new(self.plan, VerifyPhase::Ordered));
        let make = async |call| {
            order.wait_for_predecessors(call).await;
            let finished = self.call(place, call).await;
            order.finish(call);
            let finished = finished?;
            let mut phase = phase.borrow_mut();
            phase.add(self.plan, call, &finished);
            self.compare_write(call, &finished.result, baseline, &mut phase.findings);
            Ok(())
        };
        self.concurrently(baseline.calls, self.settings.clients, make).await?;
        let mut phase = phase.into_inner();
        let compare = |rows: &FinalState| state::compare("final rows", &baseline.state, rows);
        self.check_state(place, &mut phase.findings, compare).await?;
        self.reread(place, baseline, &mut phase.findings).await?;
        self.audit(place, &mut phase).await?;
        Ok(phase.findings)
    }

    /// Compares the result of a call that writes with the baseline's.
    fn compare_write(
        &self,
        call: u64,
        result: &CallResult,
        baseline: &BaselineState<'_>,
        findings: &mut PhaseFindings,
    ) {
        if let Some(problem) = self.without_result(call, result) {
            findings.add(problem);
        } else if let Some(Some(expected)) = baseline.outcomes.get(call as usize)
            && !is_same(expected, result)
        {
            let title = "writes return something else than in the sequential phase";
            findings.add(self.in_general(self.differs(call, expected, result), title));
        }
    }
}
