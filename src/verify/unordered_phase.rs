//! The third phase: concurrent calls in any order.

use std::cell::{Cell, RefCell};

use futures_util::future::{OptionFuture, join3};
use tokio::time::Instant;

use crate::engine::RunError;
use crate::results::verification::{StrategyFindings, VerifyPhase};
use crate::server::Target;

use super::call::PhaseSoFar;
use super::fault::PhaseFault;
use super::state::FinalState;
use super::{BaselineState, Verifier};

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy while live audits read its data; its audits judge what is left.
    pub(super) async fn unordered(
        &self,
        arm: usize,
        baseline: &BaselineState<'_>,
        own: &mut StrategyFindings,
    ) -> Result<(), RunError> {
        (self.progress)(VerifyPhase::Unordered, Some(&self.plan.arms[arm].name));
        let place = &self.provision(arm, self.concurrent_database(arm)).await?;
        let phase = RefCell::new(PhaseSoFar::new(self.plan, VerifyPhase::Unordered));
        let is_over = Cell::new(false);
        let (seen, is_due) = PhaseFault::new(self.settings.calls);
        let load = async {
            let make = async |call| {
                let sent = Instant::now();
                let finished = self.call(place, call).await?;
                let is_expected = seen.note(sent, &finished);
                let mut phase = phase.borrow_mut();
                phase.add(self.plan, call, &finished);
                if let Some(problem) = self.without_result(call, &finished.result).filter(|_| !is_expected) {
                    phase.findings.add(problem);
                }
                Ok(())
            };
            let result = self.concurrently(self.settings.calls, self.settings.clients, make).await;
            is_over.set(true);
            seen.end();
            result
        };
        let disturbing = OptionFuture::from(self.fault.map(|fault| self.disturb(fault, &seen, is_due)));
        let (load, live, disturbed) = join3(load, self.run_live_audits(place, &is_over), disturbing).await;
        disturbed.transpose()?;
        load?;
        let mut phase = phase.into_inner();
        self.audit(place, &mut phase).await?;
        let check = |rows: &FinalState| baseline.expected.check(self.plan, &baseline.generated, rows, &phase.new);
        self.check_state(place, &mut phase.findings, check).await?;
        own.phases.push(phase.findings);
        (own.live, own.fault) = (live?, self.fault.map(|_| seen.record()));
        Ok(())
    }
}
