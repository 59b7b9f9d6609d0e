//! What the answer costs: the operations and questions in which another strategy is better, and what the choice needs more of.

use crate::record::{Metric, OPLOG_BYTES, Part, TimeMetric};
use crate::report::document::format::{bytes, counted, marked, percent, time};
use crate::stats::{self, CollectionGrowth, Comparison, Criterion, Quantity, Verdict};

use super::answer::Judged;
use super::phrase::{self, factor, is_factor};

/// The most operations that are named.
const OPERATIONS: usize = 2;

/// The price of the best strategy is named where it is this many times the lowest.
const PRICE: f64 = 1.5;

/// The 99th percentile of the best strategy is named where it is the highest, and this many times the lowest.
const TAIL: f64 = 1.1;

/// The sentences, the most important first.
pub(crate) fn but(judged: &Judged) -> Vec<String> {
    let found = [
        anomalies(judged),
        operations(judged),
        other_questions(judged),
        tail(judged),
        dear(judged),
        inconsistency(judged),
        beside_job(judged),
    ];
    let found: Vec<String> = found.into_iter().flatten().collect();
    if found.is_empty() && judged.answer.winner().is_some() {
        return vec!["no trade-off found".to_owned()];
    }
    found
}

/// What audits found in the data of the best strategy.
fn anomalies(judged: &Judged) -> Vec<String> {
    let best = &judged.parts.last().strategies[judged.answer.best];
    let found = best.audits.iter().filter(|audit| audit.total > 0);
    found.map(|audit| format!("the audit {} found {}", marked(&audit.audit), counted(audit.total, "anomaly"))).collect()
}

/// The operations that are shown to be slower by themselves with the best strategy than with another; without a winner, with
/// one of the best strategies than with another. The largest go first.
fn operations(judged: &Judged) -> Vec<String> {
    let Some((own, record)) = judged.parts.get(Part::Own).zip(judged.parts.record(Part::Own)) else {
        return Vec::new();
    };
    let candidates = judged.answer.leading();
    let others: Vec<usize> = match judged.answer.winner() {
        Some(_) => judged.judged(),
        None => candidates.clone(),
    };
    let lost = own.comparisons().filter_map(|question| {
        let row = own.rows.iter().find(|row| row.operation == question.operation)?;
        let pairs = candidates.iter().flat_map(|one| others.iter().filter_map(|other| question.pair(*one, *other)));
        let slower = pairs.filter(|one| one.verdict == Verdict::Slower);
        let most = slower.max_by(|a, b| size(a).total_cmp(&size(b)))?;
        Some((question.operation?, &row.name, row.share.unwrap_or(0.0), most))
    });
    let mut lost: Vec<_> = lost.collect();
    lost.sort_by(|(.., a_share, a), (.., b_share, b)| (b_share * size(b)).total_cmp(&(a_share * size(a))));
    let text = |(operation, name, share, one): &(usize, &String, f64, Comparison)| {
        let what = format!("{} alone ({} of calls)", marked(name), percent(*share));
        let (with, than) = (with(judged, one.strategy), judged.marked(one.against));
        match stats::own_time(record, one.strategy, *operation)
            .filter(|_| stats::sends_nothing(record, one.against, *operation))
        {
            Some(took) => format!("{what} costs {}{with}, and nothing with {than}", time(took)),
            None => {
                let times = one.ratio.map(|ratio| factor(ratio.mean, Quantity::Time)).unwrap_or_default();
                format!("{what} is {times}{with} than with {than}")
            }
        }
    };
    lost.iter().take(OPERATIONS).map(text).collect()
}

/// The strategy that a sentence is about, where that is not the winner.
fn with(judged: &Judged, strategy: usize) -> String {
    if judged.answer.winner().is_some() { String::new() } else { format!(" with {}", judged.marked(strategy)) }
}

fn size(comparison: &Comparison) -> f64 {
    comparison.ratio.map_or(0.0, |ratio| ratio.mean.ln().abs())
}

/// The other questions about the mix under load in which the best strategy is shown to be worse than another.
fn other_questions(judged: &Judged) -> Vec<String> {
    let best = judged.answer.best;
    let is_decisive = |part, metric| judged.answer.criteria.contains(&Criterion { part, metric });
    let questions = judged.parts.iter().filter(|(part, _)| *part != Part::Own);
    let questions = questions.flat_map(|(part, run)| run.comparisons().map(move |one| (part, run, one)));
    let worse = questions.filter_map(|(part, run, question)| {
        let ranking = question.ranking().filter(|_| !is_decisive(part, question.metric))?;
        let lost = ranking.best_against.iter().find(|one| one.verdict == Verdict::Faster && one.against == best)?;
        let (ahead, ratio) = (judged.marked(ranking.best), is_factor(lost.ratio?.mean, ranking.quantity));
        let load = &run.load;
        Some(match question.metric {
            Metric::Time(time @ TimeMetric::Quantile(_)) => format!("the {time} of {ahead} at {load} {ratio}"),
            Metric::Throughput => format!("with {load} {ahead} {ratio}"),
            _ => format!("at {load} {ahead} {ratio}"),
        })
    });
    worse.collect()
}

/// Something that a choice costs.
struct Price<'p> {
    what: &'static str,
    unit: &'static str,
    /// How much a strategy needs of it.
    of: Box<dyn Fn(usize) -> Option<f64> + 'p>,
}

