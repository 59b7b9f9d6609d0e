//! Claims: sentences of the author that a run confirms or refutes.

use crate::record::{Metric, OutcomeKind, Relation};

use super::{Node, RunDefinition, Spanned};

/// A claim as written.
#[derive(Debug, Clone)]
pub struct ClaimDefinition {
    /// Unique in the scenario.
    pub id: Spanned<String>,
    /// The claim in one sentence.
    pub says: String,
    /// A book, an article, a manual.
    pub source: Option<String>,
    /// Whether it follows from the scenario itself, so that no server could refute it.
    pub is_by_design: bool,
    /// `needs: cluster`: nothing decides it on a replica set.
    pub needs_cluster: bool,
    /// The runs that decide it, with any strategies.
    pub run: RunDefinition,
    /// The clients of the runs that decide it; `None`: any number.
    pub clients: Option<u32>,
    /// The number that decides it.
    pub subject: Spanned<ClaimSubject>,
    /// The operation; `None` for a number of a whole strategy.
    pub operation: Option<Spanned<String>>,
    /// The strategy that the claim is about.
    pub strategy: Spanned<String>,
    /// The comparison that must be true.
    pub relation: Relation,
    /// The other side of the comparison.
    pub than: ClaimBound,
}

/// What number decides a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimSubject {
    /// A metric.
    Metric {
        /// Which.
        metric: Metric,
        /// Of a time: the outcome of the calls that count; `None`: all answered calls.
        outcome: Option<OutcomeKind>,
    },
    /// The anomalies that an audit finds.
    Audit(String),
    /// The share of the operation's calls with this outcome.
    Outcome(OutcomeKind),
}

impl ClaimSubject {
    /// Whether it is measured over rounds and depends on the machine, so that only strategies can be compared by it.
    pub fn is_measured(&self) -> bool {
        matches!(self, ClaimSubject::Metric { metric, .. } if metric.is_measured())
    }

    /// Whether it follows from commands and shard keys: `docshape shardkey` decides it, and no run does.
    pub fn is_of_shards(&self) -> bool {
        matches!(self, ClaimSubject::Metric { metric: Metric::Shards(_), .. })
    }

    /// Whether it belongs to a strategy as a whole rather than to one of its operations.
    pub fn is_of_strategy(&self) -> bool {
        match self {
            ClaimSubject::Metric { metric, .. } => metric.is_of_strategy(),
            ClaimSubject::Audit(_) => true,
            ClaimSubject::Outcome(_) => false,
        }
    }

    /// Returns the key and value that name it.
    pub fn name(&self) -> String {
        match self {
            ClaimSubject::Metric { metric, .. } => metric.to_string(),
            ClaimSubject::Audit(name) => format!("audit: {name}"),
            ClaimSubject::Outcome(outcome) => format!("outcome: {}", outcome.name()),
        }
    }
}

/// The other side of a comparison.
#[derive(Debug, Clone)]
pub enum ClaimBound {
    /// A number.
    Number(f64),
    /// A strategy's name, or else an expression of parameters.
    Text(Node),
    /// The same number of another strategy or operation, or a multiple of it.
    Other {
        /// `None`: the same strategy.
        strategy: Option<Spanned<String>>,
        /// `None`: the same operation.
        operation: Option<Spanned<String>>,
        /// The factor, an expression of parameters; `None`: 1.
        times: Option<Node>,
    },
}
