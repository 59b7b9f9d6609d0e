//! Claims: sentences of the author that a run confirms or refutes.

use crate::record::{Metric, Relation};

use super::Spanned;

/// A claim as written.
#[derive(Debug, Clone)]
pub struct ClaimDefinition {
    /// Unique in the scenario.
    pub id: Spanned<String>,
    /// The claim in one sentence.
    pub says: String,
    /// A book, an article, a manual.
    pub source: Option<String>,
    /// The metric that decides it.
    pub metric: Spanned<Metric>,
    /// The operation; `None` for a metric of a whole strategy.
    pub operation: Option<Spanned<String>>,
    /// The strategy that the claim is about.
    pub strategy: Spanned<String>,
    /// The comparison that must be true.
    pub relation: Relation,
    /// The other side of the comparison.
    pub than: ClaimBound,
}

/// The other side of a comparison.
#[derive(Debug, Clone)]
pub enum ClaimBound {
    /// A number.
    Number(f64),
    /// The same metric of another strategy.
    Strategy(Spanned<String>),
}
