//! Audits: counts of what must not exist in the stored data.

use std::sync::Arc;

use super::{Node, Spanned, StepDefinition};

/// An audit as written.
#[derive(Debug, Clone)]
pub struct AuditDefinition {
    /// The key under `audits`.
    pub name: Spanned<String>,
    /// `expect`: CEL, the expected number of rows, by default 0.
    pub expect: Option<Node>,
    /// `live: true`: also counted while calls run.
    pub is_live: bool,
    /// Which strategies have which command that counts.
    pub rules: Vec<AuditRule>,
}

/// What an audit does in some strategies.
#[derive(Debug, Clone)]
pub struct AuditRule {
    /// The strategy; `None`: all of them that no other rule is about.
    pub strategy: Option<Spanned<String>>,
    /// Whether it is also about strategies that are `like` this one.
    pub is_inherited: bool,
    /// The command as a single step; `None` if the audit does not apply.
    pub steps: Option<Arc<[StepDefinition]>>,
}

impl AuditDefinition {
    /// Returns the command for a strategy; `None` if the audit does not apply to it.
    ///
    /// `line` is the strategy and those that it is `like`, nearest first: the first one that a rule is about decides.
    pub fn steps(&self, line: &[&str]) -> Option<&[StepDefinition]> {
        let is_about = |rule: &AuditRule, name: &str, is_own: bool| {
            rule.strategy.as_ref().is_some_and(|strategy| strategy.value == name) && (is_own || rule.is_inherited)
        };
        let by_name = line
            .iter()
            .enumerate()
            .find_map(|(distance, name)| self.rules.iter().find(|rule| is_about(rule, name, distance == 0)));
        by_name.or_else(|| self.rules.iter().find(|rule| rule.strategy.is_none()))?.steps.as_deref()
    }

    /// Returns the strategies that the audit names.
    pub fn strategies(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.rules.iter().filter_map(|rule| rule.strategy.as_ref())
    }
}
