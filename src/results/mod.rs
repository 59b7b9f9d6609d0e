//! The files of a run: what engine writes and stats reads.
//!
//! `run.json` has everything that is needed to report again and to run again. It is written whole after every round.

mod audit;
mod cell;
mod check;
mod claim;
mod claims_file;
mod compressed;
mod conclusion;
mod environment;
mod event;
mod file;
mod folder;
mod folder_lock;
mod hlog;
mod other_mixes;
mod part;
mod preset;
mod published;
mod query_plan;
#[cfg(test)]
mod sample;
pub mod saved_run;
mod session;
mod settings;
mod stage;
mod study;
mod verdict;
pub mod verification;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::record::{FaultKind, Part, Relation};
pub use audit::AuditRecord;
pub use cell::{
    CellRecord, CollectionSizes, DeferredCost, MachineRecord, OpenRecord, OperationRecord, OutcomeRecord, RoundRecord,
    SliceRecord, TimesRecord,
};
pub use claim::{ClaimOutcome, ClaimRecord, ClaimResult, Than};
pub use claims_file::{CLAIMS_FORMAT, ClaimsRecord, ClaimsRunRecord, DecidedClaimRecord};
pub use compressed::COMPRESSED_RUN_FILE;
pub use conclusion::{ConclusionRecord, FastestAtRecord, FastestRecord};
pub use environment::Environment;
pub use event::{EventKind, EventRecord};
pub use file::{
    Document, ResultsError, is_run_folder, load, load_as, load_part, save, save_compressed, save_document, write_whole,
};
pub use folder::{FolderError, NewFolder, create as create_folder, stamp};
pub use folder_lock::FolderLock;
pub use hlog::IntervalLog;
pub use other_mixes::other_mixes;
pub use preset::{Preset, PresetLength};
pub use published::{
    BeatenRecord, ComparedNumber, Difference, MetricRecord, PUBLISHED_FILE, PUBLISHED_FORMAT, PublishedAnswer,
    PublishedData, PublishedMachine, PublishedMetric, PublishedMix, PublishedOperation, PublishedRecord,
    PublishedScenario, PublishedServer, PublishedStrategy, PublishedVerification, Standing, TradeOffRecord,
};
pub use query_plan::QueryPlanRecord;
pub use session::{CoverageRecord, SESSIONS_FILE, SessionRecord, SessionsRecord, SpreadRecord};
pub use settings::{Arrivals, CLIENTS_AT_RATE, ERROR_BUDGET, LoadModel, NOISE, RunSettings, Setting, in_percent};
pub use stage::{GrowthEnd, StageRecord};
pub use study::{
    CAPACITY_FILE, CLAIMS_FILE, EXPLORE_FILE, GROWTH_FILE, RUN_FILE, SHARD_KEY_FILE, SWEEP_FILE, StudyKind,
};
pub use verdict::{ClaimName, Reason, Verdict};
use verification::Verification;

/// The version of `run.json` that this build writes.
pub const FORMAT_VERSION: u32 = 3;

/// The name of the interval log.
pub const HLOG_FILE: &str = "latency.hlog";

