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
    let diagnostics = &Diagnostics::new();
    let strategies = &inherit(&scenario.strategies, diagnostics);
    ClaimCompiler { scenario, strategies, names: &names, diagnostics, claim }.term()
}

/// Reports what claims name and does not exist, and expressions without a number.
pub fn check_claims(scenario: &Scenario, strategies: &[StrategyDefinition], names: &Names, diagnostics: &Diagnostics) {
    for claim in &scenario.claims {
        let compiler = ClaimCompiler { scenario, strategies, names, diagnostics, claim };
        compiler.check_names();
        compiler.term();
    }
}

struct ClaimCompiler<'c> {
    scenario: &'c Scenario,
    /// With what they inherit.
    strategies: &'c [StrategyDefinition],
    names: &'c Names,
    diagnostics: &'c Diagnostics,
    claim: &'c ClaimDefinition,
}

impl ClaimCompiler<'_> {
    /// The end of messages.
    fn place(&self) -> String {
        format!(" in claim `{}`", self.claim.id.value)
    }

    fn check_names(&self) {
        let place = &self.place();
        self.claim.operation.iter().for_each(|name| self.check_operation(name, place));
        self.check_strategy(&self.claim.strategy, place);
        if let ClaimBound::Other { strategy, operation, .. } = &self.claim.than {
            strategy.iter().for_each(|name| self.check_strategy(name, place));
            operation.iter().for_each(|name| self.check_operation(name, place));
        }
    }

    /// The operation must exist, and the runs that decide the claim must call it.
    fn check_operation(&self, name: &Spanned<String>, place: &str) {
        if !self.diagnostics.is_known("operation", name, place, self.names.operation_names()) {
            return;
        }
        let own = self.claim.run.mix.as_ref().map(|mix| mix.value.as_str());
        let mut mixes = self.scenario.mixes.iter().filter(|mix| own.is_none_or(|own| own == mix.name.value)).peekable();
        // A mix that is not there is reported as such.
        if mixes.peek().is_none() || mixes.any(|mix| mix.weights.iter().any(|(called, _)| called.value == name.value)) {
            return;
        }
        let mix = own.map_or_else(|| "no mix".to_owned(), |own| format!("mix `{own}` never"));
        let message = format!("{mix} calls `{}`{place}", name.value);
        self.diagnostics.error(name.span, message, "name a mix of the claim that calls it, or give it a weight there");
    }

    /// The strategy must exist, and so must the audit, which must apply to the strategy.
    fn check_strategy(&self, strategy: &Spanned<String>, place: &str) {
        let is_known = self.diagnostics.is_known("strategy", strategy, place, self.scenario.strategy_names());
        let ClaimSubject::Audit(audit) = &self.claim.subject.value else { return };
        let name = Spanned::new(audit.clone(), self.claim.subject.span);
        let known = self.scenario.audits.iter().map(|one| one.name.value.as_str());
        if !is_known || !self.diagnostics.is_known("audit", &name, place, known) {
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

    fn term(&self) -> Option<ClaimTerm> {
        let operation = self.claim.operation.as_ref().map(|name| name.value.clone());
        match &self.claim.than {
            ClaimBound::Number(number) => Some(ClaimTerm::Number { number: *number, text: None }),
            ClaimBound::Text(node) => {
                let text = node.as_text()?;
                if self.scenario.strategy_names().any(|strategy| strategy == text) {
                    self.check_strategy(&Spanned::new(text.to_owned(), node.span), "");
                    return Some(ClaimTerm::Other { strategy: text.to_owned(), operation, times: 1.0, text: None });
                }
                self.check_expression(text, node)?;
                Some(ClaimTerm::Number { number: self.number(node)?, text: Some(text.to_owned()) })
            }
            ClaimBound::Other { strategy, operation: other, times } => Some(ClaimTerm::Other {
                strategy: strategy.as_ref().unwrap_or(&self.claim.strategy).value.clone(),
                operation: other.as_ref().map(|name| name.value.clone()).or(operation),
                times: times.as_ref().map_or(Some(1.0), |node| self.factor(node))?,
                text: times.as_ref().and_then(Node::as_text).map(str::to_owned),
            }),
        }
    }

    /// Reports a text that was meant as a strategy, and an expression for what no number is compared with.
    fn check_expression(&self, text: &str, node: &Node) -> Option<()> {
        let is_near = |known: &[&str]| suggest(text, known.iter().copied()).is_some();
        let strategies: Vec<&str> = self.scenario.strategy_names().collect();
        let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_measured = self.claim.subject.value.is_measured();
        let place = self.place();
        if is_measured && !is_name && !is_near(&strategies) {
            let subject = self.claim.subject.value.name();
            let message = format!("`{subject}` depends on the machine and cannot be compared with a number{place}");
            let help = "try the name of another strategy, or `{ strategy: NAME, times: 0.5 }`";
            return self.diagnostics.reject(node.span, message, help);
        }
        let own = self.own_strategy().into_iter().flat_map(|strategy| &strategy.parameters);
        let own = own.map(|(name, _)| name.value.as_str());
        let parameters: Vec<&str> = self.names.parameter_names().chain(own).collect();
        let is_parameter = parameters.contains(&text) || is_near(&parameters);
        if is_measured || is_name && !is_parameter {
            let name = Spanned::new(text.to_owned(), node.span);
            self.diagnostics.is_known("strategy", &name, &place, strategies);
            return None;
        }
        Some(())
    }

    /// The strategy that the claim is about.
    fn own_strategy(&self) -> Option<&StrategyDefinition> {
        self.strategies.iter().find(|strategy| strategy.name.value == self.claim.strategy.value)
    }

    /// The value of an expression of parameters, which must be a number of 0 or more.
    fn number(&self, node: &Node) -> Option<f64> {
        let own = self.own_strategy().map(|strategy| with_parameters(self.names, strategy, self.diagnostics));
        let value = parameter_value(node, own.as_ref().unwrap_or(self.names), self.diagnostics)?;
        let number = match value {
            Value::Int(number) => Some(number as f64),
            Value::Double(number) => Some(number),
            _ => None,
        };
        number.filter(|number| number.is_finite() && *number >= 0.0).or_else(|| {
            let message = format!("expected a number of 0 or more{}, found {}", self.place(), written(&value));
            self.diagnostics.reject(node.span, message, "use numbers and parameters, for example `per_post / 4`")
        })
    }

    fn factor(&self, node: &Node) -> Option<f64> {
        let factor = self.number(node)?;
        if factor == 0.0 {
            let message = format!("`times` is 0{}", self.place());
            return self.diagnostics.reject(node.span, message, "use a factor above 0, for example `0.5`");
        }
        Some(factor)
    }
}
