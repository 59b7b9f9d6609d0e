//! Claims: the names in them, and the numbers that their expressions have in a run.

use std::sync::Arc;

use crate::plan::{Value, written};
use crate::scenario::{
    ClaimBound, ClaimDefinition, ClaimSubject, Diagnostics, Node, Scenario, Spanned, StrategyDefinition, suggest,
};

use super::inherit::{inherit, line_of};
use super::parameter::{parameter_value, with_parameters};
use super::scope::Names;

/// What a claim compares its number with, in a run with certain parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimTerm {
    /// A number.
    Number {
        /// The number.
        number: f64,
        /// The expression that gives it; `None` for a plain number.
        text: Option<String>,
    },
    /// The same number of another strategy or operation.
    Other {
        /// The strategy.
        strategy: String,
        /// The operation; `None` for a number of a whole strategy.
        operation: Option<String>,
        /// The factor by which it is multiplied.
        times: f64,
        /// The expression that gives the factor; `None` for a plain number.
        text: Option<String>,
    },
}

/// Returns what a claim compares its number with, in a run with these parameters; `None` where that has problems, which
/// [`super::compile`] reports.
pub fn claim_term(scenario: &Scenario, claim: &ClaimDefinition, parameters: &[(Arc<str>, Value)]) -> Option<ClaimTerm> {
    let names = Names { lines: scenario.lines.clone(), parameters: parameters.to_vec(), ..Names::default() };
    let strategies = inherit(&scenario.strategies, &mut Diagnostics::new());
    ClaimCompiler { scenario, strategies: &strategies, names: &names, diagnostics: &mut Diagnostics::new() }.term(claim)
}

/// Reports what claims name and does not exist, and expressions without a number.
pub fn check_claims(
    scenario: &Scenario,
    strategies: &[StrategyDefinition],
    names: &Names,
    diagnostics: &mut Diagnostics,
) {
    for claim in &scenario.claims {
        let mut compiler = ClaimCompiler { scenario, strategies, names, diagnostics };
        compiler.check_names(claim);
        compiler.term(claim);
    }
}

struct ClaimCompiler<'c> {
    scenario: &'c Scenario,
    /// With what they inherit.
    strategies: &'c [StrategyDefinition],
    names: &'c Names,
    diagnostics: &'c mut Diagnostics,
}

