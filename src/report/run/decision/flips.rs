//! Where the answer flips: the mixes, the shares of an operation and the networks in which another strategy is faster.

use crate::report::document::format::{marked, percent};
use crate::report::run::PartEvaluations;
use crate::results::{ComparedNumber, Part, RunRecord};
use crate::stats::{self, Criterion, MixEstimate, Prediction, ShareFlip, Verdict};

use super::answer::Judged;
use super::phrase::{self, UNPREDICTED};

/// Shares that differ by more than this are no mix that is anything like the measured one.
const REALISTIC: f64 = 0.25;

/// A strategy with at least this share of the other's round trips wins at no delay that anybody has: both have as many, and a
/// few calls of other outcomes make the difference.
const FEWER_TRIPS: f64 = 0.95;

/// The pieces of a sentence, what was measured first; empty for a trade-off, and where nothing is decided.
pub(crate) fn flips(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    if judged.answer.beaten().is_empty() {
        return ends_of_tie(judged, others);
    }
    let shares = shares(judged);
    let share =
        |(other, flip): &(usize, ShareFlip)| phrase::share_flip(&judged.marked(*other), &operation(judged, flip), flip);
    // A flip this close to the measured mix is an alarm.
    let (fragile, far): (Vec<_>, Vec<_>) = shares.iter().flatten().partition(|(_, flip)| flip.is_fragile());
    let mut found: Vec<String> = fragile.into_iter().map(share).collect();
    found.extend(other_mixes(judged, judged.answer.best, others));
    found.extend(far.into_iter().map(share));
    found.extend(networks(judged));

    // What is not found is said where nothing else answers the question.
    // A mix of one operation has no shares to change.
    let has_shares = judged.parts.record(Part::Own).is_none_or(|own| MixEstimate::new(own).called().count() > 1);
    match shares {
        _ if !found.is_empty() || !has_shares => {}
        Some(_) => found.push("no realistic share of a single operation flips it (estimated)".into()),
        None if disputed(judged).is_none() => {
            found.push(format!(
                "no operation alone is faster with another strategy (other shares: not estimated, {UNPREDICTED})"
            ));
        }
        None => found
            .push(format!("unknown for other shares: not estimated, {UNPREDICTED}; `docshape sweep` measures them")),
    }
    found
}

/// The mixes and the shares of an operation in which strategies differ that are level in this mix.
fn ends_of_tie(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    let Some(least) = judged.answer.least_effect().filter(|_| judged.answer.trade_offs().next().is_none()) else {
        return Vec::new();
    };
    let level = judged.answer.leading();
    let mut found: Vec<String> = level.iter().flat_map(|one| other_mixes(judged, *one, others)).collect();
    match end_of_tie(judged) {
        Some(([one, other], end)) => {
            let operation = operation(judged, &end);
            found.push(phrase::end_of_tie(&judged.marked(one), &judged.marked(other), least, &operation, &end));
        }
        None if is_predicted(judged, &level) => {
            found.push(format!(
                "no realistic share of a single operation makes a difference of {} (estimated)",
                percent(least)
            ));
        }
        None => {}
    }
    found
}

/// Whether own times predict how all of these strategies compare, in a mix of several operations.
fn is_predicted(judged: &Judged, level: &[usize]) -> bool {
    let Some(prediction) = Prediction::of(judged.parts.all_records()) else { return false };
    let has_shares = judged.parts.record(Part::Own).is_some_and(|own| MixEstimate::new(own).called().count() > 1);
    has_shares && level.iter().all(|one| level.iter().all(|other| prediction.holds(*one, *other)))
}

/// The nearest share of an operation, whose calls alone are reported to differ, at which the first of two level strategies is
/// slower by as much as would have shown.
pub(super) fn end_of_tie(judged: &Judged) -> Option<([usize; 2], ShareFlip)> {
    let (least, level) = (judged.answer.least_effect()?, judged.answer.leading());
    let (own, record) = (judged.parts.get(Part::Own)?, judged.parts.record(Part::Own)?);
    let (prediction, estimate) = (Prediction::of(judged.parts.all_records())?, MixEstimate::new(record));
    let is_reported = |operation: usize, one: usize, other: usize| {
        let mut questions = own.comparisons().filter(|question| question.operation == Some(operation));
        questions.any(|question| question.differs(&[one, other]))
    };
    let pairs = level.iter().flat_map(|one| level.iter().map(move |other| (*one, *other)));
    let pairs = pairs.filter(|(one, other)| one != other && prediction.holds(*one, *other));
    let ends = pairs.flat_map(|(one, other)| {
        let shares = estimate.shares_of_ratio(one, other, 1.0 + least).into_iter();
        shares.filter(move |end| is_reported(end.operation, one, other)).map(move |end| ([one, other], end))
    });
    let ends = ends.filter(|(_, end)| end.distance() <= REALISTIC);
    ends.min_by(|(_, a), (_, b)| a.distance().total_cmp(&b.distance()))
}

/// The name of the operation of a flip, within a sentence.
fn operation(judged: &Judged, flip: &ShareFlip) -> String {
    judged.parts.record(Part::Own).map_or_else(String::new, |own| marked(&own.operations[flip.operation]))
}

