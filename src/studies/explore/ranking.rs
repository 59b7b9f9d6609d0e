//! The order of shapes by the own times of their operations, and those that a run compares.

use std::collections::{BTreeMap, BTreeSet};

use crate::generate::{Label, Seed, Stream};
use crate::record::{COUNTERS, Claimable, Metric, SizeMetric};
use crate::results::RunRecord;
use crate::stats::{MixEstimate, ShareFlip, own_cost, own_time, shares, value};

use super::record::{ExploreRecord, MeasuredShape, TriedOutcome, TriedRecord};

/// Shapes whose estimate is at most this many times the lowest one may be among the finalists: in published runs the one with the lowest
/// makes at most 14 % fewer calls per second than the best (scripts/experiments/own-cost-order.py).
const NEAR: f64 = 1.3;

/// Counts that are this close to each other (0.01 for 1 %) are the same.
const SAME_WORK: f64 = 0.01;

/// A shape is worse only if a count is this much larger.
const MORE_WORK: f64 = 0.05;

/// Mixes that are drawn.
const MIXES: u64 = 1_000;

/// Labels their weights.
const MIX: Label = Label::new("random mix");

impl TriedRecord {
    /// What its operations cost; `None` unless it was measured.
    pub fn measured(&self) -> Option<&MeasuredShape> {
        match &self.outcome {
            TriedOutcome::Measured(measured) => Some(measured),
            _ => None,
        }
    }

    /// Whether it is a strategy of the scenario.
    pub fn is_of_scenario(&self) -> bool {
        self.shape.is_empty()
    }
}

/// The share (0 to 1) of each operation of the mix.
fn mix_shares(record: &ExploreRecord) -> Vec<f64> {
    shares_in(record, &record.weights)
}

/// The share (0 to 1) of each operation in a mix of these weights.
fn shares_in(record: &ExploreRecord, weights: &[(String, f64)]) -> Vec<f64> {
    let operations: Vec<String> = record.weights.iter().map(|(name, _)| name.clone()).collect();
    shares(&operations, weights)
}

/// The weights with which own costs are measured, in the order of the operations: all mixes in equal parts.
pub fn measured_weights(record: &ExploreRecord) -> Vec<f64> {
    let others = record.also.iter().map(|mix| shares_in(record, &mix.weights));
    others.fold(mix_shares(record), |sum, one| sum.iter().zip(one).map(|(sum, one)| sum + one).collect())
}

/// The mean of own times by shares in nanoseconds; `None` where an operation with a share was not measured.
fn mean(measured: &MeasuredShape, shares: &[f64]) -> Option<f64> {
    let called = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
    called.map(|(operation, share)| Some(share * (*measured.times.get(operation)?)?)).sum()
}

/// The estimated time of a call of the mix in nanoseconds; `None` unless it was measured.
pub fn estimate(record: &ExploreRecord, tried: &TriedRecord) -> Option<f64> {
    mean(tried.measured()?, &mix_shares(record))
}

/// All that were measured with their estimates in nanoseconds, the lowest first.
pub fn ranked(record: &ExploreRecord) -> Vec<(&TriedRecord, f64)> {
    ranked_by(record, &record.weights)
}

/// The same for a mix of these weights.
pub fn ranked_by<'r>(record: &'r ExploreRecord, weights: &[(String, f64)]) -> Vec<(&'r TriedRecord, f64)> {
    let shares = shares_in(record, weights);
    let mut all: Vec<_> = record.tried.iter().filter_map(|one| Some((one, mean(one.measured()?, &shares)?))).collect();
    all.sort_by(|one, other| one.1.total_cmp(&other.1));
    all
}

/// Gives every operation what was measured of its program, in whatever shape. Equal programs cost the same, so that a shape needs no
/// measurement if all its programs have one: a verified one is measured then.
pub fn share_measurements(record: &mut ExploreRecord) {
    let known = programs(record);
    let is_measured = mix_is_measured(record);
    for tried in &mut record.tried {
        let programs: Vec<Option<&MeasuredProgram>> =
            tried.programs.iter().enumerate().map(|place| known.get(&(place.0, place.1.clone()))).collect();
        let is_known = |operation: usize| programs.get(operation).is_some_and(Option::is_some);
        let has_all = !programs.is_empty() && (0..is_measured.len()).all(|at| !is_measured[at] || is_known(at));
        if tried.outcome == TriedOutcome::Verified && has_all {
            tried.outcome = TriedOutcome::Measured(MeasuredShape::default());
        }
        let TriedOutcome::Measured(measured) = &mut tried.outcome else { continue };
        if programs.is_empty() {
            continue;
        }
        measured.times = programs.iter().map(|program| program.map(MeasuredProgram::time)).collect();
        measured.work =
            programs.iter().map(|program| program.map(|one| one.work.clone()).unwrap_or_default()).collect();
    }
}

