//! What was found, and what a terminal says of it.

use crate::infer::layout::InferredOperation;

use super::observations::LeftOutLines;

/// How a log with everything is made. The user types it: docshape changes no setting of a server.
const BETTER_LOG: &str = "for a better log: db.setProfilingLevel(0, { slowms: 0, sampleRate: 0.05 }) for five minutes on one \
    member, and back; a sampleRate of 1 keeps transactions and pairs whole";

/// How operations get the names that the application has for them.
const COMMENTS: &str = "name operations in the application with `comment`, such as find({...}).comment('order page')";

/// The operations that were observed, and what is not in them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// The most frequent first. Weights are shares of all calls, so they add up to 100 without what is left out.
    pub operations: Vec<InferredOperation>,
    /// The calls of each operation.
    pub calls_of: Vec<u64>,
    /// All calls, also those that are left out. A transaction is one, and so is a pair.
    pub calls: u64,
    /// All statements.
    pub statements: u64,
    /// The statements of the operations.
    pub said_statements: u64,
    /// Calls that are too rare, and how many different ones these are.
    pub rare: (u64, u64),
    /// Calls for which the model has no step of their own, the most frequent first.
    pub left_out: Vec<LeftOut>,
    /// What is no statement.
    pub lines: LeftOutLines,
    /// What the source cannot say.
    pub limits: Vec<String>,
    /// Whether the application names its operations.
    pub has_names: bool,
}

/// Calls of one kind that are in no operation.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// What they are, without values.
    pub what: String,
    /// How many.
    pub calls: u64,
    /// Their share of all calls, in percent.
    pub share: f64,
}

impl Observed {
    /// The lines for a terminal: calls of each operation, what is left out and why, and how to see more.
    pub fn summary(&self) -> String {
        let width = self.operations.iter().map(|operation| operation.name.len()).max().unwrap_or_default();
        let operation = |(InferredOperation { name, weight, .. }, calls): (&InferredOperation, &u64)| {
            format!("  {name:width$}  {calls:>7} calls  {weight:>5.1} %")
        };
        let mut lines: Vec<String> = self.operations.iter().zip(&self.calls_of).map(operation).collect();
        let (said, all) = (self.said_statements, self.statements);
        let share = 100.0 * said as f64 / all.max(1) as f64;
        lines.push(format!("{said} of {all} statements ({share:.1} %) are {} operations", self.operations.len()));
        for LeftOut { what, calls, share } in &self.left_out {
            lines.push(format!("  {calls} calls ({share:.1} %) of {what}"));
        }
        let (rare, kinds) = self.rare;
        let LeftOutLines { other_databases, tools, cut, unreadable, failed, further_batches, aborted } = self.lines;
        let left_out = [
            (rare, format!("calls of {kinds} kinds, each below 0.2 % of all").as_str()),
            (failed, "statements that failed"),
            (aborted, "statements of transactions that did not commit"),
            (further_batches, "further batches of cursors"),
            (tools, "statements of docshape, shells and monitoring"),
            (other_databases, "statements on other databases"),
            (cut, "statements that the server cut off (maxLogSizeKB)"),
            (unreadable, "lines that cannot be read"),
        ]
        .map(|(n, what)| (n > 0).then(|| format!("  left out: {n} {what}")));
        lines.extend(left_out.into_iter().flatten());
        lines.extend(self.limits.clone());
        if all < 1000 || cut > all / 20 {
            lines.push(BETTER_LOG.to_owned());
        }
        if !self.has_names && self.limits.is_empty() {
            lines.push(COMMENTS.to_owned());
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }
}
