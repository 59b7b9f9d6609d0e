//! Audits as written to [`Audit`]s.

use std::sync::Arc;

use crate::plan::audit::{CALLS, OUTCOMES};
use crate::plan::{Audit, Concerns, Expression, Value};
use crate::scenario::{AuditDefinition, Diagnostics, Scenario, Span, Spanned, StepDefinition};

use super::inherit::line_of;
use super::parts::{all, optional};
use super::resolve::resolve;
use super::scope::Origin;
use super::steps::StepCompiler;
use super::strategy::StrategyCompiler;

/// Reports strategies that audits name and that do not exist, and audits whose name means something else in `tolerates`.
pub fn check_names(scenario: &Scenario, diagnostics: &Diagnostics) {
    for audit in &scenario.audits {
        if audit.name.value == PAIRS {
            let message = format!("no audit may be named `{PAIRS}`");
            let help = "in `tolerates` this word means the phase of pairs of calls; choose another name";
            diagnostics.error(audit.name.span, message, help);
        }
        let place = format!(" in audit `{}`", audit.name.value);
        for name in audit.strategies() {
            diagnostics.is_known("strategy", name, &place, scenario.strategy_names());
        }
    }
}

/// What `tolerates` names besides audits: results of two calls at the same time.
pub const PAIRS: &str = "pairs";

/// The audits of one strategy.
impl StrategyCompiler<'_> {
    pub(super) fn audits(&self) -> Option<Vec<Audit>> {
        let line = line_of(self.strategy, &self.scenario.strategies);
        let audits = self.scenario.audits.iter().filter_map(|audit| Some((audit, audit.steps(&line)?)));
        let audits: Vec<_> = audits.collect();
        self.check_tolerated(&audits.iter().map(|(audit, _)| *audit).collect::<Vec<_>>());
        all(audits.into_iter().map(|(audit, steps)| self.audit(audit, steps)))
    }

    /// Reports names of `tolerates` that are no live audit of the strategy.
    fn check_tolerated(&self, audits: &[&AuditDefinition]) {
        for name in self.strategy.tolerates.iter().filter(|name| name.value != PAIRS) {
            let known = audits.iter().map(|audit| audit.name.value.as_str());
            if self.diagnostics.is_known("audit", name, " of this strategy", known)
                && !audits.iter().any(|audit| audit.name.value == name.value && audit.is_live)
            {
                let message = format!("`tolerates` names audit `{}`, which does not run during calls", name.value);
                self.diagnostics.error(name.span, message, "add `live: true` to the audit, or remove its name here");
            }
        }
    }

    fn audit(&self, audit: &AuditDefinition, steps: &[StepDefinition]) -> Option<Audit> {
        let program = self.program(self.scope("audit"), steps, true);
        // A transaction would not do: the server refuses `$unionWith` in it.
        let concerns = Concerns { read: "snapshot".into(), ..self.concerns.clone() };
        let snapshot = (audit.is_live && program.is_some())
            .then(|| StepCompiler::new(self.scope("audit"), self.collections, &concerns).compile(steps, true));
        let snapshot = optional(snapshot)?;
        let expect = match &audit.expect {
            None => Expression::Constant(Value::Int(0)),
            Some(node) => {
                let mut scope = self.scope(format!("audit.{}", audit.name.value));
                scope.assign("calls", Origin::Argument, None);
                let expression = resolve(node, &mut scope)?;
                self.check_calls(&expression, node.span);
                expression
            }
        };
        Some(Audit {
            name: Arc::from(audit.name.value.as_str()),
            program: program?,
            snapshot,
            is_tolerated: self.strategy.tolerates.iter().any(|name| name.value == audit.name.value),
            expect,
        })
    }

    /// Reports unknown operations and outcomes, which would count as null.
    fn check_calls(&self, expect: &Expression, span: Span) {
        let is_wrong = |kind, name: &str, known: &[&str]| {
            let name = Spanned::new(name.to_owned(), span);
            !self.diagnostics.is_known(kind, &name, "", known.iter().copied())
        };
        // The first problem ends the search.
        expect.any(&|part| match part {
            Expression::Field(operand, name) => match &**operand {
                Expression::Slot(CALLS) => {
                    is_wrong("operation", name, &self.names.operation_names().collect::<Vec<_>>())
                }
                Expression::Field(calls, _) if matches!(**calls, Expression::Slot(CALLS)) => {
                    is_wrong("outcome", name, &OUTCOMES)
                }
                _ => false,
            },
            _ => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::Choice;
    use super::super::fixture::chosen;

    const TEXT: &str = "
format: 1
name: test
title: Test
entities: { post: { count: 2, fields: { _id: index } } }
operations: { read: { arguments: { post: uniform(post) }, returns: post } }
mixes: { default: { read: 1 } }
strategies:
  a: { collections: { posts: { each: post } }, operations: { read: { findOne: posts, filter: { _id: <post> } } } }
  like_a: { like: a }
  like_like_a: { like: like_a }
  other_like_a: { like: a }
  none: { like: other_like_a }
audits:
";

    /// The strategies that an audit applies to.
    fn strategies(audit: &str) -> Vec<String> {
        let plan = chosen(&format!("{TEXT}  it: {{ {audit} }}\n"), &Choice { all: true, ..Choice::default() });
        plan.arms.iter().filter(|arm| !arm.audits.is_empty()).map(|arm| arm.name.clone()).collect()
    }

    #[test]
    fn audits_apply_to_listed_strategies_and_those_like_them() {
        assert_eq!(strategies("find: posts"), ["a", "like_a", "like_like_a", "other_like_a", "none"]);
        assert_eq!(strategies("find: posts, strategies: [a, none]"), ["a", "none"]);
        assert_eq!(strategies("find: posts, strategies: [like like_a, none]"), ["like_a", "like_like_a", "none"]);
    }

    #[test]
    fn a_command_of_a_strategy_is_inherited_unless_left_out() {
        assert_eq!(strategies("like_a: { find: posts }"), ["like_a", "like_like_a"]);
        assert_eq!(strategies("a: { find: posts }, like_a: none"), ["a", "other_like_a", "none"]);
        assert_eq!(strategies("a: { find: posts }, like_a: none, like_like_a: { find: posts }, none: none").len(), 3);
        assert_eq!(strategies("find: posts, a: none, other_like_a: none"), [""; 0]);
        assert_eq!(strategies("find: posts, strategies: [like a, like_like_a], like_a: none").len(), 4);
    }

    #[test]
    fn the_nearest_command_counts() {
        let audit = "a: { find: posts }, like_a: { countDocuments: posts }";
        let plan = chosen(&format!("{TEXT}  it: {{ {audit} }}\n"), &Choice { all: true, ..Choice::default() });
        let commands: Vec<String> = plan.arms.iter().map(|arm| format!("{:?}", arm.audits[0].program.steps)).collect();
        let same = |one: usize, other: usize| commands[one] == commands[other];
        assert!(same(1, 2) && same(0, 3) && same(0, 4) && !same(0, 1));
    }
}
