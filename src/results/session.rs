//! Sessions: measurements of one published result, and how far they are apart over all results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::Document;
use super::{Preset, PublishedMetric};

/// The file with the spread of sessions, in the folder of all published results.
pub const SESSIONS_FILE: &str = "sessions.json";

/// One measurement of a published result: what is needed to compare it with the others, small enough to be kept for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// When its run began, RFC 3339, UTC.
    pub started: String,
    /// The version of docshape that measured it.
    pub version: String,
    /// The commit that docshape was built from.
    pub commit: Option<String>,
    /// Decides data and calls.
    pub seed: u64,
    /// How long it was.
    pub preset: Preset,
    /// Complete rounds.
    pub rounds: u64,
    /// The calls per second at which response times were compared.
    pub rate: Option<f64>,
    /// Clients at saturation.
    pub clients: u64,
    /// The strategy that its run says to choose.
    pub winner: Option<String>,
    /// By metric and strategy the number of every round, in five digits; without strategies whose numbers are not compared.
    pub numbers: BTreeMap<PublishedMetric, BTreeMap<String, Vec<Option<f64>>>>,
}

impl SessionRecord {
    /// Whether both are one and the same measurement.
    pub fn is_same(&self, other: &SessionRecord) -> bool {
        (&self.started, self.seed) == (&other.started, other.seed)
    }
}

/// How far sessions are apart over all published results, by metric; empty before any result has two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionsRecord {
    /// The version of this file.
    pub format: u32,
    /// The version of docshape that wrote it.
    pub version: String,
    /// By metric.
    pub metrics: BTreeMap<PublishedMetric, SpreadRecord>,
}

impl Document for SessionsRecord {
    const FILE: &'static str = SESSIONS_FILE;
    const FORMAT: u32 = 1;
}

/// How far the ratios of two strategies are apart from session to session.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpreadRecord {
    /// The standard deviation of the session's random effect on the ln ratio.
    pub tau: f64,
    /// Its 95 % CI, over scenarios; `None` with fewer than two.
    pub interval: Option<[f64; 2]>,
    /// Degrees of freedom that it is estimated with.
    pub freedom: u64,
    /// Scenarios with at least two sessions.
    pub scenarios: u64,
    /// Results with at least two sessions.
    pub results: u64,
    /// Pairs of strategies in them.
    pub pairs: u64,
    /// How often the interval of one session contains the ratio of another.
    pub coverage: CoverageRecord,
}

/// How often the interval of one session contains the ratio of another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageRecord {
    /// Ratios of a pair of strategies in one session, held against the interval of another.
    pub ratios: u64,
    /// Those in the 95 % CI of the other session's run.
    pub run: u64,
    /// Those in the interval that is stated for another session, with the spread of all other scenarios; `None` without others.
    pub stated: Option<u64>,
}
