//! `explore.json`: the shapes that were tried, and what became of each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::results::{Document, EXPLORE_FILE, MixRecord, RunSettings, ScenarioRecord};

/// The version of `explore.json` that this build writes. It grows when a field goes or changes its meaning.
pub const EXPLORE_FORMAT: u32 = 1;

/// The shapes of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExploreRecord {
    /// [`EXPLORE_FORMAT`] of the build that wrote it.
    pub format: u32,
    /// The version of docshape.
    pub version: String,
    /// The scenario, as the user wrote it.
    pub scenario: ScenarioRecord,
    /// The mix by which shapes are ranked: its name, and the weights of its operations.
    pub mix: String,
    /// The operations of the scenario with their weights in the mix.
    pub weights: Vec<(String, f64)>,
    /// Other mixes by which shapes are ranked, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<MixRecord>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// Whether all steps are done.
    pub complete: bool,
    /// How the first shapes are measured in the end.
    pub settings: RunSettings,
    /// How it is searched.
    pub options: ExploreOptions,
    /// The relations with their choices.
    pub relations: Vec<RelationRecord>,
    /// The number of combinations of the choices.
    pub combinations: u64,
    /// What was tried, in order: first the strategies of the scenario.
    pub tried: Vec<TriedRecord>,
    /// Folders of the runs that measured own costs, in order, each with the names of its shapes.
    pub screens: Vec<ScreenRecord>,
    /// The strategies of the final run; empty without one.
    pub finalists: Vec<String>,
    /// Why shapes were not tried; `None` when all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
}

/// How it is searched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExploreOptions {
    /// The most finalists.
    pub keep: u64,
    /// Relations with the only words that are tried.
    pub only: Vec<(String, Vec<String>)>,
    /// Words that are not tried.
    pub never: Vec<String>,
    /// Seconds after which no more shapes are tried.
    pub budget: f64,
    /// Whether the finalists are compared by a run.
    pub has_finals: bool,
}

/// A relation with its choices.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RelationRecord {
    /// Its name in a `shape`.
    pub key: String,
    /// Its words without an entry.
    #[serde(default)]
    pub plain: Vec<String>,
    /// The words of each choice.
    pub choices: Vec<Vec<String>>,
}

/// A run that measured the own costs of some shapes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScreenRecord {
    /// Its folder, relative to the study's.
    pub folder: String,
    /// The strategies, the common one first.
    pub strategies: Vec<String>,
}

/// A shape, or a strategy of the scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TriedRecord {
    /// The name of its strategy.
    pub name: String,
    /// Its words by relation; empty for a strategy of the scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<(String, Vec<String>)>,
    /// `join` of the strategy; `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<String>,
    /// `writes` of the strategy; `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<String>,
    /// For each operation of the scenario, what identifies its commands and the documents and indexes that they use: equal ones cost
    /// the same. Empty before its measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// What became of it.
    pub outcome: TriedOutcome,
}

/// What became of a shape.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriedOutcome {
    /// It is derived, and waits for its verification.
    #[default]
    Derived,
    /// It cannot be derived, for this reason.
    Refused(String),
    /// What one of its words stores is read by no operation.
    Unread(String),
    /// Its commands are those of the strategy of this name.
    Same(String),
    /// It did not give the model's answers: docshape's mistake, or the scenario's for a strategy by hand.
    Wrong(String),
    /// It gave the model's answers, and waits for its measurement.
    Verified,
    /// It could not be measured, for this reason.
    Failed(String),
    /// What its operations cost.
    Measured(MeasuredShape),
}

/// What the operations of a shape cost, each by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredShape {
    /// The mean time of each operation in nanoseconds: the geometric mean of what was measured of its program, with whatever shape;
    /// `None` where the mix does not call it.
    pub times: Vec<Option<f64>>,
    /// The same as it was measured with this shape, those of later runs multiplied by how the common strategy was in the first one;
    /// `None` where its program had been measured before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<Option<f64>>,
    /// Counted work of a call, by operation and counter.
    pub work: Vec<BTreeMap<String, f64>>,
    /// Bytes of its largest document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<f64>,
}

impl Document for ExploreRecord {
    const FILE: &'static str = EXPLORE_FILE;
    const FORMAT: u32 = EXPLORE_FORMAT;
}

impl TriedRecord {
    /// How it reads and writes, as entries of its strategy beside the shape; none for the defaults.
    pub fn ways(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [("join", &self.join), ("writes", &self.writes)]
            .into_iter()
            .filter_map(|(key, word)| Some((key, word.as_deref()?)))
    }
}

impl ExploreRecord {
    /// What was tried under a name.
    pub fn named(&self, name: &str) -> Option<&TriedRecord> {
        self.tried.iter().find(|tried| tried.name == name)
    }

    /// What was tried; for a strategy of the scenario the shape with the same commands, if there is one.
    pub fn shape_of<'r>(&'r self, tried: &'r TriedRecord) -> &'r TriedRecord {
        let is_same = |one: &&TriedRecord| matches!(&one.outcome, TriedOutcome::Same(name) if *name == tried.name);
        self.tried.iter().find(is_same).filter(|_| tried.is_of_scenario()).unwrap_or(tried)
    }

    /// The number of shapes with an outcome like this.
    pub fn count(&self, is_it: fn(&TriedOutcome) -> bool) -> u64 {
        self.tried.iter().filter(|tried| is_it(&tried.outcome)).count() as u64
    }
}