fn prices<'p>(judged: &'p Judged) -> [Price<'p>; 3] {
    let stored = |of: fn(&CollectionGrowth) -> f64| Box::new(move |place: usize| judged.parts.stored(place, of));
    let oplog = Box::new(|place: usize| judged.parts.mix_cost(place, OPLOG_BYTES));
    [
        Price { what: "index", unit: "", of: stored(|one| one.indexes.after) },
        Price { what: "data", unit: "", of: stored(|one| one.size.after) },
        Price { what: "oplog", unit: " per call", of: oplog },
    ]
}

/// The strategies that need least and most of something, and how much.
fn ends(of: impl Fn(usize) -> Option<f64>, among: Vec<usize>) -> Option<[(usize, f64); 2]> {
    let known: Vec<(usize, f64)> = among.into_iter().filter_map(|place| Some((place, of(place)?))).collect();
    let order = |(_, a): &(usize, f64), (_, b): &(usize, f64)| a.total_cmp(b);
    Some([known.iter().copied().min_by(order)?, known.iter().copied().max_by(order)?])
}

/// What the best strategy, or one of the best, costs more of than the cheapest judged one.
fn dear(judged: &Judged) -> Vec<String> {
    let text = |price: &Price| {
        let [_, (dearest, most)] = ends(&price.of, judged.answer.leading())?;
        let [(cheapest, least), _] = ends(&price.of, judged.judged())?;
        let is_high = least > 0.0 && most >= PRICE * least;
        let Price { what, unit, .. } = price;
        let (with, name) = (with(judged, dearest), judged.marked(cheapest));
        is_high.then(|| format!("{what}: {}{unit}{with} instead of {} with {name}", bytes(most), bytes(least)))
    };
    prices(judged).iter().filter_map(text).collect()
}

/// That the best strategy has the highest 99th percentile of response times, where no comparison of them says so.
fn tail(judged: &Judged) -> Vec<String> {
    let ends = ends(|place| judged.parts.number_of_mix(Criterion::TAIL, place), judged.judged());
    let Some([(lowest, least), (worst, most)]) = ends else { return Vec::new() };
    let tested = judged.parts.of_mix(Criterion::TAIL.part, Criterion::TAIL.metric);
    let verdict = tested.and_then(|question| question.pair(worst, lowest)).map(|one| one.verdict);
    if Some(worst) != judged.answer.winner() || most < TAIL * least || verdict == Some(Verdict::Slower) {
        return Vec::new();
    }
    let at = judged.parts.get(Criterion::TAIL.part).map_or_else(String::new, |run| format!("at {}", run.load));
    let name = judged.marked(lowest);
    vec![format!(
        "its p99 {at} may be the highest: {} against {} with {name} (no difference reported)",
        time(most),
        time(least)
    )]
}

/// What breaks a tie: the first resource of which one of the strategies needs much less.
pub(super) fn tie_breaker(judged: &Judged) -> Option<String> {
    judged.answer.least_effect()?;
    let is_level = |place: &usize| !judged.answer.trade_offs().any(|one| one.against == *place);
    let level: Vec<usize> = judged.answer.leading().into_iter().filter(is_level).collect();
    prices(judged).into_iter().find_map(|price| {
        let [(cheapest, least), (dearest, most)] = ends(&price.of, level.clone())?;
        let is_much = least > 0.0 && most >= PRICE * least;
        let than = (level.len() > 2).then(|| judged.name(dearest));
        is_much.then(|| phrase::tie_breaker(judged.name(cheapest), price.what, 1.0 - least / most, than))
    })
}

/// What jobs do to the other operations of the best strategy.
fn beside_job(judged: &Judged) -> Vec<String> {
    let part = judged.parts.get(Part::Saturation).unwrap_or(judged.parts.main());
    let calls = part.costs.beside_job.iter();
    // A 90th percentile shows that there are enough calls for a mean.
    let calls = calls.filter(|one| one.strategy == judged.answer.best && one.found.times.quantile(0.9).is_some());
    let slower = calls.filter_map(|one| Some((one.found.mean / one.found.alone?, one)));
    let most = slower.filter(|(ratio, _)| *ratio >= PRICE).max_by(|(one, _), (other, _)| one.total_cmp(other));
    let text = most.map(|(ratio, one)| {
        format!(
            "while a job runs, {} is {} (mean {})",
            marked(&one.name),
            factor(ratio, Quantity::Time),
            time(one.found.mean)
        )
    });
    text.into_iter().collect()
}

/// How long others see half-finished calls of the best strategy.
fn inconsistency(judged: &Judged) -> Vec<String> {
    let windows = judged.parts.main().costs.inconsistency.iter();
    let windows = windows.filter(|one| one.strategy == judged.answer.best);
    let windows = windows.filter_map(|one| {
        let quantile = |share: f64, name: &'static str| Some((one.found.quantile(share)?, name, &one.name));
        quantile(0.99, "p99").or_else(|| quantile(0.5, "median"))
    });
    let text = windows.max_by_key(|(time, ..)| *time).map(|(nanoseconds, which, operation)| {
        format!("for {} ({which}), others can see a half-finished {}", time(nanoseconds as f64), marked(operation))
    });
    text.into_iter().collect()
}
