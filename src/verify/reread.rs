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
    /// Makes every call that only reads on the strategy's data, and in the model or else on the baseline's data, which should be
    /// the same now.
    pub(super) async fn reread(
        &self,
        place: &ArmDatabase,
        baseline: &BaselineState<'_>,
        findings: &mut PhaseFindings,
    ) -> Result<(), RunError> {
        let seed = self.plan.round_seed(0);
        let reads: Vec<u64> =
            (0..baseline.calls).filter(|call| !call::writes(self.plan, self.plan.mix.draw(seed, *call))).collect();
        let mut oracle = baseline.oracle.clone();
        let answers: Vec<Option<CallResult>> =
            reads.iter().map(|call| self.answer(oracle.as_mut(), *call)).collect::<Result<_, _>>()?;
        let findings = RefCell::new(findings);
        let make = async |read| {
            let call = reads[read as usize];
            let expected = async {
                match &answers[read as usize] {
                    Some(answer) => Ok(answer.clone()),
                    None => self.call(&baseline.place, call).await.map(|finished| finished.result),
                }
            };
            let (expected, actual) = join(expected, self.call(place, call)).await;
            self.compare_read(call, &expected?, &actual?.result, &mut findings.borrow_mut());
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
