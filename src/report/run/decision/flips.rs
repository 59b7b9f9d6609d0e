//! Where the answer flips: the mixes, the shares of an operation and the networks in which another strategy is faster.

use crate::report::document::format::marked;
use crate::report::run::PartEvaluations;
use crate::results::{Part, RunRecord};
use crate::stats::{self, Criterion, MixEstimate, Prediction, ShareFlip};

use super::answer::Judged;
use super::phrase::{self, UNPREDICTED};

/// Shares that differ by more than this are no mix that is anything like the measured one.
const REALISTIC: f64 = 0.25;

/// The pieces of a sentence, what was measured first; empty where no strategy is shown to be slower.
pub(crate) fn flips(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    if judged.answer.beaten().is_empty() {
        return Vec::new();
    }
    let shares = shares(judged);
    let operation = |flip: &ShareFlip| {
        judged.parts.record(Part::Own).map_or_else(String::new, |own| marked(&own.operations[flip.operation]))
    };
    let share = |(other, flip): &(usize, ShareFlip)| phrase::share_flip(&judged.marked(*other), &operation(flip), flip);
    // A flip this close to the measured mix is an alarm.
    let (fragile, far): (Vec<_>, Vec<_>) = shares.iter().flatten().partition(|(_, flip)| flip.is_fragile());
    let mut found: Vec<String> = fragile.into_iter().map(share).collect();
    found.extend(other_mixes(judged, others));
    found.extend(far.into_iter().map(share));
    found.extend(networks(judged));

    // What is not found is said where nothing else answers the question.
    // A mix of one operation has no shares to change.
    let has_shares = judged.parts.record(Part::Own).is_none_or(|own| MixEstimate::new(own).called().count() > 1);
    match shares {
        _ if !found.is_empty() || !has_shares => {}
        Some(_) => found.push("no realistic share of a single operation flips it (estimated)".into()),
        None => found.push(format!("not estimated: {UNPREDICTED}; `docshape sweep` measures other shares")),
    }
    found
}

/// The measured mixes in which another strategy is better than the best of this one.
fn other_mixes(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    let flipped = |other: &RunRecord| {
        let parts = PartEvaluations::new(other);
        let there = Judged::of(&parts).filter(|_| parts.main().no_verdict.is_none())?;
        let here = judged.name(judged.answer.best);
        let beaten = there.published().beaten.into_iter().find(|one| one.strategy == here && one.by.ratio.is_some())?;
        let (mix, best) = (marked(&other.mix.name), there.marked(there.answer.best));
        Some(phrase::mix_flip(&mix, &best, &beaten.by, &marked(here)))
    };
    others.iter().filter_map(flipped).collect()
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
        let longer = stats::network_flip([time(best)?, time(other)?], trips).filter(|_| trips[1] < trips[0])?;
        Some(phrase::network_flip(&judged.marked(other), longer))
    };
    answer.beaten().into_iter().filter_map(|one| flip(one.strategy)).collect()
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
