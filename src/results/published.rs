//! `summary.json`: what a published run found, small enough to be read together with all others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::{MATRIX, MatrixColumn, Metric, Unit};

use super::file::Document;
use super::{MixRecord, Preset, SessionRecord, Verdict};

/// The name of the file.
pub const PUBLISHED_FILE: &str = "summary.json";

/// The version of `summary.json` that this build writes. It grows when a field goes or changes its meaning.
pub const PUBLISHED_FORMAT: u32 = 1;

/// What a published run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRecord {
    /// [`PUBLISHED_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape that measured it.
    pub version: String,
    /// The commit that docshape was built from.
    pub commit: Option<String>,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// The scenario.
    pub scenario: PublishedScenario,
    /// The mix that was measured.
    pub mix: MixRecord,
    /// How long the run was.
    pub preset: Preset,
    /// Complete rounds.
    pub rounds: u64,
    /// Decides data and calls.
    pub seed: u64,
    /// The command line that repeats the run.
    pub command: String,
    /// The server.
    pub server: PublishedServer,
    /// The machine that generated the load, and, with an embedded server, ran it.
    pub machine: PublishedMachine,
    /// How much data.
    pub data: PublishedData,
    /// The calls per second at which response times were compared.
    pub rate: Option<f64>,
    /// Clients at saturation.
    pub clients: u64,
    /// Whether the numbers may be used.
    pub valid: bool,
    /// What the check before the run found; `None` when it was left out.
    pub verification: Option<PublishedVerification>,
    /// What the run says about the mix.
    pub answer: PublishedAnswer,
    /// The operations of the scenario.
    pub operations: Vec<PublishedOperation>,
    /// The strategies, the baseline first, without its repeat.
    pub strategies: Vec<PublishedStrategy>,
    /// All measurements of this result, the newest last; the other fields are those of the newest. Empty in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionRecord>,
}

impl Document for PublishedRecord {
    const FILE: &'static str = PUBLISHED_FILE;
    const FORMAT: u32 = PUBLISHED_FORMAT;
}

/// The scenario of a published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedScenario {
    /// Its name.
    pub name: String,
    /// The question.
    pub title: String,
    /// The decision that it is about, by which the catalogue is grouped.
    pub group: Option<String>,
    /// SHA-256 of its text, hexadecimal.
    pub sha256: String,
    /// The mixes that it defines.
    pub mixes: Vec<PublishedMix>,
}

/// A mix that a scenario defines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedMix {
    /// Its name.
    pub name: String,
    /// Operation and weight; `None` where a weight is an expression.
    pub weights: Option<Vec<(String, f64)>>,
    /// Whether it sets parameters of its own, so that its data differ from those of other mixes.
    pub has_parameters: bool,
}

/// The server of a published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedServer {
    /// Its version.
    pub version: String,
    /// The deployment, such as `a replica set of one member`.
    pub topology: String,
    /// Whether docshape started it.
    pub embedded: bool,
}

/// The machine of a published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedMachine {
    /// The name that its owner gave it; empty for none.
    pub name: String,
    /// Operating system and architecture.
    pub platform: String,
    /// CPU model.
    pub cpu: Option<String>,
    /// Cores that docshape could use.
    pub cores: Option<u64>,
}

/// The data of a published run, after the calls of a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PublishedData {
    /// Documents of the strategy with the most.
    pub documents: f64,
    /// Uncompressed documents and indexes of the largest strategy, in bytes.
    pub bytes: f64,
    /// The configured cache in bytes, where the server reports it.
    pub cache_bytes: Option<u64>,
}

/// What the check before a published run found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedVerification {
    /// Calls per strategy.
    pub calls: u64,
    /// Whether no safe strategy has a finding.
    pub clean: bool,
}

/// What a published run says about the mix.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PublishedAnswer {
    /// The strategy to choose; `None` where none is shown to be better than all others.
    pub winner: Option<String>,
    /// The winner; without one, the best strategy and those that are not shown to be worse. Empty without a verdict.
    pub leading: Vec<String>,
    /// The strategies that the best one is shown to be better than, the nearest first.
    pub beaten: Vec<BeatenRecord>,
    /// Those that are better than the best one in one number, and worse in another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trade_offs: Vec<TradeOffRecord>,
    /// The effect (0.1 for 10 %) that would have been found between those that lead; `None` where the data decide nothing.
    pub least_effect: Option<f64>,
    /// Whether a mix that differs by less than 3 points in the share of an operation is estimated to have another order.
    pub fragile: bool,
}

/// A strategy that is shown to be worse than the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BeatenRecord {
    /// Its name.
    pub strategy: String,
    /// The first number that shows it.
    #[serde(flatten)]
    pub by: ComparedNumber,
    /// The other number that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<ComparedNumber>,
    /// The share (0 to 1) of the calls that it kept up with, where that is what shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overloaded: Option<f64>,
    /// The calls per second that it could not keep up with; `None` where it was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
}

impl BeatenRecord {
    /// The numbers that show it.
    pub fn shown(&self) -> impl Iterator<Item = &ComparedNumber> {
        let also = self.also.iter().filter(|also| also.difference == Difference::Reported);
        std::iter::once(&self.by).chain(also)
    }
}

/// The best strategy compared with another one by one number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedNumber {
    /// The number.
    pub metric: PublishedMetric,
    /// That of the best divided by that of the other; `None` where the other is overloaded.
    pub ratio: Option<f64>,
    /// The lower and upper end of the 95 % CI of the ratio.
    pub interval: Option<[f64; 2]>,
    /// What it shows.
    #[serde(default)]
    pub difference: Difference,
}

