//! A few records and calls made before the run, so that mistakes in expressions are told with their place.

use crate::scenario::{Diagnostics, Scenario};

use super::compile::error;
use super::expression::{EvalError, Expression, Frame};
use super::generator::GeneratorKind;
use super::record::NEW;
use super::{Operation, Plan};

/// Makes the first, the middle and the last record of every entity, and a new one where an operation makes such, so
/// that mistakes in fields are told before the run.
pub fn try_records(scenario: &Scenario, plan: &Plan, diagnostics: &mut Diagnostics) {
    for (position, entity) in plan.data.entities.iter().enumerate() {
        let last = entity.len().saturating_sub(1);
        let mut ordinals = if entity.is_empty() { Vec::new() } else { vec![0, last / 2, last] };
        ordinals.extend(makes_new(plan, position).then_some(NEW));
        for ordinal in ordinals {
            let record = plan.data.whole(position, ordinal);
            for (field, written) in entity.fields.iter().zip(&scenario.entities[position].fields) {
                record.get(&field.name);
                if let Some(fault) = plan.data.fault() {
                    let which = if ordinal == NEW { "a new record" } else { "a record" };
                    let message = format!("{which} of `{}` cannot be made: `{}`: {fault}", entity.name, field.name);
                    let help = match (ordinal, entity.parent) {
                        (NEW, Some(_)) => "a new record belongs to no parent yet: what comes from the parent is null",
                        _ => advice(&fault.to_string()),
                    };
                    error(diagnostics, written.value.span, message, help);
                    return;
                }
            }
        }
    }
}

/// What to do about an expression without a value.
fn advice(words: &str) -> &'static str {
    if words.contains("int and a double") || words.contains("double and an int") {
        return "ints and doubles do not mix: write `double(n)` or `int(x)`, or 2.0 for 2";
    }
    if words.contains("null") {
        return "what is missing is null: test it first, as in `x == null ? 0 : x`";
    }
    "docs/format.md says what operators, functions and generators take"
}

fn makes_new(plan: &Plan, entity: usize) -> bool {
    let is_new = |part: &Expression| match part {
        Expression::Generate(generator) => matches!(generator.kind, GeneratorKind::New(made) if made == entity),
        _ => false,
    };
    plan.operations.iter().flat_map(|operation| operation.arguments.iter()).any(|argument| argument.value.any(&is_new))
}

/// Draws some calls of every operation.
pub fn try_calls(scenario: &Scenario, plan: &Plan, diagnostics: &mut Diagnostics) {
    const TRIES: u64 = 20;
    for (operation, written) in plan.operations.iter().zip(&scenario.operations) {
        if let Some((position, words)) = (0..TRIES).find_map(|call| failing_argument(plan, operation, call)) {
            let (name, value) = &written.arguments[position];
            let message = format!("argument `{}` of `{}` cannot be drawn: {words}", name.value, operation.name);
            error(diagnostics, value.span, message, advice(&words.to_string()));
        }
    }
}

/// The first argument of a call that has no value.
fn failing_argument(plan: &Plan, operation: &Operation, call: u64) -> Option<(usize, EvalError)> {
    let mut frame = Frame::new(&plan.data, plan.round_seed(0), call, operation.arguments.len());
    frame.now = plan.data.call_instant(call);
    for (position, argument) in operation.arguments.iter().enumerate() {
        match argument.value.evaluate(&mut frame) {
            Ok(value) => frame.set(argument.slot, value),
            Err(words) => return Some((position, words)),
        }
    }
    None
}
