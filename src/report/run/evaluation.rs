//! A run evaluated: all numbers that its report shows, before any of them is text.

use crate::record::{Metric, MetricRow, Part};
use crate::report::document::format::plain;
use crate::results::{DeferredCost, LoadModel, RunRecord};
use crate::stats::{
    self, Anomalies, ArmComparison, CollectionGrowth, Comparison, ComparisonFamily, Distribution, InFlight,
    MINIMUM_ROUNDS, OpenLoad, OutcomeTotals, Ranking, Ratio, RoundSeries, RoundTimes, SeriesKey, SharedCache, Spread,
    Times, Verdict, ask, outcome_totals,
};

use super::cost::{self, Costs};
use super::verdict_text;

/// A run's numbers.
#[derive(Debug)]
pub struct Evaluation {
    /// The mix.
    pub mix: String,
    /// Complete rounds.
    pub rounds: u64,
    /// Calls per strategy and round; `None` when they differ.
    pub calls: Option<u64>,
    /// Whether the load was open: times are response times then, else service times.
    pub is_open: bool,
    /// The load, in a few words.
    pub load: String,
    /// Why there is no verdict, in a sentence.
    pub no_verdict: Option<String>,
    /// The strategies, the baseline first.
    pub strategies: Vec<StrategyResults>,
    /// The operations that were called, then the mix.
    pub rows: Vec<OperationResults>,
    /// The comparisons behind the rows: those of operations, or those of the mix.
    pub families: Vec<ComparisonFamily>,
    /// What calls cost the server.
    pub costs: Costs,
    /// A ratio this close to 1 (0.02 for 2 %) is never reported as a difference.
    pub noise: f64,
    has_verdicts: bool,
}

/// One strategy over all operations.
#[derive(Debug, Clone)]
pub struct StrategyResults {
    /// Its name.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// A negative control, without part in verdicts.
    pub is_unsafe: bool,
    /// The baseline measured a second time.
    pub is_repeat: bool,
    /// Calls per second; with open load those sent in time.
    pub calls_per_second: Option<f64>,
    /// Whether it kept up with the intended rate; `None` with closed load.
    pub open: Option<OpenLoad>,
    /// The calls in flight with closed load; `None` with open load.
    pub in_flight: Option<InFlight>,
    /// What its calls left to write.
    pub deferred: Option<DeferredCost>,
    /// The outcomes of its calls.
    pub totals: OutcomeTotals,
    /// What its audits counted.
    pub audits: Vec<Anomalies>,
    /// How its collections grew.
    pub collections: Vec<CollectionGrowth>,
    /// Calls per second of each slice, over the rounds.
    pub slice_rates: Vec<Option<Spread>>,
    /// Calls per second of each round.
    pub round_rates: Vec<Option<f64>>,
    /// Median and 99th percentile of the calls of each round.
    pub round_times: Vec<RoundTimes>,
}

/// An operation, or the mix, with every strategy.
#[derive(Debug, Clone)]
pub struct OperationResults {
    /// Its name.
    pub name: String,
    /// Its position in the run; `None` for the mix.
    pub operation: Option<usize>,
    /// Whether it is the mix.
    pub is_mix: bool,
    /// Its share (0 to 1) of the mix; `None` for the mix.
    pub share: Option<f64>,
    /// How far from 1 (0.02 for 2 %) the repeat's ratio is; `None` without a repeat.
    pub band: Option<f64>,
    /// The strategy that may be called the fastest, by its place; `None` where none may.
    pub fastest: Option<usize>,
    /// A cell per strategy.
    pub cells: Vec<Measured>,
}

impl OperationResults {
    /// Its name among those of operations.
    pub fn label(&self) -> &str {
        if self.is_mix { "whole mix" } else { &self.name }
    }
}

