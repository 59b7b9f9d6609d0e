//! Audits as written to [`Audit`]s.

use std::sync::Arc;

use crate::plan::{
    Audit, Concerns, Expression, Program, Value,
    audit::{CALLS, OUTCOMES},
};
use crate::scenario::{self, Diagnostics, Spanned, StepDefinition, StepKind};

use super::parts::optional;
use super::resolve::resolve;
use super::scope::{Names, Origin, Scope};
use super::steps::StepCompiler;

/// Reports strategies that audits name and that do not exist.
pub fn check_strategies(scenario: &scenario::Scenario, diagnostics: &mut Diagnostics) {
    let known: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
    for audit in &scenario.audits {
        for name in audit.strategies() {
            diagnostics.is_known("strategy", name, &format!(" in audit `{}`", audit.name.value), &known);
        }
    }
}

/// Compiles the audits of one strategy.
pub struct AuditCompiler<'r> {
    pub names: &'r Names,
    pub collections: &'r [String],
    pub concerns: &'r Concerns,
    pub diagnostics: &'r mut Diagnostics,
}

impl AuditCompiler<'_> {
    /// The audit; `None` when there were problems.
    pub fn compile(&mut self, audit: &scenario::AuditDefinition, steps: &[StepDefinition]) -> Option<Audit> {
        let program = self.program(steps);
        let is_live = audit.is_live.as_ref().is_some_and(|live| live.value);
        let snapshot = (is_live && program.is_some()).then(|| {
            let kind = StepKind::Transaction { attempts: SNAPSHOT_ATTEMPTS, body: steps.to_vec() };
            self.program(&[StepDefinition { span: audit.name.span, kind }])
        });
        let snapshot = optional(snapshot)?;
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
        Some(Audit {
            name: Arc::from(audit.name.value.as_str()),
            about: Arc::from(audit.about.as_deref().unwrap_or_default()),
            program: program?,
            snapshot,
            expect: expect?,
        })
    }

    fn program(&mut self, steps: &[StepDefinition]) -> Option<Program> {
        let scope = Scope::new(self.names, "audit");
        StepCompiler::new(scope, self.collections, self.concerns, self.diagnostics).compile(steps, true)
    }

    /// Reports unknown operations and outcomes, which would count as null.
    fn check_calls(&mut self, expect: &Expression, span: scenario::Span) {
        let known: Vec<&str> = self.names.operations.iter().map(String::as_str).collect();
        let diagnostics = std::cell::RefCell::new(&mut *self.diagnostics);
        let is_wrong = |kind, name: &str, known: &[&str]| {
            let name = Spanned::new(name.to_owned(), span);
            !diagnostics.borrow_mut().is_known(kind, &name, "", known)
        };
        // The first problem ends the search.
        expect.any(&|part| match part {
            Expression::Field(operand, name) => match &**operand {
                Expression::Slot(CALLS) => is_wrong("operation", name, &known),
                Expression::Field(calls, _) if matches!(**calls, Expression::Slot(CALLS)) => {
                    is_wrong("outcome", name, &OUTCOMES)
                }
                _ => false,
            },
            _ => false,
        });
    }
}

/// A snapshot only reads, so that one attempt nearly always succeeds.
const SNAPSHOT_ATTEMPTS: u32 = 10;
