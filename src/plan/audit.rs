//! Audits: counts of rows that must not exist, or that must be of a certain number.

use std::sync::Arc;

use super::{Data, EvalError, Expression, Frame, Program, Value};

/// The outcomes that `calls.<operation>.<outcome>` may name.
pub(crate) const OUTCOMES: [&str; 4] = ["ok", "same", "not_found", "rejected"];

/// The slot of `calls`.
pub(crate) const CALLS: usize = 0;

/// An audit as one strategy runs it.
#[derive(Debug)]
pub struct Audit {
    /// Its name.
    pub name: Arc<str>,
    /// Counts the rows.
    pub program: Program,
    /// The same with read concern `snapshot`, when it is also counted while calls run.
    pub snapshot: Option<Program>,
    /// Whether snapshots may see its anomalies in this strategy.
    pub is_tolerated: bool,
    /// The number of rows that there must be, over `calls`.
    pub(crate) expect: Expression,
}

/// The calls of an operation by outcome, since the data were loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// `ok()`
    pub ok: u64,
    /// `same()`
    pub same: u64,
    /// `not_found()`
    pub not_found: u64,
    /// `rejected(...)`, for any reason.
    pub rejected: u64,
}

impl Audit {
    /// The number of rows that there must be, after these calls; an entry per operation, in the operations' order.
    ///
    /// # Errors
    /// When the expression has no value, or none that is a count.
    pub fn expected(
        &self,
        data: &Arc<Data>,
        calls: impl Iterator<Item = (Arc<str>, OutcomeCounts)>,
    ) -> Result<i64, EvalError> {
        let entry = |(name, count): (&str, u64)| (Arc::from(name), Value::Int(count as i64));
        let counts = |OutcomeCounts { ok, same, not_found, rejected }| {
            Value::Map(OUTCOMES.into_iter().zip([ok, same, not_found, rejected]).map(entry).collect())
        };
        let mut frame = Frame::new(data, data.seed, 0, 1);
        frame.set(CALLS, Value::Map(calls.map(|(name, calls)| (name, counts(calls))).collect()));
        match self.expect.evaluate(&mut frame)? {
            // A negative number is one that no count can be, say of tickets that were sold too often.
            Value::Int(count) => Ok(count),
            other => Err(EvalError::new(format!("expected an int in `expect`, found {}", super::written(&other)))),
        }
    }
}
