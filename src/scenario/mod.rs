//! A scenario file as written: typed data with source spans.
//!
//! [`read`] turns YAML text into a [`Scenario`] and reports every problem of the file at once.
//! Names, expressions and templates stay text here; `compile` resolves them.

mod audit;
mod claim;
mod command;
mod condition;
mod diagnostic;
mod entity;
mod keys;
mod logical;
mod node;
mod operation;
pub mod quantity;
mod read;
mod run;
mod source;
mod step;
mod strategy;

use std::path::PathBuf;

pub use audit::{AuditDefinition, AuditRule};
pub use claim::{ClaimBound, ClaimDefinition, ClaimSubject};
pub use command::CommandWord;
pub use condition::{Condition, ConditionDefinition, ConditionError, ConditionSubject};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub(crate) use diagnostic::{list_of, nearest, suggest};
pub use entity::EntityDefinition;
pub use keys::GROUPS;
pub use logical::LogicalStep;
pub(crate) use node::quote;
pub use node::{Node, Scalar, Tree};
pub use operation::{MixDefinition, OperationDefinition};
pub use read::{Outline, read};
pub(crate) use read::{compose, read_audit, read_steps, read_strategy};
pub use run::{GrowthDefinition, RunDefinition, SweepDefinition};
pub use source::{MAX_SOURCE_BYTES, Source, SourceError, SourceLines, Span, Spanned};
pub use step::{BulkDefinition, CatchKey, RequestDefinition, StepDefinition, StepKind};
pub use strategy::{CollectionDefinition, LONGEST_LINE, MOST_STRATEGIES, ShardDefinition, StrategyDefinition};

/// The one version of the scenario format that this build reads (`format: 1`).
pub const FORMAT: i64 = 1;

/// The instants that `clock()` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockDefinition {
    /// `first_call: now`: calls begin at the time of day; otherwise loaded records begin in 2024.
    pub starts_now: bool,
    /// Milliseconds from one record or call to the next.
    pub step: u32,
}

/// A scenario as written, before names are resolved.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The lines of its text.
    pub lines: SourceLines,
    /// The folder of the files that its entities name by `from`.
    pub folder: PathBuf,
    /// Short name, `[a-z0-9-]+`; also part of database and folder names.
    pub name: Spanned<String>,
    /// The question, as a headline.
    pub title: String,
    /// What the application does, in one or two sentences.
    pub about: String,
    /// The decision by which the catalogue groups it, one of [`GROUPS`].
    pub group: Option<String>,
    /// Where the question comes from: books, articles, manuals.
    pub sources: Vec<String>,
    /// `clock`.
    pub clock: ClockDefinition,
    /// `parameters`, in order: name and CEL expression.
    pub parameters: Vec<(Spanned<String>, Node)>,
    /// `entities`, in order.
    pub entities: Vec<EntityDefinition>,
    /// `operations`, in order.
    pub operations: Vec<OperationDefinition>,
    /// `mixes`, in order; a plain run uses the one named `default`, else the first.
    pub mixes: Vec<MixDefinition>,
    /// `strategies`, in order.
    pub strategies: Vec<StrategyDefinition>,
    /// `audits`, in order.
    pub audits: Vec<AuditDefinition>,
    /// `claims`, in order.
    pub claims: Vec<ClaimDefinition>,
    /// `growth`.
    pub growth: Option<GrowthDefinition>,
    /// `shard_keys`: collections of any strategy, each with a list of keys.
    pub shard_keys: Vec<(Spanned<String>, Node)>,
    /// `sweeps`, in order.
    pub sweeps: Vec<SweepDefinition>,
}

#[cfg(test)]
mod tests;

impl Scenario {
    /// Whether an operation says what it does.
    pub fn has_model(&self) -> bool {
        self.operations.iter().any(|operation| !operation.does.is_empty() || operation.does_is_broken)
    }

    /// The names of its strategies, in order.
    pub fn strategy_names(&self) -> impl Iterator<Item = &str> {
        self.strategies.iter().map(|strategy| strategy.name.value.as_str())
    }
}
