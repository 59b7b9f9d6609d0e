//! One call in full, with the result of every strategy.

use std::fmt::Write as _;

use crate::engine::RunError;
use crate::plan::{Value, written};
use crate::server::Target;

use super::call::{self, CallResult};
use super::{Verifier, is_same};

/// A call and the strategies' results.
#[derive(Debug)]
pub struct SingleCall {
    /// The call with its arguments, and what the model and every strategy return, the baseline first of these.
    pub text: String,
    /// Whether all return the same.
    pub is_equal: bool,
}

impl<T: Target> Verifier<'_, T> {
    /// Makes all calls up to `call` on every strategy, one at a time, and shows the results of the last.
    ///
    /// # Errors
    /// As [`Verifier::run`].
    pub async fn run_single_call(&self, call: u64) -> Result<SingleCall, RunError> {
        let results = self.cleaned_up(self.results(call)).await?;
        let mut shown = SingleCall { text: format!("call {call}: "), is_equal: true };
        if let Some((operation, frame)) = call::arguments(self.plan, call) {
            let operation = &self.plan.operations[operation];
            shown.text.push_str(&operation.name);
            for argument in &*operation.arguments {
                let _ = write!(shown.text, "\n    {}: {}", argument.name, written(frame.slot(argument.slot)));
            }
        }
        for (strategy, result, past) in &results {
            let is_same = is_same(&results[0].1, result);
            shown.is_equal &= is_same;
            let _ = write!(shown.text, "\n{strategy} returns{}", if is_same { "" } else { " (differs)" });
            let lines = match result {
                CallResult::Value(value) => value.items().map_or_else(
                    || vec![written(value)],
                    |items| items.enumerate().map(|(at, item)| format!("[{at}] {}", written(&item))).collect(),
                ),
                CallResult::Failed(message) => vec![format!("an error: {message}")],
                CallResult::Unknown(message) => vec![format!("unknown: {message}")],
            };
            let past = past.iter().map(|value| format!("now or earlier: {}", written(value)));
            lines.into_iter().chain(past).for_each(|line| shown.text.extend(["\n    ", &line]));
        }
        shown.text.push('\n');
        Ok(shown)
    }

    /// The model's and every strategy's result, and the parts of it that may be old.
    async fn results(&self, call: u64) -> Result<Vec<(String, CallResult, Option<Value>)>, RunError> {
        let mut results = Vec::new();
        if let Some(mut oracle) = self.oracle(&mut Vec::new())? {
            (0..call).try_for_each(|before| self.answer(Some(&mut oracle), before).map(|_| ()))?;
            let past = self.old_parts(&mut oracle.clone(), call)?;
            results.extend(self.answer(Some(&mut oracle), call)?.map(|answer| ("the model".to_owned(), answer, past)));
        }
        for arm in self.arms() {
            let place = self.provision(arm, self.sequential_database(arm)).await?;
            for before in 0..call {
                self.stop.check()?;
                self.call(&place, before).await?;
            }
            let finished = self.call(&place, call).await?;
            results.push((self.plan.arms[arm].name.clone(), finished.result, finished.past));
        }
        Ok(results)
    }
}
