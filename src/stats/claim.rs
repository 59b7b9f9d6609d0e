//! What a run says of the scenario's claims.
//!
//! Nothing is measured for them: times are those of the comparisons, counts those of the cost pass and of the sizes.

use crate::results::{ClaimRecord, CollectionSizes, CostRecord, LoadModel, Relation, RunRecord, Than};

use super::compare::{Arm, Comparison, Limits, MINIMUM_ROUNDS, Reason, obstacle};
use super::cost::single_cost;
use super::estimate::{Estimate, Interval, log_ratios};
use super::latency::{Distribution, geometric_mean, means};
use super::{cells, collection_growth, operations, t_quantile, void};

/// A count equals a number that it is this close to (0.005 for 0.5 %): numbers in scenarios are rounded.
const ROUNDING: f64 = 0.005;

/// Counts are below or above one another when they differ by more than this.
pub const DEAD_ZONE: f64 = 0.02;

/// What was found of a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Whether it holds.
    pub ruling: Ruling,
    /// The strategy's number: nanoseconds, calls per second, a count or bytes per call, or bytes.
    pub value: Option<f64>,
    /// The number that it is compared with.
    pub against: Option<f64>,
    /// For what is measured over rounds: the one in relation to the other.
    pub ratio: Option<f64>,
    /// Where that lies.
    pub interval: Option<Interval>,
    /// Whether the interval is that of the report's comparisons, which holds for all of them at once; else it is a 95 % t
    /// interval of this pair alone.
    pub is_simultaneous: bool,
}

/// Whether a claim holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// It does.
    Confirmed,
    /// The opposite does.
    Refuted,
    /// This run cannot tell.
    Undecided(Doubt),
}

/// Why a run cannot tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// These strategies or operations are not part of it.
    Absent(Vec<String>),
    /// It is not valid.
    Void,
    /// It only showed that everything runs.
    Smoke,
    /// The times of the two cannot be compared.
    Incomparable(Reason),
    /// In too many rounds too few calls lie beyond the quantile.
    FewCalls,
    /// The server does not tell it, or the run did not get that far.
    Untold,
    /// Files were read without a flush and lag behind.
    Unflushed,
    /// Calls fell due at a rate, which is then the throughput of all.
    Paced,
    /// The interval of the ratio holds 1.
    Unclear,
    /// The difference is within the run's noise floor, or what its control shows.
    Noise,
    /// The counts differ by no more than [`DEAD_ZONE`].
    Close,
    /// This build does not know the metric, or not compared like that.
    Unknown,
}

impl Finding {
    fn undecided(doubt: Doubt) -> Finding {
        let (value, against, ratio, interval) = (None, None, None, None);
        Finding { ruling: Ruling::Undecided(doubt), value, against, ratio, interval, is_simultaneous: false }
    }
}

/// A metric of measured calls.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Time {
    Quantile(f64),
    Mean,
    Throughput,
}

impl Time {
    fn of(metric: &str) -> Option<Time> {
        match metric {
            "p50" => Some(Time::Quantile(0.5)),
            "p99" => Some(Time::Quantile(0.99)),
            "mean" => Some(Time::Mean),
            "throughput" => Some(Time::Throughput),
            _ => None,
        }
    }
}

/// A finding per claim of the run. `comparison` gives what the report says of an operation and a strategy against the
/// reference.
pub fn findings(record: &RunRecord, comparison: &dyn Fn(usize, usize) -> Option<Comparison>) -> Vec<Finding> {
    if record.claims.is_empty() {
        return Vec::new();
    }
    let is_void = !void(record).is_empty();
    record.claims.iter().map(|claim| finding(record, claim, is_void, comparison)).collect()
}

