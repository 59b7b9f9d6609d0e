//! Names in claims.

use crate::scenario::{ClaimBound, Diagnostics, Scenario, Spanned, nearest};

/// Reports strategies and operations that claims name and that do not exist.
pub fn check_claims(scenario: &Scenario, diagnostics: &mut Diagnostics) {
    let strategies: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
    let operations: Vec<&str> = scenario.operations.iter().map(|operation| operation.name.value.as_str()).collect();
    for claim in &scenario.claims {
        let mut check = |what: &str, name: &Spanned<String>, known: &[&str]| {
            if !known.contains(&name.value.as_str()) {
                let message = format!("unknown {what} `{}` in claim `{}`", name.value, claim.id.value);
                diagnostics.error(name.span, message, nearest(&name.value, known));
            }
        };
        if let Some(operation) = &claim.operation {
            check("operation", operation, &operations);
        }
        check("strategy", &claim.strategy, &strategies);
        if let ClaimBound::Strategy(name) = &claim.than {
            check("strategy", name, &strategies);
        }
    }
}
