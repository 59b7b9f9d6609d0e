//! All reads once more, on quiet data.

use std::cell::{Cell, RefCell};

use futures_util::future::{join, try_join_all};

use crate::engine::RunError;
use crate::results::verification::{PhaseFindings, Problem};
use crate::server::Target;

use super::call::{self, Answer};
use super::difference::{differences, is_reordered};
use super::{Reference, Verifier, is_same};

impl<T: Target> Verifier<'_, T> {
    /// Makes every call that only reads on the reference's data and on the strategy's, which should be the same now.
    pub(super) async fn replay(
        &self,
        arm: usize,
        database: &str,
        reference: &Reference,
        findings: &mut PhaseFindings,
    ) -> Result<(), RunError> {
        let seed = self.plan.round_seed(0);
        let reads: Vec<u64> =
            (0..reference.calls).filter(|call| !call::writes(self.plan, self.plan.mix.draw(seed, *call))).collect();
        let next = Cell::new(0);
        let found = RefCell::new(findings);
        let worker = async || {
            loop {
                let Some(&call) = reads.get(next.get()) else { return Ok::<(), RunError>(()) };
                next.set(next.get() + 1);
                self.check_stop()?;
                let make =
                    |arm, database| call::make(self.plan, (arm, call), (self.target, database), self.settings.timeout);
                let (expected, actual) = join(make(0, reference.database.as_str()), make(arm, database)).await;
                self.compare_read(call, (&expected?.answer, &actual?.answer), &mut found.borrow_mut());
            }
        };
        // Every worker asks for two answers at once.
        try_join_all((0..self.settings.workers.div_ceil(2)).map(|_| worker())).await?;
        Ok(())
    }

    fn compare_read(&self, call: u64, (expected, actual): (&Answer, &Answer), findings: &mut PhaseFindings) {
        // What the reference cannot answer is told where it is checked itself.
        if is_same(expected, actual) || !matches!(expected, Answer::Value(_)) {
            return;
        }
        if let Some(problem) = self.without_result(call, actual) {
            findings.add(problem);
            return;
        }
        if let (Answer::Value(expected), Answer::Value(actual)) = (expected, actual)
            && is_reordered(expected, actual)
        {
            findings.out_of_order += 1;
            return;
        }
        let problem = Problem {
            title: "reads differ once all is quiet".into(),
            lines: differences(expected, actual),
            call: Some(call),
            count: 1,
        };
        findings.add(problem.under(&self.describe(call)));
    }
}
