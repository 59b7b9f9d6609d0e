//! Counting the anomalies of one strategy's data.

use crate::engine::{Fatal, Interpreter, RunError};
use crate::plan::{Audit, Frame, OutcomeCounts, Plan, Program, Value, written};
use crate::results::AuditRecord;
use crate::server::Target;

use super::call::{Counts, brief, names};

/// The longest row that is shown.
const LONGEST_ROW: usize = 120;

/// Runs all audits of an arm on quiet data, after calls that came to `counts`.
///
/// # Errors
/// When an audit cannot be made.
pub async fn audits<T: Target>(
    plan: &Plan,
    arm: usize,
    (target, database): (&T, &str),
    counts: &Counts,
) -> Result<Vec<AuditRecord>, RunError> {
    let mut records = Vec::new();
    for audit in &plan.arms[arm].audits {
        let failed = |words: String| failed(plan, arm, audit, words);
        let rows = rows(plan, &audit.program, (target, database)).await.map_err(failed)?;
        let expected = expected(plan, audit, counts).map_err(|error| failed(error.to_string()))?;
        let is_wanted_empty = expected == [0, 0];
        let example = rows.items().and_then(|mut rows| rows.next()).filter(|_| is_wanted_empty);
        records.push(AuditRecord {
            audit: audit.name.to_string(),
            found: number(&rows),
            expected,
            example: example.map(|row| brief(&written(&row), LONGEST_ROW)),
        });
    }
    Ok(records)
}

/// The error of an audit that cannot be made.
pub fn failed(plan: &Plan, arm: usize, audit: &Audit, words: String) -> RunError {
    let arm = plan.arms[arm].name.clone();
    RunError::Fatal(Fatal::Scenario { arm, operation: format!("audit {}", audit.name), words })
}

/// The rows of an audit, or their number.
///
/// # Errors
/// In words, when the server refuses.
pub async fn rows<T: Target>(plan: &Plan, program: &Program, (target, database): (&T, &str)) -> Result<Value, String> {
    let mut frame = Frame::new(&plan.data, plan.data.seed, 0, program.slots);
    let mut interpreter = Interpreter::new(target, database);
    interpreter.run(program, &mut frame).await.map_err(|halt| halt.to_string())
}

/// How many rows these are.
pub fn number(rows: &Value) -> u64 {
    match rows {
        Value::Int(count) => (*count).max(0) as u64,
        rows => rows.len().unwrap_or(0) as u64,
    }
}

/// What must be found at least and at most: calls whose outcome is unknown may have been done or not.
fn expected(plan: &Plan, audit: &Audit, counts: &Counts) -> Result<[u64; 2], crate::plan::EvalError> {
    let without = counts.known.iter().copied();
    let with = counts
        .known
        .iter()
        .zip(&counts.unknown)
        .map(|(known, unknown)| OutcomeCounts { done: known.done + unknown, ..*known });
    let without = audit.expected(&plan.data, names(plan).zip(without))? as u64;
    let with = audit.expected(&plan.data, names(plan).zip(with))? as u64;
    Ok([without.min(with), without.max(with)])
}