/// The operation that speaks most for a beaten strategy: its calls alone are shown to be faster with it, and are the most of the time.
pub(super) fn disputed(judged: &Judged) -> Option<usize> {
    let (own, best) = (judged.parts.get(Part::Own)?, judged.answer.best);
    let estimate = MixEstimate::new(judged.parts.record(Part::Own)?);
    let beaten = judged.answer.beaten();
    let gained = own.comparisons().filter_map(|question| {
        let operation = question.operation?;
        let faster = beaten
            .iter()
            .filter(|other| question.pair(other.strategy, best).is_some_and(|pair| pair.verdict == Verdict::Faster));
        let saved = faster
            .filter_map(|other| Some(estimate.time(best, operation)? - estimate.time(other.strategy, operation)?));
        Some((operation, estimate.share(operation) * saved.max_by(f64::total_cmp)?))
    });
    gained.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(operation, _)| operation)
}

/// The measured mixes in which another strategy is better than one of the best of this one.
fn other_mixes(judged: &Judged, best: usize, others: &[RunRecord]) -> Vec<String> {
    let here = judged.name(best);
    let flipped = |other: &RunRecord| {
        let (there, by) = flipped(here, other)?;
        Some(phrase::mix_flip(&mix(judged, other), &marked(&there), &by, &marked(here)))
    };
    others.iter().filter_map(flipped).collect()
}

/// The best strategy of another mix, and how far it is ahead of the best one of this mix there.
fn flipped(here: &str, other: &RunRecord) -> Option<(String, ComparedNumber)> {
    let parts = PartEvaluations::new(other);
    let there = Judged::of(&parts).filter(|_| parts.main().no_verdict.is_none())?;
    let beaten = there.published().beaten.into_iter().find(|one| one.strategy == here && one.by.ratio.is_some())?;
    Some((there.name(there.answer.best).to_owned(), beaten.by))
}

/// The operation whose share differs most between this mix and the first one in which another strategy is better, with its share
/// here and there.
pub(super) fn towards_flip<'o>(judged: &Judged, others: &'o [RunRecord]) -> Option<(&'o str, f64, f64)> {
    let other = others.iter().find(|other| flipped(judged.name(judged.answer.best), other).is_some())?;
    most_apart(judged, other)
}

/// The operation whose share differs most between this mix and another one, with its share here and there.
fn most_apart<'o>(judged: &Judged, other: &'o RunRecord) -> Option<(&'o str, f64, f64)> {
    let here = judged.parts.main_record()?;
    let share = |record: &RunRecord, operation: &str| {
        let total: f64 = record.mix.weights.iter().map(|(_, weight)| weight).sum();
        let weight = record.mix.weights.iter().find(|(name, _)| *name == operation);
        weight.map_or(0.0, |(_, weight)| weight / total)
    };
    let shares = other.mix.weights.iter().map(|(name, _)| (name.as_str(), share(here, name), share(other, name)));
    let apart = |(_, here, there): &(&str, f64, f64)| (there - here).abs();
    shares.max_by(|one, other| apart(one).total_cmp(&apart(other))).filter(|one| apart(one) > 0.0)
}

/// The name of a mix, with the operation whose share differs most from that in this mix.
fn mix(judged: &Judged, other: &RunRecord) -> String {
    let apart = most_apart(judged, other).map(|(operation, here, there)| {
        format!(" ({} {} of calls, not {})", marked(operation), percent(there), percent(here))
    });
    format!("{}{}", marked(&other.mix.name), apart.unwrap_or_default())
}

/// By which time every round trip must be longer for calls by themselves to be faster with strategies that make fewer.
fn networks(judged: &Judged) -> Vec<String> {
    let (answer, best) = (&judged.answer, judged.answer.best);
    let parts = judged.parts;
    let trips = |strategy: usize| {
        let calls = stats::all_operations(parts.main_record()?, strategy);
        stats::outcome_totals(calls).round_trips_per_call()
    };
    let time = |strategy: usize| parts.number_of_mix(Criterion::OWN_TIME, strategy);
    let flip = |other: usize| {
        let trips = [trips(best)?, trips(other)?];
        let is_shorter = trips[1] < FEWER_TRIPS * trips[0];
        let longer = stats::network_flip([time(best)?, time(other)?], trips).filter(|_| is_shorter)?;
        Some(phrase::network_flip(&judged.marked(other), longer))
    };
    answer.beaten().into_iter().filter_map(|one| flip(one.strategy)).collect()
}

/// Whether a slightly different share of an operation turns the answer.
pub(super) fn is_fragile(judged: &Judged) -> bool {
    shares(judged).is_some_and(|flips| flips.iter().any(|(_, flip)| flip.is_fragile()))
}

/// The share of an operation at which each beaten strategy overtakes, the nearest first; `None` where own times predict none of
/// them. An order that was not shown cannot flip.
pub(super) fn shares(judged: &Judged) -> Option<Vec<(usize, ShareFlip)>> {
    let (best, prediction) = (judged.answer.best, Prediction::of(judged.parts.all_records())?);
    let estimate = MixEstimate::new(judged.parts.record(Part::Own)?);
    let beaten = judged.answer.beaten();
    let predicted: Vec<usize> =
        beaten.iter().map(|one| one.strategy).filter(|other| prediction.holds(best, *other)).collect();
    if predicted.is_empty() {
        return None;
    }
    let nearest = |other: usize| Some((other, *estimate.share_flips(best, other).first()?));
    let mut flips: Vec<(usize, ShareFlip)> = predicted.into_iter().filter_map(nearest).collect();
    flips.retain(|(_, flip)| flip.distance() <= REALISTIC);
    flips.sort_by(|(_, a), (_, b)| a.distance().total_cmp(&b.distance()));
    Some(flips)
}
