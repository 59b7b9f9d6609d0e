//! The record of one part of a run.

use std::collections::BTreeMap;

use crate::record::Part;

use super::{IdenticalProgramRecord, RoundRecord, RunRecord, RunSettings, ScenarioRecord, in_percent};

impl RunRecord {
    /// The run as far as one part is concerned: its rounds, its load, its clients. `None` when the part was not measured.
    pub fn part(&self, part: Part) -> Option<RunRecord> {
        self.all_parts().remove(&part)
    }

    /// The records of all parts that were measured; of the record of one part, itself.
    ///
    /// Statistics and sections of reports read such records. They are copies, because they outlive the run's.
    pub fn all_parts(&self) -> BTreeMap<Part, RunRecord> {
        let mut run = self.clone();
        if let Some(part) = run.part {
            return BTreeMap::from([(part, run)]);
        }
        // The rounds are most of a record, and are copied once.
        let parts = std::mem::take(&mut run.parts).into_iter();
        let of_part = |(part, rounds)| {
            let settings = run.settings.of_part(part);
            (part, RunRecord { rounds, part: Some(part), settings, ..run.clone() })
        };
        parts.map(of_part).collect()
    }

    /// Whether an operation is the same program in two strategies, as far as both are that of the baseline.
    pub fn is_identical(&self, one: usize, other: usize, operation: usize) -> bool {
        let is_this = |strategy: usize| {
            move |entry: &IdenticalProgramRecord| (entry.strategy, entry.operation) == (strategy, operation)
        };
        let as_baseline = |strategy: usize| strategy == 0 || self.identical.iter().any(is_this(strategy));
        as_baseline(one) && as_baseline(other)
    }

    /// What the user chose of the scenario, as options of the command line with their values; strategies are those of the scenario.
    pub fn subject(&self) -> Vec<(&'static str, String)> {
        let RunSettings { shares, set, write_concern, members, .. } = &self.settings;
        let mix = (self.mix.name != "default").then(|| ("mix", self.mix.name.clone()));
        let shares = shares.iter().map(|(name, share)| ("share", format!("{name}={}%", in_percent(*share))));
        let set = set.iter().map(|(name, value)| ("set", format!("{name}={value}")));
        let concern = (write_concern != "majority").then(|| ("write-concern", write_concern.clone()));
        let members = members.map(|members| ("members", members.to_string()));
        mix.into_iter().chain(shares).chain(set).chain(concern).chain(members).collect()
    }

    /// The name of a strategy; `?` where there is none.
    pub fn strategy_name(&self, strategy: usize) -> &str {
        self.strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// How many rounds are complete.
    pub fn complete_rounds(&self) -> usize {
        self.parts.values().map(Vec::len).max().unwrap_or(0)
    }

    /// Adds a complete round of every part.
    pub fn add_round(&mut self, round: BTreeMap<Part, RoundRecord>) {
        round.into_iter().for_each(|(part, round)| self.parts.entry(part).or_default().push(round));
    }
}

impl ScenarioRecord {
    /// What the command line calls it: the path by which it was opened, or its name in the catalogue.
    pub fn opened(&self) -> &str {
        if self.argument.is_empty() { &self.name } else { &self.argument }
    }
}

impl RunSettings {
    /// The settings as far as one part is concerned.
    fn of_part(&self, part: Part) -> RunSettings {
        let (load, clients) = (self.load_of(part), self.clients_of(part));
        let threads = if part == Part::Own { 1 } else { self.threads };
        RunSettings { load, clients, threads, ..self.clone() }
    }
}
