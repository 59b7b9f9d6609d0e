//! `claims.json`: the claims of a scenario and what the runs for them found.

use serde::{Deserialize, Serialize};

use super::Preset;
use super::file::Document;
use super::study::CLAIMS_FILE;

/// The version of `claims.json` that this build writes. It grows when a field goes or changes its meaning.
pub const CLAIMS_FORMAT: u32 = 1;

/// The claims of a scenario and what the runs for them found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimsRecord {
    /// [`CLAIMS_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// Its question.
    pub title: String,
    /// SHA-256 of its text, hexadecimal.
    pub scenario_sha256: String,
    /// The version of the server; `None` before the first run.
    pub server: Option<String>,
    /// When the first run began, RFC 3339, UTC.
    pub started: String,
    /// How long the runs were.
    pub preset: Preset,
    /// Whether all runs have ended.
    pub complete: bool,
    /// The runs, in their order.
    pub runs: Vec<ClaimsRunRecord>,
    /// The claims, in the order of the scenario.
    pub claims: Vec<DecidedClaimRecord>,
}

impl Document for ClaimsRecord {
    const FILE: &'static str = CLAIMS_FILE;
    const FORMAT: u32 = CLAIMS_FORMAT;
}

/// A run that decides some claims.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimsRunRecord {
    /// Its folder, relative to the file.
    pub folder: String,
    /// The mix.
    pub mix: String,
    /// Clients at saturation.
    pub clients: u64,
    /// Parameters that were set, and their values as text.
    pub set: Vec<(String, String)>,
    /// The strategies, the baseline first.
    pub strategies: Vec<String>,
    /// The parts that were measured.
    pub parts: Vec<String>,
    /// Complete rounds.
    pub rounds: u64,
    /// Why it ended early.
    pub error: Option<String>,
}

/// A claim and what was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidedClaimRecord {
    /// The id.
    pub id: String,
    /// The claim as a sentence.
    pub says: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Whether it follows from the scenario itself.
    pub by_design: bool,
    /// `confirmed`, `refuted` or `undecided`.
    pub verdict: String,
    /// What is compared, such as `round trips of read_post`.
    pub measure: String,
    /// What the claim expects, such as `linked below embedded`.
    pub expected: String,
    /// The number of the strategy: nanoseconds, calls per second, a count or bytes per call, bytes, or a share.
    pub value: Option<f64>,
    /// The number that it is compared with, multiplied by its factor.
    pub against: Option<f64>,
    /// The value divided by the other, for what is measured over rounds.
    pub ratio: Option<f64>,
    /// The lower and upper end of the 95 % CI of the ratio.
    pub interval: Option<[f64; 2]>,
    /// The numbers for people; if undecided, also the reason.
    pub text: String,
    /// The folder of the run that decides it.
    pub run: String,
}
