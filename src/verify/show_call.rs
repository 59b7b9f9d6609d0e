//! One call in full, with the result of every strategy.

use std::fmt;

use crate::engine::RunError;
use crate::plan::{Argument, written};
use crate::server::Target;

use super::call::{self, CallResult};
use super::{Verifier, is_same};

/// A call and the strategies' results.
#[derive(Debug)]
pub struct SingleCall {
    call: u64,
    operation: String,
    /// Name and value.
    arguments: Vec<(String, String)>,
    /// Strategy and result, the baseline first.
    results: Vec<(String, CallResult)>,
}

impl SingleCall {
    /// Whether all strategies return the same.
    pub fn is_equal(&self) -> bool {
        self.results.iter().all(|(_, result)| is_same(&self.results[0].1, result))
    }
}

impl fmt::Display for SingleCall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "call {}: {}", self.call, self.operation)?;
        for (name, value) in &self.arguments {
            writeln!(out, "    {name}: {value}")?;
        }
        for (strategy, result) in &self.results {
            let remark = if is_same(&self.results[0].1, result) { "" } else { " (differs)" };
            writeln!(out, "{strategy} returns{remark}")?;
            match result {
                CallResult::Value(value) => match value.items() {
                    Some(items) => {
                        for (position, item) in items.enumerate() {
                            writeln!(out, "    [{position}] {}", written(&item))?;
                        }
                    }
                    None => writeln!(out, "    {}", written(value))?,
                },
                CallResult::Failed(message) => writeln!(out, "    an error: {message}")?,
                CallResult::Unknown(message) => writeln!(out, "    unknown: {message}")?,
            }
        }
        Ok(())
    }
}

impl<T: Target> Verifier<'_, T> {
    /// Makes all calls up to `call` on every strategy, one at a time, and returns the results of the last.
    ///
    /// # Errors
    /// As [`Verifier::run`].
    pub async fn run_single_call(&self, call: u64) -> Result<SingleCall, RunError> {
        let results = self.cleaned_up(self.results(call)).await?;
        let (operation, arguments) = match call::arguments(self.plan, call) {
            None => (String::new(), Vec::new()),
            Some((operation, frame)) => {
                let operation = &self.plan.operations[operation];
                let argument = |argument: &Argument| (argument.name.to_string(), written(frame.slot(argument.slot)));
                (operation.name.to_string(), operation.arguments.iter().map(argument).collect())
            }
        };
        Ok(SingleCall { call, operation, arguments, results })
    }

    async fn results(&self, call: u64) -> Result<Vec<(String, CallResult)>, RunError> {
        let mut results = Vec::new();
        for arm in self.arms() {
            let place = self.provision(arm, self.sequential_database(arm)).await?;
            for before in 0..call {
                self.stop.check()?;
                self.call(&place, before).await?;
            }
            results.push((self.plan.arms[arm].name.clone(), self.call(&place, call).await?.result));
        }
        Ok(results)
    }
}
