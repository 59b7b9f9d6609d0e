//! The record of one part of a run.

use std::collections::BTreeMap;

use crate::record::Part;

use super::{IdenticalProgramRecord, LoadModel, RoundRecord, RunRecord, RunSettings};

impl RunRecord {
    /// The run as far as one part is concerned: its rounds, its load, its clients. `None` when the part was not measured.
    ///
    /// Statistics and sections of reports read such a record. It is a copy, because they outlive it.
    pub fn part(&self, part: Part) -> Option<RunRecord> {
        let rounds = self.parts.get(&part)?.clone();
        let (part, settings) = (Some(part), self.settings.of_part(part));
        Some(RunRecord { rounds, part, settings, ..self.without_rounds() })
    }

    /// The records of all parts that were measured; of the record of one part, itself.
    pub fn all_parts(&self) -> BTreeMap<Part, RunRecord> {
        match self.part {
            Some(part) => BTreeMap::from([(part, self.clone())]),
            None => self.parts.keys().filter_map(|part| Some((*part, self.part(*part)?))).collect(),
        }
    }

    /// Whether an operation is the same program in two strategies, as far as both are that of the baseline.
    pub fn is_identical(&self, one: usize, other: usize, operation: usize) -> bool {
        let is_this = |strategy: usize| {
            move |entry: &IdenticalProgramRecord| (entry.strategy, entry.operation) == (strategy, operation)
        };
        let as_baseline = |strategy: usize| strategy == 0 || self.identical.iter().any(is_this(strategy));
        as_baseline(one) && as_baseline(other)
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

    /// A copy without the rounds, which are most of a record.
    fn without_rounds(&self) -> RunRecord {
        RunRecord {
            format: self.format,
            version: self.version.clone(),
            id: self.id.clone(),
            git: self.git.clone(),
            turns_with: self.turns_with.clone(),
            status: self.status.clone(),
            started: self.started.clone(),
            scenario: self.scenario.clone(),
            parameters: self.parameters.clone(),
            mix: self.mix.clone(),
            settings: self.settings.clone(),
            server: self.server.clone(),
            environment: self.environment.clone(),
            strategies: self.strategies.clone(),
            skipped: self.skipped.clone(),
            operations: self.operations.clone(),
            claims: self.claims.clone(),
            verification: self.verification.clone(),
            parts: BTreeMap::new(),
            rounds: Vec::new(),
            part: None,
            identical: self.identical.clone(),
            query_plans: self.query_plans.clone(),
            events: self.events.clone(),
            warnings: self.warnings.clone(),
        }
    }
}

impl RunSettings {
    /// The settings as far as one part is concerned.
    fn of_part(&self, part: Part) -> RunSettings {
        let settings = self.clone();
        match part {
            Part::Own => RunSettings { load: LoadModel::Closed, clients: 1, threads: 1, ..settings },
            Part::Rate => RunSettings { clients: self.clients_at_rate, ..settings },
            Part::Saturation => RunSettings { load: LoadModel::Closed, ..settings },
        }
    }
}
