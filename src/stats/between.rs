//! Two runs of the same scenario, held against each other.
//!
//! Rounds of two runs share no weather, so nothing pairs them: they are two independent samples. Per number the logarithms
//! of its per-round values are compared with Welch's interval, which does not ask both runs to spread equally.

use crate::results::{LoadModel, NOISE, RoundRecord, RunRecord};

use super::compare::{Arm, MINIMUM_ROUNDS, Role};
use super::estimate::{Estimate, Interval, log_ratios};
use super::latency::{Distribution, geometric_mean};
use super::welch::Shift;
use super::{CollectionGrowth, cells, means, operations};
use super::{calls_per_second, collection_growth, mix_means, role, tally};

/// The quantile that is compared beside the mean.
const QUANTILE: f64 = 0.99;

/// Chance (0 to 1) that an interval of a family does not hold its true ratio.
const ERROR: f64 = 0.05;

/// Fewer means say nothing about all.
const MANY: usize = 3;

/// Two runs and what of them is compared.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'r> {
    /// The one that is compared with.
    pub before: &'r RunRecord,
    /// The one that is judged.
    pub after: &'r RunRecord,
    /// The positions of a common strategy in both.
    pub strategies: &'r [(usize, usize)],
    /// So much more time (0.05 for 5 %) is no regression.
    pub tolerance: f64,
}

/// What two runs say of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Between {
    /// An entry per common strategy.
    pub strategies: Vec<StrategyChange>,
    /// When nearly all means moved alike.
    pub common: Option<Common>,
}

/// One strategy in two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyChange {
    /// Its name.
    pub name: String,
    /// What it takes part in.
    pub role: Role,
    /// Its times, operation by operation, and those of the mix last.
    pub rows: Vec<Row>,
    /// Calls per second before and after; `None` where calls fell due at a rate.
    pub throughput: Option<(f64, f64)>,
    /// Its collections before and after, by name.
    pub collections: Vec<(String, Option<CollectionGrowth>, Option<CollectionGrowth>)>,
}

/// One operation of a strategy, or its mix.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The operation; `None` for the mix.
    pub operation: Option<String>,
    /// The mean time.
    pub mean: TimeChange,
    /// The 99th percentile; `None` where too few calls lie beyond it.
    pub p99: Option<TimeChange>,
    /// The change of the mean in relation to that of the reference strategy, over which a change of the machine as a whole
    /// cancels out; `None` for the reference itself, and where one is missing.
    pub relative: Option<f64>,
}

/// One number in two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeChange {
    /// The geometric mean over the rounds before, in nanoseconds.
    pub before: Option<f64>,
    /// And after.
    pub after: Option<f64>,
    /// After in relation to before; `None` without one of them.
    pub ratio: Option<f64>,
    /// Where that lies, for all of the family at once; `None` with fewer than [`MINIMUM_ROUNDS`] rounds of a run.
    pub interval: Option<Interval>,
    /// What may be said.
    pub ruling: Outcome,
}

/// What may be said of a number in two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// It takes longer, beyond the tolerance.
    Slower,
    /// It takes less time, beyond the tolerance.
    Faster,
    /// It is the same within the tolerance.
    Same,
    /// The interval holds differences on both sides of the tolerance, or the control of a run differs as much.
    Undecided,
    /// Its times cannot be compared.
    Hurdle(Hurdle),
    /// The strategy is unsafe: its times are there to be looked at.
    NotJudged,
}

/// What keeps times from being compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hurdle {
    /// What it is.
    pub why: Why,
    /// Whether it was there before.
    pub before: bool,
    /// Whether it is there after.
    pub after: bool,
}

/// Why the times of an arm cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It could not keep up with the calls that fell due.
    Overloaded,
    /// It failed in more calls than the error budget allows.
    Failures,
    /// In a round no call of it succeeded.
    NoSuccess,
}

impl Outcome {
    /// Whether the later run is worse: slower beyond the tolerance, or with a hurdle that was not there before.
    pub fn is_regression(self) -> bool {
        match self {
            Outcome::Slower => true,
            Outcome::Hurdle(hurdle) => hurdle.after && !hurdle.before,
            _ => false,
        }
    }
}

/// Means that all moved alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Common {
    /// How many means.
    pub means: usize,
    /// Their median ratio.
    pub typical: f64,
    /// The smallest and the greatest ratio.
    pub range: Interval,
}

/// Compares two runs.
pub fn between(runs: Runs) -> Between {
    let drafts: Vec<Vec<Draft>> = runs.strategies.iter().map(|places| drafts(runs, *places)).collect();
    // As within a run, the mix answers a question of its own.
    let family = |is_mix: bool| {
        let members = drafts.iter().flatten().filter(|draft| draft.operation.is_none() == is_mix);
        members.map(|draft| usize::from(draft.mean.is_judged()) + usize::from(draft.p99.is_judged())).sum::<usize>()
    };
    let (mix, operations) = (family(true), family(false));
    let judge = |draft: &Draft, metric: &Draught| {
        let family = if draft.operation.is_none() { mix } else { operations };
        metric.change(runs.tolerance, family)
    };
    let mut strategies = Vec::new();
    for (places, drafts) in runs.strategies.iter().zip(&drafts) {
        let rows = drafts.iter().map(|draft| Row {
            operation: draft.operation.map(|operation| runs.before.operations[operation].clone()),
            mean: judge(draft, &draft.mean),
            p99: draft.p99.has_times().then(|| judge(draft, &draft.p99)),
            relative: relative(runs, *places, draft.operation),
        });
        strategies.push(strategy(runs, *places, rows.collect()));
    }
    let common = common(&strategies);
    Between { strategies, common }
}

