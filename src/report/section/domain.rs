//! Where a verdict holds: what was measured, and where the order turns round.

use crate::record::Part;
use crate::report::format::{bytes, count, listed, percent, plain, time};
use crate::report::parts::PartEvaluations;
use crate::report::verdict_text::VerdictText;
use crate::results::RunRecord;
use crate::stats::{self, CollectionGrowth, MixEstimate, Ranking, Verdict};

/// The sentences that follow a verdict.
pub(super) fn sentences(record: &RunRecord, parts: &PartEvaluations, others: &[RunRecord]) -> Vec<String> {
    let mut sentences = vec![measured(record, parts)];
    let ranking = parts.main().comparisons().find_map(|one| one.ranking());
    if let Some((ranking, mix)) = ranking.zip(parts.main_record().filter(|mix| mix.part != Some(Part::Own))) {
        let turns = OrderTurns { parts, mix, ranking: &ranking };
        sentences.extend(turns.networks());
        sentences.extend(turns.shares());
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

/// Where the best strategy of the mix loses its place to others.
struct OrderTurns<'r> {
    parts: &'r PartEvaluations,
    /// The part of the verdict.
    mix: &'r RunRecord,
    ranking: &'r Ranking,
}

impl OrderTurns<'_> {
    fn name(&self, strategy: usize) -> &str {
        self.parts.main().strategies.get(strategy).map_or("?", |strategy| &strategy.name)
    }

    /// The strategies that it is reported to be faster than: an order that was not shown cannot turn round.
    fn others(&self) -> impl Iterator<Item = usize> {
        self.ranking.best_against.iter().filter(|one| one.verdict == Verdict::Faster).map(|one| one.against)
    }

    /// The round-trip times beyond which strategies with fewer round trips are faster.
    fn networks(&self) -> Option<String> {
        let best = self.ranking.best;
        let trips = |strategy: usize| {
            let calls = stats::cells(self.mix, strategy).flat_map(|cell| &cell.operations);
            stats::outcome_totals(calls).round_trips_per_call()
        };
        let turn = |other: usize| {
            let has_fewer = trips(other)? < trips(best)?;
            let turn = stats::network_turn(self.mix, best, other).filter(|_| has_fewer)?;
            Some(format!("{} from {} on", self.name(other), time(turn)))
        };
        let turns: Vec<String> = self.others().filter_map(turn).collect();
        let name = self.name(best);
        (!turns.is_empty()).then(|| {
            format!(
                "Over a slower network {name} loses by its round trips (computed, not measured): each round trip longer by \
                 this, others are faster: {}.",
                listed(&turns)
            )
        })
    }

    /// The shares of operations at which the order turns round, where own costs predict the measured mix.
    fn shares(&self) -> Option<String> {
        let own = self.parts.record(Part::Own)?;
        let estimate = MixEstimate::new(own);
        // Saturation has the most calls.
        let mix = self.parts.record(Part::Saturation).unwrap_or(self.mix);
        let service = |strategy: usize| {
            let calls = stats::cells(mix, strategy).flat_map(|cell| &cell.operations);
            stats::service_mean(calls)
        };
        let best = self.ranking.best;
        let (mut turns, mut unpredicted) = (Vec::new(), Vec::new());
        for other in self.others() {
            if !estimate.predicts(best, other, service(best)? / service(other)?) {
                unpredicted.push(self.name(other).to_owned());
            } else if let Some(turn) = estimate.share_turns(best, other).first() {
                turns.push(format!(
                    "{} overtakes when {} is {} of the calls instead of {}",
                    self.name(other),
                    plain(&own.operations[turn.operation]),
                    percent(turn.turn),
                    percent(turn.measured)
                ));
            }
        }
        let estimated =
            (!turns.is_empty()).then(|| format!("Other mixes (estimated from own costs): {}.", turns.join("; ")));
        let missing = (!unpredicted.is_empty()).then(|| {
            format!(
                "Own costs do not predict how {} compares with {} in the mix (within 20 %), so no turning point is estimated.",
                self.name(best),
                listed(&unpredicted)
            )
        });
        let sentences: Vec<String> = estimated.into_iter().chain(missing).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}