impl ComparedNumber {
    /// The same, seen from the other strategy.
    pub fn turned(&self) -> ComparedNumber {
        let interval = self.interval.map(|[low, high]| [high.recip(), low.recip()]);
        ComparedNumber { ratio: self.ratio.map(f64::recip), interval, ..self.clone() }
    }
}

/// What a comparison by one number shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// A difference is reported.
    #[default]
    Reported,
    /// None is found, where one would have been.
    NotFound,
    /// The comparison is inconclusive.
    Undecided,
}

/// A strategy that is better than the best in one number, and worse in another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TradeOffRecord {
    /// Its name.
    pub strategy: String,
    /// Where the best one is better.
    pub ahead: ComparedNumber,
    /// Where it is worse.
    pub behind: ComparedNumber,
}

/// An operation of a published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedOperation {
    /// Its name.
    pub name: String,
    /// Its share (0 to 1) of the mix.
    pub share: f64,
    /// Whether its calls write, in any strategy; `None` where the server did not report its oplog.
    pub writes: Option<bool>,
    /// The own time of a call in nanoseconds, per strategy; `None` where it was not measured.
    pub own_times: Vec<Option<f64>>,
}

/// A strategy of a published run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedStrategy {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control, without part in verdicts.
    pub is_unsafe: bool,
    /// Whether own times, weighted by the mix, predict how it compares with the fastest one in the measured mix; `None` where
    /// one of the two was not measured.
    pub is_predicted: Option<bool>,
    /// Its numbers; one that was not measured is absent.
    pub metrics: BTreeMap<PublishedMetric, MetricRecord>,
}

/// A number by which strategies are shown next to each other: its place in [`MATRIX`]. In files it is its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PublishedMetric(usize);

impl PublishedMetric {
    /// Calls per second at saturation.
    pub const CALLS_PER_SECOND: PublishedMetric = PublishedMetric(0);
    /// The own times of operations, weighted by the mix, in nanoseconds.
    pub const OWN_TIME: PublishedMetric = PublishedMetric(1);
    /// The mean response time at a load, in nanoseconds.
    pub const RESPONSE_MEAN: PublishedMetric = PublishedMetric(2);

    /// The server's CPU time per call of the mix at saturation.
    pub const CPU_TIME: PublishedMetric = PublishedMetric(4);
    /// Those that sessions are compared by.
    pub const OF_SESSIONS: [PublishedMetric; 4] = [
        PublishedMetric::OWN_TIME,
        PublishedMetric::CALLS_PER_SECOND,
        PublishedMetric::CPU_TIME,
        PublishedMetric::RESPONSE_MEAN,
    ];

    /// All of them in the order of the page.
    pub fn all() -> impl Iterator<Item = PublishedMetric> {
        (0..MATRIX.len()).map(PublishedMetric)
    }

    /// Its column of the matrix.
    pub fn column(self) -> &'static MatrixColumn {
        &MATRIX[self.0].0
    }

    /// The metric that it is of every strategy.
    pub fn metric(self) -> Metric {
        MATRIX[self.0].1.metric
    }

    /// Whether a run tests its differences.
    pub fn is_tested(self) -> bool {
        Metric::asked_in(self.column().part).contains(&self.metric())
    }

    /// Whether more is better.
    pub fn is_rate(self) -> bool {
        self.metric().unit() == Unit::PerSecond
    }
}

impl From<PublishedMetric> for String {
    fn from(metric: PublishedMetric) -> String {
        metric.column().name.to_owned()
    }
}

impl TryFrom<String> for PublishedMetric {
    type Error = String;

    fn try_from(name: String) -> Result<PublishedMetric, String> {
        let known = PublishedMetric::all().find(|metric| metric.column().name == name);
        known.ok_or_else(|| format!("unknown metric `{name}`"))
    }
}

/// A number of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MetricRecord {
    /// The number.
    pub value: f64,
    /// How it compares with the best of the judged strategies; `None` for numbers that are not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// The number divided by that of the best, over rounds; `None` for the best and for numbers that are not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The lower and upper end of the 95 % CI of the ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// What the comparison with the best says where it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Verdict>,
}

/// How a strategy stands by one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is the strategy to choose, and shown to be better than all others by this number.
    Best,
    /// It is shown to be better than all others by this number, and another one, or none, is the one to choose.
    First,
    /// It has the best number, or no difference to the best is shown, where one would have been.
    Tied,
    /// It is shown to be worse than the best.
    Worse,
    /// The comparison is inconclusive, for example because the strategy could not keep up with the rate.
    Undecided,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_files() {
        let named = PublishedMetric::OF_SESSIONS;
        let names = named.map(String::from);
        assert_eq!(names, ["own_time", "calls_per_second", "cpu_time", "response_mean"]);
        assert_eq!(names.map(|name| PublishedMetric::try_from(name).unwrap()), named);
        let tested: Vec<&str> =
            PublishedMetric::all().filter(|one| one.is_tested()).map(|one| one.column().name).collect();
        assert_eq!(tested, ["calls_per_second", "own_time", "response_mean", "response_p99"]);
        assert!(serde_json::from_str::<BTreeMap<PublishedMetric, u8>>(r#"{"cpu_time":1,"oplog":2}"#).is_err());
    }
}
