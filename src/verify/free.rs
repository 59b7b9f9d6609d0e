//! Many calls at once, in no order.

use std::cell::{Cell, RefCell};

use futures_util::future::{join, try_join_all};

use crate::engine::RunError;
use crate::results::verification::{LiveRecord, Phase, PhaseFindings};
use crate::server::Target;

use super::Verifier;
use super::call::{self, Counts};

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy while readers look on; its audits judge what is left.
    pub(super) async fn free(
        &self,
        arm: usize,
        databases: &RefCell<&mut Vec<String>>,
    ) -> Result<(PhaseFindings, Vec<LiveRecord>), RunError> {
        (self.progress)(Phase::Free, Some(&self.plan.arms[arm].name));
        let database = self.provision(Phase::Free, arm, databases).await?;
        let findings = RefCell::new(PhaseFindings::new(Phase::Free));
        let counts = RefCell::new(Counts::new(self.plan.operations.len()));
        let next = Cell::new(0);
        let worker = async || {
            loop {
                let call = next.get();
                if call >= self.settings.calls {
                    return Ok::<(), RunError>(());
                }
                next.set(call + 1);
                self.check_stop()?;
                let made = call::make(self.plan, (arm, call), (self.target, &database), self.settings.timeout).await?;
                counts.borrow_mut().add(&made);
                if let Some(problem) = self.without_result(call, &made.answer) {
                    findings.borrow_mut().add(problem);
                }
            }
        };
        let is_over = Cell::new(false);
        let load = async {
            let result = try_join_all((0..self.settings.workers).map(|_| worker())).await;
            is_over.set(true);
            result
        };
        let (load, live) = join(load, self.look_on(arm, &database, &is_over)).await;
        load?;
        let (mut findings, counts) = (findings.into_inner(), counts.into_inner());
        counts.conclude(&mut findings);
        self.audit((arm, &database), &counts, &mut findings).await?;
        Ok((findings, live?))
    }
}
