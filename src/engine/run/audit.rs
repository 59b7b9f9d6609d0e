//! Audits: counting the anomalies in one strategy's data.

use std::sync::Arc;

use crate::engine::load::slice::FatalError;
use crate::engine::step::error::StepError;
use crate::engine::step::interpreter::Interpreter;
use crate::plan::{Audit, EvalError, Frame, OutcomeCounts, Plan, Program, Value, brief};
use crate::results::AuditRecord;
use crate::server::{Db, Target};

use super::error::Result;

/// The outcomes of the calls since the data were loaded, by operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Known outcomes.
    pub known: Vec<OutcomeCounts>,
    /// Calls that may or may not have taken effect.
    pub unknown: Vec<u64>,
}

impl CallCounts {
    /// No calls.
    pub fn new(operations: usize) -> CallCounts {
        CallCounts { known: vec![OutcomeCounts::default(); operations], unknown: vec![0; operations] }
    }
}

/// Runs all audits of an arm on quiet data, after calls with these outcomes.
///
/// # Errors
/// When an audit fails.
pub async fn audits(db: &Db<'_, impl Target>, plan: &Plan, arm: usize, calls: &CallCounts) -> Result<Vec<AuditRecord>> {
    let mut records = Vec::new();
    for audit in &plan.arms[arm].audits {
        let rows = audit_rows(db, plan, &audit.program).await;
        let rows = rows.map_err(|error| unaudited(plan, arm, audit, &error))?;
        let mistake = |error| FatalError::in_strategy(&plan.arms[arm].name, format!("audit {}", audit.name), &error);
        let expected = expected(plan, audit, calls).map_err(mistake)?;
        let example = example_row(&rows).filter(|_| expected == [0, 0]);
        records.push(AuditRecord { audit: audit.name.to_string(), found: row_count(&rows), expected, example });
    }
    Ok(records)
}

/// Returns the rows of an audit, or their number, by one of its programs.
///
/// # Errors
/// When the server fails or the program has a mistake.
pub async fn audit_rows<T: Target>(db: &Db<'_, T>, plan: &Plan, program: &Program) -> Result<Value, StepError> {
    let mut frame = Frame::new(&plan.data, plan.data.seed, 0, program.slots);
    Interpreter::new(db.target, db.name).run(program, &mut frame).await
}

/// The error that ends a run when an audit of an arm fails.
pub fn unaudited(plan: &Plan, arm: usize, audit: &Audit, error: &StepError) -> FatalError {
    fatal(&plan.arms[arm].name, &format!("audit {}", audit.name), error)
}

/// The error that ends a run when a program outside the measurement fails.
pub fn fatal(strategy: &str, operation: &str, error: &StepError) -> FatalError {
    if error.is_connection_error() {
        return FatalError::ServerLost(error.to_string());
    }
    FatalError::in_strategy(strategy, operation, error)
}

/// The first row that an audit found, as text.
pub fn example_row(rows: &Value) -> Option<String> {
    Some(brief(&rows.items()?.next()?))
}

/// The number of rows that an audit found.
pub fn row_count(rows: &Value) -> u64 {
    match rows {
        Value::Int(count) => u64::try_from(*count).unwrap_or(0),
        rows => rows.len().unwrap_or(0) as u64,
    }
}

/// The least and the most rows that must be found: every call with an unknown outcome may have taken effect or not.
fn expected(plan: &Plan, audit: &Audit, counts: &CallCounts) -> Result<[i64; 2], EvalError> {
    let names = || plan.operations.iter().map(|operation| Arc::clone(&operation.name));
    let of = |known: &[OutcomeCounts]| audit.expected(&plan.data, names().zip(known.iter().copied()));
    let without = of(&counts.known)?;
    let (mut least, mut most) = (without, without);
    for (operation, unknown) in counts.unknown.iter().enumerate().filter(|(_, unknown)| **unknown > 0) {
        let mut known = counts.known.clone();
        known[operation].ok += unknown;
        let more = of(&known)? - without;
        least += more.min(0);
        most += more.max(0);
    }
    Ok([least, most])
}
