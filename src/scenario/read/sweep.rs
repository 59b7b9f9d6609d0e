//! `sweeps`.

use crate::scenario::sweep::SweepDefinition;
use crate::scenario::{Diagnostics, keys, quote};

use super::entry::Entry;
use super::fields::Fields;
use super::{run, value};

const EXAMPLE: &str = "length: { question: How long may a list be?, vary: { comments: [10, 100, 1000] } }";

/// A sweep; `None` when it is no mapping.
pub(super) fn sweep(entry: &Entry, diagnostics: &Diagnostics) -> Option<SweepDefinition> {
    let name = entry.0.clone();
    value::check_name(&name, "a sweep", diagnostics);
    let entries = value::filled_mapping(entry, EXAMPLE, diagnostics)?;
    let fields = Fields::read(entries, &format!("sweep {}", quote(&name.value)), name.span, keys::SWEEP, diagnostics);
    Some(SweepDefinition {
        question: fields.text("question")?.value,
        vary: run::conditions(&fields),
        run: run::run(&fields),
        name,
    })
}