/// A whole run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`FORMAT_VERSION`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape.
    pub version: String,
    /// Tells this run's databases from those of others; empty in records of builds that did not keep it.
    pub id: String,
    /// The commit that docshape was built from; `None` when built outside its repository.
    pub git: Option<String>,
    /// The id of the run that took turns with this one, on another server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns_with: Option<String>,
    /// How the run ended.
    pub status: Status,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// The scenario.
    pub scenario: ScenarioRecord,
    /// Parameters and their values, in the scenario's order.
    pub parameters: Vec<(String, serde_json::Value)>,
    /// The mix that ran.
    pub mix: MixRecord,
    /// How it was measured.
    pub settings: RunSettings,
    /// The server.
    pub server: ServerRecord,
    /// The machine that generated the load.
    pub environment: Environment,
    /// The strategies, the baseline first.
    pub strategies: Vec<StrategyRecord>,
    /// Chosen strategies that were not measured, because the server does not know a command of theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedStrategy>,
    /// The operations, in the scenario's order.
    pub operations: Vec<String>,
    /// What the scenario claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimRecord>,
    /// What the check before the run found; `None` when it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The complete rounds of every part. What belongs to no part (sizes, growth, audits, loading and warm-up) is in the cells
    /// of the last one.
    pub parts: BTreeMap<Part, Vec<RoundRecord>>,
    /// In the record of one part, see [`RunRecord::part`], its rounds; empty in the record of a run.
    #[serde(skip)]
    pub rounds: Vec<RoundRecord>,
    /// In the record of one part, which.
    #[serde(skip)]
    pub part: Option<Part>,
    /// Operations that are the same program on the same collections in a strategy as in the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical: Vec<IdenticalProgramRecord>,
    /// The plans of the read steps.
    pub query_plans: Vec<QueryPlanRecord>,
    /// What happened to its servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRecord>,
    /// Remarks for readers of the report.
    pub warnings: Vec<String>,
}

/// An operation that sends the same commands to the same collections with the same indexes in a strategy and in the baseline:
/// a difference between them is the work of other operations, or noise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdenticalProgramRecord {
    /// The strategy's position.
    pub strategy: usize,
    /// The operation's position.
    pub operation: usize,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All rounds are there.
    Complete,
    /// It is still running, or its process was ended from outside.
    #[default]
    Unfinished,
    /// The user stopped it.
    Interrupted,
    /// It failed, for this reason.
    Failed(String),
}

/// The scenario of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScenarioRecord {
    /// Its name.
    pub name: String,
    /// The question.
    pub title: String,
    /// What the application does.
    pub about: String,
    /// The name in the catalogue or the path by which it was opened; empty in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument: String,
    /// SHA-256 of the text, hexadecimal.
    pub sha256: String,
    /// SHA-256 of the files with its data, by their paths from its folder; none in older records.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    /// The whole file.
    pub text: String,
}

/// The mix of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MixRecord {
    /// Its name.
    pub name: String,
    /// Operation and weight; the shares are relative to the sum.
    pub weights: Vec<(String, f64)>,
}

/// The server of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Its version.
    pub version: String,
    /// Started by docshape, or the user's.
    pub embedded: bool,
    /// Replica set or sharded cluster, for readers.
    pub topology: String,
    /// Storage engine, cache, host and parameters, as far as they could be read: name and value.
    pub facts: Vec<(String, String)>,
    /// The configured cache in bytes, where the server reports it.
    pub cache_bytes: Option<u64>,
    /// Whether the strategies of a run shared it.
    pub servers: ServerSharing,
}

impl ServerRecord {
    /// Whether it is a sharded cluster.
    pub fn is_sharded(&self) -> bool {
        self.topology == "a sharded cluster"
    }
}

/// The number in a description of a deployment: that of members, where there are several.
pub fn members(topology: &str) -> Option<u64> {
    topology.split(' ').find_map(|word| word.parse().ok())
}

/// How many servers the strategies of a run had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerSharing {
    /// One for all of them.
    #[default]
    Shared,
    /// One for each, alike; all but the one that was measured were stopped.
    PerStrategy,
}

/// A strategy of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StrategyRecord {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control, left out of verdicts.
    pub is_unsafe: bool,
    /// The repeat of the baseline strategy, named `<baseline> (repeat)`: how far it is from the baseline is noise.
    pub is_repeat: bool,
    /// Its collections, as they were created.
    pub collections: Vec<CollectionRecord>,
}

/// A strategy that the server cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedStrategy {
    /// Its name.
    pub name: String,
    /// The command and what the server says.
    pub reason: String,
}

/// A collection of a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionRecord {
    /// Its name.
    pub name: String,
    /// The definitions of its indexes without that of `_id`.
    pub indexes: Vec<String>,
}

/// Whether a value is not worth a field.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
