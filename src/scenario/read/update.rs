//! The `update` of a command.

use crate::scenario::{Diagnostic, Diagnostics, quote};

use super::entry::Entry;

/// Reports an update without operators, which the server would only reject once the run has started.
pub(super) fn check_update((key, node): &Entry, diagnostics: &Diagnostics) {
    let Some(fields) = node.as_mapping() else { return };
    let is_operator = |name: &str| name.starts_with(['$', '<']) || name == "...";
    let Some((field, _)) = fields.iter().find(|(field, _)| !is_operator(&field.value)) else {
        if fields.is_empty() {
            Diagnostic::error(node.span, "empty update")
                .label("changes nothing")
                .help("for example: `update: { $set: { text: <text> } }`")
                .add_to(diagnostics);
        }
        return;
    };
    Diagnostic::error(field.span, format!("expected an update operator, found {}", quote(&field.value)))
        .label(format!("key of {}", quote(&key.value)))
        .help("try `$set` to set fields, or `replaceOne` to replace the whole document")
        .add_to(diagnostics);
}
