//! What the check of equivalence found.

use serde::{Deserialize, Serialize};

use super::audit::AuditRecord;

/// The findings of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// The scenario's name.
    pub scenario: String,
    /// The mix that the calls were drawn by.
    pub mix: String,
    /// The seed of data and calls.
    pub seed: u64,
    /// The command line that makes the check, without strategies, seed and call.
    #[serde(default)]
    pub command: String,
    /// Calls per phase and strategy.
    pub calls: u64,
    /// Calls in flight in the concurrent phases.
    pub workers: usize,
    /// The strategy that the others are compared with.
    pub reference: String,
    /// Operations that were never called.
    pub uncalled: Vec<String>,
    /// One per strategy, in the plan's order.
    pub strategies: Vec<StrategyFindings>,
}

/// What was found of one strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrategyFindings {
    /// Its name.
    pub name: String,
    /// A negative control: something must be found.
    pub is_unsafe: bool,
    /// The call from which on it was not compared, because it refused one for its size.
    pub refused_at: Option<u64>,
    /// The phases that it went through.
    pub phases: Vec<PhaseFindings>,
    /// What readers saw while the free calls ran.
    pub live: Vec<LiveRecord>,
}

/// The phases of the check, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// One call after the other, compared call by call.
    Sequential,
    /// Many at once, those with equal `serial` in order.
    Ordered,
    /// Many at once, in no order.
    Free,
}

/// What one phase found of one strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseFindings {
    /// Which.
    pub phase: Phase,
    /// What is wrong, the first of each kind.
    pub problems: Vec<Problem>,
    /// What its audits counted at the end.
    pub audits: Vec<AuditRecord>,
    /// Reads that gave the right rows in another order.
    pub out_of_order: u64,
    /// Calls of which it is not known whether they were done.
    pub unknown: u64,
    /// Attempts begun again.
    pub retries: u64,
}

/// Something that must not be.
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

/// What readers of one audit saw while calls ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveRecord {
    /// The audit.
    pub audit: String,
    /// Readers that saw one moment of the data: what they find was really there.
    pub snapshot: Sightings,
    /// Readers as an application has them.
    pub plain: Sightings,
}

/// How often an audit was made, and how often it found something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sightings {
    /// Times that it was made.
    pub reads: u64,
    /// Times that it found something.
    pub found: u64,
    /// The most rows that it found at once.
    pub most: u64,
}

impl Verification {
    /// Whether all strategies are as they should be: safe ones without a finding, negative controls with one.
    pub fn passes(&self) -> bool {
        let is_good = |strategy: &StrategyFindings| match strategy.is_unsafe {
            true => strategy.is_caught(),
            false => strategy.is_clean(),
        };
        self.strategies.iter().all(is_good)
    }
}

impl StrategyFindings {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.phases.iter().all(PhaseFindings::is_clean)
    }

    /// Whether a negative control was found out: by what is wrong at the end, or by what a snapshot showed meanwhile, since
    /// some anomalies heal.
    pub fn is_caught(&self) -> bool {
        !self.is_clean() || self.live.iter().any(|record| record.snapshot.found > 0)
    }
}

impl PhaseFindings {
    /// A phase in which nothing was found.
    pub fn new(phase: Phase) -> PhaseFindings {
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
