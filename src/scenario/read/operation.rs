//! `operations` and `mixes`.

use super::fields::{Entry, Fields};
use super::value;
use crate::scenario::quote;
use crate::scenario::{Diagnostics, Mix, Operation, Weight};

const EXAMPLE: &str = "read_post: { arguments: { post: zipf(post) }, returns: post }";

/// The operations, each kept by its name even when something in it is wrong.
pub(super) fn operations(entries: &[Entry], diagnostics: &mut Diagnostics) -> Vec<Operation> {
    entries.iter().map(|entry| operation(entry, diagnostics)).collect()
}

fn operation(entry: &Entry, diagnostics: &mut Diagnostics) -> Operation {
    let name = entry.0.clone();
    value::check_name(&name, "an operation", diagnostics);
    let what = format!("operation {}", quote(&name.value));
    let Some(mut fields) = Fields::of_optional(entry, what, EXAMPLE, diagnostics) else {
        return Operation { name, arguments: Vec::new(), returns: None, serial: None };
    };
    let arguments = fields.optional("arguments").map_or_else(Vec::new, |entry| {
        value::named_expressions(entry, "an argument", "arguments: { post: zipf(post) }", diagnostics)
    });
    let returns =
        fields.optional("returns").and_then(|entry| value::expression(entry, "returns: [comment]", diagnostics));
    // Only the check of equivalence uses `serial`; a run loses nothing by it, so there is nothing to warn of.
    let serial = fields.optional("serial").and_then(|entry| value::expression(entry, "serial: post", diagnostics));
    fields.finish(diagnostics);
    Operation { name, arguments, returns, serial }
}

/// The mixes, each kept by its name even when something in it is wrong.
pub(super) fn mixes(entries: &[Entry], diagnostics: &mut Diagnostics) -> Vec<Mix> {
    entries.iter().map(|entry| mix(entry, diagnostics)).collect()
}

fn mix(entry: &Entry, diagnostics: &mut Diagnostics) -> Mix {
    let name = entry.0.clone();
    value::check_label(&name, "a mix", diagnostics);
    let mut mix = Mix { name, parameters: Vec::new(), weights: Vec::new() };
    let example = format!("{}: {{ read_post: 80, add_comment: 20 }}", entry.0.value);
    for entry in value::filled_mapping(entry, &example, diagnostics).unwrap_or(&[]) {
        if entry.0.value == "parameters" {
            let example = "parameters: { posts: 200 }";
            mix.parameters = value::named_expressions(entry, "a parameter", example, diagnostics);
            continue;
        }
        let example = format!("{}: 10", entry.0.value);
        if let Some(weight) = value::scalar_expression(entry, &example, diagnostics) {
            mix.weights.push(Weight { operation: entry.0.clone(), weight });
        }
    }
    mix
}
