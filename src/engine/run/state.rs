//! The logical state of a strategy: its rows, read back through its `state` programs.

use crate::engine::step::error::StepError;
use crate::engine::step::interpreter::Interpreter;
use crate::plan::{EvalError, Frame, Plan, Value, written};
use crate::server::{Db, Target};

/// The rows of every entity, by its name.
pub type FinalState = Vec<(String, Vec<Value>)>;

/// Returns the rows of every entity in a canonical order, so that equal states are equal values.
///
/// # Errors
/// When the server fails, or a step has no value.
pub async fn read_state(db: &Db<'_, impl Target>, plan: &Plan, arm: usize) -> Result<FinalState, StepError> {
    let mut state = Vec::new();
    for (entity, program) in plan.arms[arm].state.iter().enumerate() {
        let mut frame = Frame::new(&plan.data, plan.data.seed, 0, program.slots);
        let rows = Interpreter::new(db.target, db.name).run(program, &mut frame).await?;
        let name = &plan.data.entities[entity].name;
        if rows.items().is_none() {
            // It would be taken for an empty list.
            let error = format!("expected a list as the rows of `{name}`, found {}", written(&rows));
            return Err(StepError::invalid("state", EvalError::new(error)));
        }
        let rows = plan.data.canonical_rows(entity, &rows).map_err(|error| StepError::invalid("state", error))?;
        state.push((name.to_string(), rows));
    }
    Ok(state)
}
