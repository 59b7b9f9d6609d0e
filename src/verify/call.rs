//! One call of one strategy, and what calls came to.

use std::time::Duration;

use crate::engine::{CallCounts, Fatal, Halt, Interpreter, RunError, answers};
use crate::plan::{Argument, Frame, Outcome, Plan, Value, written};
use crate::results::verification::PhaseFindings;
use crate::server::{FailureKind, Target};

/// The longest text of one argument in a description.
const LONGEST_ARGUMENT: usize = 60;

/// What a call came to.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A result, in the form in which results are compared.
    Value(Value),
    /// The server refused it, or it did not come to an end.
    Failed(String),
    /// Whether it was done is not known.
    Unknown(String),
}

impl Answer {
    /// Whether this is a refusal because of the size of a document.
    pub fn is_size(&self) -> bool {
        matches!(self, Answer::Value(Value::Outcome(Outcome::Refused(reason))) if **reason == *"size")
    }
}

/// What many calls came to.
#[derive(Debug)]
pub struct Counts {
    /// By operation.
    pub calls: CallCounts,
    /// Attempts begun again.
    pub retries: u64,
}

impl Counts {
    /// No calls yet.
    pub fn new(operations: usize) -> Counts {
        Counts { calls: CallCounts::new(operations), retries: 0 }
    }

    /// Counts one call.
    pub fn add(&mut self, made: &Made) {
        self.retries += made.retries;
        let counts = &mut self.calls.known[made.operation];
        match &made.answer {
            Answer::Value(Value::Outcome(Outcome::Same)) => counts.same += 1,
            Answer::Value(Value::Outcome(Outcome::NotFound)) => counts.not_found += 1,
            Answer::Value(Value::Outcome(Outcome::Refused(_))) => counts.refused += 1,
            Answer::Value(_) => counts.done += 1,
            Answer::Failed(_) => {}
            Answer::Unknown(_) => self.calls.unknown[made.operation] += 1,
        }
    }

    /// Writes the totals into a phase's findings.
    pub fn conclude(&self, findings: &mut PhaseFindings) {
        findings.retries = self.retries;
        findings.unknown = self.calls.unknown.iter().sum();
    }
}

/// A call that was made.
#[derive(Debug)]
pub struct Made {
    /// Which operation.
    pub operation: usize,
    /// What it came to.
    pub answer: Answer,
    /// Attempts begun again.
    pub retries: u64,
}

/// Makes call `call` of the plan's first round.
///
/// # Errors
/// When the scenario has a mistake or the server is gone.
pub async fn make<T: Target>(
    plan: &Plan,
    (arm, call): (usize, u64),
    (target, database): (&T, &str),
    timeout: Duration,
) -> Result<Made, RunError> {
    let name = &plan.arms[arm].name;
    let mistake = |operation: &str, words: String| {
        RunError::Fatal(Fatal::Scenario { arm: name.clone(), operation: operation.to_owned(), words })
    };
    let drawn = plan.draw(plan.round_seed(0), call, arm);
    let (operation, mut frame) = drawn.map_err(|error| mistake("draw", error.to_string()))?;
    let program = &plan.arms[arm].operations[operation];
    let mut interpreter = Interpreter::new(target, database);
    let result = tokio::time::timeout(timeout, interpreter.run(program, &mut frame)).await;
    if let Some(fault) = frame.data.fault() {
        return Err(mistake(&plan.operations[operation].name, fault.to_string()));
    }
    let retries = interpreter.tally.retries.len() as u64;
    let answer = match result {
        Ok(Ok(value)) => Answer::Value(canonical(plan, operation, &value)),
        // The steps of a negative control may meet the data that it has spoilt.
        Ok(Err(halt @ Halt::Scenario { .. })) if !plan.arms[arm].is_unsafe => {
            return Err(mistake(&plan.operations[operation].name, halt.to_string()));
        }
        Ok(Err(halt @ (Halt::Scenario { .. } | Halt::Exhausted { .. }))) => Answer::Failed(halt.to_string()),
        Ok(Err(Halt::Failed { label, failure })) => {
            let words = format!("{label}: {failure}");
            match failure.kind {
                FailureKind::Network | FailureKind::Timeout => Answer::Unknown(words),
                FailureKind::Server(_) | FailureKind::TooLarge | FailureKind::Driver => Answer::Failed(words),
            }
        }
        Err(_) => Answer::Unknown(format!("no answer within {} s", timeout.as_secs_f64())),
    };
    match answer {
        Answer::Unknown(words) if !answers(target).await => Err(RunError::Fatal(Fatal::Lost(words))),
        answer => Ok(Made { operation, answer, retries }),
    }
}

fn canonical(plan: &Plan, operation: usize, value: &Value) -> Value {
    match &plan.operations[operation].returns {
        Some(shape) => shape.canonical(value, &plan.data),
        None => value.referenced(),
    }
}

/// The arguments of a call, without slots for the steps of any strategy; `None` when they cannot be drawn, which the call
/// itself will tell.
pub fn arguments(plan: &Plan, call: u64) -> Option<(usize, Frame)> {
    let seed = plan.round_seed(0);
    let operation = plan.mix.draw(seed, call);
    let slots = plan.operations[operation].arguments.len();
    plan.arguments(operation, seed, call, slots).ok().map(|frame| (operation, frame))
}

/// The operation and arguments of a call: `read_page(post: 3, page: 2)`.
pub fn describe(plan: &Plan, call: u64) -> String {
    let Some((operation, frame)) = arguments(plan, call) else { return String::new() };
    let operation = &plan.operations[operation];
    let argument = |argument: &Argument| {
        format!("{}: {}", argument.name, brief(&written(frame.slot(argument.slot)), LONGEST_ARGUMENT))
    };
    let arguments: Vec<String> = operation.arguments.iter().map(argument).collect();
    format!("{}({})", operation.name, arguments.join(", "))
}

/// A text cut at so many characters.
pub fn brief(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether the server is gone, so that there is nobody to ask for anything.
pub fn is_lost(error: &RunError) -> bool {
    matches!(error, RunError::Fatal(Fatal::Lost(_)))
}

/// Whether any strategy's steps of an operation write.
pub fn writes(plan: &Plan, operation: usize) -> bool {
    plan.arms.iter().any(|arm| arm.operations[operation].changes)
}
