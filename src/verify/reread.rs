//! All reads once more, while nothing writes.

use std::cell::RefCell;

use futures_util::future::join;

use crate::engine::RunError;
use crate::results::verification::PhaseFindings;
use crate::server::Target;

use super::call::{self, ArmDatabase, CallResult};
use super::difference::is_reordered;
use super::{BaselineState, Verifier, is_same};

impl<T: Target> Verifier<'_, T> {
    /// Makes every call that only reads on the baseline's data and on the strategy's, which should be the same now.
    pub(super) async fn reread(
        &self,
        place: &ArmDatabase,
        baseline: &BaselineState,
        findings: &mut PhaseFindings,
    ) -> Result<(), RunError> {
        let seed = self.plan.round_seed(0);
        let reads: Vec<u64> =
            (0..baseline.calls).filter(|call| !call::writes(self.plan, self.plan.mix.draw(seed, *call))).collect();
        let findings = RefCell::new(findings);
        let make = async |read| {
            let call = reads[read as usize];
            let (expected, actual) = join(self.call(&baseline.place, call), self.call(place, call)).await;
            self.compare_read(call, &expected?.result, &actual?.result, &mut findings.borrow_mut());
            Ok(())
        };
        // Every client sends two commands at once.
        self.concurrently(reads.len() as u64, self.settings.clients.div_ceil(2), make).await
    }

    fn compare_read(&self, call: u64, expected: &CallResult, actual: &CallResult, findings: &mut PhaseFindings) {
        match (expected, actual) {
            // A read that fails on the baseline is reported by the baseline's own phases.
            (CallResult::Failed(_) | CallResult::Unknown(_), _) => {}
            _ if is_same(expected, actual) => {}
            (CallResult::Value(one), CallResult::Value(other)) if is_reordered(one, other) => {
                findings.out_of_order += 1
            }
            (CallResult::Value(_), CallResult::Value(_)) => {
                let title = "reads differ after the concurrent calls";
                findings.add(self.in_general(self.differs(call, expected, actual), title));
            }
            _ => self.without_result(call, actual).into_iter().for_each(|problem| findings.add(problem)),
        }
    }
}
