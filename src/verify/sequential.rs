//! One call after the other: all strategies must give the same results and end in the same state.

use std::cell::RefCell;

use futures_util::future::join_all;

use crate::engine::RunError;
use crate::results::verification::{Phase, PhaseFindings, Problem, Verification};
use crate::server::Target;

use super::call::{self, Answer, Counts, Made};
use super::difference::differences;
use super::{Reference, Verifier, is_same, state};

/// A strategy while it is compared.
struct Runner {
    arm: usize,
    database: String,
    counts: Counts,
    findings: PhaseFindings,
    /// Whether its results are still compared.
    is_compared: bool,
}

impl<T: Target> Verifier<'_, T> {
    /// Runs all strategies side by side, every call on each before the next. `None` when the reference itself fails, so that
    /// there is nothing to compare with.
    pub(super) async fn sequential(
        &self,
        findings: &mut Verification,
        databases: &RefCell<&mut Vec<String>>,
    ) -> Result<Option<Reference>, RunError> {
        (self.progress)(Phase::Sequential, None);
        let mut runners = Vec::new();
        for arm in self.arms() {
            runners.push(Runner {
                arm,
                database: self.provision(Phase::Sequential, arm, databases).await?,
                counts: Counts::new(self.plan.operations.len()),
                findings: PhaseFindings::new(Phase::Sequential),
                is_compared: true,
            });
        }
        let mut outcomes = Vec::new();
        for call in 0..self.settings.calls {
            self.check_stop()?;
            if !self.step(call, &mut runners, &mut outcomes, findings).await? {
                break;
            }
        }
        let reference = self.conclude(&mut runners, outcomes).await?;
        for runner in runners {
            findings.strategies[runner.arm].phases.push(runner.findings);
        }
        Ok(reference)
    }

    /// One call on every strategy that is still compared; false when the reference gave up.
    async fn step(
        &self,
        call: u64,
        runners: &mut [Runner],
        outcomes: &mut Vec<Option<crate::plan::Value>>,
        findings: &mut Verification,
    ) -> Result<bool, RunError> {
        let calls = runners.iter().map(|runner| {
            let identity = (runner.arm, call);
            let place = (self.target, runner.database.as_str());
            async move {
                match runner.is_compared {
                    true => call::make(self.plan, identity, place, self.settings.timeout).await.map(Some),
                    false => Ok(None),
                }
            }
        });
        let made: Vec<Option<Made>> = join_all(calls).await.into_iter().collect::<Result<_, _>>()?;
        let Some(Some(expected)) = made.first() else { return Ok(false) };
        let (operation, expected) = (expected.operation, expected.answer.clone());
        if let Some(problem) = self.unusable(call, &expected) {
            runners[0].findings.add(problem);
            runners[0].is_compared = false;
            return Ok(false);
        }
        for (runner, made) in runners.iter_mut().zip(&made) {
            let Some(made) = made else { continue };
            runner.counts.add(made);
            if let Answer::Failed(_) | Answer::Unknown(_) = made.answer {
                runner.is_compared = false;
                runner.findings.add(self.failure(call, &made.answer));
            } else if made.answer.is_size() {
                runner.is_compared = false;
                findings.strategies[runner.arm].refused_at = Some(call);
            } else if !is_same(&expected, &made.answer) {
                runner.is_compared = false;
                runner.findings.add(Problem {
                    title: format!("call {call} differs: {}", self.describe(call)),
                    lines: differences(&expected, &made.answer),
                    call: Some(call),
                    count: 1,
                });
            }
        }
        let writes = call::writes(self.plan, operation);
        outcomes.push(match expected {
            Answer::Value(value) if writes => Some(value),
            _ => None,
        });
        Ok(true)
    }

    /// Why the reference's answer is none that others could be compared with.
    fn unusable(&self, call: u64, answer: &Answer) -> Option<Problem> {
        match answer {
            Answer::Failed(_) | Answer::Unknown(_) => Some(self.failure(call, answer)),
            answer if answer.is_size() => Some(Problem {
                title: format!("call {call} is refused for its size: {}", self.describe(call)),
                lines: vec!["nothing can be compared with it from there on: name another strategy first".into()],
                call: Some(call),
                count: 1,
            }),
            Answer::Value(_) => None,
        }
    }

    /// A call that did not come to a result.
    pub(super) fn failure(&self, call: u64, answer: &Answer) -> Problem {
        let lines = match answer {
            Answer::Failed(words) => vec![format!("error     {words}")],
            Answer::Unknown(words) => vec![format!("unknown   {words}")],
            Answer::Value(_) => Vec::new(),
        };
        Problem { title: format!("call {call} fails: {}", self.describe(call)), lines, call: Some(call), count: 1 }
    }

    /// States and audits.
    async fn conclude(
        &self,
        runners: &mut [Runner],
        outcomes: Vec<Option<crate::plan::Value>>,
    ) -> Result<Option<Reference>, RunError> {
        let mut expected = None;
        let is_usable = runners.first().is_some_and(|reference| reference.is_compared);
        for runner in runners.iter_mut() {
            self.check_stop()?;
            runner.counts.conclude(&mut runner.findings);
            let place = (runner.arm, runner.database.as_str());
            self.audit(place, &runner.counts, &mut runner.findings).await?;
            if runner.arm == 0 {
                expected = Some(self.state(0, &runner.database).await?);
                continue;
            }
            // A strategy that is not compared any more has made fewer calls.
            if let (Some(expected), true) = (&expected, runner.is_compared && is_usable) {
                let actual = self.state(runner.arm, &runner.database).await;
                let actual = self.borne(runner.arm, actual, &mut runner.findings)?;
                let problems = actual.map(|actual| state::compare(expected, &actual)).unwrap_or_default();
                problems.into_iter().for_each(|problem| runner.findings.add(problem));
            }
        }
        let (Some(reference), Some(state)) = (runners.first(), expected) else { return Ok(None) };
        let calls = outcomes.len() as u64;
        Ok(is_usable.then(|| Reference { database: reference.database.clone(), outcomes, state, calls }))
    }
}
