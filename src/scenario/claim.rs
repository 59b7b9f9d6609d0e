//! What a scenario's author says will come out.

use super::Spanned;

/// Metrics of the measured calls: a strategy's against another's.
pub const TIME_METRICS: [&str; 4] = ["p50", "p99", "mean", "throughput"];

/// Metrics that are counted: a strategy's against a number or another's.
pub const COUNT_METRICS: [&str; 6] =
    ["round_trips", "docs_examined", "keys_examined", "bytes_out", "oplog_bytes", "storage_bytes"];

/// Those of [`TIME_METRICS`] and [`COUNT_METRICS`] that a strategy has as a whole, so that they name no operation.
pub const WHOLE_METRICS: [&str; 2] = ["throughput", "storage_bytes"];

/// A claim that a run confirms or refutes.
#[derive(Debug, Clone)]
pub struct Claim {
    /// What it is called by.
    pub id: Spanned<String>,
    /// It in a sentence.
    pub says: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// One of [`TIME_METRICS`] or [`COUNT_METRICS`].
    pub metric: Spanned<String>,
    /// The operation; `None` for [`WHOLE_METRICS`].
    pub operation: Option<Spanned<String>>,
    /// Whose metric it is.
    pub strategy: Spanned<String>,
    /// How it is to compare.
    pub relation: Relation,
    /// With what.
    pub than: Than,
}

/// How a metric is to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Less.
    Below,
    /// More.
    Above,
    /// The same.
    Equals,
}

/// What a metric is compared with.
#[derive(Debug, Clone)]
pub enum Than {
    /// A number.
    Number(f64),
    /// The same metric of another strategy.
    Strategy(Spanned<String>),
}
