//! `growth`.

use crate::scenario::growth::GrowthDefinition;
use crate::scenario::{Diagnostics, keys};

use super::fields::Fields;

/// The growth of documents; `None` when the scenario does not define it.
pub(super) fn growth(fields: &Fields, diagnostics: &mut Diagnostics) -> Option<GrowthDefinition> {
    let span = fields.entry("growth")?.0.span;
    let fields = Fields::read(fields.entries("growth"), "`growth`", span, keys::GROWTH, diagnostics);
    Some(GrowthDefinition {
        question: fields.text("question")?.value,
        operation: fields.text("operation")?,
        sampled: fields.texts("sampled"),
        until: fields.text("until"),
        set: fields.texts("set"),
        mix: fields.text("mix"),
        strategies: fields.texts("strategies"),
    })
}
