//! Why a shape, or any shape, cannot do what a logical step says.

use crate::scenario::{Diagnostic, Diagnostics, Span};

/// A translation that would not be right.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The relation whose shape is in the way; `None` when no shape could do it.
    pub relation: Option<usize>,
    /// Where the shape has the `split` that is in the way.
    pub place: Option<Span>,
    message: String,
    label: String,
    help: String,
}

/// What is derived, or why it cannot be.
pub(super) type Derived<T> = Result<T, Box<Refusal>>;

/// A step that no shape could do.
pub(super) fn refuse<T>(message: impl Into<String>, label: impl Into<String>, help: impl Into<String>) -> Derived<T> {
    let (message, label, help) = (message.into(), label.into(), help.into());
    Err(Box::new(Refusal { relation: None, place: None, message, label, help }))
}

/// A step that the shape of a relation cannot do.
pub(super) fn refuse_shape<T>(relation: usize, message: String, label: &str, help: &str) -> Derived<T> {
    let (label, help) = (label.to_owned(), help.to_owned());
    Err(Box::new(Refusal { relation: Some(relation), place: None, message, label, help }))
}

/// A step that records in two documents cannot do.
pub(super) fn refuse_split<T>(place: Span, message: String, label: &str, help: &str) -> Derived<T> {
    let (label, help) = (label.to_owned(), help.to_owned());
    Err(Box::new(Refusal { relation: None, place: Some(place), message, label, help }))
}

impl Refusal {
    /// Reports it: at the entry of the shape with the step as the second place, or at the step alone.
    pub fn report(self, shape: Option<Span>, step: (Span, &str), diagnostics: &Diagnostics) {
        let (span, operation) = step;
        let problem = match shape {
            Some(shape) => Diagnostic::error(shape, self.message).also(span, format!("`{operation}` does this")),
            None => Diagnostic::error(span, self.message),
        };
        problem.label(self.label).help(self.help).add_to(diagnostics);
    }
}