fn finding(
    record: &RunRecord,
    claim: &ClaimRecord,
    is_void: bool,
    comparison: &dyn Fn(usize, usize) -> Option<Comparison>,
) -> Finding {
    let strategy = |name: &str| record.strategies.iter().position(|entry| entry.name == name);
    let other = match &claim.than {
        Than::Strategy(name) => Some(name.as_str()),
        Than::Number(_) => None,
    };
    let named = [Some(claim.strategy.as_str()), other].into_iter().flatten();
    let mut absent: Vec<String> = named.filter(|name| strategy(name).is_none()).map(str::to_owned).collect();
    let operation = claim.operation.as_deref().map(|name| (name, called(record, name)));
    absent.extend(operation.filter(|(_, place)| place.is_none()).map(|(name, _)| name.to_owned()));
    if !absent.is_empty() {
        return Finding::undecided(Doubt::Absent(absent));
    }
    if is_void {
        return Finding::undecided(Doubt::Void);
    }
    let Some(place) = strategy(&claim.strategy) else { return Finding::undecided(Doubt::Unknown) };
    match (Time::of(&claim.metric), other.and_then(strategy), &claim.than) {
        (Some(time), Some(other), _) if claim.relation != Relation::Equals => {
            let operation = operation.and_then(|(_, place)| place);
            Pair { record, time, operation, arms: (place, other) }.compare(claim.relation, comparison)
        }
        (Some(_), ..) => Finding::undecided(Doubt::Unknown),
        (None, Some(other), _) => {
            let against = count(record, claim, other);
            counted(count(record, claim, place), against, claim.relation)
        }
        (None, None, Than::Number(number)) => counted(count(record, claim, place), Ok(*number), claim.relation),
        (None, None, Than::Strategy(_)) => Finding::undecided(Doubt::Unknown),
    }
}

/// The place of an operation that was called in this run, be it in the cost pass alone.
fn called(record: &RunRecord, name: &str) -> Option<usize> {
    let place = record.operations.iter().position(|operation| operation == name)?;
    let measured = (0..record.strategies.len()).flat_map(|strategy| operations(record, strategy, place));
    let is_called = measured.map(|operation| operation.calls).any(|calls| calls > 0)
        || record.costs.iter().any(|cost| cost.operation == name && cost.calls > 0);
    is_called.then_some(place)
}

/// Two strategies, and what of them is compared over rounds.
struct Pair<'r> {
    record: &'r RunRecord,
    time: Time,
    operation: Option<usize>,
    arms: (usize, usize),
}

impl Pair<'_> {
    fn compare(&self, relation: Relation, comparison: &dyn Fn(usize, usize) -> Option<Comparison>) -> Finding {
        let Pair { record, time, arms: (mine, theirs), .. } = *self;
        let (values, others) = (self.rounds(mine), self.rounds(theirs));
        let Some(estimate) = Estimate::of(&log_ratios(&values, &others)) else {
            return Finding::undecided(self.without_rounds());
        };
        let told = self.told(comparison);
        let own = || estimate.interval(t_quantile(0.975, estimate.rounds.max(2) - 1));
        let interval = told.unwrap_or_else(own);
        let interval = interval.filter(|_| estimate.rounds >= MINIMUM_ROUNDS);
        let limits = Limits::of(&record.settings);
        let is_noise = estimate.mean.abs() <= limits.floor().max(self.band().unwrap_or(0.0));
        let arm = |strategy: usize| Arm::of(record, strategy, self.operation);
        let ruling = if record.settings.preset == "smoke" {
            Ruling::Undecided(Doubt::Smoke)
        } else if time == Time::Throughput && record.settings.load != LoadModel::Closed {
            Ruling::Undecided(Doubt::Paced)
        } else if let Some(reason) = obstacle(&arm(mine), &arm(theirs), limits) {
            Ruling::Undecided(Doubt::Incomparable(reason))
        } else if estimate.rounds < MINIMUM_ROUNDS {
            Ruling::Undecided(self.without_rounds())
        } else {
            match interval.filter(|interval| interval.high < 1.0 || interval.low > 1.0) {
                None => Ruling::Undecided(Doubt::Unclear),
                Some(_) if is_noise => Ruling::Undecided(Doubt::Noise),
                Some(interval) if (interval.high < 1.0) == (relation == Relation::Below) => Ruling::Confirmed,
                Some(_) => Ruling::Refuted,
            }
        };
        Finding {
            ruling,
            value: geometric_mean(&values),
            against: geometric_mean(&others),
            ratio: Some(estimate.ratio()),
            interval,
            is_simultaneous: told.is_some(),
        }
    }

    /// The metric per round.
    fn rounds(&self, strategy: usize) -> Vec<Option<f64>> {
        let quantile = |share: f64, round: usize| {
            let cell = self.record.rounds[round].cells.get(strategy)?;
            let times = Distribution::of(self.operation.and_then(|place| cell.operations.get(place)).into_iter());
            times.quantile(share).map(|time| time as f64)
        };
        let of_round = |round: usize| match self.time {
            Time::Quantile(share) => quantile(share, round),
            _ => self.record.rounds[round].cells.get(strategy).map(|cell| cell.calls as f64 / cell.seconds),
        };
        let values = match (self.time, self.operation) {
            (Time::Mean, Some(operation)) => means(self.record, strategy, operation),
            _ => (0..self.record.rounds.len()).map(of_round).collect(),
        };
        values.into_iter().map(|value| value.filter(|value| value.is_finite() && *value > 0.0)).collect()
    }

    /// Why there are too few rounds with a ratio.
    fn without_rounds(&self) -> Doubt {
        match (self.record.rounds.len(), self.time) {
            (rounds, _) if rounds < MINIMUM_ROUNDS => Doubt::Incomparable(Reason::TooFewRounds(rounds)),
            (_, Time::Quantile(_)) => Doubt::FewCalls,
            _ => Doubt::Untold,
        }
    }

    /// How far the control says that this metric's log ratio may be from 0 by noise alone.
    fn band(&self) -> Option<f64> {
        let control = self.record.strategies.iter().position(|strategy| strategy.control)?;
        Estimate::of(&log_ratios(&self.rounds(control), &self.rounds(0)))?.band()
    }

    /// The report's interval of a mean against the reference's; `None` where the report has no such comparison.
    fn told(&self, comparison: &dyn Fn(usize, usize) -> Option<Comparison>) -> Option<Option<Interval>> {
        let operation = self.operation.filter(|_| self.time == Time::Mean)?;
        let (mine, theirs) = self.arms;
        let told = |strategy: usize, against: usize| {
            let comparison = comparison(operation, strategy).filter(|comparison| comparison.against == against)?;
            Some(comparison.ratio?.interval)
        };
        let turned = |interval: Interval| Interval { low: 1.0 / interval.high, high: 1.0 / interval.low };
        told(mine, theirs).or_else(|| told(theirs, mine).map(|interval| interval.map(turned)))
    }
}

