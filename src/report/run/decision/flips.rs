//! Where the answer flips: the mixes, the shares of an operation and the networks in which another strategy is faster.

use crate::record::Part;
use crate::report::document::format::{marked, percent, time};
use crate::report::run::parts::PartEvaluations;
use crate::results::RunRecord;
use crate::stats::{self, MixEstimate, Prediction, ShareFlip};

use super::answer::Judged;
use super::phrase::is_factor;

/// Shares that differ by more than this are no mix that is anything like the measured one.
const REALISTIC: f64 = 0.25;

/// The pieces of a sentence, what was measured first; empty where no strategy is shown to be slower.
pub(crate) fn flips(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    if judged.answer.beaten().is_empty() {
        return Vec::new();
    }
    let mut found = other_mixes(judged, others);
    let shares = shares(judged);
    found.extend(shares.iter().flatten().map(|(other, flip)| share_text(judged, *other, flip)));
    found.extend(networks(judged).into_iter().map(|(other, longer)| {
        format!("{} wins once the network adds {} per round trip (computed)", judged.marked(other), time(longer))
    }));
    // What is not found is said where nothing else answers the question.
    match shares {
        _ if !found.is_empty() => {}
        Some(_) => found.push("no realistic share of a single operation flips it (estimated)".into()),
        None => found.push("not predictable from single calls: own times do not predict this mix".into()),
    }
    found
}

/// The measured mixes in which another strategy is better than the best of this one.
fn other_mixes(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    let flipped = |other: &RunRecord| {
        let parts = PartEvaluations::new(other);
        if parts.main().no_verdict.is_some() {
            return None;
        }
        let there = Judged::of(&parts)?;
        let here = judged.name(judged.answer.best());
        let beaten = there.answer.beaten().into_iter().find(|one| there.name(one.strategy) == here)?;
        let (mix, best) = (marked(&other.mix.name), there.marked(there.answer.best()));
        let is_better = is_factor(beaten.ratio.mean, beaten.quantity);
        Some(format!("in the mix {mix}, {best} {is_better} than {} (measured)", marked(here)))
    };
    others.iter().filter_map(flipped).collect()
}

/// The strategies with fewer round trips, and the time by which every round trip must be longer for them to be faster.
fn networks(judged: &Judged) -> Vec<(usize, f64)> {
    let (answer, best) = (&judged.answer, judged.answer.best());
    let Some(mix) = judged.parts.record(answer.decided.part) else { return Vec::new() };
    let trips = |strategy: usize| {
        let calls = stats::cells(mix, strategy).flat_map(|cell| &cell.operations);
        stats::outcome_totals(calls).round_trips_per_call()
    };
    let flip = |other: usize| {
        let has_fewer = trips(other)? < trips(best)?;
        stats::network_flip(mix, best, other).filter(|_| has_fewer).map(|flip| (other, flip))
    };
    answer.beaten().into_iter().filter_map(|one| flip(one.strategy)).collect()
}

/// The share of an operation at which each beaten strategy overtakes, the nearest first; `None` where own times predict none of
/// them. An order that was not shown cannot flip.
fn shares(judged: &Judged) -> Option<Vec<(usize, ShareFlip)>> {
    let (best, prediction) = (judged.answer.best(), Prediction::of(judged.parts.all_records())?);
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

fn share_text(judged: &Judged, other: usize, flip: &ShareFlip) -> String {
    let operation = judged.parts.record(Part::Own).map_or("", |own| &own.operations[flip.operation]);
    let (side, [at, measured]) = flip_words(flip);
    let (name, operation) = (judged.marked(other), marked(operation));
    format!("{name} wins once {operation} {side} about {at} of calls (now {measured}; estimated)")
}

/// On which side of a share the order flips, and the two shares; with more digits where they would read the same.
fn flip_words(flip: &ShareFlip) -> (&'static str, [String; 2]) {
    let side = if flip.share > flip.measured { "exceeds" } else { "falls below" };
    let short = [flip.share, flip.measured].map(percent);
    if short[0] != short[1] && !short.iter().any(|share| share.starts_with('<')) {
        return (side, short);
    }
    (side, [flip.share, flip.measured].map(|share| format!("{:.2} %", share * 100.0)))
}