impl ClaimCompiler<'_> {
    fn check_names(&mut self, claim: &ClaimDefinition) {
        let place = format!(" in claim `{}`", claim.id.value);
        claim.operation.iter().for_each(|name| self.check_operation(name, &place));
        self.check_strategy(claim, &claim.strategy, &place);
        if let ClaimBound::Other { strategy, operation, .. } = &claim.than {
            strategy.iter().for_each(|name| self.check_strategy(claim, name, &place));
            operation.iter().for_each(|name| self.check_operation(name, &place));
        }
    }

    fn check_operation(&mut self, name: &Spanned<String>, place: &str) {
        let known: Vec<&str> = self.scenario.operations.iter().map(|one| one.name.value.as_str()).collect();
        self.diagnostics.is_known("operation", name, place, &known);
    }

    fn check_strategy(&mut self, claim: &ClaimDefinition, name: &Spanned<String>, place: &str) {
        let known: Vec<&str> = self.scenario.strategies.iter().map(|one| one.name.value.as_str()).collect();
        if self.diagnostics.is_known("strategy", name, place, &known) {
            self.check_audit(claim, name, place);
        }
    }

    /// The audit must exist and apply to the strategy.
    fn check_audit(&mut self, claim: &ClaimDefinition, strategy: &Spanned<String>, place: &str) {
        let ClaimSubject::Audit(audit) = &claim.subject.value else { return };
        let known: Vec<&str> = self.scenario.audits.iter().map(|one| one.name.value.as_str()).collect();
        let name = Spanned::new(audit.clone(), claim.subject.span);
        if !self.diagnostics.is_known("audit", &name, place, &known) {
            return;
        }
        let all = &self.scenario.strategies;
        let definition = all.iter().find(|other| other.name.value == strategy.value);
        let line = definition.map(|strategy| line_of(strategy, all)).unwrap_or_default();
        if self.scenario.audits.iter().any(|one| one.name.value == *audit && one.steps(&line).is_none()) {
            let message = format!("audit `{audit}` does not apply to strategy `{}`{place}", strategy.value);
            self.diagnostics.error(strategy.span, message, "name a strategy for which the audit has a command");
        }
    }

    fn term(&mut self, claim: &ClaimDefinition) -> Option<ClaimTerm> {
        let operation = claim.operation.as_ref().map(|name| name.value.clone());
        match &claim.than {
            ClaimBound::Number(number) => Some(ClaimTerm::Number { number: *number, text: None }),
            ClaimBound::Text(node) => {
                let text = node.as_text()?;
                if self.scenario.strategies.iter().any(|strategy| strategy.name.value == text) {
                    self.check_strategy(claim, &Spanned::new(text.to_owned(), node.span), "");
                    return Some(ClaimTerm::Other { strategy: text.to_owned(), operation, times: 1.0, text: None });
                }
                self.check_expression(claim, text, node)?;
                Some(ClaimTerm::Number { number: self.number(claim, node)?, text: Some(text.to_owned()) })
            }
            ClaimBound::Other { strategy, operation: other, times } => {
                let factor = times.as_ref().map_or(Some(1.0), |node| self.factor(claim, node))?;
                Some(ClaimTerm::Other {
                    strategy: strategy.as_ref().unwrap_or(&claim.strategy).value.clone(),
                    operation: other.as_ref().map(|name| name.value.clone()).or(operation),
                    times: factor,
                    text: times.as_ref().and_then(Node::as_text).map(str::to_owned),
                })
            }
        }
    }

    /// Reports a text that was meant as a strategy, and an expression for what no number is compared with.
    fn check_expression(&mut self, claim: &ClaimDefinition, text: &str, node: &Node) -> Option<()> {
        let is_near = |known: &[&str]| suggest(text, known.iter().copied()).is_some();
        let strategies: Vec<&str> = self.scenario.strategies.iter().map(|one| one.name.value.as_str()).collect();
        let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_measured = claim.subject.value.is_measured();
        let place = format!(" in claim `{}`", claim.id.value);
        if is_measured && !is_name && !is_near(&strategies) {
            let subject = claim.subject.value.name();
            let message = format!("`{subject}` depends on the machine and cannot be compared with a number{place}");
            let help = "try the name of another strategy, or `{ strategy: NAME, times: 0.5 }`";
            self.diagnostics.error(node.span, message, help);
            return None;
        }
        let own = self.strategies.iter().filter(|one| one.name.value == claim.strategy.value);
        let own = own.flat_map(|strategy| &strategy.parameters).map(|(name, _)| name.value.as_str());
        let parameters = self.names.parameters.iter().map(|(name, _)| &**name);
        let parameters: Vec<&str> = parameters.chain(own).chain(self.names.broken.iter().map(String::as_str)).collect();
        let is_parameter = parameters.contains(&text) || is_near(&parameters);
        if is_measured || is_name && !is_parameter {
            let name = Spanned::new(text.to_owned(), node.span);
            self.diagnostics.is_known("strategy", &name, &place, &strategies);
            return None;
        }
        Some(())
    }

    /// The value of an expression of parameters, which must be a number of 0 or more.
    fn number(&mut self, claim: &ClaimDefinition, node: &Node) -> Option<f64> {
        let strategy = self.strategies.iter().find(|strategy| strategy.name.value == claim.strategy.value);
        let names = match strategy {
            Some(strategy) => with_parameters(self.names, strategy, self.diagnostics),
            None => self.names.clone(),
        };
        let value = parameter_value(node, &names, self.diagnostics)?;
        let number = match value {
            Value::Int(number) => Some(number as f64),
            Value::Double(number) => Some(number),
            _ => None,
        };
        let number = number.filter(|number| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            let message =
                format!("expected a number of 0 or more in claim `{}`, found {}", claim.id.value, written(&value));
            let help = "use numbers and parameters, for example `per_post / 4`";
            self.diagnostics.error(node.span, message, help);
        }
        number
    }

    fn factor(&mut self, claim: &ClaimDefinition, node: &Node) -> Option<f64> {
        let factor = self.number(claim, node)?;
        if factor == 0.0 {
            let message = format!("`times` is 0 in claim `{}`", claim.id.value);
            self.diagnostics.error(node.span, message, "use a factor above 0, for example `0.5`");
            return None;
        }
        Some(factor)
    }
}