/// What is counted of a strategy.
fn count(record: &RunRecord, claim: &ClaimRecord, strategy: usize) -> Result<f64, Doubt> {
    let name = record.strategies.get(strategy).map(|entry| entry.name.as_str());
    let cost = || single_cost(record, name?, claim.operation.as_deref()?);
    let per_call = |cost: &CostRecord, sum: f64| Some(sum / cost.calls as f64).filter(|value| value.is_finite());
    let counter = |name: &str| cost().and_then(|cost| per_call(cost, *cost.counters.get(name)?));
    let value = match claim.metric.as_str() {
        "round_trips" => cost().and_then(|cost| per_call(cost, cost.round_trips as f64)),
        "docs_examined" => counter("documents_examined"),
        metric @ ("keys_examined" | "bytes_out" | "oplog_bytes") => counter(metric),
        "storage_bytes" => return storage(record, strategy),
        _ => return Err(Doubt::Unknown),
    };
    value.ok_or(Doubt::Untold)
}

/// The files of collections and indexes after the calls, means over rounds.
fn storage(record: &RunRecord, strategy: usize) -> Result<f64, Doubt> {
    let is_lagging = |sizes: &CollectionSizes| !sizes.checkpointed;
    if cells(record, strategy).flat_map(|cell| &cell.after).any(is_lagging) {
        return Err(Doubt::Unflushed);
    }
    let growth = collection_growth(record, strategy);
    match growth.is_empty() {
        true => Err(Doubt::Untold),
        false => Ok(growth.iter().map(|growth| growth.storage.after + growth.indexes.after).sum()),
    }
}

