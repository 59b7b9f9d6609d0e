//! Names in claims.

use crate::scenario::{ClaimBound, Diagnostics, Scenario};

/// Reports strategies and operations that claims name and that do not exist.
pub fn check_claims(scenario: &Scenario, diagnostics: &mut Diagnostics) {
    let strategies: Vec<&str> = scenario.strategies.iter().map(|strategy| strategy.name.value.as_str()).collect();
    let operations: Vec<&str> = scenario.operations.iter().map(|operation| operation.name.value.as_str()).collect();
    for claim in &scenario.claims {
        let place = format!(" in claim `{}`", claim.id.value);
        if let Some(operation) = &claim.operation {
            diagnostics.is_known("operation", operation, &place, &operations);
        }
        diagnostics.is_known("strategy", &claim.strategy, &place, &strategies);
        if let ClaimBound::Strategy(name) = &claim.than {
            diagnostics.is_known("strategy", name, &place, &strategies);
        }
    }
}