/// An operation of one strategy over all rounds.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The geometric mean over rounds of the mean time, in nanoseconds.
    pub mean: Option<f64>,
    /// The comparison with the baseline; `None` for the baseline itself.
    pub comparison: Option<Comparison>,
    /// The times at [`MetricRow::quantiles`] over all rounds, in nanoseconds; `None` with too few calls beyond one.
    pub quantiles: Vec<Option<f64>>,
    /// The times of the calls of all rounds together.
    pub distribution: Distribution,
    /// The outcomes of the calls.
    pub totals: OutcomeTotals,
}

impl Measured {
    /// The ratio to the baseline.
    pub fn ratio(&self) -> Option<Ratio> {
        self.comparison.as_ref()?.ratio
    }

    /// The time in nanoseconds at one of [`MetricRow::quantiles`].
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let place = MetricRow::quantiles().position(|(_, known)| known == share)?;
        self.quantiles.get(place).copied().flatten()
    }
}

impl Evaluation {
    /// Computes all numbers of a part of a run. `mix` is a part with the whole mix, by which the context of own costs is
    /// judged; `cache` is that of the run.
    pub fn new(record: &RunRecord, mix: Option<&RunRecord>, cache: &SharedCache) -> Evaluation {
        let strategies: Vec<StrategyResults> = (0..record.strategies.len()).map(|s| strategy(record, s)).collect();
        let has_calls = |s, operation| stats::operations(record, s, operation).any(|one| one.calls > 0);
        let called = |operation: &usize| (0..strategies.len()).any(|s| has_calls(s, *operation));
        let operations: Vec<usize> = (0..record.operations.len()).filter(called).collect();
        let (families, described) = ask(record, &operations, mix, cache);
        let asked = || families.iter().flat_map(|family| &family.questions);
        // Operations by themselves have rows of their own, and the mix is made of them: it has no calls.
        let has_row = |one: &&ArmComparison| {
            one.metric == Metric::MEAN && (one.operation.is_some() || record.part != Some(Part::Own))
        };
        let of_means = described.iter().chain(asked().filter(has_row));
        let rows = of_means.map(|comparison| row(record, comparison)).collect();
        let no_verdict = verdict_text::no_verdict(record);
        let has_verdicts = no_verdict.is_none() && record.rounds.len() >= MINIMUM_ROUNDS;
        Evaluation {
            mix: plain(&record.mix.name),
            rounds: record.rounds.len() as u64,
            calls: calls_per_cell(record),
            load: verdict_text::load(&record.settings),
            is_open: record.settings.load != LoadModel::Closed,
            no_verdict,
            strategies,
            rows,
            has_verdicts: has_verdicts && asked().any(|one| one.ranking().is_some()),
            families,
            costs: cost::costs(record),
            noise: record.settings.noise,
        }
    }

    /// The tested comparisons.
    pub fn comparisons(&self) -> impl Iterator<Item = &ArmComparison> {
        self.families.iter().flat_map(|family| &family.questions)
    }

    /// The mix, which verdicts are about, and then the operations.
    pub fn mix_first(&self) -> impl Iterator<Item = &OperationResults> {
        self.rows.iter().filter(|row| row.is_mix).chain(self.rows.iter().filter(|row| !row.is_mix))
    }

    /// All operations and the mix of all strategies.
    pub fn cells(&self) -> impl Iterator<Item = &Measured> {
        self.rows.iter().flat_map(|row| &row.cells)
    }

    /// Whether any ratio has an interval.
    pub fn has_intervals(&self) -> bool {
        self.cells().filter_map(Measured::ratio).any(|ratio| ratio.interval.is_some())
    }

    /// The comparison of the mean times of an operation, or of the mix, where it is tested.
    pub fn mean_of(&self, operation: Option<usize>) -> Option<&ArmComparison> {
        self.comparisons().find(|one| one.metric == Metric::MEAN && one.operation == operation)
    }

    /// The strategies with their places, without the repeat: it is the baseline again.
    pub fn without_repeat(&self) -> impl Iterator<Item = (usize, &StrategyResults)> {
        self.strategies.iter().enumerate().filter(|(_, strategy)| !strategy.is_repeat)
    }

