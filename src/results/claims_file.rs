//! `claims.json`: the claims of a scenario and what the runs for them found.

use serde::{Deserialize, Serialize};

use super::file::Document;
use super::study::CLAIMS_FILE;
use super::{ClaimOutcome, ClaimRecord, ClaimResult, Preset};

/// The version of `claims.json` that this build writes. It grows when a field goes or changes its meaning.
pub const CLAIMS_FORMAT: u32 = 1;

/// The claims of a scenario and what the runs for them found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// The version of the server, with its members where there are several; `None` before the first run.
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimsRunRecord {
    /// Its folder, relative to the file.
    pub folder: String,
    /// The mix.
    pub mix: String,
    /// Clients at saturation.
    pub clients: u64,
    /// Parameters that were set, and their values as text.
    pub set: Vec<(String, String)>,
    /// All parameters and their values, in the scenario's order.
    pub parameters: Vec<(String, serde_json::Value)>,
    /// The strategies, the baseline first.
    pub strategies: Vec<String>,
    /// The parts that were measured.
    pub parts: Vec<String>,
    /// Complete rounds.
    pub rounds: u64,
    /// Calls per second with open load; `None` where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Why it ended early.
    pub error: Option<String>,
}

/// A claim and what was found. Sentences are made when it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidedClaimRecord {
    /// The claim, with the values of its expressions in the run.
    pub claim: ClaimRecord,
    /// The numbers, and what they show.
    pub result: ClaimResult,
    /// The folder of the run that decides it.
    pub run: String,
}

impl DecidedClaimRecord {
    /// Whether the run confirms it.
    pub fn outcome(&self) -> ClaimOutcome {
        self.claim.outcome(self.result.verdict)
    }
}

impl ClaimsRecord {
    /// The run that decides a claim.
    pub fn run(&self, decided: &DecidedClaimRecord) -> Option<&ClaimsRunRecord> {
        self.runs.iter().find(|run| run.folder == decided.run)
    }
}
