//! Where a verdict holds: what was measured, and where the order flips.

use crate::record::Part;
use crate::report::decision::Judged;
use crate::report::format::{bytes, count, listed, percent, plain, time};
use crate::report::parts::PartEvaluations;
use crate::report::verdict_text::VerdictText;
use crate::results::RunRecord;
use crate::stats::{self, CollectionGrowth, MixEstimate, ShareFlip};

/// The sentences that follow a verdict.
pub(super) fn sentences(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Vec<String> {
    let mut sentences = vec![measured(record, parts)];
    let judged = Judged::of(parts);
    if let Some(flips) = judged.as_ref().and_then(OrderFlips::of) {
        sentences.extend(flips.network_sentence());
        sentences.extend(flips.share_sentences());
    }
    sentences.extend(other_mixes(others));
    sentences
}

/// What runs of other mixes found at saturation, which needs no common rate.
fn other_mixes(others: &[RunRecord]) -> Option<String> {
    let verdict = |other: &RunRecord| {
        let parts = PartEvaluations::new(other);
        let run = parts.get(Part::Saturation)?;
        let ranking = run.comparisons().find_map(|one| one.ranking()).filter(|_| run.no_verdict.is_none())?;
        let text = VerdictText { strategies: &run.strategies }.overall(&ranking);
        Some(format!("{}: {}", run.mix, text.first()?.trim_end_matches('.')))
    };
    let verdicts: Vec<String> = others.iter().filter_map(verdict).collect();
    (!verdicts.is_empty()).then(|| format!("Other mixes, measured at saturation: {}.", verdicts.join("; ")))
}

/// Data, cache, network and members of the measurement.
fn measured(record: &RunRecord, parts: &PartEvaluations) -> String {
    let sizes = parts.last().without_repeat().map(|(_, strategy)| {
        let sum = |of: fn(&CollectionGrowth) -> f64| strategy.collections.iter().map(of).sum::<f64>();
        (sum(|one| one.size.after + one.indexes.after), sum(|one| one.documents.after))
    });
    let (largest, documents) =
        sizes.fold((0.0, 0.0), |(most, many), (size, documents)| (f64::max(most, size), f64::max(many, documents)));
    let cache = record.server.cache_bytes.filter(|cache| *cache > 0).map_or_else(String::new, |cache| {
        format!(" ({} of a cache of {})", percent(largest / cache as f64), bytes(cache as f64))
    });
    let network = if record.server.embedded { "over loopback" } else { "over the network to the server" };
    format!(
        "Measured with up to {} documents and {} per strategy{cache}, {network}, on {}.",
        count(documents as u64),
        bytes(largest),
        plain(&record.server.topology)
    )
}

/// A strategy, and the share at which it overtakes.
pub(in crate::report) type StrategyFlip = (usize, ShareFlip);

/// Where the best strategy of the mix loses its place to others.
pub(in crate::report) struct OrderFlips<'r> {
    parts: &'r PartEvaluations,
    /// The part of the verdict.
    mix: &'r RunRecord,
    best: usize,
    /// The strategies that it is reported to be better than: an order that was not shown cannot flip.
    others: Vec<usize>,
}

impl<'r> OrderFlips<'r> {
    /// Those of the question that a decision is made by.
    pub(in crate::report) fn of(judged: &'r Judged<'r>) -> Option<OrderFlips<'r>> {
        let Judged { parts, asked, ranking, .. } = judged;
        let others = judged.beaten().into_iter().map(|one| one.place).collect();
        Some(OrderFlips { parts, mix: parts.record(asked.part)?, best: ranking.best, others })
    }

    fn name(&self, strategy: usize) -> &str {
        self.parts.main().strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// The strategies with fewer round trips, and the time by which every round trip must be longer for them to be faster.
    pub(in crate::report) fn networks(&self) -> Vec<(usize, f64)> {
        let best = self.best;
        let trips = |strategy: usize| {
            let calls = stats::cells(self.mix, strategy).flat_map(|cell| &cell.operations);
            stats::outcome_totals(calls).round_trips_per_call()
        };
        let flip = |other: usize| {
            let has_fewer = trips(other)? < trips(best)?;
            stats::network_flip(self.mix, best, other).filter(|_| has_fewer).map(|flip| (other, flip))
        };
        self.others.iter().copied().filter_map(flip).collect()
    }

    /// The same in a sentence.
    fn network_sentence(&self) -> Option<String> {
        let flips =
            self.networks().into_iter().map(|(other, flip)| format!("{} from {} on", self.name(other), time(flip)));
        let (flips, name) = (flips.collect::<Vec<_>>(), self.name(self.best));
        (!flips.is_empty()).then(|| {
            format!(
                "Over a slower network {name} loses by its round trips (computed, not measured): each round trip longer by \
                 this, others are faster: {}.",
                listed(&flips)
            )
        })
    }

    /// The shares of operations at which others overtake, where own costs predict the measured mix, and the strategies for
    /// which they do not.
    pub(in crate::report) fn shares(&self) -> Option<(Vec<StrategyFlip>, Vec<usize>)> {
        let own = self.parts.record(Part::Own)?;
        let estimate = MixEstimate::new(own);
        // Saturation has the most calls.
        let mix = self.parts.record(Part::Saturation).unwrap_or(self.mix);
        let service = |strategy: usize| {
            let calls = stats::cells(mix, strategy).flat_map(|cell| &cell.operations);
            stats::service_mean(calls)
        };
        let best = self.best;
        let (mut flips, mut unpredicted) = (Vec::new(), Vec::new());
        for &other in &self.others {
            if !estimate.predicts(best, other, service(best)? / service(other)?) {
                unpredicted.push(other);
            } else if let Some(flip) = estimate.share_flips(best, other).first() {
                flips.push((other, *flip));
            }
        }
        Some((flips, unpredicted))
    }

    fn share_text(&self, (other, flip): &StrategyFlip) -> String {
        let operation =
            self.parts.record(Part::Own).map_or_else(String::new, |own| plain(&own.operations[flip.operation]));
        let (at, measured) = (percent(flip.share), percent(flip.measured));
        format!("{} overtakes when {operation} is {at} of the calls instead of {measured}", self.name(*other))
    }

    /// The same in sentences.
    fn share_sentences(&self) -> Option<String> {
        let (flips, unpredicted) = self.shares()?;
        let flips: Vec<String> = flips.iter().map(|flip| self.share_text(flip)).collect();
        let unpredicted: Vec<String> = unpredicted.into_iter().map(|other| self.name(other).to_owned()).collect();
        let estimated =
            (!flips.is_empty()).then(|| format!("Other mixes (estimated from own costs): {}.", flips.join("; ")));
        let missing = (!unpredicted.is_empty()).then(|| {
            format!(
                "Own costs do not predict how {} compares with {} in the mix (within 20 %), so no flip is estimated.",
                self.name(self.best),
                listed(&unpredicted)
            )
        });
        let sentences: Vec<String> = estimated.into_iter().chain(missing).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}
