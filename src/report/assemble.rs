//! From a record to a report.

use crate::results::{LoadModel, RunRecord};
use crate::stats::{self, Claim, Distribution, MINIMUM_ROUNDS, Tally, Verdict, tally};

use super::answers::{Answer, answers};
use super::format::{counted, listed, plain};
use super::words::{self, Speaker};
use super::{
    FOLLOWED_AT, FOLLOWED_STEPS, Measured, Report, Row, StrategyView, claims, cost, facts, method, thresholds, validity,
};

impl Report {
    /// Computes what a report of this run says.
    pub fn new(record: &RunRecord) -> Report {
        let strategies: Vec<StrategyView> = (0..record.strategies.len()).map(|s| strategy(record, s)).collect();
        let called = |operation: &usize| (0..strategies.len()).any(|s| calls(record, s, *operation) > 0);
        let operations: Vec<usize> = (0..record.operations.len()).filter(called).collect();
        let answers = answers(record, &operations);
        let rows: Vec<Row> = answers.iter().map(|answer| row(record, answer)).collect();
        let mut report = Report {
            scenario: plain(&record.scenario.name),
            title: plain(&record.scenario.title),
            about: plain(&record.scenario.about),
            mix: plain(&record.mix.name),
            rounds: record.rounds.len() as u64,
            calls: calls_per_cell(record),
            is_open: record.settings.load != LoadModel::Closed,
            void: validity::void(record),
            status: words::status(record),
            verdict: Vec::new(),
            claims: Vec::new(),
            unclaimed: Vec::new(),
            scenario_claims: Vec::new(),
            thresholds: thresholds::thresholds(record),
            notes: Vec::new(),
            strategies,
            rows,
            costs: cost::costs(record),
            measured: method::measured(record),
            command: method::command(record),
            warnings: method::warnings(record),
            folder: None,
            has_files: false,
            noise: record.settings.noise,
            text: record.scenario.text.clone(),
            facts: facts::facts(record, calls_per_cell(record)),
        };
        report.judge(record, &answers);
        report
    }

    /// Says where the run's files are.
    #[must_use]
    pub fn in_folder(mut self, folder: &str) -> Report {
        self.folder = Some(plain(folder));
        self
    }

    /// Says that [`HTML_FILE`](super::HTML_FILE) and [`Picture::all`](super::Picture::all) lie beside the results.
    #[must_use]
    pub fn with_files(mut self) -> Report {
        self.has_files = true;
        self
    }

    fn judge(&mut self, record: &RunRecord, answers: &[Answer]) {
        let names: Vec<String> = self.strategies.iter().map(|strategy| strategy.name.clone()).collect();
        let speaker = Speaker { names: &names };
        self.scenario_claims = claims::claims(record, answers, &speaker);
        self.notes = notes(&self.strategies);
        self.notes.extend(validity::overloaded(record));
        if let Some(sentence) = self.no_verdict(record) {
            self.verdict = vec![sentence];
            return;
        }
        let unanswered = "no verdict: in no round did every strategy have successful calls of every operation.";
        let mix = answers.iter().find(|answer| answer.operation.is_none());
        self.verdict = match mix.and_then(Answer::verdict) {
            Some(verdict) => speaker.overall(&words::at_load(&self.mix, &record.settings), &verdict),
            None => vec![unanswered.to_owned()],
        };
        if record.rounds.len() < MINIMUM_ROUNDS {
            return;
        }
        for answer in answers {
            let (Some(operation), Some(verdict)) = (answer.operation, answer.verdict()) else { continue };
            let name = plain(&record.operations[operation]);
            match words::claims_something(&verdict) {
                true => self.claims.push((name, speaker.operation(&verdict))),
                false => self.unclaimed.push((name, speaker.operation(&verdict))),
            }
        }
        self.notes.splice(0..0, words::how_fine(answers).into_iter().chain([words::how_sure(record, answers, &names)]));
    }

    /// Why there is no verdict at all.
    fn no_verdict(&self, record: &RunRecord) -> Option<String> {
        let compared = self.strategies.iter().filter(|strategy| !strategy.is_unsafe && !strategy.is_control).count();
        if record.rounds.is_empty() {
            return Some("no verdict: no round is complete.".into());
        }
        if self.is_void() {
            return Some("no verdict: the run is not valid.".into());
        }
        if record.settings.preset == "smoke" {
            let rounds = counted(self.rounds, "round");
            return Some(format!("no verdict: {rounds}. The preset smoke only shows that everything runs."));
        }
        match compared {
            0 => Some("no verdict: all strategies are unsafe.".into()),
            1 => Some("no verdict: there is only one strategy to judge.".into()),
            _ => self.strategies.first().filter(|reference| reference.is_unsafe).map(|reference| {
                format!("no verdict: {} is the reference, and unsafe; name a safe strategy first.", reference.name)
            }),
        }
    }
}

fn notes(strategies: &[StrategyView]) -> Vec<String> {
    let unsafe_names: Vec<String> = strategies.iter().filter(|s| s.is_unsafe).map(|s| s.name.clone()).collect();
    let tallies: Vec<(&str, &Tally)> = strategies.iter().map(|s| (s.name.as_str(), &s.tally)).collect();
    let mut notes = words::refusals(&tallies);
    if !unsafe_names.is_empty() {
        let are = if unsafe_names.len() == 1 { "is" } else { "are" };
        notes.push(format!("{} {are} unsafe (a negative control) and left out of the verdict.", listed(&unsafe_names)));
    }
    notes
}