impl Between {
    /// Every judged number: strategy, row, whether it is the quantile, and its change.
    pub fn judged(&self) -> impl Iterator<Item = (&StrategyChange, &Row, bool, TimeChange)> {
        let rows = self.strategies.iter().flat_map(|strategy| strategy.rows.iter().map(move |row| (strategy, row)));
        let metrics = rows.flat_map(|(strategy, row)| {
            let p99 = row.p99.map(|p99| (strategy, row, true, p99));
            [Some((strategy, row, false, row.mean)), p99].into_iter().flatten()
        });
        metrics.filter(|(_, _, _, change)| change.ruling != Outcome::NotJudged)
    }

    /// Whether the later run is worse anywhere.
    pub fn has_regression(&self) -> bool {
        self.judged().any(|(_, _, _, change)| change.ruling.is_regression())
    }
}

fn strategy(runs: Runs, (before, after): (usize, usize), rows: Vec<Row>) -> StrategyChange {
    let is_closed = runs.before.settings.load == LoadModel::Closed;
    let throughput = calls_per_second(runs.before, before).zip(calls_per_second(runs.after, after));
    let (old, new) = (collection_growth(runs.before, before), collection_growth(runs.after, after));
    let mut names: Vec<String> = Vec::new();
    for growth in old.iter().chain(&new) {
        if !names.contains(&growth.collection) {
            names.push(growth.collection.clone());
        }
    }
    let find = |all: &[CollectionGrowth], name: &str| all.iter().find(|growth| growth.collection == name).cloned();
    StrategyChange {
        name: runs.before.strategies[before].name.clone(),
        role: judged_role(runs, (before, after)),
        rows,
        throughput: throughput.filter(|_| is_closed),
        collections: names.into_iter().map(|name| (name.clone(), find(&old, &name), find(&new, &name))).collect(),
    }
}

/// A strategy that is unsafe in one run is not judged.
fn judged_role(runs: Runs, (before, after): (usize, usize)) -> Role {
    match (role(runs.before, before), role(runs.after, after)) {
        (Role::Judged, Role::Judged) => Role::Judged,
        _ => Role::Described,
    }
}

/// The numbers of a row before it is known how many there are in the family.
struct Draft {
    operation: Option<usize>,
    mean: Draught,
    p99: Draught,
}

/// One number per round of both runs.
struct Draught {
    before: Vec<Option<f64>>,
    after: Vec<Option<f64>>,
    /// What the controls of both runs say that noise alone can do to its log ratio.
    noise: f64,
    hurdle: Option<Hurdle>,
    is_described: bool,
}

/// Only operations that were called.
fn drafts(runs: Runs, places: (usize, usize)) -> Vec<Draft> {
    let is_called = |operation: usize| {
        let calls = |record: &RunRecord, place: usize| tally(operations(record, place, operation)).calls;
        calls(runs.before, places.0) > 0 && calls(runs.after, places.1) > 0
    };
    let called = (0..runs.before.operations.len()).filter(|operation| is_called(*operation)).map(Some);
    let draft = |operation: Option<usize>| {
        let hurdle = hurdle(runs, places, operation);
        let draught = |per_round: &PerRound| Draught {
            before: per_round(runs.before, places.0, operation),
            after: per_round(runs.after, places.1, operation),
            noise: control_band(runs.before, operation, per_round).max(control_band(runs.after, operation, per_round)),
            hurdle,
            is_described: judged_role(runs, places) != Role::Judged,
        };
        Draft { operation, mean: draught(&mean_per_round), p99: draught(&quantile_per_round) }
    };
    called.chain([None]).map(draft).collect()
}

type PerRound = dyn Fn(&RunRecord, usize, Option<usize>) -> Vec<Option<f64>>;