fn counted(value: Result<f64, Doubt>, against: Result<f64, Doubt>, relation: Relation) -> Finding {
    let (value, against) = match (value, against) {
        (Ok(value), Ok(against)) => (value, against),
        (Err(doubt), _) | (_, Err(doubt)) => return Finding::undecided(doubt),
    };
    let holds = |holds: bool| if holds { Ruling::Confirmed } else { Ruling::Refuted };
    let ruling = match relation {
        Relation::Equals => holds((value - against).abs() <= against.abs() * ROUNDING),
        _ if (value - against).abs() <= against.abs() * DEAD_ZONE => Ruling::Undecided(Doubt::Close),
        Relation::Below => holds(value < against),
        Relation::Above => holds(value > against),
    };
    let (value, against) = (Some(value), Some(against));
    Finding { ruling, value, against, ratio: None, interval: None, is_simultaneous: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Arrivals, RunRecord};
    use crate::stats::{compare, sample};

    /// A claim as the scenario writes it: `p50 read_post linked below embedded`; `-` for no operation.
    fn claim(text: &str) -> ClaimRecord {
        let words: Vec<&str> = text.split(' ').collect();
        ClaimRecord {
            id: "C1".into(),
            says: "It is so.".into(),
            source: None,
            metric: words[0].into(),
            operation: (words[1] != "-").then(|| words[1].to_owned()),
            strategy: words[2].into(),
            relation: match words[3] {
                "below" => Relation::Below,
                "above" => Relation::Above,
                _ => Relation::Equals,
            },
            than: words[4].parse().map_or_else(|_| Than::Strategy(words[4].into()), Than::Number),
        }
    }

    fn found(mut run: RunRecord, text: &str) -> Finding {
        run.claims = vec![claim(text)];
        let arms = |operation: usize| (0..3).map(|strategy| Arm::of(&run, strategy, Some(operation))).collect();
        let compared = compare(&[arms(0), arms(1), arms(2)], Limits::of(&run.settings));
        let told = |operation: usize, strategy: usize| {
            compared[operation].iter().find(|comparison| comparison.strategy == strategy).cloned()
        };
        findings(&run, &told).remove(0)
    }

    fn ruling(run: RunRecord, text: &str) -> Ruling {
        found(run, text).ruling
    }

    fn doubt(run: RunRecord, text: &str) -> Doubt {
        match ruling(run, text) {
            Ruling::Undecided(doubt) => doubt,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn measured_metrics_are_decided_by_their_interval() {
        let run = || sample::run(8);
        for (text, wanted) in [
            ("p50 add_comment linked below embedded", Ruling::Confirmed),
            ("p50 add_comment linked above embedded", Ruling::Refuted),
            ("p50 add_comment embedded above linked", Ruling::Confirmed),
            ("mean read_post linked above embedded", Ruling::Confirmed),
            ("mean read_post embedded below linked", Ruling::Confirmed),
            ("mean read_post linked below embedded", Ruling::Refuted),
            ("mean read_post bucket_rmw below linked", Ruling::Confirmed),
            ("throughput - linked above embedded", Ruling::Confirmed),
            ("throughput - embedded above linked", Ruling::Refuted),
        ] {
            assert_eq!(ruling(run(), text), wanted, "{text}");
        }
    }

    #[test]
    fn a_mean_against_the_reference_has_the_interval_of_the_table() {
        let run = sample::run(8);
        let one = found(run.clone(), "mean read_post linked above embedded");
        let other = found(run.clone(), "mean read_post embedded below linked");
        let (interval, turned) = (one.interval.unwrap(), other.interval.unwrap());
        assert!((interval.low * turned.high - 1.0).abs() < 1e-12 && interval.low > 1.0);
        assert!(one.is_simultaneous && other.is_simultaneous);
        // Neither is the reference: the interval is that of the pair, as for quantiles.
        assert!(!found(run.clone(), "mean read_post bucket_rmw below linked").is_simultaneous);
        let quantile = found(run, "p50 read_post linked above embedded");
        assert!(!quantile.is_simultaneous && quantile.interval.is_some());
        // 940 to 610 µs, times the typical call's place in the made distribution.
        assert!((quantile.ratio.unwrap() / (940.0 / 610.0) - 1.0).abs() < 0.02, "{quantile:?}");
    }

    #[test]
    fn what_cannot_be_told_of_times_is_undecided() {
        let text = "p50 add_comment linked below embedded";
        let run = || sample::run(8);
        let with = |change: &dyn Fn(&mut RunRecord)| {
            let mut run = run();
            change(&mut run);
            run
        };
        assert_eq!(doubt(sample::run(5), text), Doubt::Incomparable(Reason::TooFewRounds(5)));
        assert_eq!(doubt(sample::run(0), text), Doubt::Incomparable(Reason::TooFewRounds(0)));
        assert_eq!(doubt(with(&|run| run.settings.preset = "smoke".into()), text), Doubt::Smoke);
        assert_eq!(doubt(with(&|run| run.rounds[0].cells[0].connections_created = 1), text), Doubt::Void);
        assert_eq!(doubt(with(&|run| run.settings.noise = 5.0), text), Doubt::Noise);
        assert_eq!(doubt(run(), "p50 add_comment other below linked"), Doubt::Absent(vec!["other".into()]));
        assert_eq!(doubt(run(), "p50 remove linked below embedded"), Doubt::Absent(vec!["remove".into()]));
        assert_eq!(doubt(run(), "p99 read_post linked above embedded"), Doubt::FewCalls);
        assert_eq!(doubt(run(), "p50 add_comment linked equals embedded"), Doubt::Unknown);
        assert_eq!(doubt(run(), "p50 add_comment linked below 5"), Doubt::Unknown);
        let paced = LoadModel::Open { rate: 500.0, arrivals: Arrivals::Poisson };
        assert_eq!(doubt(with(&|run| run.settings.load = paced), "throughput - linked above embedded"), Doubt::Paced);
        // A control that is linked itself calls its difference noise.
        let control = with(&|run| {
            (run.strategies[2].control, run.strategies[2].is_unsafe) = (true, false);
            run.rounds.iter_mut().for_each(|round| round.cells[2] = round.cells[1].clone());
        });
        assert_eq!(doubt(control, text), Doubt::Noise);
        // Its mean is now above, now below.
        assert_eq!(doubt(run(), "mean count linked below embedded"), Doubt::Unclear);
        let refused = with(&|run| {
            run.rounds[3].cells[1].operations[0].outcomes.remove(0);
        });
        assert_eq!(doubt(refused, text), Doubt::Incomparable(Reason::NoSuccess { strategy: 1 }));
    }

    #[test]
    fn counts_are_exact() {
        let run = || sample::run(1);
        for (text, wanted) in [
            ("round_trips read_post linked equals 2", Ruling::Confirmed),
            ("round_trips read_post linked equals 1", Ruling::Refuted),
            ("round_trips read_post embedded below linked", Ruling::Confirmed),
            ("round_trips read_post embedded above linked", Ruling::Refuted),
            ("round_trips read_post linked above 1", Ruling::Confirmed),
            ("round_trips add_comment linked equals embedded", Ruling::Confirmed),
            ("round_trips add_comment linked below embedded", Ruling::Undecided(Doubt::Close)),
            ("keys_examined count linked equals 1.004", Ruling::Confirmed),
            ("bytes_out count linked above 36400", Ruling::Undecided(Doubt::Close)),
            ("docs_examined count linked equals 0", Ruling::Undecided(Doubt::Untold)),
            ("oplog_bytes count linked below embedded", Ruling::Undecided(Doubt::Untold)),
            ("storage_bytes - linked below embedded", Ruling::Confirmed),
            ("weather count linked below embedded", Ruling::Undecided(Doubt::Unknown)),
        ] {
            assert_eq!(ruling(run(), text), wanted, "{text}");
        }
        let mut run = run();
        for (cost, documents) in run.costs.iter_mut().zip([4_200.0, 0.0, 0.0]) {
            cost.counters.insert("documents_examined".into(), documents);
            cost.counters.insert("oplog_bytes".into(), documents);
        }
        assert_eq!(ruling(run.clone(), "docs_examined add_comment embedded equals 21"), Ruling::Confirmed);
        assert_eq!(ruling(run.clone(), "oplog_bytes read_post embedded equals 0"), Ruling::Confirmed);
        assert_eq!(found(run, "docs_examined add_comment embedded equals 20").value, Some(21.0));
    }

    #[test]
    fn files_that_lag_behind_decide_nothing() {
        let mut run = sample::run(2);
        run.rounds[1].cells[1].after[1].checkpointed = false;
        assert_eq!(doubt(run, "storage_bytes - linked below embedded"), Doubt::Unflushed);
        assert_eq!(doubt(sample::run(0), "storage_bytes - linked below embedded"), Doubt::Untold);
    }
}
