//! Counting the anomalies of one strategy's data.

use std::sync::Arc;

use crate::plan::{Audit, EvalError, Frame, OutcomeCounts, Plan, Program, Value, written};
use crate::results::AuditRecord;
use crate::server::{FailureKind, Target};

use super::error::RunError;
use super::interpret::{Halt, Interpreter};
use super::slice::Fatal;

/// The longest row that is kept, in characters.
const LONGEST_ROW: usize = 120;

/// What the calls since the data were loaded came to, by operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Known outcomes.
    pub known: Vec<OutcomeCounts>,
    /// Calls of which it is not known whether they were done.
    pub unknown: Vec<u64>,
}

impl CallCounts {
    /// No calls of so many operations.
    pub fn new(operations: usize) -> CallCounts {
        CallCounts { known: vec![OutcomeCounts::default(); operations], unknown: vec![0; operations] }
    }
}

/// Runs all audits of an arm on quiet data, after calls that came to `counts`.
///
/// # Errors
/// When an audit cannot be made.
pub async fn audits<T: Target>(
    plan: &Plan,
    arm: usize,
    (target, database): (&T, &str),
    counts: &CallCounts,
) -> Result<Vec<AuditRecord>, RunError> {
    let mut records = Vec::new();
    for audit in &plan.arms[arm].audits {
        let rows = audit_rows(plan, (arm, audit), &audit.program, (target, database)).await?;
        let expected = expected(plan, audit, counts).map_err(|error| failed(plan, (arm, audit), error.to_string()))?;
        let is_wanted_empty = expected == [0, 0];
        let example = rows.items().and_then(|mut rows| rows.next()).filter(|_| is_wanted_empty);
        records.push(AuditRecord {
            audit: audit.name.to_string(),
            found: number_of_rows(&rows),
            expected,
            example: example.map(|row| written(&row).chars().take(LONGEST_ROW).collect()),
        });
    }
    Ok(records)
}

fn failed(plan: &Plan, (arm, audit): (usize, &Audit), words: String) -> RunError {
    let arm = plan.arms[arm].name.clone();
    RunError::Fatal(Fatal::Scenario { arm, operation: format!("audit {}", audit.name), words })
}

/// Whether a connection broke or gave no answer, which is no mistake of the scenario.
pub fn is_broken(halt: &Halt) -> bool {
    matches!(halt, Halt::Failed { failure, .. } if matches!(failure.kind, FailureKind::Network | FailureKind::Timeout))
}

/// The rows of an audit, or their number, by one of its programs.
///
/// # Errors
/// When the server refuses.
pub async fn audit_rows<T: Target>(
    plan: &Plan,
    (arm, audit): (usize, &Audit),
    program: &Program,
    (target, database): (&T, &str),
) -> Result<Value, RunError> {
    let mut frame = Frame::new(&plan.data, plan.data.seed, 0, program.slots);
    let mut interpreter = Interpreter::new(target, database);
    let rows = interpreter.run(program, &mut frame).await;
    rows.map_err(|halt| match is_broken(&halt) {
        true => RunError::Fatal(Fatal::Lost(halt.to_string())),
        false => failed(plan, (arm, audit), halt.to_string()),
    })
}

/// How many rows these are.
pub fn number_of_rows(rows: &Value) -> u64 {
    match rows {
        Value::Int(count) => u64::try_from(*count).unwrap_or(0),
        rows => rows.len().unwrap_or(0) as u64,
    }
}

/// What must be found at least and at most: every call whose outcome is unknown may have been done or not.
fn expected(plan: &Plan, audit: &Audit, counts: &CallCounts) -> Result<[i64; 2], EvalError> {
    let names = || plan.operations.iter().map(|operation| Arc::clone(&operation.name));
    let of = |known: &[OutcomeCounts]| audit.expected(&plan.data, names().zip(known.iter().copied()));
    let without = of(&counts.known)?;
    let (mut least, mut most) = (without, without);
    for (operation, unknown) in counts.unknown.iter().enumerate().filter(|(_, unknown)| **unknown > 0) {
        let mut known = counts.known.clone();
        known[operation].done += unknown;
        let more = of(&known)? - without;
        least += more.min(0);
        most += more.max(0);
    }
    Ok([least, most])
}
