//! The findings of a verification.

use serde::{Deserialize, Serialize};

use crate::record::FaultKind;

use super::SkippedStrategy;
use super::audit::AuditRecord;

/// The findings of one verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The scenario's name.
    pub scenario: String,
    /// The mix that the calls were drawn by.
    pub mix: String,
    /// The seed of data and calls.
    pub seed: u64,
    /// The command line that repeats it, without strategies, seed and call.
    pub command: String,
    /// Calls per phase and strategy.
    pub calls: u64,
    /// Clients in the concurrent phases.
    pub clients: usize,
    /// What happened to the primary in the middle of the unordered calls of every strategy; `None` for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
    /// The strategy that the others are compared with.
    pub baseline: String,
    /// Sequential calls whose results were compared with the model's; `None` without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// What the sequential calls of each operation returned, in the baseline.
    pub coverage: Vec<OperationCoverage>,
    /// What was seen that fails nothing, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Strategies that were not verified, because the server does not know a command of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedStrategy>,
    /// Operations whose strategies receive very different numbers of bytes for the same results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub received: Vec<ReceivedBytes>,
    /// Commands of sequential calls that the server answers without an index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// One per strategy, in the plan's order.
    pub strategies: Vec<StrategyFindings>,
}

/// What the sequential calls of one operation returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCoverage {
    /// The operation.
    pub operation: String,
    /// Its calls.
    pub calls: u64,
    /// Calls that did something, or returned something else than an outcome.
    pub ok: u64,
    /// Calls after which nothing had changed.
    pub same: u64,
    /// Calls that matched nothing.
    pub not_found: u64,
    /// Calls that the application's rules forbade.
    pub rejected: u64,
    /// Those of `ok` that returned null, 0, an empty list or only such parts.
    pub empty: u64,
    /// Whether no call had any effect or result, in any strategy.
    pub is_vacuous: bool,
}

/// The bytes that safe strategies receive per sequential call of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedBytes {
    /// The operation.
    pub operation: String,
    /// The strategies, the fewest bytes first.
    pub strategies: Vec<(String, u64)>,
}

impl ReceivedBytes {
    /// The difference in bytes per call that is worth a note, and the ratio.
    const FLOOR: u64 = 1_024;
    const RATIO: u64 = 3;

    /// Returns what is worth a note: the most bytes are more than three times the fewest, and a KiB more.
    pub fn new(operation: &str, mut strategies: Vec<(String, u64)>) -> Option<ReceivedBytes> {
        strategies.sort_by_key(|(_, bytes)| *bytes);
        let (fewest, most) = (strategies.first()?.1, strategies.last()?.1);
        let differs = most > Self::RATIO * fewest && most > fewest + Self::FLOOR;
        differs.then(|| ReceivedBytes { operation: operation.to_owned(), strategies })
    }
}

/// What was found of one strategy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyFindings {
    /// Its name.
    pub name: String,
    /// The strategy at the end of its line of `like`, or itself: strategies of one family share steps.
    pub family: String,
    /// An unsafe strategy: something must be found.
    pub is_unsafe: bool,
    /// The call that was rejected for its size; later ones are not compared.
    pub rejected_at: Option<u64>,
    /// The phases that it went through.
    pub phases: Vec<PhaseFindings>,
    /// What live audits found during the unordered phase.
    pub live: Vec<LiveRecord>,
    /// The pairs of writing calls that were made at the same time.
    pub pairs: u64,
    /// What its clients saw of the fault; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultRecord>,
}

/// What clients saw of a fault. Unknown outcomes and retries are those of the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRecord {
    /// Calls of the phase that had ended when it was due.
    pub after_calls: u64,
    /// Calls that it made fail without any effect.
    pub failed: u64,
    /// Milliseconds from the fault to the first answer to a call that was sent after it; `None` without one.
    pub recovered_ms: Option<u64>,
}

/// The phases, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyPhase {
    /// One call at a time; results are compared call by call.
    Sequential,
    /// Concurrent calls; those with equal `serial` in their order.
    Ordered,
    /// Concurrent calls in any order.
    Unordered,
    /// Two writing calls at a time on the same records.
    Pairs,
}