    /// The name of a strategy.
    pub fn name(&self, strategy: usize) -> Option<&str> {
        self.strategies.get(strategy).map(|strategy| strategy.name.as_str())
    }

    /// The baseline strategy's name.
    pub fn baseline(&self) -> &str {
        self.strategies.first().map_or("the baseline", |strategy| &strategy.name)
    }

    /// The times that strategies are judged by: `service`, or `response` with open load.
    pub fn times(&self) -> &'static str {
        if self.is_open { "response" } else { "service" }
    }

    /// The difference from the baseline that is reported for a cell.
    pub fn difference(&self, cell: &Measured) -> Option<Verdict> {
        cell.comparison.as_ref()?.verdict.shown().filter(|_| self.has_verdicts)
    }
}

/// The measured calls of every cell, when they are equal.
fn calls_per_cell(record: &RunRecord) -> Option<u64> {
    let mut cells = record.rounds.iter().flat_map(|round| &round.cells).map(|cell| cell.calls);
    let first = cells.next()?;
    cells.all(|calls| calls == first).then_some(first)
}

fn strategy(record: &RunRecord, strategy: usize) -> StrategyResults {
    let entry = &record.strategies[strategy];
    let mut collections = stats::collection_growth(record, strategy);
    collections.iter_mut().for_each(|growth| growth.collection = plain(&growth.collection));
    let open = stats::open_load(record, strategy);
    let rate = open.as_ref().map(|open| open.achieved);
    StrategyResults {
        name: plain(&entry.name),
        about: plain(&entry.about),
        is_unsafe: entry.is_unsafe,
        is_repeat: entry.is_repeat,
        calls_per_second: rate.or_else(|| stats::value(record, Metric::Throughput, strategy, None)),
        in_flight: if open.is_none() { stats::in_flight(record, strategy) } else { None },
        deferred: stats::deferred(record, strategy),
        open,
        totals: outcome_totals(stats::all_operations(record, strategy)),
        audits: stats::anomalies(record, strategy),
        collections,
        slice_rates: stats::slice_rates(record, strategy),
        round_rates: RoundSeries::alone(record, SeriesKey::new(Metric::Throughput, strategy, None)).rounds,
        round_times: stats::round_times(record, strategy),
    }
}

fn row(record: &RunRecord, comparison: &ArmComparison) -> OperationResults {
    let operation = comparison.operation;
    let strategies = 0..record.strategies.len();
    let times: Vec<Times> = strategies.clone().map(|strategy| Times::of(record, strategy, operation, None)).collect();
    let shares: Vec<f64> = MetricRow::quantiles().map(|(_, share)| share).collect();
    let quantiles = stats::quantile_values(record, operation, &times, &shares);
    let cell = |((strategy, times), quantiles): ((usize, Times), Vec<Option<f64>>)| {
        let measured = stats::cells(record, strategy).flat_map(|cell| stats::selected(&cell.operations, operation));
        Measured {
            mean: comparison.arms()[strategy].series.value,
            comparison: comparison.with_baseline(strategy).cloned(),
            quantiles,
            distribution: times.all,
            totals: outcome_totals(measured),
        }
    };
    let cells = strategies.zip(times).zip(quantiles).map(cell).collect();
    let weights = || record.mix.weights.iter().filter(|(_, weight)| *weight > 0.0);
    let name = operation.map(|operation| record.operations[operation].as_str());
    let weight: f64 = weights().filter(|(of, _)| Some(of.as_str()) == name).map(|(_, weight)| weight).sum();
    OperationResults {
        name: name.map_or_else(|| "mix".to_owned(), plain),
        operation,
        is_mix: operation.is_none(),
        band: comparison.band(),
        fastest: comparison.ranking().filter(Ranking::is_clear).map(|ranking| ranking.best),
        share: name.map(|_| weight / weights().map(|(_, weight)| weight).sum::<f64>()),
        cells,
    }
}
