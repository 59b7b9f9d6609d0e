//! The logical rows that a strategy holds, read back through its `state` programs.

use crate::plan::{EvalError, Frame, Plan, Value, canonical_rows, written};
use crate::server::Target;

use super::interpret::{Halt, Interpreter};

/// The rows of every entity, in an order of their own, so that equal states are equal values.
///
/// # Errors
/// When the server refuses, or a step has no value.
pub async fn read(
    plan: &Plan,
    arm: usize,
    target: &impl Target,
    database: &str,
) -> Result<Vec<(String, Vec<Value>)>, Halt> {
    let mut state = Vec::new();
    for (entity, program) in plan.arms[arm].state.iter().enumerate() {
        let mut frame = Frame::new(&plan.data, plan.data.seed, 0, program.slots);
        let rows = Interpreter::new(target, database).run(program, &mut frame).await?;
        if rows.items().is_none() {
            // It would pass for an empty one.
            let name = &plan.data.entities[entity].name;
            let error = EvalError::new(format!("the rows of `{name}` must be a list, not {}", written(&rows)));
            return Err(Halt::Scenario { label: "state".to_owned(), error });
        }
        state.push((plan.data.entities[entity].name.to_string(), canonical_rows(&rows, entity, &plan.data)));
    }
    Ok(state)
}
