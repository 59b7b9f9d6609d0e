//! `growth`.

use crate::record::LifeEnd;
use crate::scenario::growth::GrowthDefinition;
use crate::scenario::keys;

use super::entry::wrong_value;
use super::fields::Fields;
use super::run;

/// The growth of documents; `None` when the scenario does not define it.
pub(super) fn growth(fields: &Fields) -> Option<GrowthDefinition> {
    let span = fields.entry("growth")?.0.span;
    let fields = Fields::read(fields.entries("growth"), "`growth`", span, keys::GROWTH, fields.diagnostics);
    Some(GrowthDefinition {
        question: fields.text("question")?.value,
        operation: fields.text("operation")?,
        sampled: fields.texts("sampled"),
        until: until(&fields),
        run: run::run(&fields),
    })
}

fn until(fields: &Fields) -> Option<LifeEnd> {
    let entry = fields.entry("until")?;
    let end = entry.1.as_literal()?.value.parse();
    end.map_err(|message: &str| wrong_value(entry, message, "until: 4MB").add_to(fields.diagnostics)).ok()
}