fn calls(record: &RunRecord, strategy: usize, operation: usize) -> u64 {
    stats::operations(record, strategy, operation).map(|operation| operation.calls).sum()
}

/// The measured calls of every cell, when they are equal.
fn calls_per_cell(record: &RunRecord) -> Option<u64> {
    let mut cells = record.rounds.iter().flat_map(|round| &round.cells).map(|cell| cell.calls);
    let first = cells.next()?;
    cells.all(|calls| calls == first).then_some(first)
}

fn strategy(record: &RunRecord, strategy: usize) -> StrategyView {
    let entry = &record.strategies[strategy];
    let mut collections = stats::collection_growth(record, strategy);
    collections.iter_mut().for_each(|growth| growth.collection = plain(&growth.collection));
    let steps: Vec<f64> = (0..=FOLLOWED_STEPS).map(|step| f64::from(step) / f64::from(FOLLOWED_STEPS)).collect();
    let mut followed = stats::followed_growth(record, strategy, &FOLLOWED_AT);
    let mut growth = stats::followed_growth(record, strategy, &steps);
    for growth in followed.iter_mut().chain(&mut growth) {
        (growth.collection, growth.label) = (plain(&growth.collection), plain(&growth.label));
    }
    let open = stats::open_load(record, strategy);
    StrategyView {
        name: plain(&entry.name),
        about: plain(&entry.about),
        is_unsafe: entry.is_unsafe,
        is_control: entry.control,
        calls_per_second: match &open {
            Some(open) => Some(open.achieved),
            None => stats::calls_per_second(record, strategy),
        },
        open,
        tally: tally(stats::cells(record, strategy).flat_map(|cell| &cell.operations)),
        audits: stats::anomalies(record, strategy),
        collections,
        followed,
        growth,
        slice_rates: stats::slice_rates(record, strategy),
        round_rates: stats::round_rates(record, strategy),
        round_times: stats::round_times(record, strategy),
    }
}

fn row(record: &RunRecord, answer: &Answer) -> Row {
    let operation = answer.operation;
    let cell = |strategy: usize| {
        let measured = || {
            stats::cells(record, strategy).flat_map(|cell| match operation {
                Some(operation) => cell.operations.get(operation).into_iter().collect::<Vec<_>>(),
                None => cell.operations.iter().collect(),
            })
        };
        Measured {
            mean: stats::geometric_mean(&answer.arms[strategy].means),
            comparison: answer.comparison(strategy).cloned(),
            distribution: Distribution::of(measured()),
            tally: tally(measured()),
        }
    };
    let weights = || record.mix.weights.iter().filter(|(_, weight)| *weight > 0.0);
    let name = operation.map(|operation| record.operations[operation].as_str());
    let weight: f64 = weights().filter(|(of, _)| Some(of.as_str()) == name).map(|(_, weight)| weight).sum();
    Row {
        name: name.map_or_else(|| "mix".to_owned(), plain),
        is_mix: operation.is_none(),
        band: answer.band(),
        fastest: answer.verdict().filter(Verdict::is_clear).map(|verdict| verdict.best),
        share: name.map(|_| weight / weights().map(|(_, weight)| weight).sum::<f64>()),
        cells: (0..record.strategies.len()).map(cell).collect(),
    }
}

impl Report {
    /// The times that the tables show: `service`, or `response` in the open model.
    pub fn times(&self) -> &'static str {
        if self.is_open { "response" } else { "service" }
    }

    /// [`Report::times`] at the start of a sentence.
    pub fn times_capital(&self) -> &'static str {
        if self.is_open { "Response" } else { "Service" }
    }

    /// Whether nothing of this run may be believed.
    pub fn is_void(&self) -> bool {
        !self.void.is_empty()
    }

    /// Whether a bound that was asked for was not kept.
    pub fn has_failed_thresholds(&self) -> bool {
        self.thresholds.iter().any(|threshold| !threshold.has_passed)
    }

    /// What was measured: strategies, mix, rounds and calls.
    pub fn subject(&self) -> String {
        let calls = self.calls.map_or(String::new(), |calls| format!(" of {} per strategy", counted(calls, "call")));
        let names: Vec<String> = self.strategies.iter().map(|strategy| strategy.name.clone()).collect();
        format!("{}, mix {}, {}{calls}", listed(&names), self.mix, counted(self.rounds, "round"))
    }

    /// Whether a cell's difference from the reference is claimed, and which way.
    pub fn claimed(&self, cell: &Measured) -> Option<Claim> {
        let claim = cell.comparison.as_ref()?.claim;
        (self.claims_are_made() && matches!(claim, Claim::Faster | Claim::Slower)).then_some(claim)
    }

    /// The strategy that may be called the fastest in a row, by its place.
    pub fn fastest(&self, row: &Row) -> Option<usize> {
        row.fastest.filter(|_| self.claims_are_made())
    }

    /// Whether this run makes claims about operations at all.
    fn claims_are_made(&self) -> bool {
        !self.claims.is_empty() || !self.unclaimed.is_empty()
    }
}
