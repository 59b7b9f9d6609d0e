//! The third phase: concurrent calls in any order.

use std::cell::{Cell, RefCell};

use futures_util::future::{OptionFuture, join3};
use tokio::time::Instant;

use crate::engine::RunError;
use crate::results::verification::{FaultRecord, LiveRecord, PhaseFindings, VerifyPhase};
use crate::server::Target;

use super::call::PhaseCounts;
use super::fault::PhaseFault;
use super::records::NewRecords;
use super::{BaselineState, Databases, Verifier, readable};

/// What the phase found of one strategy.
pub(super) struct UnorderedFindings {
    pub(super) phase: PhaseFindings,
    pub(super) live: Vec<LiveRecord>,
    /// What clients saw of the fault, if there was one.
    pub(super) fault: Option<FaultRecord>,
}

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy while live audits read its data; its audits judge what is left.
    pub(super) async fn unordered(
        &self,
        arm: usize,
        baseline: &BaselineState,
        databases: &Databases,
    ) -> Result<UnorderedFindings, RunError> {
        (self.progress)(VerifyPhase::Unordered, Some(&self.plan.arms[arm].name));
        let place = &self.provision(arm, self.concurrent_database(arm), databases).await?;
        let findings = RefCell::new(PhaseFindings::new(VerifyPhase::Unordered));
        let counts = RefCell::new(PhaseCounts::new(self.plan.operations.len()));
        let new = RefCell::new(NewRecords::default());
        let is_over = Cell::new(false);
        let (seen, is_due) = PhaseFault::new(self.settings.calls);
        let load = async {
            let make = async |call| {
                let sent = Instant::now();
                let finished = self.call(place, call).await?;
                let is_expected = seen.note(sent, &finished);
                counts.borrow_mut().add(&finished);
                new.borrow_mut().add(self.plan, call, &finished);
                if let Some(problem) = self.without_result(call, &finished.result).filter(|_| !is_expected) {
                    findings.borrow_mut().add(problem);
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
        let (mut findings, counts) = (findings.into_inner(), counts.into_inner());
        counts.write_totals(&mut findings);
        self.audit(place, &counts, &mut findings).await?;
        let rows = self.state(place).await;
        if let Some(rows) = readable(rows, &mut findings)? {
            let problems = baseline.expected.check(&baseline.generated, &rows, &new.into_inner());
            problems.into_iter().for_each(|problem| findings.add(problem));
        }
        Ok(UnorderedFindings { phase: findings, live: live?, fault: self.fault.map(|_| seen.record()) })
    }
}
