//! The model's earlier states, of which answers may be: `{ was: T, within: N }`.

use std::collections::VecDeque;

use crate::engine::RunError;
use crate::plan::{EvalError, Plan, Value, written};
use crate::results::verification::Problem;
use crate::server::Target;

use super::call::{self, FinishedCall};
use super::difference::values;
use super::{Oracle, Verifier};

/// The states of the model at the last calls, one call after the other.
#[derive(Debug)]
pub struct Past<'p> {
    plan: &'p Plan,
    /// The first call that each state answered, the oldest state first; the last one is the present.
    states: VecDeque<(u64, Oracle<'p>)>,
    /// The most calls ago that an answer may be from.
    longest: u64,
}

impl<'p> Past<'p> {
    /// Begins with the loaded records. `None` where no answer may be old.
    pub fn new(plan: &'p Plan, loaded: &Oracle<'p>) -> Option<Past<'p>> {
        let longest = plan.operations.iter().filter_map(|operation| operation.returns.as_ref()?.within()).max()?;
        Some(Past { plan, states: VecDeque::from([(0, loaded.clone())]), longest })
    }

    /// Adds the state after a call.
    pub fn add(&mut self, call: u64, after: &Oracle<'p>) {
        if call::writes(self.plan, self.plan.mix.draw(self.plan.round_seed(0), call)) {
            self.states.push_back((call + 1, after.clone()));
        }
        while self.states.get(1).is_some_and(|(first, _)| first + self.longest <= call) {
            self.states.pop_front();
        }
    }

    /// Returns what the model answers now to a call whose old parts are those of none of its last `within` calls.
    fn expected(&mut self, call: u64, within: u64, found: &Value) -> Result<Option<Value>, EvalError> {
        let found = written(found);
        let mut now = None;
        for (first, state) in self.states.iter_mut().rev() {
            let Some(answer) = state.past(call)? else { return Ok(None) };
            if written(&answer) == found {
                return Ok(None);
            }
            now.get_or_insert(answer);
            // The states before ended earlier.
            if *first + within <= call {
                break;
            }
        }
        Ok(now)
    }
}

impl<T: Target> Verifier<'_, T> {
    /// Returns the problem of a call whose old parts were never right, or for too long no more.
    ///
    /// # Errors
    /// When an expression of `does` has no value.
    pub(super) fn too_old(
        &self,
        past: Option<&mut Past<'_>>,
        call: u64,
        finished: &FinishedCall,
    ) -> Result<Option<Problem>, RunError> {
        let within = self.plan.operations[finished.operation].returns.as_ref().and_then(|shape| shape.within());
        let (Some(past), Some(found), Some(within)) = (past, &finished.past, within) else { return Ok(None) };
        let expected = past.expected(call, within, found).map_err(|error| self.in_does(call, &error))?;
        let what = format!("returns what was right at none of the last {within} calls");
        Ok(expected.map(|now| self.problem_of(call, &what, values(&now, found))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Choice;
    use crate::compile::fixture::chosen;

    const TEXT: &str = "
format: 1
name: test
title: Test
entities:
  post: { count: 1, fields: { _id: index, likes: 0 } }
operations:
  like: { arguments: { post: 'record(post, 0)' }, does: { update: post, inc: { likes: 1 } } }
  likes:
    arguments: { post: 'record(post, 0)' }
    does: [{ get: post }, { return: reply.likes }]
    returns: { was: value, within: 2 }
mixes: { default: { like: 50, likes: 50 } }
strategies:
  one: { shape: {} }
";

    #[test]
    fn only_the_last_states_count() {
        let plan = chosen(TEXT, &Choice::default());
        let mut oracle = Oracle::new(&plan).unwrap();
        let mut past = Past::new(&plan, &oracle).unwrap();
        // By call: the likes that a read may return.
        let mut likes = vec![0];
        for call in 0..40 {
            let is_read = plan.mix.draw(plan.round_seed(0), call) == 1;
            oracle.call(call).unwrap();
            past.add(call, &oracle);
            if is_read {
                let now = likes[call as usize];
                let first = likes[call.saturating_sub(2) as usize];
                for value in -1..=now + 1 {
                    let expected = past.expected(call, 2, &Value::Int(value)).unwrap();
                    assert_eq!(expected.is_none(), (first..=now).contains(&value), "call {call}: {value}");
                    assert!(expected.is_none_or(|expected| expected == Value::Int(now)));
                }
            }
            likes.push(likes[call as usize] + i64::from(!is_read));
        }
        assert!(past.states.len() <= 4, "states before are forgotten: {}", past.states.len());
    }
}
