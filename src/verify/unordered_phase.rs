//! The third phase: concurrent calls in any order.

use std::cell::{Cell, RefCell};

use futures_util::future::join;

use crate::engine::RunError;
use crate::results::verification::{LiveRecord, PhaseFindings, VerifyPhase};
use crate::server::Target;

use super::call::PhaseCounts;
use super::records::NewRecords;
use super::{BaselineState, Databases, Verifier, readable};

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy while live audits read its data; its audits judge what is left.
    pub(super) async fn unordered(
        &self,
        arm: usize,
        baseline: &BaselineState,
        databases: &Databases,
    ) -> Result<(PhaseFindings, Vec<LiveRecord>), RunError> {
        (self.progress)(VerifyPhase::Unordered, Some(&self.plan.arms[arm].name));
        let place = &self.provision(arm, self.concurrent_database(arm), databases).await?;
        let findings = RefCell::new(PhaseFindings::new(VerifyPhase::Unordered));
        let counts = RefCell::new(PhaseCounts::new(self.plan.operations.len()));
        let new = RefCell::new(NewRecords::default());
        let is_over = Cell::new(false);
        let load = async {
            let make = async |call| {
                let finished = self.call(place, call).await?;
                counts.borrow_mut().add(&finished);
                new.borrow_mut().add(self.plan, call, &finished);
                if let Some(problem) = self.without_result(call, &finished.result) {
                    findings.borrow_mut().add(problem);
                }
                Ok(())
            };
            let result = self.concurrently(self.settings.calls, self.settings.clients, make).await;
            is_over.set(true);
            result
        };
        let (load, live) = join(load, self.run_live_audits(place, &is_over)).await;
        load?;
        let (mut findings, counts) = (findings.into_inner(), counts.into_inner());
        counts.write_totals(&mut findings);
        self.audit(place, &counts, &mut findings).await?;
        let rows = self.state(place).await;
        if let Some(rows) = readable(rows, &mut findings)? {
            let problems = baseline.expected.check(&baseline.generated, &rows, &new.into_inner());
            problems.into_iter().for_each(|problem| findings.add(problem));
        }
        Ok((findings, live?))
    }
}
