//! From a record to a report.

use crate::results::RunRecord;
use crate::stats::{self, Arm, Claim, Distribution, MINIMUM_ROUNDS, NOISE_FLOOR, tally};

use super::format::{counted, listed, plain};
use super::words::{self, Speaker};
use super::{FOLLOWED_AT, Measured, Report, Row, StrategyView, method};

impl Report {
    /// Computes what a report of this run says.
    pub fn new(record: &RunRecord) -> Report {
        let strategies: Vec<StrategyView> = (0..record.strategies.len()).map(|s| strategy(record, s)).collect();
        let called = |operation: &usize| (0..strategies.len()).any(|s| calls(record, s, *operation) > 0);
        let operations: Vec<usize> = (0..record.operations.len()).filter(called).collect();
        let mut rows: Vec<Row> = operations.iter().map(|operation| row(record, Some(*operation))).collect();
        rows.push(row(record, None));
        let mut report = Report {
            scenario: plain(&record.scenario.name),
            title: plain(&record.scenario.title),
            about: plain(&record.scenario.about),
            mix: plain(&record.mix.name),
            rounds: record.rounds.len() as u64,
            calls: calls_per_cell(record),
            status: words::status(record),
            verdict: Vec::new(),
            claims: Vec::new(),
            unclaimed: Vec::new(),
            notes: Vec::new(),
            strategies,
            rows,
            measured: method::measured(record),
            command: method::command(record),
            warnings: method::warnings(record),
            folder: None,
        };
        report.judge(record, &operations);
        report
    }

    /// Says where the run's files are.
    #[must_use]
    pub fn in_folder(mut self, folder: &str) -> Report {
        self.folder = Some(plain(folder));
        self
    }

    fn judge(&mut self, record: &RunRecord, operations: &[usize]) {
        let names: Vec<String> = self.strategies.iter().map(|strategy| strategy.name.clone()).collect();
        let speaker = Speaker { names: &names };
        self.notes = notes(&self.strategies);
        if let Some(sentence) = self.no_verdict(record) {
            self.verdict = vec![sentence];
            return;
        }
        let unanswered = "no verdict: in no round did every strategy have successful calls of every operation.";
        self.verdict = match stats::verdict(&arms(record, None)) {
            Some(verdict) => speaker.overall(&self.mix, &verdict),
            None => vec![unanswered.to_owned()],
        };
        if record.rounds.len() < MINIMUM_ROUNDS {
            return;
        }
        for operation in operations {
            let Some(verdict) = stats::verdict(&arms(record, Some(*operation))) else { continue };
            let name = plain(&record.operations[*operation]);
            match speaker.operation(&verdict) {
                Some(claim) => self.claims.push((name, claim)),
                None => self.unclaimed.push((name, speaker.reasons(&verdict))),
            }
        }
        self.notes.insert(0, how_sure());
    }

    /// Why there is no verdict at all.
    fn no_verdict(&self, record: &RunRecord) -> Option<String> {
        let compared = self.strategies.iter().filter(|strategy| !strategy.is_unsafe).count();
        if record.rounds.is_empty() {
            return Some("no verdict: no round is complete.".into());
        }
        if record.settings.preset == "smoke" {
            let rounds = counted(self.rounds, "round");
            return Some(format!("no verdict: {rounds}. The preset smoke only shows that everything runs."));
        }
        match compared {
            0 => Some("no verdict: all strategies are unsafe.".into()),
            1 => Some("no verdict: there is only one strategy to judge.".into()),
            _ => None,
        }
    }
}

fn how_sure() -> String {
    format!(
        "Faster means: less mean service time in every round, of which there are at least {MINIMUM_ROUNDS}, and by more \
         than {:.0} % over all; in brackets the lowest and the highest round. Claims rest on a sign test per comparison, \
         not yet corrected for the number of comparisons.",
        NOISE_FLOOR * 100.0
    )
}