/// What was measured of one program.
#[derive(Default)]
struct MeasuredProgram {
    logs: f64,
    count: f64,
    work: BTreeMap<String, f64>,
}

impl MeasuredProgram {
    /// The geometric mean of its times in nanoseconds.
    fn time(&self) -> f64 {
        (self.logs / self.count).exp()
    }
}

/// What was measured, by operation and program.
fn programs(record: &ExploreRecord) -> BTreeMap<(usize, String), MeasuredProgram> {
    let mut all: BTreeMap<(usize, String), MeasuredProgram> = BTreeMap::new();
    for tried in &record.tried {
        let Some(measured) = tried.measured() else { continue };
        for (operation, program) in tried.programs.iter().enumerate() {
            let Some(time) = measured.own.get(operation).copied().flatten() else { continue };
            let known = all.entry((operation, program.clone())).or_default();
            (known.logs, known.count) = (known.logs + time.ln(), known.count + 1.0);
            if known.work.is_empty() {
                known.work = measured.work.get(operation).cloned().unwrap_or_default();
            }
        }
    }
    all
}

/// Whether each operation of the scenario is called by a mix whose operations are measured.
fn mix_is_measured(record: &ExploreRecord) -> Vec<bool> {
    measured_weights(record).into_iter().map(|weight| weight > 0.0).collect()
}

/// The operations, by position, of which some of these strategies have programs that were not measured yet.
pub fn unmeasured_operations(record: &ExploreRecord, names: &[String]) -> BTreeSet<usize> {
    let known = programs(record);
    let of =
        |name: &String| record.named(name).into_iter().flat_map(|tried| tried.programs.iter().cloned().enumerate());
    let called = mix_is_measured(record);
    let new = names.iter().flat_map(of).filter(|program| called[program.0] && !known.contains_key(program));
    new.map(|(operation, _)| operation).collect()
}

/// The name of a shape that does no more of anything that is counted, in any operation of the mix, and less of something.
pub fn better_in_everything<'r>(record: &'r ExploreRecord, tried: &TriedRecord) -> Option<&'r str> {
    let (own, shares) = (tried.measured()?, mix_shares(record));
    let is_better = |other: &MeasuredShape| {
        let mut is_less = false;
        for (operation, _) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let counts =
                own.work[operation].iter().map(|(name, count)| Some((*count, *other.work[operation].get(name)?)));
            for (count, theirs) in counts.flatten() {
                if theirs > count * (1.0 + SAME_WORK) + SAME_WORK {
                    return false;
                }
                is_less |= count > theirs * (1.0 + MORE_WORK) + MORE_WORK;
            }
        }
        is_less
    };
    let others = record.tried.iter().filter(|other| other.name != tried.name);
    others
        .filter_map(|other| Some((other, other.measured()?)))
        .find(|(_, work)| is_better(work))
        .map(|(other, _)| other.name.as_str())
}

/// The strategies of the final run: the best ones, one whose writes share no document if own times cannot tell, and the best strategy
/// of the scenario.
pub fn finalists(record: &ExploreRecord) -> Vec<String> {
    let ranked = ranked(record);
    let Some((_, best)) = ranked.first() else { return Vec::new() };
    let is_candidate = |(tried, _): &&(&TriedRecord, f64)| better_in_everything(record, tried).is_none();
    let mut candidates: Vec<_> = ranked.iter().filter(is_candidate).collect();
    // Of a shape that reads with `$lookup` and with queries the better way is enough.
    let (mut seen, shape) = (BTreeSet::new(), |tried| record.shape_of(tried));
    candidates
        .retain(|(tried, _)| shape(tried).is_of_scenario() || seen.insert((&shape(tried).shape, &shape(tried).writes)));
    let near = candidates.iter().filter(|(_, estimate)| *estimate <= best * NEAR).count();
    let kept = near.max(2).min(record.options.keep.try_into().unwrap_or(usize::MAX));
    let mut chosen: Vec<&TriedRecord> = candidates.iter().take(kept).map(|(tried, _)| *tried).collect();
    let others = [
        candidates.iter().find(|(tried, _)| !tried.is_of_scenario() && shares_no_document(tried)),
        candidates.iter().find(|(tried, _)| tried.is_of_scenario()),
    ];
    for (tried, _) in others.into_iter().flatten() {
        if chosen.iter().all(|one| one.name != tried.name) {
            chosen.push(tried);
        }
    }
    chosen.into_iter().map(|tried| tried.name.clone()).collect()
}

