//! Many calls at once, those with equal `serial` in their order.

use std::cell::{Cell, RefCell};

use futures_util::future::try_join_all;

use crate::engine::RunError;
use crate::results::verification::{Phase, PhaseFindings, Problem};
use crate::server::Target;

use super::call::{self, Answer, Counts};
use super::difference::differences;
use super::ledger::Ledger;
use super::{Reference, Verifier, is_same, state};

impl<T: Target> Verifier<'_, T> {
    /// Runs one strategy; what its writes come to and its final state must be those of the sequential phase, and so must
    /// its reads once all is quiet.
    pub(super) async fn ordered(
        &self,
        arm: usize,
        reference: &Reference,
        databases: &RefCell<&mut Vec<String>>,
    ) -> Result<PhaseFindings, RunError> {
        (self.progress)(Phase::Ordered, Some(&self.plan.arms[arm].name));
        let database = self.provision(Phase::Ordered, arm, databases).await?;
        let ledger = Ledger::new(self.plan, reference.calls)?;
        let findings = RefCell::new(PhaseFindings::new(Phase::Ordered));
        let counts = RefCell::new(Counts::new(self.plan.operations.len()));
        let next = Cell::new(0);
        let worker = async || {
            loop {
                let call = next.get();
                if call >= reference.calls {
                    return Ok::<(), RunError>(());
                }
                next.set(call + 1);
                self.check_stop()?;
                ledger.turn(call).await;
                let made = call::make(self.plan, (arm, call), (self.target, &database), self.settings.timeout).await;
                ledger.finish(call);
                let made = made?;
                counts.borrow_mut().add(&made);
                self.judge(call, &made.answer, reference, &mut findings.borrow_mut());
            }
        };
        try_join_all((0..self.settings.workers).map(|_| worker())).await?;
        let (mut findings, counts) = (findings.into_inner(), counts.into_inner());
        counts.conclude(&mut findings);
        let actual = self.state(arm, &database).await;
        let actual = self.borne(arm, actual, &mut findings)?;
        let problems = actual.map(|actual| state::compare(&reference.state, &actual)).unwrap_or_default();
        problems.into_iter().for_each(|problem| findings.add(problem));
        self.replay(arm, &database, reference, &mut findings).await?;
        self.audit((arm, &database), &counts, &mut findings).await?;
        Ok(findings)
    }

    /// A call of many at once that failed, or of which it is not known whether it was done: with the others it hangs, say,
    /// which it did not alone.
    pub(super) fn without_result(&self, call: u64, answer: &Answer) -> Option<Problem> {
        let title = match answer {
            Answer::Value(_) => return None,
            Answer::Failed(_) => "calls fail",
            Answer::Unknown(_) => "calls have no known outcome",
        };
        let problem = Problem { title: title.into(), ..self.failure(call, answer) };
        Some(problem.under(&self.describe(call)))
    }

    /// Compares what a call came to, if it writes.
    fn judge(&self, call: u64, answer: &Answer, reference: &Reference, findings: &mut PhaseFindings) {
        if let Some(problem) = self.without_result(call, answer) {
            findings.add(problem);
        } else if let Some(Some(expected)) = reference.outcomes.get(call as usize) {
            let expected = Answer::Value(expected.clone());
            if !is_same(&expected, answer) {
                let problem = Problem {
                    title: "writes come to something else than one after the other".into(),
                    lines: differences(&expected, answer),
                    call: Some(call),
                    count: 1,
                };
                findings.add(problem.under(&self.describe(call)));
            }
        }
    }
}

impl Problem {
    /// The same with the call that shows it as its first line.
    pub(super) fn under(mut self, call: &str) -> Problem {
        if let Some(number) = self.call {
            self.lines.insert(0, format!("call      {number}: {call}"));
        }
        self
    }
}
