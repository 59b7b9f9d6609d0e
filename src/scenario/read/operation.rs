//! `operations` and `mixes`.

use crate::scenario::keys::{self, Takes};
use crate::scenario::{Diagnostics, MixDefinition, Node, OperationDefinition};

use super::entry::{Entry, wrong_type};
use super::fields::Fields;
use super::{logical, value};

/// An operation, kept by its name even when something in it is wrong.
pub(super) fn operation(entry: &Entry, diagnostics: &Diagnostics) -> OperationDefinition {
    const EXAMPLE: &str = "read_post: { arguments: { post: zipf(post) }, returns: post }";
    let name = entry.0.clone();
    value::check_name(&name, "an operation", diagnostics);
    let fields = Fields::of_optional(entry, "operation", EXAMPLE, keys::OPERATION, diagnostics);
    let is_wrong = |node: &Node| node.as_mapping().is_none() && !node.is_null();
    OperationDefinition {
        name,
        arguments: fields.expressions("arguments"),
        is_broken: is_wrong(&entry.1) || entry.1.get("arguments").is_some_and(is_wrong),
        returns: fields.node("returns"),
        serial: fields.node("serial"),
        is_job: fields.boolean("job").is_some_and(|job| job.value),
        does: fields.entry("does").map(|entry| logical::steps(entry, diagnostics)).unwrap_or_default(),
        does_is_broken: entry.1.get("does").is_some_and(|does| diagnostics.has_error_within(does.span)),
    }
}

/// A mix, kept by its name even when something in it is wrong.
pub(super) fn mix(entry: &Entry, diagnostics: &Diagnostics) -> MixDefinition {
    let name = entry.0.clone();
    value::check_label(&name, "a mix", diagnostics);
    let mut mix = MixDefinition { name, parameters: Vec::new(), weights: Vec::new() };
    let example = format!("{}: {{ read_post: 80, add_comment: 20 }}", entry.0.value);
    let Some(entries) = value::filled_mapping(entry, &example, diagnostics) else { return mix };
    let (parameters, weights): (Vec<Entry>, Vec<Entry>) =
        entries.iter().cloned().partition(|(key, _)| key.value == "parameters");
    let place = mix.name.span;
    mix.parameters = Fields::read(&parameters, "a mix", place, keys::MIX, diagnostics).expressions("parameters");
    for entry in weights {
        if let Some(expected) = Takes::Scalar.expected(&entry.1) {
            wrong_type(&entry, &expected, &format!("{}: 10", entry.0.value), diagnostics);
            continue;
        }
        mix.weights.push(entry);
    }
    mix
}