fn mean_per_round(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Vec<Option<f64>> {
    match operation {
        Some(operation) => means(record, strategy, operation),
        None => mix_means(record, strategy),
    }
}

fn quantile_per_round(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Vec<Option<f64>> {
    let of_round = |round: &RoundRecord| {
        let cell = round.cells.get(strategy)?;
        let wanted = cell.operations.iter().enumerate().filter(|(place, _)| operation.is_none_or(|one| one == *place));
        let time = Distribution::of(wanted.map(|(_, record)| record)).quantile(QUANTILE)?;
        Some(time as f64).filter(|time| *time > 0.0)
    };
    record.rounds.iter().map(of_round).collect()
}

/// How far the control of a run says that noise alone moves this number; 0 without a control.
fn control_band(record: &RunRecord, operation: Option<usize>, per_round: &PerRound) -> f64 {
    let control = record.strategies.iter().position(|strategy| strategy.control);
    let ratios =
        control.map(|place| log_ratios(&per_round(record, place, operation), &per_round(record, 0, operation)));
    ratios.and_then(|ratios| Estimate::of(&ratios)?.band()).unwrap_or(0.0)
}

fn hurdle(runs: Runs, (before, after): (usize, usize), operation: Option<usize>) -> Option<Hurdle> {
    let (old, new) = (why(runs.before, before, operation), why(runs.after, after, operation));
    let why = new.or(old)?;
    Some(Hurdle { why, before: old.is_some(), after: new.is_some() })
}

fn why(record: &RunRecord, strategy: usize, operation: Option<usize>) -> Option<Why> {
    let arm = Arm::of(record, strategy, operation);
    let is_without = |(cell, mean): (&crate::results::CellRecord, &Option<f64>)| {
        let calls = operation.map_or(cell.calls, |place| cell.operations.get(place).map_or(0, |one| one.calls));
        calls > 0 && mean.is_none()
    };
    if arm.overloaded.is_some() {
        Some(Why::Overloaded)
    } else if arm.failed_share > record.settings.error_budget {
        Some(Why::Failures)
    } else {
        cells(record, strategy).zip(&arm.means).any(is_without).then_some(Why::NoSuccess)
    }
}

impl Draught {
    fn has_times(&self) -> bool {
        let enough = |values: &[Option<f64>]| values.iter().flatten().count() >= MINIMUM_ROUNDS;
        enough(&self.before) && enough(&self.after)
    }

    fn shift(&self) -> Option<Shift> {
        let logs = |values: &[Option<f64>]| values.iter().flatten().map(|value| value.ln()).collect::<Vec<f64>>();
        Shift::of(&logs(&self.before), &logs(&self.after))
    }

    fn is_judged(&self) -> bool {
        self.has_times() && self.hurdle.is_none() && !self.is_described
    }

    fn change(&self, tolerance: f64, family: usize) -> TimeChange {
        let shift = self.shift().filter(|_| self.hurdle.is_none());
        let interval = shift.filter(|_| self.has_times()).map(|shift| shift.bounds(ERROR / family.max(1) as f64));
        let ruling = match (self.hurdle, interval, shift) {
            _ if self.is_described => Outcome::NotJudged,
            (Some(hurdle), ..) => Outcome::Hurdle(hurdle),
            (None, Some(bounds), Some(shift)) => rule(bounds, shift.mean, tolerance.ln_1p(), self.noise),
            _ => Outcome::Undecided,
        };
        TimeChange {
            before: geometric_mean(&self.before),
            after: geometric_mean(&self.after),
            ratio: shift.map(|shift| shift.mean.exp()),
            interval: interval.map(|(low, high)| Interval { low: low.exp(), high: high.exp() }),
            ruling,
        }
    }
}

/// All are logarithms: the ends of the interval, the ratio, the tolerance, and what noise alone does.
fn rule((low, high): (f64, f64), mean: f64, tolerance: f64, noise: f64) -> Outcome {
    if low >= -tolerance && high <= tolerance {
        return Outcome::Same;
    }
    match mean.abs() > noise {
        true if low > tolerance => Outcome::Slower,
        true if high < -tolerance => Outcome::Faster,
        _ => Outcome::Undecided,
    }
}

/// The change of a strategy's mean over that of the reference of the earlier run, each within its own rounds.
fn relative(runs: Runs, (before, after): (usize, usize), operation: Option<usize>) -> Option<f64> {
    let (reference, moved) = runs.strategies.iter().copied().find(|(place, _)| *place == 0)?;
    let ratio = |record: &RunRecord, strategy: usize, reference: usize| {
        let (mine, theirs) =
            (mean_per_round(record, strategy, operation), mean_per_round(record, reference, operation));
        Some(Estimate::of(&log_ratios(&mine, &theirs))?.mean)
    };
    let change = ratio(runs.after, after, moved)? - ratio(runs.before, before, reference)?;
    (before != reference).then(|| change.exp())
}

/// Whether the means of operations of at least two strategies moved alike: all in one direction, each by half to one and
/// a half of their median, and that beyond [`NOISE`].
fn common(strategies: &[StrategyChange]) -> Option<Common> {
    let rows = || strategies.iter().flat_map(|strategy| &strategy.rows).filter(|row| row.operation.is_some());
    let mut logs: Vec<f64> = rows().filter_map(|row| Some(row.mean.ratio?.ln())).collect();
    logs.sort_by(f64::total_cmp);
    let (low, high, typical) = (*logs.first()?, *logs.last()?, logs[logs.len() / 2]);
    let is_near = |log: &f64| (log - typical).abs() <= typical.abs() / 2.0;
    let is_common =
        strategies.len() > 1 && logs.len() >= MANY && typical.abs() > NOISE.ln_1p() && logs.iter().all(is_near);
    let range = Interval { low: low.exp(), high: high.exp() };
    is_common.then(|| Common { means: logs.len(), typical: typical.exp(), range })
}
