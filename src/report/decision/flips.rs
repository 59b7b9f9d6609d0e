//! Where the answer flips: the mixes, the shares of an operation and the networks in which another strategy is faster.

use super::answer::Judged;
use super::but::ratio_text;
use crate::record::Part;
use crate::report::format::{marked, percent, time};
use crate::report::parts::PartEvaluations;
use crate::report::section::domain::OrderFlips;
use crate::results::RunRecord;
use crate::stats::ShareFlip;

/// A mix is near another if the share of one operation differs by at most this.
const NEAR: f64 = 0.25;

/// The pieces of a sentence, what was measured first; empty where no strategy is shown to be slower.
pub(super) fn flips(judged: &Judged, others: &[RunRecord]) -> Vec<String> {
    let Some(flips) = OrderFlips::of(judged).filter(|_| !judged.beaten().is_empty()) else { return Vec::new() };
    let networks = flips.networks().into_iter().map(|(other, longer)| {
        format!(
            "{} is faster when each network round trip takes {} longer (computed)",
            judged.marked(other),
            time(longer)
        )
    });
    let mut found = other_mixes(judged, others);
    let shares = shares(judged, &flips);
    let has_shares = shares.as_ref().is_some_and(|shares| !shares.is_empty());
    found.extend(shares.clone().unwrap_or_default());
    found.extend(networks);
    // What is not found is said where nothing else answers the question.
    match shares {
        _ if has_shares || !found.is_empty() => {}
        Some(_) => found.push("at no share of a single operation (estimated)".into()),
        None => found.push("not estimated: own times do not predict this mix".into()),
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
        let here = judged.name(judged.ranking.best);
        let beaten = there.beaten().into_iter().find(|one| there.name(one.place) == here)?;
        let (mix, best) = (marked(&other.mix.name), there.marked(there.ranking.best));
        let is_better = ratio_text(beaten.ratio, beaten.asked.quantity());
        Some(format!("in the mix {mix}, {best} {is_better} than {} (measured)", marked(here)))
    };
    others.iter().filter_map(flipped).collect()
}

/// The shares of an operation at which others overtake, the nearest first; `None` where own times predict no comparison.
fn shares(judged: &Judged, flips: &OrderFlips) -> Option<Vec<String>> {
    let own = judged.parts.record(Part::Own)?;
    let (mut overtakes, unpredicted) = flips.shares()?;
    let distance = |flip: &ShareFlip| (flip.share - flip.measured).abs();
    overtakes.sort_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    let text = |(other, flip): &(usize, ShareFlip)| {
        let side = if flip.share > flip.measured { "more" } else { "less" };
        let how = if distance(flip) <= NEAR { "estimated" } else { "rough estimate" };
        let (name, operation) = (judged.marked(*other), marked(&own.operations[flip.operation]));
        let (at, measured) = (percent(flip.share), percent(flip.measured));
        format!("{name} overtakes when {operation} is {side} than {at} of the calls instead of {measured} ({how})")
    };
    let texts: Vec<String> = overtakes.iter().map(text).collect();
    (!texts.is_empty() || unpredicted.is_empty()).then_some(texts)
}
