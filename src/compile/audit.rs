//! Audits as written to [`Audit`]s.

use std::sync::Arc;

use crate::plan::{
    Audit, Concerns, Expression, Program, Value,
    audit::{CALLS, OUTCOMES},
};
use crate::scenario::{self, Diagnostics, StepDefinition, StepKind, nearest};

use super::resolve::resolve;
use super::scope::{Names, Origin, Scope};
use super::steps::StepCompiler;

/// Reports strategies that audits name and that do not exist.
pub fn check_strategies(scenario: &scenario::Scenario, diagnostics: &mut Diagnostics) {
    let known: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
    for audit in &scenario.audits {
        for name in audit.strategies() {
            if !known.contains(&name.value.as_str()) {
                let message = format!("unknown strategy `{}` in audit `{}`", name.value, audit.name.value);
                diagnostics.error(name.span, message, nearest(&name.value, &known));
            }
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
        let snapshot = match (is_live, &program) {
            (true, Some(_)) => {
                let kind = StepKind::Transaction { attempts: SNAPSHOT_ATTEMPTS, body: steps.to_vec() };
                Some(self.program(&[StepDefinition { span: audit.name.span, kind }])?)
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

    fn program(&mut self, steps: &[StepDefinition]) -> Option<Program> {
        let scope = Scope::new(self.names, "audit");
        StepCompiler::new(scope, self.collections, self.concerns, self.diagnostics).compile(steps, true)
    }

    /// Reports unknown operations and outcomes, which would count as null.
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
            self.diagnostics.error(span, message, help);
        }
    }
}

/// A snapshot only reads, so that one attempt nearly always succeeds.
const SNAPSHOT_ATTEMPTS: u32 = 10;
