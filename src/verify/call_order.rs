//! The order of concurrent calls: those with equal `serial` keep theirs.

use std::collections::HashMap;

use tokio::sync::Semaphore;

use crate::engine::{FatalError, RunError};
use crate::plan::{Plan, Value, written};

use super::call::arguments;

/// The calls that each call of a phase must wait for.
#[derive(Debug)]
pub struct CallOrder {
    /// Per call, the calls that must be over before it.
    before: Vec<Vec<usize>>,
    /// Per call, a semaphore without permits that is closed when the call is over.
    over: Vec<Semaphore>,
}

impl CallOrder {
    /// Returns the order of the first `calls` calls.
    ///
    /// # Errors
    /// When a `serial` has no value.
    pub fn new(plan: &Plan, calls: u64) -> Result<CallOrder, RunError> {
        let mut last: HashMap<String, usize> = HashMap::new();
        let mut before = Vec::with_capacity(calls as usize);
        for call in 0..calls {
            let mut waits = Vec::new();
            for key in serial_keys(plan, call)? {
                waits.extend(last.insert(key, call as usize).filter(|earlier| *earlier != call as usize));
            }
            before.push(waits);
        }
        Ok(CallOrder { over: before.iter().map(|_| Semaphore::new(0)).collect(), before })
    }

    /// Waits until all calls have ended that must end before this one. Calls start in their order, so those have started.
    pub async fn wait_for_predecessors(&self, call: u64) {
        for earlier in &self.before[call as usize] {
            // There never is a permit: this ends when the semaphore is closed.
            let _ = self.over[*earlier].acquire().await;
        }
    }

    /// Records the end of a call.
    pub fn finish(&self, call: u64) {
        self.over[call as usize].close();
    }
}

/// Returns the `serial` keys of a call.
///
/// # Errors
/// When `serial` has no value.
pub fn serial_keys(plan: &Plan, call: u64) -> Result<Vec<String>, RunError> {
    let Some((operation, mut frame)) = arguments(plan, call) else { return Ok(Vec::new()) };
    let operation = &plan.operations[operation];
    let Some(serial) = &operation.serial else { return Ok(Vec::new()) };
    let mistake = |error| FatalError::in_all(&*operation.name, &format_args!("serial: {error}"));
    let value = serial.evaluate(&mut frame).map_err(mistake)?;
    let keys = value.items().map_or_else(|| vec![value.clone()], Iterator::collect);
    Ok(keys.iter().filter(|key| !key.is_null()).map(text).collect())
}

/// Formats a key; a record is identified by its `_id`.
fn text(key: &Value) -> String {
    match key {
        Value::Record(record) => record.id().map_or_else(|error| error.to_string(), |id| written(&id)),
        other => written(other),
    }
}