/// What one phase found of one strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseFindings {
    /// Which.
    pub phase: VerifyPhase,
    /// What is wrong, the first of each kind.
    pub problems: Vec<Problem>,
    /// What its audits counted at the end.
    pub audits: Vec<AuditRecord>,
    /// Reads that gave the right rows in another order.
    pub out_of_order: u64,
    /// Calls with an unknown outcome.
    pub unknown: u64,
    /// Retried attempts.
    pub retries: u64,
}

/// A difference or error that must not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What, in one line.
    pub title: String,
    /// The particulars of the first case.
    pub lines: Vec<String>,
    /// The call that shows it.
    pub call: Option<u64>,
    /// How many cases there were.
    pub count: u64,
}

/// The counts of one live audit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveRecord {
    /// The audit.
    pub audit: String,
    /// Read in a snapshot: what it finds was really there.
    pub snapshot: AnomalyCounts,
    /// Read as an application would.
    pub plain: AnomalyCounts,
    /// Whether the strategy may have these anomalies while calls run.
    pub tolerated: bool,
    /// The first row that a snapshot found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// Why the server refuses to read a snapshot of a safe strategy, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

impl LiveRecord {
    /// Whether anomalies existed that the strategy must not have, or nobody could look.
    pub fn fails(&self) -> bool {
        self.snapshot.found > 0 && !self.tolerated || self.unread.is_some()
    }
}

/// How often an audit ran, and how often it found anomalies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnomalyCounts {
    /// How often it ran.
    pub reads: u64,
    /// How often it found anomalies.
    pub found: u64,
    /// The most rows found at once.
    pub max: u64,
}

impl AnomalyCounts {
    /// Counts one run that found some rows.
    pub fn add(&mut self, rows: u64) {
        self.reads += 1;
        self.found += u64::from(rows > 0);
        self.max = self.max.max(rows);
    }
}

impl Verification {
    /// Operations that were never called.
    pub fn not_covered(&self) -> Vec<&str> {
        self.operations(|coverage| coverage.calls == 0)
    }

    /// Operations that were called, and never had any effect or result.
    pub fn vacuous(&self) -> Vec<&str> {
        self.operations(|coverage| coverage.calls > 0 && coverage.is_vacuous)
    }

    fn operations(&self, is_meant: impl Fn(&OperationCoverage) -> bool) -> Vec<&str> {
        self.coverage.iter().filter(|one| is_meant(one)).map(|one| one.operation.as_str()).collect()
    }

    /// Whether safe strategies have no finding and unsafe ones have one.
    pub fn passes(&self) -> bool {
        let passes = |one: &StrategyFindings| one.is_unsafe != one.is_clean();
        self.strategies.iter().all(passes)
    }
}

impl StrategyFindings {
    /// Whether nothing was found in a phase; `None` if it was not made.
    pub fn is_clean_in(&self, phase: VerifyPhase) -> Option<bool> {
        let found = self.phases.iter().find(|found| found.phase == phase)?;
        let has_live_failure = phase == VerifyPhase::Unordered && self.live.iter().any(LiveRecord::fails);
        Some(found.is_clean() && !has_live_failure)
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        // Some anomalies heal: only a snapshot sees them.
        self.phases.iter().all(PhaseFindings::is_clean) && !self.live.iter().any(LiveRecord::fails)
    }
}

impl PhaseFindings {
    /// A phase in which nothing was found.
    pub fn new(phase: VerifyPhase) -> PhaseFindings {
        PhaseFindings { phase, problems: Vec::new(), audits: Vec::new(), out_of_order: 0, unknown: 0, retries: 0 }
    }

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.audits.iter().all(|audit| audit.anomalies() == 0)
    }

    /// Adds a problem, or counts it when one of its title is there already.
    pub fn add(&mut self, problem: Problem) {
        match self.problems.iter_mut().find(|known| known.title == problem.title) {
            Some(known) => known.count += problem.count,
            None => self.problems.push(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_large_differences_of_bytes_are_noted() {
        let of = |bytes: &[u64]| {
            let strategies = bytes.iter().enumerate().map(|(at, bytes)| (format!("s{at}"), *bytes)).collect();
            ReceivedBytes::new("read", strategies).map(|noted| noted.strategies)
        };
        assert_eq!(of(&[]), None);
        assert_eq!([of(&[9_000]), of(&[3_000, 9_000]), of(&[100, 1_100])], [None, None, None]);
        assert_eq!(of(&[9_100, 3_000]), Some(vec![("s1".into(), 3_000), ("s0".into(), 9_100)]));
    }
}
