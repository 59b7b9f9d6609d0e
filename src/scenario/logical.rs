//! Logical steps: what an operation does to the data, whatever the schema.

use super::{Node, Spanned};

/// A step of `does`.
#[derive(Debug, Clone)]
pub enum LogicalStep {
    /// A step that names records and relations, not documents.
    Logical {
        /// What it does: `get`, `list`, `create`...
        word: Spanned<String>,
        /// The record or relation; empty for `atomically`.
        target: Spanned<String>,
        /// The other keys.
        options: Vec<(Spanned<String>, Node)>,
        /// The writes of `atomically`.
        writes: Vec<LogicalStep>,
    },
    /// A step of another kind, which every strategy takes over.
    Other(Node),
}

impl LogicalStep {
    /// Its logical steps: itself, or the writes of `atomically`.
    pub fn parts(&self) -> &[LogicalStep] {
        match self {
            LogicalStep::Logical { writes, .. } if !writes.is_empty() => writes,
            _ => std::slice::from_ref(self),
        }
    }
}