/// Whether a new record writes no document that others write as well: every record has a document of its own.
fn shares_no_document(tried: &TriedRecord) -> bool {
    tried.shape.iter().flat_map(|(_, words)| words).all(|word| word == "reference")
}

/// In which share (0 to 1) of random mixes of the mix's operations each measured shape has the lowest estimate, the greatest first.
pub fn best_of_random_mixes(record: &ExploreRecord) -> Vec<(&str, f64)> {
    let known = mix_shares(record);
    let measured: Vec<_> = record.tried.iter().filter_map(|one| Some((one.name.as_str(), one.measured()?))).collect();
    let mut won: BTreeMap<&str, u64> = BTreeMap::new();
    for mix in 0..MIXES {
        let mut stream = Stream::new(Seed::new(record.settings.seed), MIX, mix);
        // Weights with this distribution make every mix equally likely.
        let mut weight = |share: &f64| if *share > 0.0 { -(1.0 - stream.unit()).ln() } else { 0.0 };
        let drawn: Vec<f64> = known.iter().map(&mut weight).collect();
        let costs = measured.iter().filter_map(|(name, own)| Some((*name, mean(own, &drawn)?)));
        if let Some((name, _)) = costs.min_by(|one, other| one.1.total_cmp(&other.1)) {
            *won.entry(name).or_default() += 1;
        }
    }
    let mut all: Vec<_> = won.into_iter().map(|(name, count)| (name, count as f64 / MIXES as f64)).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

/// The shares of operations beyond which another shape has a lower estimate than the first one of the list, by operation and direction the
/// nearest to the mix, which comes first.
pub fn flips(record: &ExploreRecord) -> Vec<(&str, ShareFlip)> {
    let ranked = ranked(record);
    let times = ranked.iter().filter_map(|(tried, _)| Some(tried.measured()?.times.clone())).collect();
    let estimate = MixEstimate { times, shares: mix_shares(record), noise: record.settings.noise };
    let of = |place: usize| {
        let name = ranked[place].0.name.as_str();
        estimate.share_flips(0, place).into_iter().map(move |flip| (name, flip))
    };
    let mut all: Vec<(&str, ShareFlip)> = (1..ranked.len()).flat_map(of).collect();
    all.sort_by(|one, other| one.1.distance().total_cmp(&other.1.distance()));
    let mut seen = Vec::new();
    all.retain(|(_, flip)| {
        let place = (flip.operation, flip.share > flip.measured);
        let is_new = !seen.contains(&place);
        seen.push(place);
        is_new
    });
    all
}

/// The own costs of the strategies of a run, in its order; times are multiplied by `scale`.
pub fn measured_shapes(own: &RunRecord, scale: f64) -> Vec<MeasuredShape> {
    let operations = 0..own.operations.len();
    let of = |strategy: usize| {
        let work = |operation| {
            let cost = own_cost(own, strategy, operation);
            let counted = COUNTERS.iter().filter(|counter| counter.claim == Claimable::Counted);
            let counts =
                counted.filter_map(|counter| Some((counter.name.to_owned(), cost.as_ref()?.per_call(counter.name)?)));
            let trips = cost.as_ref().map(|cost| ("round_trips".to_owned(), cost.round_trips));
            counts.chain(trips).collect()
        };
        let times: Vec<Option<f64>> =
            operations.clone().map(|operation| own_time(own, strategy, operation).map(|time| time * scale)).collect();
        MeasuredShape {
            times: times.clone(),
            own: times,
            work: operations.clone().map(work).collect(),
            largest: value(own, Metric::Size(SizeMetric::LargestDocument), strategy, None),
        }
    };
    (0..own.strategies.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(name: &str, times: [f64; 2], trips: [f64; 2]) -> TriedRecord {
        let work = trips.map(|trips| BTreeMap::from([("round_trips".to_owned(), trips)])).to_vec();
        let measured = MeasuredShape { times: times.map(Some).to_vec(), work, ..MeasuredShape::default() };
        let shape = vec![("a.b".to_owned(), vec![name.to_owned()])];
        TriedRecord {
            name: name.to_owned(),
            shape,
            outcome: TriedOutcome::Measured(measured),
            ..TriedRecord::default()
        }
    }

    fn record(tried: Vec<TriedRecord>) -> ExploreRecord {
        let weights = vec![("read".to_owned(), 3.0), ("write".to_owned(), 1.0)];
        let mut record = ExploreRecord { weights, tried, ..ExploreRecord::default() };
        record.options.keep = 2;
        record
    }

    fn all() -> ExploreRecord {
        let by_hand = TriedRecord { shape: Vec::new(), ..tried("by_hand", [500.0, 300.0], [3.0, 1.0]) };
        record(vec![
            tried("reference", [200.0, 100.0], [2.0, 1.0]),
            tried("embed", [100.0, 200.0], [1.0, 2.0]),
            tried("list", [210.0, 300.0], [2.0, 3.0]),
            by_hand,
        ])
    }

    #[test]
    fn times_are_weighted_by_the_mix() {
        let record = all();
        let order: Vec<_> = ranked(&record).into_iter().map(|(one, time)| (one.name.as_str(), time)).collect();
        assert_eq!(order, [("embed", 125.0), ("reference", 175.0), ("list", 232.5), ("by_hand", 450.0)]);
    }

    /// A shape with these programs, of which the operations with a time were measured with it.
    fn with_programs(name: &str, programs: [&str; 2], own: Option<[Option<f64>; 2]>) -> TriedRecord {
        let work = |time: Option<f64>| time.map(|time| ("round_trips".to_owned(), time / 100.0)).into_iter().collect();
        let outcome = own.map_or(TriedOutcome::Verified, |own| {
            TriedOutcome::Measured(MeasuredShape {
                own: own.to_vec(),
                work: own.map(work).to_vec(),
                ..MeasuredShape::default()
            })
        });
        let programs = programs.map(str::to_owned).to_vec();
        TriedRecord { name: name.to_owned(), programs, outcome, ..TriedRecord::default() }
    }

    #[test]
    fn equal_programs_share_what_was_measured_of_them() {
        let mut record = record(vec![
            with_programs("a", ["find", "insert"], Some([Some(100.0), Some(50.0)])),
            with_programs("b", ["find", "push"], Some([Some(121.0), Some(80.0)])),
            with_programs("c", ["lookup", "push"], Some([Some(300.0), None])),
            with_programs("known", ["lookup", "insert"], None),
            with_programs("new", ["lookup", "upsert"], None),
        ]);
        let names = ["known", "new"].map(str::to_owned);
        assert_eq!(unmeasured_operations(&record, &names), [1].into());
        share_measurements(&mut record);
        let times = |name| record.named(name).unwrap().measured().map(|one| one.times.clone());
        let rounded = |name| Some(times(name)?.into_iter().map(|time| time.unwrap().round()).collect::<Vec<_>>());
        assert_eq!(rounded("a").unwrap(), [110.0, 50.0]);
        assert_eq!(rounded("c").unwrap(), [300.0, 80.0]);
        assert_eq!(rounded("known").unwrap(), [300.0, 50.0]);
        assert_eq!(rounded("new"), None, "it waits for its measurement");
        let known = record.named("known").unwrap().measured().unwrap();
        assert_eq!(known.work[0]["round_trips"], 3.0);
        assert!(known.own.is_empty());
    }

    #[test]
    fn another_shape_is_first_beyond_a_share() {
        let record = all();
        let flips: Vec<_> = flips(&record).into_iter().map(|(name, flip)| (name, flip.operation, flip.share)).collect();
        // Of reads and writes alike: 100 and 200 us against 200 and 100.
        assert_eq!(flips, [("reference", 0, 0.5), ("reference", 1, 0.5)]);
    }

    #[test]
    fn what_does_more_of_everything_is_worse() {
        let record = all();
        let worse: Vec<_> = record.tried.iter().map(|one| better_in_everything(&record, one)).collect();
        assert_eq!(worse, [None, None, Some("reference"), Some("reference")]);
    }

    #[test]
    fn finalists_are_the_best_and_one_without_shared_documents() {
        assert_eq!(finalists(&all()), ["embed", "reference"]);
        let mut record = all();
        record.tried[3] = TriedRecord { shape: Vec::new(), ..tried("by_hand", [500.0, 90.0], [3.0, 0.0]) };
        assert_eq!(finalists(&record), ["embed", "reference", "by_hand"], "and what the scenario has");
        assert_eq!(finalists(&self::record(Vec::new())), [""; 0]);
    }

    #[test]
    fn each_is_best_where_its_operation_is_called_most() {
        let record = all();
        let best = best_of_random_mixes(&record);
        // Equal at a share of one half.
        assert_eq!(
            best.iter().map(|(name, _)| *name).collect::<std::collections::BTreeSet<_>>(),
            ["embed", "reference"].into()
        );
        assert!(best.iter().all(|(_, share)| (0.44..0.56).contains(share)), "{best:?}");
    }
}
