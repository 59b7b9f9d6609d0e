//! What the user wrote: a scenario file as typed data with source spans, and no decisions.
//!
//! [`read`] turns YAML text into a [`Scenario`] and reports every problem of the file at once.
//! Names, expressions and templates stay as written here; `plan` gives them meaning.

mod audit;
mod claim;
mod diagnostic;
mod entity;
mod node;
mod operation;
mod read;
mod source;
mod step;
mod strategy;

pub use audit::{Audit, Check};
pub use claim::{COUNT_METRICS, Claim, Relation, TIME_METRICS, Than, WHOLE_METRICS};
pub(crate) use diagnostic::suggest;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use entity::{Entity, Field};
pub(crate) use node::quote;
pub use node::{Node, Scalar, Tree};
pub use operation::{Mix, Operation, Weight};
pub use read::{Outline, read};
pub use source::{MAX_SOURCE_BYTES, Source, SourceError, Span, Spanned};
pub use step::{Caught, CommandWord, Request, Step, StepKind};
pub use strategy::{Collection, Implementation, Strategy};

/// The one version of the scenario format that this build reads (`format: 1`).
pub const FORMAT: i64 = 1;

/// A scenario as written, before names are resolved.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Short name, `[a-z0-9-]+`; also part of database and folder names.
    pub name: Spanned<String>,
    /// The question, as a headline.
    pub title: String,
    /// One or two sentences on what the application does.
    pub about: String,
    /// Where the question comes from: books, articles, manuals.
    pub sources: Vec<String>,
    /// `parameters`, in order: name and CEL expression.
    pub parameters: Vec<(Spanned<String>, Node)>,
    /// `entities`, in order.
    pub entities: Vec<Entity>,
    /// `operations`, in order.
    pub operations: Vec<Operation>,
    /// `mixes`, in order; a plain run uses the one named `default`, else the first.
    pub mixes: Vec<Mix>,
    /// `strategies`, in order.
    pub strategies: Vec<Strategy>,
    /// `audits`, in order.
    pub audits: Vec<Audit>,
    /// `claims`, in order.
    pub claims: Vec<Claim>,
}
