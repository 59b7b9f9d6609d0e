//! Audits: counts of what must not be, or of what must be so many.

use std::sync::Arc;

use crate::scenario::{self, Diagnostics, Step, StepKind};

use super::command::Concerns;
use super::compile::error;
use super::expression::{EvalError, Expression, Frame};
use super::program::Program;
use super::record::Data;
use super::resolve::{nearest, resolve};
use super::scope::{Names, Origin, Scope};
use super::steps::StepCompiler;
use super::value::Value;

/// The outcomes that `calls.<operation>.<outcome>` may name.
const OUTCOMES: [&str; 4] = ["done", "same", "not_found", "refused"];

/// The slot of `calls`.
const CALLS: usize = 0;

/// An audit as one strategy runs it.
#[derive(Debug)]
pub struct Audit {
    /// Its name.
    pub name: Arc<str>,
    /// One sentence on the anomaly; may be empty.
    pub about: Arc<str>,
    /// Counts the rows.
    pub program: Program,
    /// The same inside a snapshot, when it is also counted while calls run.
    pub snapshot: Option<Program>,
    expect: Expression,
}

/// How many calls of an operation came to which outcome since the data were loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// `done()`
    pub done: u64,
    /// `same()`
    pub same: u64,
    /// `not_found()`
    pub not_found: u64,
    /// `refused(...)`, whatever the reason.
    pub refused: u64,
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
        let entry = |name: &str, count: u64| (Arc::from(name), Value::Int(count as i64));
        let counts = |counts: OutcomeCounts| {
            let OutcomeCounts { done, same, not_found, refused } = counts;
            let counts = [done, same, not_found, refused];
            Value::Map(OUTCOMES.iter().zip(counts).map(|(name, count)| entry(name, count)).collect())
        };
        let mut frame = Frame::new(data, data.seed, 0, 1);
        frame.set(CALLS, Value::Map(calls.map(|(name, calls)| (name, counts(calls))).collect()));
        match self.expect.evaluate(&mut frame)? {
            // A negative number is one that no count can be, say of tickets that were sold too often.
            Value::Int(count) => Ok(count),
            other => Err(EvalError::new(format!("`expect` must be an int, not {}", super::written(&other)))),
        }
    }
}

/// Tells names of strategies that audits name and that do not exist.
pub fn check_strategies(scenario: &scenario::Scenario, diagnostics: &mut Diagnostics) {
    let known: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
    for audit in &scenario.audits {
        for name in audit.strategies() {
            if !known.contains(&name.value.as_str()) {
                let message = format!("audit `{}` names no strategy: `{}`", audit.name.value, name.value);
                error(diagnostics, name.span, message, nearest(&name.value, &known));
            }
        }
    }
}

/// Compiles the audits of one strategy.
pub struct AuditCompiler<'r> {
    /// The names that the strategy sees.
    pub names: &'r Names,
    /// The collections that it declares.
    pub collections: &'r [String],
    /// What every command carries.
    pub concerns: &'r Concerns,
    /// Where problems go.
    pub diagnostics: &'r mut Diagnostics,
}

impl AuditCompiler<'_> {
    /// The audit; `None` when there were problems.
    pub fn compile(&mut self, audit: &scenario::Audit, steps: &[Step]) -> Option<Audit> {
        let program = self.program(steps);
        let is_live = audit.is_live.as_ref().is_some_and(|live| live.value);
        let snapshot = match (is_live, &program) {
            (true, Some(_)) => {
                let kind = StepKind::Transaction { attempts: SNAPSHOT_ATTEMPTS, body: steps.to_vec() };
                Some(self.program(&[Step { span: audit.name.span, kind }])?)
            }
            _ => None,
        };
        let expect = match &audit.expect {
            None => Some(Expression::Constant(Value::Int(0))),
            Some(node) => {
                let mut scope = Scope::new(self.names, format!("audit.{}", audit.name.value));
                scope.assign("calls", Origin::Argument, None);
                let expression = resolve(node, &mut scope, self.diagnostics)?;
                self.check_calls(&expression, node.span);
                Some(expression)
            }
        };
        let about = audit.about.as_deref().unwrap_or_default();
        Some(Audit {
            name: Arc::from(audit.name.value.as_str()),
            about: Arc::from(about),
            program: program?,
            snapshot,
            expect: expect?,
        })
    }

    fn program(&mut self, steps: &[Step]) -> Option<Program> {
        let scope = Scope::new(self.names, "audit");
        StepCompiler::new(scope, self.collections, self.concerns, self.diagnostics).compile(steps, true)
    }

    /// A misspelt name would count as null.
    fn check_calls(&mut self, expect: &Expression, span: scenario::Span) {
        let known: Vec<&str> = self.names.operations.iter().map(String::as_str).collect();
        let wrong = std::cell::RefCell::new(None);
        expect.any(&|part| {
            let found = match part {
                Expression::Field(operand, name) => match &**operand {
                    Expression::Slot(CALLS) if !known.contains(&&**name) => {
                        Some((format!("unknown operation `{name}`"), nearest(name, &known)))
                    }
                    Expression::Field(calls, _)
                        if matches!(**calls, Expression::Slot(CALLS)) && !OUTCOMES.contains(&&**name) =>
                    {
                        Some((format!("unknown outcome `{name}`"), nearest(name, &OUTCOMES)))
                    }
                    _ => None,
                },
                _ => None,
            };
            let is_wrong = found.is_some();
            if is_wrong {
                wrong.replace(found);
            }
            is_wrong
        });
        if let Some((message, help)) = wrong.into_inner() {
            error(self.diagnostics, span, message, help);
        }
    }
}

/// A snapshot is only read, so hardly anything stands in its way.
const SNAPSHOT_ATTEMPTS: u32 = 10;