fn notes(strategies: &[StrategyView]) -> Vec<String> {
    let unsafe_names: Vec<String> = strategies.iter().filter(|s| s.is_unsafe).map(|s| s.name.clone()).collect();
    let mut notes: Vec<String> = strategies.iter().filter_map(|s| words::refusals(&s.name, &s.tally)).collect();
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
    let mut followed = stats::followed_growth(record, strategy, &FOLLOWED_AT);
    for growth in &mut followed {
        (growth.collection, growth.label) = (plain(&growth.collection), plain(&growth.label));
    }
    StrategyView {
        name: plain(&entry.name),
        about: plain(&entry.about),
        is_unsafe: entry.is_unsafe,
        calls_per_second: stats::calls_per_second(record, strategy),
        tally: tally(stats::cells(record, strategy).flat_map(|cell| &cell.operations)),
        collections,
        followed,
    }
}

/// The mean times of one operation, or of the mix, per round.
fn means(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Vec<Option<f64>> {
    match operation {
        Some(operation) => stats::means(record, strategy, operation),
        None => stats::mix_means(record, strategy),
    }
}

fn arm(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Arm {
    // Whoever fails too often is not compared anywhere, and nobody in an operation that fails too often.
    let whole = tally(stats::cells(record, strategy).flat_map(|cell| &cell.operations));
    let own = operation.map(|operation| tally(stats::operations(record, strategy, operation)));
    let failed_share = own.map_or(0.0, |own| own.failed_share()).max(whole.failed_share());
    Arm { strategy, means: means(record, strategy, operation), failed_share }
}

/// The arms that take part in verdicts.
fn arms(record: &RunRecord, operation: Option<usize>) -> Vec<Arm> {
    let safe = record.strategies.iter().enumerate().filter(|(_, strategy)| !strategy.is_unsafe);
    safe.map(|(strategy, _)| arm(record, strategy, operation)).collect()
}

fn row(record: &RunRecord, operation: Option<usize>) -> Row {
    let reference = arm(record, 0, operation);
    let cell = |strategy: usize| {
        let arm = arm(record, strategy, operation);
        let measured = || {
            stats::cells(record, strategy).flat_map(|cell| match operation {
                Some(operation) => cell.operations.get(operation).into_iter().collect::<Vec<_>>(),
                None => cell.operations.iter().collect(),
            })
        };
        Measured {
            mean: stats::geometric_mean(&arm.means),
            comparison: (strategy > 0).then(|| stats::compare(&arm, &reference)),
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
        share: name.map(|_| weight / weights().map(|(_, weight)| weight).sum::<f64>()),
        cells: (0..record.strategies.len()).map(cell).collect(),
    }
}

impl Report {
    /// What was measured: strategies, mix, rounds and calls.
    pub fn subject(&self) -> String {
        let calls = self.calls.map_or(String::new(), |calls| format!(" of {} per strategy", counted(calls, "call")));
        let names: Vec<String> = self.strategies.iter().map(|strategy| strategy.name.clone()).collect();
        format!("{}, mix {}, {}{calls}", listed(&names), self.mix, counted(self.rounds, "round"))
    }

    /// Whether a cell's difference from the reference is claimed, and which way.
    pub fn claimed(&self, cell: &Measured) -> Option<Claim> {
        let comparison = cell.comparison.as_ref()?;
        let is_safe = |strategy: usize| self.strategies.get(strategy).is_some_and(|strategy| !strategy.is_unsafe);
        let is_claim = matches!(comparison.claim, Claim::Faster | Claim::Slower);
        let counts = self.claims_are_made() && is_safe(comparison.strategy) && is_safe(comparison.against);
        (is_claim && counts).then_some(comparison.claim)
    }

    /// Whether this run makes claims about operations at all.
    fn claims_are_made(&self) -> bool {
        !self.claims.is_empty() || !self.unclaimed.is_empty()
    }
}
