//! What a run leaves on disk: the narrow waist between running and reading.
//!
//! `run.json` holds everything that is needed to report again and to run again. It is written whole after every round.

mod audit;
pub mod baseline;
mod capacity;
mod cell;
mod check;
mod claim;
mod cost;
mod environment;
mod file;
mod folder;
mod hlog;
#[cfg(test)]
mod sample;
pub mod verification;

use serde::{Deserialize, Serialize};

pub use audit::AuditRecord;
pub use capacity::{Answer, BatchRecord, CAPACITY_FILE, CapacityRecord, RateRecord, SearchRecord, TrialRecord};
pub use cell::{
    CellRecord, CollectionSizes, GrowthSample, Headline, MachineRecord, OpenRecord, OperationRecord, OutcomeRecord,
    RoundRecord, SliceRecord, TimesRecord,
};
pub use claim::{ClaimRecord, Relation, Than};
pub use cost::{CostRecord, QueryPlanRecord};
pub use environment::Environment;
pub use file::{ResultsError, load, save, save_capacity};
pub use folder::{FolderError, create as create_folder, stamp};
pub use hlog::IntervalLog;
use verification::Verification;

/// The version of `run.json` that this build writes.
pub const FORMAT_VERSION: u32 = 1;

/// The noise floor unless a run sets its own: differences below 2 % are hardly ever worth a change of schema.
pub const NOISE: f64 = 0.02;

/// The error budget unless a run sets its own.
pub const ERROR_BUDGET: f64 = 0.01;

/// The name of the file with all results.
pub const RUN_FILE: &str = "run.json";

/// The name of the interval log.
pub const HLOG_FILE: &str = "latency.hlog";

/// A whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`FORMAT_VERSION`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape.
    pub version: String,
    /// Tells this run's databases from those of others; empty in records of builds that did not keep it.
    #[serde(default)]
    pub id: String,
    /// The commit that docshape was built from; `None` when built outside its repository.
    #[serde(default)]
    pub git: Option<String>,
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
    pub settings: Settings,
    /// The server.
    pub server: ServerRecord,
    /// The machine that made the load.
    pub environment: Environment,
    /// The strategies, the reference first.
    pub strategies: Vec<StrategyRecord>,
    /// The operations, in the scenario's order.
    pub operations: Vec<String>,
    /// What the scenario claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimRecord>,
    /// What the check before the run found; `None` when it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The complete rounds.
    pub rounds: Vec<RoundRecord>,
    /// What one call of each operation costs the server, from the cost pass; an entry per strategy and operation.
    #[serde(default)]
    pub costs: Vec<CostRecord>,
    /// The plans of the read steps.
    #[serde(default)]
    pub query_plans: Vec<QueryPlanRecord>,
    /// What a reader should know.
    pub warnings: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All rounds are there.
    Complete,
    /// It is still running, or its process was ended from outside.
    Unfinished,
    /// The user stopped it.
    Interrupted,
    /// It failed, for this reason.
    Failed(String),
}

/// The scenario of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScenarioRecord {
    /// Its name.
    pub name: String,
    /// The question.
    pub title: String,
    /// What the application does.
    pub about: String,
    /// SHA-256 of the text, hexadecimal.
    pub sha256: String,
    /// The whole file.
    pub text: String,
}

/// The mix of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixRecord {
    /// Its name.
    pub name: String,
    /// Operation and weight; the shares are relative to the sum.
    pub weights: Vec<(String, f64)>,
}

/// How a run was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The preset that the other values started from.
    pub preset: String,
    /// The seed of data and calls.
    pub seed: u64,
    /// When calls begin.
    #[serde(default)]
    pub load: LoadModel,
    /// Calls in flight: all the time in the closed model, at most in the open one.
    pub workers: usize,
    /// Load threads.
    pub threads: usize,
    /// Rounds asked for.
    pub rounds: u64,
    /// Slices that each window is cut into.
    pub slices: u64,
    /// Why cells ran whole, one after the other, and not in slices that alternate; `None` when they alternated.
    #[serde(default)]
    pub isolated: Option<String>,
    /// Measured calls per arm and round; `None` until the pilot has set them, and in timed windows.
    pub calls: Option<u64>,
    /// Calls per arm and round that come before and are not recorded.
    pub warmup_calls: Option<u64>,
    /// Seconds per window when windows are timed: arms then end in different states.
    pub duration: Option<f64>,
    /// Seconds after which a call has failed.
    pub timeout: f64,
    /// `w` of every write.
    pub write_concern: String,
    /// `level` of every read.
    pub read_concern: String,
    /// Seconds that a window was to take when a pilot set its calls: an arm that takes three times as long is cut off.
    #[serde(default)]
    pub planned_seconds: Option<f64>,
    /// The parameters that were set on the command line, as written there.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// Cache of the embedded server in GB; `None` with a server of the user's.
    pub cache_gb: Option<f64>,
    /// A ratio this close to 1 (0.02 for 2 %) is never called a difference.
    #[serde(default = "noise")]
    pub noise: f64,
    /// The greatest share (0 to 1) of failed calls with which a run is valid.
    #[serde(default = "error_budget")]
    pub error_budget: f64,
    /// Bounds on numbers of the run, as they were written on the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
}

fn noise() -> f64 {
    NOISE
}

fn error_budget() -> f64 {
    ERROR_BUDGET
}

/// When calls begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadModel {
    /// When the worker's last call was answered.
    #[default]
    Closed,
    /// At intended times.
    Open {
        /// Calls per second.
        rate: f64,
        /// How the times are drawn.
        arrivals: Arrivals,
    },
}

/// How the intended times of calls are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Independently of each other: exponential gaps.
    #[default]
    Poisson,
    /// With equal gaps.
    Uniform,
}

/// The server of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Its version.
    pub version: String,
    /// Started by docshape, or the user's.
    pub embedded: bool,
    /// Replica set or sharded cluster, in words.
    pub topology: String,
    /// Storage engine, cache, host and parameters, as far as they could be read: name and value.
    pub facts: Vec<(String, String)>,
    /// The configured cache in bytes, where the server tells.
    #[serde(default)]
    pub cache_bytes: Option<u64>,
}

/// A strategy of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StrategyRecord {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control, left out of verdicts.
    pub is_unsafe: bool,
    /// The reference a second time, named `<reference>(A/A)`: whatever difference it shows is noise.
    #[serde(default)]
    pub control: bool,
    /// Its collections, as they were made.
    #[serde(default)]
    pub collections: Vec<CollectionRecord>,
}

/// A collection of a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionRecord {
    /// Its name.
    pub name: String,
    /// The definitions of its indexes beside that of `_id`.
    pub indexes: Vec<String>,
}
