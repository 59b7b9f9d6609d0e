//! One call of one strategy, its result, and counts of results.

use std::sync::Arc;

use crate::engine::CallCounts;
use crate::plan::call_id::creator;
use crate::plan::{Frame, LogicalRecord, Outcome, Plan, Value};
use crate::results::verification::{PhaseFindings, VerifyPhase};

use super::records::NewRecords;

/// The result of a call.
#[derive(Debug, Clone)]
pub enum CallResult {
    /// A result, in the form in which results are compared.
    Value(Value),
    /// An error of the server, or a loop without end.
    Failed(String),
    /// An interruption, such as a lost connection: whether the call took effect is unknown.
    Unknown(String),
}

impl CallResult {
    /// Whether the call was rejected for the size of a document.
    pub fn is_rejected_for_size(&self) -> bool {
        matches!(self, CallResult::Value(Value::Outcome(Outcome::Rejected(reason))) if **reason == *"size")
    }
}

/// A phase of one strategy so far: its calls, and what was found.
#[derive(Debug)]
pub struct PhaseSoFar {
    /// Outcomes by operation.
    pub calls: CallCounts,
    /// By operation: results without content.
    pub empty: Vec<u64>,
    /// The records that the calls create.
    pub new: NewRecords,
    /// What was found.
    pub findings: PhaseFindings,
}

impl PhaseSoFar {
    /// No calls yet.
    pub fn new(plan: &Plan, phase: VerifyPhase) -> PhaseSoFar {
        let operations = plan.operations.len();
        let (calls, findings) = (CallCounts::new(operations), PhaseFindings::new(phase));
        PhaseSoFar { calls, empty: vec![0; operations], new: NewRecords::default(), findings }
    }

    /// Returns how many calls of an operation had an effect or a result.
    pub fn effective(&self, operation: usize) -> u64 {
        self.calls.known[operation].ok - self.empty[operation]
    }

    /// Adds one call.
    pub fn add(&mut self, plan: &Plan, call: u64, finished: &FinishedCall) {
        self.new.add(plan, call, finished);
        self.findings.retries += finished.retries;
        let counts = &mut self.calls.known[finished.operation];
        match &finished.result {
            CallResult::Value(Value::Outcome(Outcome::Same)) => counts.same += 1,
            CallResult::Value(Value::Outcome(Outcome::NotFound)) => counts.not_found += 1,
            CallResult::Value(Value::Outcome(Outcome::Rejected(_))) => counts.rejected += 1,
            CallResult::Value(value) => {
                counts.ok += 1;
                self.empty[finished.operation] += u64::from(is_empty(value));
            }
            CallResult::Failed(_) => {}
            CallResult::Unknown(_) => {
                self.calls.unknown[finished.operation] += 1;
                self.findings.unknown += 1;
            }
        }
    }
}

/// A strategy's filled database.
#[derive(Debug, Clone)]
pub struct ArmDatabase {
    /// The strategy's position in the plan.
    pub arm: usize,
    /// The database's name.
    pub database: String,
}

/// A call that has ended.
#[derive(Debug)]
pub struct FinishedCall {
    /// The operation's position in the plan.
    pub operation: usize,
    /// The result.
    pub result: CallResult,
    /// The parts of the result that may be old, which `result` does not have.
    pub past: Option<Value>,
    /// Retried attempts.
    pub retries: u64,
    /// Whether it failed because the server changed its state, or the connection broke.
    pub is_interrupted: bool,
}

/// Whether a result has no content: null, 0, an empty list, or only such parts.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Int(0) => true,
        Value::Map(entries) => entries.iter().all(|(_, part)| is_empty(part)),
        Value::List(_) | Value::Array(_) => value.len() == Some(0),
        _ => false,
    }
}

/// Draws the arguments of a call, without slots for any strategy's steps; `None` when that fails, as the call itself will.
pub fn arguments(plan: &Plan, call: u64) -> Option<(usize, Frame)> {
    let seed = plan.round_seed(0);
    let operation = plan.mix.draw(seed, call);
    let slots = plan.operations[operation].arguments.len();
    plan.arguments(operation, seed, call, slots).ok().map(|frame| (operation, frame))
}

/// All records inside a value.
pub fn records_of(value: &Value) -> Vec<Arc<dyn LogicalRecord>> {
    match value {
        Value::Record(record) => vec![Arc::clone(record)],
        Value::List(items) => items.iter().flat_map(records_of).collect(),
        Value::Map(entries) => entries.iter().flat_map(|(_, entry)| records_of(entry)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a call creates a record.
pub fn creates(call: u64, record: &dyn LogicalRecord) -> bool {
    creator(record.ordinal()) == Some(call)
}

/// Formats a call as `read_page(post: 3, page: 2)`.
pub fn describe(plan: &Plan, call: u64) -> String {
    arguments(plan, call).map_or_else(String::new, |(operation, frame)| plan.operations[operation].written_call(&frame))
}

/// Whether any strategy's steps of an operation write.
pub fn writes(plan: &Plan, operation: usize) -> bool {
    plan.arms.iter().any(|arm| arm.operations[operation].changes)
}
