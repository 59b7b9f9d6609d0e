//! Draws a few records and calls before the run, so that errors in expressions are reported with their place.

use crate::plan::call_id::FIRST_NEW_RECORD;
use crate::plan::{EvalError, Expression, Frame, Operation, Plan, spent_share};
use crate::scenario::{Diagnostics, Scenario};

/// Draws the first, the middle and the last record of every entity, and a new one where an operation makes one, so
/// that errors in fields are reported before the run.
pub fn try_records(scenario: &Scenario, plan: &Plan, diagnostics: &Diagnostics) {
    for (position, entity) in plan.data.entities.iter().enumerate() {
        let loaded = plan.data.len(position);
        let mut ordinals = if loaded == 0 { Vec::new() } else { vec![0, (loaded - 1) / 2, loaded - 1] };
        let mut arguments = plan.operations.iter().flat_map(|operation| operation.arguments.iter());
        let is_orphan = |value: &Expression| value.makes(position) && !value.makes_with_relatives(position);
        ordinals.extend(arguments.any(|argument| is_orphan(&argument.value)).then_some(FIRST_NEW_RECORD));
        for ordinal in ordinals {
            let record = plan.data.whole(position, ordinal);
            let definition = &scenario.entities[position];
            let written = definition.helpers.iter().chain(&definition.fields);
            for (field, (_, written)) in entity.fields.iter().zip(written) {
                if let Err(fault) = record.get(&field.name) {
                    let new = if ordinal == FIRST_NEW_RECORD { "new " } else { "" };
                    let message =
                        format!("cannot draw field `{}` of a {new}`{}` record: {fault}", field.name, entity.name);
                    let help = match (ordinal, entity.parent) {
                        (FIRST_NEW_RECORD, Some(_)) => {
                            "a new record has no parent: write `new(child, parent)`; without it, what comes from the parent is null"
                        }
                        _ => advice(&fault.to_string()),
                    };
                    diagnostics.error(written.span, message, help);
                    return;
                }
            }
        }
    }
}

/// Returns what to do about an expression without a value.
fn advice(message: &str) -> &'static str {
    if message.contains("int and a double") || message.contains("double and an int") {
        return "ints and doubles do not mix: write `double(n)` or `int(x)`, or 2.0 for 2";
    }
    if message.contains("null") {
        return "what is missing is null: test it first, as in `x == null ? 0 : x`";
    }
    "see docs/format.md for what operators, functions and generators take"
}

/// Draws some calls of every operation.
pub fn try_calls(scenario: &Scenario, plan: &Plan, diagnostics: &Diagnostics) {
    const TRIES: u64 = 20;
    // Long values and lists take time: two tries are enough if they take more than this share of the budget, a few milliseconds.
    const FEWEST: u64 = 2;
    const ENOUGH: f64 = 0.001;
    for (operation, written) in plan.operations.iter().zip(&scenario.operations) {
        let before = spent_share();
        let mut tries = (0..TRIES).take_while(|call| *call < FEWEST || spent_share() - before < ENOUGH);
        if let Some((position, error)) = tries.find_map(|call| failing_argument(plan, operation, call)) {
            let (name, value) = &written.arguments[position];
            let message = format!("cannot draw argument `{}` of `{}`: {error}", name.value, operation.name);
            diagnostics.error(value.span, message, advice(&error.to_string()));
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
            Err(error) => return Some((position, error)),
        }
    }
    None
}
