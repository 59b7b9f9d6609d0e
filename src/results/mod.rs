//! What a run leaves on disk: the narrow waist between running and reading.
//!
//! `run.json` holds everything that is needed to report again and to run again. It is written whole after every round.

mod check;
mod environment;
mod file;
mod folder;
mod hlog;
#[cfg(test)]
mod sample;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::StoredHistogram;

pub use environment::Environment;
pub use file::{ResultsError, load, save};
pub use folder::{FolderError, create as create_folder, stamp};
pub use hlog::IntervalLog;

/// The version of `run.json` that this build writes.
pub const FORMAT_VERSION: u32 = 1;

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
    /// The complete rounds.
    pub rounds: Vec<RoundRecord>,
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
    /// Calls in flight (closed model).
    pub workers: usize,
    /// Load threads.
    pub threads: usize,
    /// Rounds asked for.
    pub rounds: u64,
    /// Slices that each window is cut into.
    pub slices: u64,
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
    /// Cache of the embedded server in GB; `None` with a server of the user's.
    pub cache_gb: Option<f64>,
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
}

/// One round: every arm with fresh databases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// From 0.
    pub index: u64,
    /// The seed of its calls.
    pub seed: u64,
    /// Per slice, the arms (positions in `strategies`) in the order they ran.
    pub order: Vec<Vec<usize>>,
    /// A cell per strategy, in the order of `strategies`.
    pub cells: Vec<CellRecord>,
}

/// One arm in one round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Documents inserted before the calls.
    pub loaded: u64,
    /// Seconds that this took.
    pub load_seconds: f64,
    /// Measured calls, whatever they came to.
    pub calls: u64,
    /// Seconds that the arm's slices took together.
    pub seconds: f64,
    /// Connections made while calls were measured; not 0 means that some calls waited for one.
    pub connections_created: u64,
    /// An entry per operation, in the run's order.
    pub operations: Vec<OperationRecord>,
    /// Sizes before the measured calls.
    pub before: Vec<CollectionSizes>,
    /// Sizes after them.
    pub after: Vec<CollectionSizes>,
    /// Sizes of followed documents between the slices.
    pub growth: Vec<GrowthSample>,
}

/// One operation in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationRecord {
    /// Finished calls.
    pub calls: u64,
    /// Messages exchanged.
    pub round_trips: u64,
    /// By outcome (`ok`, `same`, `not found`, `refused: ...`, `failed`) the service times in nanoseconds.
    pub outcomes: Vec<OutcomeRecord>,
    /// Failures by reason: the server's code, or a word.
    pub errors: BTreeMap<String, u64>,
    /// The server's words for the first failure of each reason.
    #[serde(default)]
    pub messages: BTreeMap<String, String>,
    /// Attempts begun again, by cause.
    pub retries: BTreeMap<String, u64>,
}

/// The calls of one operation that came to one outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// The outcome.
    pub outcome: String,
    /// How many.
    pub count: u64,
    /// How many took longer than the histogram's bound.
    pub saturated: u64,
    /// The exact sum of the service times in nanoseconds.
    pub sum: u64,
    /// Service times in nanoseconds: HdrHistogram V2, deflated, base64.
    pub service: StoredHistogram,
}

/// Sizes of one collection, in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectionSizes {
    /// Its name.
    pub name: String,
    /// How many documents.
    pub documents: u64,
    /// Mean size of a document.
    pub mean: f64,
    /// Median size of a document.
    pub p50: u64,
    /// 99th percentile of the sizes.
    pub p99: u64,
    /// The largest document.
    pub max: u64,
    /// All documents, uncompressed.
    pub size: u64,
    /// The collection's file.
    pub storage: u64,
    /// The indexes' files.
    pub indexes: BTreeMap<String, u64>,
    /// Whether a flush came before, without which file sizes lag behind.
    pub checkpointed: bool,
}

/// The size of one followed document at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrowthSample {
    /// Measured calls of the arm so far in this round.
    pub calls: u64,
    /// The collection.
    pub collection: String,
    /// Which document: entity and number, 0 being the most popular.
    pub label: String,
    /// Its size in bytes.
    pub bytes: u64,
}
